//! Arrays as their numbers alone.

use super::{
    arrays::{self, Placed},
    disk::File,
    together::{by_leader, named, same_path, together},
};
use crate::{
    engine::{Element, Group},
    error::Result,
    memory::{Array, Distribution},
};
use std::path::Path;

const STRAIGHT: Placed = Placed { begin: 0, turned: None };

/// The length of a file, which must be that of so many bytes for each of some elements. Collective.
#[track_caller]
fn elements(g: &mut Group, path: &Path, size: usize) -> Result<u64> {
    same_path(g, path);
    by_leader(g, || {
        let len = named(File::open(path).and_then(|file| file.len()), "read", path)?;
        if len.is_multiple_of(size as u64) {
            return Ok(len / size as u64);
        }
        Err(format!("{} has {len} bytes, and elements have {size} each", path.display()))
    })
}

impl Group {
    /// Reads an array of all the elements of a file, which holds them one after the other, little-endian, and nothing
    /// else. Collective.
    ///
    /// ```
    /// use superstep::{Block, Config, Cyclic};
    ///
    /// # let path = std::env::temp_dir().join(format!("superstep-doc-raw-{}", std::process::id()));
    /// std::fs::write(&path, [1, 0, 2, 0, 3, 0]).unwrap();
    /// let all = Config::new().procs(2).run(|g| {
    ///     let a = g.read_raw::<u16, Cyclic>(&path)?;
    ///     Ok::<_, superstep::Error>(g.step(|s| s.mirror(&a, ..)))
    /// });
    /// # std::fs::remove_file(&path).unwrap();
    /// assert_eq!(all.unwrap(), [1, 2, 3]);
    /// ```
    ///
    /// # Cost
    ///
    /// Each processor reads its part. Three boundaries; where parts lie in short pieces, n / p g more for n words.
    ///
    /// # Errors
    ///
    /// [`File`](crate::ErrorKind::File), on all members, if the file cannot be read or ends inside of an element.
    #[track_caller]
    pub fn read_raw<T: Element, D: Distribution + Default>(&mut self, path: impl AsRef<Path>) -> Result<Array<T, D>> {
        let path = path.as_ref();
        let len = elements(self, path, size_of::<T>())?;
        let a = self.try_array(usize::try_from(len).unwrap_or(usize::MAX))?;
        let mine = named(File::open(path), "read", path);
        let file = together(self, mine)?;
        arrays::read(self, (path, &file), STRAIGHT, &a)?;
        Ok(a)
    }

    /// Reads a file like [`read_raw`](Self::read_raw) into an array of any shape, row by row. Collective.
    ///
    /// ```
    /// use superstep::{Config, Cyclic};
    ///
    /// # let path = std::env::temp_dir().join(format!("superstep-doc-raw-into-{}", std::process::id()));
    /// std::fs::write(&path, [1, 2, 3, 4, 5, 6]).unwrap();
    /// let last = Config::new().procs(2).run(|g| {
    ///     let a = g.array_with::<u8, _, 2>([3, 2], Cyclic::<1>);
    ///     g.load_raw(&path, &a)?;
    ///     Ok::<_, superstep::Error>(g.step(|s| s.mirror(&a, (2..3, ..))))
    /// });
    /// # std::fs::remove_file(&path).unwrap();
    /// assert_eq!(last.unwrap(), [5, 6]);
    /// ```
    ///
    /// # Errors
    ///
    /// As [`read_raw`](Self::read_raw), and if the file has more or fewer elements than the array.
    #[track_caller]
    pub fn load_raw<T: Element, D: Distribution, const N: usize>(
        &mut self,
        path: impl AsRef<Path>,
        a: &Array<T, D, N>,
    ) -> Result {
        let path = path.as_ref();
        let len = elements(self, path, size_of::<T>())?;
        let mine = if len == a.len() as u64 {
            named(File::open(path), "read", path)
        } else {
            Err(format!("{} has {len} elements, and the array {}", path.display(), a.len()))
        };
        let file = together(self, mine)?;
        arrays::read(self, (path, &file), STRAIGHT, a)
    }

    /// Writes the elements of an array to a file, row by row, little-endian, and nothing else. Collective.
    ///
    /// The file has its name when it is whole and on the disk, and not before.
    ///
    /// ```
    /// use superstep::{Block, Config};
    ///
    /// # let path = std::env::temp_dir().join(format!("superstep-doc-write-raw-{}", std::process::id()));
    /// Config::new().procs(2).run(|g| {
    ///     let a = g.array::<u16, Block>(3);
    ///     a.forall_mut(|i, x| *x = i as u16);
    ///     g.write_raw(&path, &a)
    /// }).unwrap();
    /// assert_eq!(std::fs::read(&path).unwrap(), [0, 0, 1, 0, 2, 0]);
    /// # std::fs::remove_file(&path).unwrap();
    /// ```
    ///
    /// # Cost
    ///
    /// Each processor writes its part. Five boundaries; where parts lie in short pieces, n / p g more for n words.
    ///
    /// # Errors
    ///
    /// [`File`](crate::ErrorKind::File), on all members, if the file cannot be written.
    #[track_caller]
    pub fn write_raw<T: Element, D: Distribution, const N: usize>(
        &mut self,
        path: impl AsRef<Path>,
        a: &Array<T, D, N>,
    ) -> Result {
        arrays::write(self, path.as_ref(), &[], a)
    }
}

/// Numbers are written as they lie in memory.
const _: () = assert!(cfg!(target_endian = "little"), "files hold little-endian numbers");
