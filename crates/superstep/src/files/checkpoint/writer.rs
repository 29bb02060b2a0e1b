//! Writes what a processor keeps, here or in a thread of its own.

use super::{
    super::{
        disk::{self, File},
        together::{Trouble, named},
    },
    manifest::Piece,
    save::Copied,
    tempo::Tempo,
};
use std::{path::PathBuf, sync::Arc, thread::JoinHandle, time::Instant};

/// Longer pieces have several checksums, so that several processors can check them.
const LONGEST: usize = 64 << 20;
/// How much is written at once behind a program: a system call does not make way for a thread that computes.
const MORSEL: usize = 256 << 10;

/// What is to be written: where, and what of each file.
pub(super) struct Work {
    pub(super) rank: usize,
    pub(super) folder: PathBuf,
    pub(super) files: Vec<(String, Copied)>,
}

/// The pieces of each file, as they were written.
pub(super) type Written = Vec<Vec<Piece>>;

impl Work {
    /// Writes all of it, and waits until the disk has it.
    fn run(self, tempo: Option<&Tempo>) -> Result<Written, Trouble> {
        let morsel = if tempo.is_some() { MORSEL } else { LONGEST };
        let mut all = Vec::with_capacity(self.files.len());
        for (name, Copied { pieces }) in self.files {
            let (path, mut written) = (self.folder.join(name), Vec::new());
            let pieces = pieces?;
            if !pieces.is_empty() {
                let file = named(File::reopen(&path), "written", &path)?;
                for (offset, bytes) in pieces {
                    for (number, bytes) in (*bytes).as_ref().chunks(LONGEST).enumerate() {
                        let (offset, mut sum) = (offset + (number * LONGEST) as u64, crc32fast::Hasher::new());
                        for (number, bytes) in bytes.chunks(morsel).enumerate() {
                            let begun = Instant::now();
                            named(file.write(bytes, offset + (number * morsel) as u64), "written", &path)?;
                            sum.update(bytes);
                            if let Some(tempo) = tempo {
                                tempo.rest(begun.elapsed());
                            }
                        }
                        let crc32 = sum.finalize();
                        written.push(Piece { rank: self.rank, offset, len: bytes.len() as u64, crc32 });
                    }
                }
                named(file.sync(), "written", &path)?;
            }
            all.push(written);
        }
        Ok(all)
    }
}

/// Work that is done, or being done.
pub(super) enum Writing {
    Done(Result<Written, Trouble>),
    Behind(JoinHandle<Result<Written, Trouble>>, Arc<Tempo>),
}

impl Writing {
    /// Does the work now.
    pub(super) fn here(work: Work) -> Self {
        Self::Done(work.run(None))
    }

    /// Has the work done while the program goes on.
    pub(super) fn behind(work: Work) -> Self {
        let planned = disk::take_plan();
        let tempo = Arc::new(Tempo::default());
        let own = tempo.clone();
        let go = move || {
            disk::plan_fault(planned);
            // Processors that wait for each other are as slow as the one whose core this thread takes.
            fabric::give_way();
            work.run(Some(&own))
        };
        let thread = std::thread::Builder::new().name("superstep checkpoint".into());
        match thread.spawn(go) {
            Ok(thread) => Self::Behind(thread, tempo),
            Err(why) => Self::Done(Err(format!("no thread can be started that writes: {why}"))),
        }
    }

    pub(super) fn is_done(&self) -> bool {
        match self {
            Self::Done(_) => true,
            Self::Behind(thread, _) => thread.is_finished(),
        }
    }

    /// Somebody waits for the end of it.
    pub(super) fn hurry(&self) {
        if let Self::Behind(_, tempo) = self {
            tempo.hurry();
        }
    }

    /// Waits for the end of it.
    pub(super) fn end(self) -> Result<Written, Trouble> {
        self.hurry();
        match self {
            Self::Done(outcome) => outcome,
            Self::Behind(thread, _) => {
                thread.join().unwrap_or_else(|_| Err("the thread that writes has panicked".into()))
            }
        }
    }
}
