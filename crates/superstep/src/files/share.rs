//! A processor's share of a file that is cut at the ends of lines.

use super::{
    disk::File,
    together::{Trouble, named, same_path, together},
};
use crate::{engine::Group, error::Result};
use std::{
    io,
    ops::{ControlFlow, Range},
    path::{Path, PathBuf},
};

/// How much of a file is in memory while its lines are visited: it stays in the cache.
const CHUNK: usize = 256 << 10;
/// How much is read to find the end of a line.
const PROBE: usize = 4 << 10;

/// The lines of some bytes, without their ends.
pub(super) fn lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let (line, behind) = match memchr::memchr(b'\n', rest) {
            Some(end) => (&rest[..end], &rest[end + 1..]),
            None => (rest, &[][..]),
        };
        rest = behind;
        Some(line)
    })
}

pub(super) struct Share {
    path: PathBuf,
    file: File,
    range: Range<u64>,
}

impl Share {
    /// Opens a file and finds out which of its lines, behind the first so many bytes, are this processor's. Collective.
    #[track_caller]
    pub(super) fn open(g: &mut Group, path: &Path, begin: u64) -> Result<Self> {
        let (rank, size) = (g.rank() as u64, g.size() as u64);
        same_path(g, path);
        let open = || {
            let file = File::open(path)?;
            let len = file.len()?.max(begin);
            let cut = |rank: u64| begin + (u128::from(len - begin) * u128::from(rank) / u128::from(size)) as u64;
            let range = line_at(&file, begin, cut(rank), len)?..line_at(&file, begin, cut(rank + 1), len)?;
            Ok(Self { path: path.to_owned(), file, range })
        };
        let mine = named(open(), "read", path);
        together(g, mine)
    }

    /// All bytes of the share, and how many lines they are.
    pub(super) fn read(&self) -> Result<(Vec<u8>, u64), Trouble> {
        let (mut bytes, mut count) = (Vec::new(), 0);
        let len = usize::try_from(self.range.end - self.range.start).unwrap_or(usize::MAX);
        if !fabric::try_make_room(&mut bytes, len) {
            return Err(format!("there is no memory for {len} bytes of {}", self.path.display()));
        }
        while bytes.len() < len {
            // Lines are counted while what was read is in the cache.
            let (done, more) = (bytes.len(), CHUNK.min(len - bytes.len()));
            let read = self.file.append(&mut bytes, more, self.range.start + done as u64);
            named(read, "read", &self.path)?;
            count += memchr::memchr_iter(b'\n', &bytes[done..]).count() as u64;
        }
        let is_open = bytes.last().is_some_and(|&last| last != b'\n');
        Ok((bytes, count + u64::from(is_open)))
    }

    /// Calls `each` with every line, until it breaks off.
    pub(super) fn visit(&self, mut each: impl FnMut(&[u8]) -> ControlFlow<()>) -> Result<(), Trouble> {
        let (mut buffer, mut kept, mut at) = (vec![0; CHUNK], 0, self.range.start);
        while at < self.range.end {
            if kept == buffer.len() {
                // A line that is longer than all there is room for.
                buffer.resize(2 * kept, 0);
            }
            let most = usize::try_from(self.range.end - at).map_or(buffer.len(), |left| buffer.len().min(kept + left));
            named(self.file.read(&mut buffer[kept..most], at), "read", &self.path)?;
            at += (most - kept) as u64;
            let mut begin = 0;
            // What was kept has no end of a line in it.
            for end in memchr::memchr_iter(b'\n', &buffer[kept..most]) {
                if each(&buffer[begin..kept + end]).is_break() {
                    return Ok(());
                }
                begin = kept + end + 1;
            }
            buffer.copy_within(begin..most, 0);
            kept = most - begin;
        }
        if kept > 0 {
            // The last line of a file may have no end.
            let _ = each(&buffer[..kept]);
        }
        Ok(())
    }
}

/// Where the first line begins that does so at byte `cut` or behind it.
fn line_at(file: &File, begin: u64, cut: u64, len: u64) -> io::Result<u64> {
    if cut == begin || cut == len {
        return Ok(cut);
    }
    let (mut at, probe) = (cut - 1, &mut [0; PROBE]);
    loop {
        let read = file.read_some(probe, at)?;
        if let Some(end) = memchr::memchr(b'\n', &probe[..read]) {
            return Ok((at + end as u64 + 1).min(len));
        }
        if read < PROBE {
            return Ok(len);
        }
        at += read as u64;
    }
}
