//! Records of a fixed size.

use super::{
    disk::File,
    together::{by_leader, named, same_path, together},
};
use crate::{engine::Group, error::Result};
use std::path::Path;

/// This processor's share of the records of a file.
///
/// ```
/// # let path = std::env::temp_dir().join(format!("superstep-doc-records-{}", std::process::id()));
/// std::fs::write(&path, "abcdef").unwrap();
/// let all = superstep::Config::new().procs(2).run_all(|g| {
///     let records = g.read_records(&path, 2)?;
///     let all = records.iter().map(|record| record.to_vec()).collect::<Vec<_>>();
///     Ok::<_, superstep::Error>((records.first_number(), all))
/// });
/// # std::fs::remove_file(&path).unwrap();
/// assert_eq!(all.unwrap(), [(0, vec![b"ab".to_vec(), b"cd".to_vec()]), (2, vec![b"ef".to_vec()])]);
/// ```
#[derive(Debug)]
pub struct Records {
    bytes: Vec<u8>,
    size: usize,
    first: u64,
}

impl Records {
    /// The records.
    ///
    /// ```
    /// # let path = std::env::temp_dir().join(format!("superstep-doc-records-iter-{}", std::process::id()));
    /// std::fs::write(&path, [1, 2, 3, 4]).unwrap();
    /// let sums = superstep::Config::new().procs(1).run(|g| {
    ///     let records = g.read_records(&path, 2)?;
    ///     Ok::<_, superstep::Error>(records.iter().map(|record| record.iter().sum::<u8>()).collect::<Vec<_>>())
    /// });
    /// # std::fs::remove_file(&path).unwrap();
    /// assert_eq!(sums.unwrap(), [3, 7]);
    /// ```
    pub fn iter(&self) -> std::slice::ChunksExact<'_, u8> {
        self.bytes.chunks_exact(self.size)
    }

    /// The number of the first of them in the file, where records are counted from 0.
    ///
    /// ```
    /// # let path = std::env::temp_dir().join(format!("superstep-doc-records-first-{}", std::process::id()));
    /// std::fs::write(&path, [0; 12]).unwrap();
    /// let firsts = superstep::Config::new()
    ///     .procs(3)
    ///     .run_all(|g| Ok::<_, superstep::Error>(g.read_records(&path, 4)?.first_number()));
    /// # std::fs::remove_file(&path).unwrap();
    /// assert_eq!(firsts.unwrap(), [0, 1, 2]);
    /// ```
    pub fn first_number(&self) -> u64 {
        self.first
    }
}

impl<'a> IntoIterator for &'a Records {
    type Item = &'a [u8];
    type IntoIter = std::slice::ChunksExact<'a, u8>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl Group {
    /// Reads this processor's share of the records of a file, each of which has so many bytes. Collective.
    ///
    /// Lower ranks have earlier records, and no two shares differ by more than one.
    ///
    /// ```
    /// # let path = std::env::temp_dir().join(format!("superstep-doc-read-records-{}", std::process::id()));
    /// std::fs::write(&path, [7; 100]).unwrap();
    /// let counts = superstep::Config::new()
    ///     .procs(3)
    ///     .run_all(|g| Ok::<_, superstep::Error>(g.read_records(&path, 10)?.iter().len()));
    /// # std::fs::remove_file(&path).unwrap();
    /// assert_eq!(counts.unwrap(), [4, 3, 3]);
    /// ```
    ///
    /// # Cost
    ///
    /// Each processor reads its share. Two boundaries.
    ///
    /// # Errors
    ///
    /// [`File`](crate::ErrorKind::File), on all members, if the file cannot be read or ends inside of a record, or if
    /// records of no bytes are asked for.
    #[track_caller]
    pub fn read_records(&mut self, path: impl AsRef<Path>, size: usize) -> Result<Records> {
        let path = path.as_ref();
        same_path(self, path);
        let count = by_leader(self, || {
            let len = named(File::open(path).and_then(|file| file.len()), "read", path)?;
            match len.checked_rem(size as u64) {
                Some(0) => Ok(len / size as u64),
                _ => Err(format!("{} has {len} bytes, and records have {size} each", path.display())),
            }
        })?;
        let (p, me) = (self.size() as u64, self.rank() as u64);
        let first = me * (count / p) + me.min(count % p);
        let here = count / p + u64::from(me < count % p);
        let len = usize::try_from(here).ok().and_then(|here| here.checked_mul(size)).unwrap_or(usize::MAX);
        let mut bytes = Vec::new();
        let mine = if fabric::try_make_room(&mut bytes, len) {
            let read = File::open(path).and_then(|file| file.append(&mut bytes, len, first * size as u64));
            named(read, "read", path)
        } else {
            Err(format!("there is no memory for {len} bytes of {}", path.display()))
        };
        together(self, mine)?;
        Ok(Records { bytes, size, first })
    }
}
