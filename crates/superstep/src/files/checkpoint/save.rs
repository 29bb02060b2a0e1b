//! What a checkpoint can keep, and how it becomes pieces of bytes.

use super::{
    super::{
        disk::File,
        together::{Trouble, named},
    },
    manifest::{Part, What},
};
use crate::{
    engine::{Element, Group, Sum, Value, decode},
    error::Result,
};
use std::{
    any::type_name,
    fmt,
    ops::Range,
    panic::Location,
    path::{Path, PathBuf},
};

/// What a [`Checkpoint`](super::Checkpoint) can keep: arrays, paged arrays, shared variables, areas, containers, and
/// values of the leader ([`One`](super::One)) or of each processor ([`Each`](super::Each)).
///
/// | | on another number of processors |
/// |---|---|
/// | [`Array`](crate::Array), [`Paged`](crate::Paged) | lies as the new one does; its shape is the same |
/// | [`Shared`](crate::Shared), [`One`](super::One) | the same for all |
/// | [`Vector`](crate::containers::Vector) | dealt out evenly |
/// | [`HashMap`](crate::containers::HashMap), [`Graph`](crate::containers::Graph) | each entry and vertex with its owner |
/// | [`Area`](crate::Area), [`Each`](super::Each) | refused: nobody can say whose is whose |
///
/// ```
/// use superstep::{Block, Config, Group, files::{Checkpoint, Save}};
///
/// fn keep<'a>(saved: &mut Checkpoint<'a>, all: &[(&str, &'a dyn Save)]) {
///     for (name, one) in all { saved.add(name, *one) }
/// }
/// # let dir = std::env::temp_dir().join(format!("superstep-doc-save-{}", std::process::id()));
/// Config::new().procs(2).run(|g| {
///     let (u, v) = (g.array::<f64, Block>(4), g.paged::<u8, 1>([4], [2]));
///     let mut saved = g.checkpoint(&dir)?;
///     keep(&mut saved, &[("u", &u), ("v", &v)]);
///     saved.save(g)
/// }).unwrap();
/// # std::fs::remove_dir_all(&dir).unwrap();
/// ```
pub trait Save {
    /// What it is.
    #[doc(hidden)]
    fn what(&self) -> What;

    /// Whether every processor has something that no other one can take.
    #[doc(hidden)]
    fn is_each_ones(&self) -> bool {
        false
    }

    /// A copy of what this processor keeps of it. Collective.
    #[doc(hidden)]
    fn copy(&self, g: &mut Group, site: &'static Location<'static>) -> Result<Copied>;

    /// Says why what was kept cannot be taken here, if so. Nothing is taken before everything was checked everywhere.
    #[doc(hidden)]
    fn check(&self, g: &Group, from: &Stored<'_>) -> Result<(), Trouble>;

    /// Takes what was kept. Collective.
    #[doc(hidden)]
    fn restore(&self, g: &mut Group, from: &Stored<'_>) -> Result;
}

/// What one processor keeps of something: bytes, each with the place in the file where they begin; or why it cannot.
#[doc(hidden)]
pub struct Copied {
    pub(super) pieces: Result<Vec<(u64, Bytes)>, Trouble>,
}

/// Bytes that are kept, of whatever they are made.
pub(super) type Bytes = Box<dyn AsRef<[u8]> + Send>;

impl fmt::Debug for Copied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let places = self.pieces.as_ref().map(|pieces| pieces.iter().map(|(at, _)| at).collect::<Vec<_>>());
        write!(f, "Copied({places:?})")
    }
}

/// Elements as bytes, where they are.
pub(super) struct Elements<T>(pub(super) Vec<T>);

impl<T: Element> AsRef<[u8]> for Elements<T> {
    fn as_ref(&self) -> &[u8] {
        bytemuck::cast_slice(&self.0)
    }
}

impl Copied {
    /// Bytes of the leader, for all.
    pub(super) fn of_leader(g: &Group, bytes: impl FnOnce() -> Result<Vec<u8>>) -> Self {
        let pieces =
            if g.is_leader() { bytes().map(|bytes| vec![(0, Box::new(bytes) as Bytes)]) } else { Ok(Vec::new()) };
        Self { pieces: pieces.map_err(|error| error.to_string()) }
    }

    /// Bytes of every processor, one after the other by rank. Collective.
    #[track_caller]
    pub(super) fn of_each(g: &mut Group, bytes: Result<Vec<u8>>) -> Result<Self> {
        let len = bytes.as_ref().map_or(0, |bytes| bytes.len() as u64);
        let offset = g.try_step(|s| s.prefix(len, Sum))?;
        Ok(Self {
            pieces: bytes.map(|bytes| vec![(offset, Box::new(bytes) as Bytes)]).map_err(|error| error.to_string()),
        })
    }
}

/// Something that was kept, in its file.
#[doc(hidden)]
#[derive(Debug)]
pub struct Stored<'a> {
    pub(super) path: PathBuf,
    pub(super) part: &'a Part,
    /// How many processors have written it.
    pub(super) writers: usize,
}

impl<'a> Stored<'a> {
    /// A part of the generation that is there.
    pub(super) fn new(generation: &Path, part: &'a Part, writers: usize) -> Self {
        Self { path: generation.join(&part.file), part, writers }
    }
}

impl Stored<'_> {
    /// Refuses another number of bytes.
    pub(super) fn has_bytes(&self, asked: usize) -> Result<(), Trouble> {
        let there = self.part.bytes;
        if there == asked as u64 { Ok(()) } else { Err(format!("has {there} bytes, and {asked} are asked for")) }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn open(&self) -> Result<File, Trouble> {
        named(File::open(&self.path), "read", &self.path)
    }

    /// What one processor has written.
    pub(super) fn of_writer(&self, rank: usize) -> Result<Vec<u8>, Trouble> {
        let (pieces, file) = (self.part.of_writer(rank), self.open()?);
        let mut bytes = Vec::new();
        for piece in pieces {
            let start = bytes.len();
            bytes.resize(start + piece.len as usize, 0);
            named(file.read(&mut bytes[start..], piece.offset), "read", &self.path)?;
        }
        Ok(bytes)
    }

    /// The value that one processor has written.
    pub(super) fn value_of<T: Value>(&self, rank: usize) -> Result<T, Trouble> {
        decode(&self.of_writer(rank)?).map_err(|_| self.is_no(type_name::<T>()))
    }

    /// Says that the file does not hold what it should.
    pub(super) fn is_no(&self, what: &str) -> Trouble {
        format!("{} holds no {what}, though its manifest says so", self.path.display())
    }

    /// The writers whose bytes this processor takes: its own where there are as many, and else some that follow each
    /// other.
    pub(super) fn writers_of(&self, rank: usize, size: usize) -> Range<usize> {
        let first = |rank: usize| (rank as u128 * self.writers as u128).div_ceil(size as u128) as usize;
        first(rank)..first(rank + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_writer_is_taken_by_one_and_in_order() {
        let what =
            What { kind: String::new(), of: String::new(), size: 0, shape: Vec::new(), distribution: String::new() };
        let part = Part { name: String::new(), what, file: String::new(), bytes: 0, pieces: Vec::new() };
        for writers in 1..12 {
            let stored = Stored { path: PathBuf::new(), part: &part, writers };
            for size in 1..12 {
                let taken: Vec<usize> = (0..size).flat_map(|rank| stored.writers_of(rank, size)).collect();
                assert!(taken.into_iter().eq(0..writers), "{writers} on {size}");
            }
            assert_eq!(stored.writers_of(writers - 1, writers), writers - 1..writers);
        }
    }
}
