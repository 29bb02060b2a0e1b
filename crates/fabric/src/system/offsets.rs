//! Files that several threads and processes read and write at once, each at offsets of its own.

use std::{fs::File, io, path::Path};

/// Reads some of the bytes at an offset, as many as there are at most; none at the end of the file.
///
/// ```
/// let path = std::env::temp_dir().join(format!("fabric-read-at-{}", std::process::id()));
/// std::fs::write(&path, "abc").unwrap();
/// let into = &mut [0; 4];
/// assert_eq!(fabric::read_at(&std::fs::File::open(&path).unwrap(), into, 1).unwrap(), 2);
/// assert_eq!(into, b"bc\0\0");
/// std::fs::remove_file(path).unwrap();
/// ```
pub fn read_at(file: &File, into: &mut [u8], offset: u64) -> io::Result<usize> {
    #[cfg(unix)]
    return std::os::unix::fs::FileExt::read_at(file, into, offset);
    #[cfg(windows)]
    return std::os::windows::fs::FileExt::seek_read(file, into, offset);
}

/// Writes some of the bytes at an offset, and says how many.
///
/// ```
/// let path = std::env::temp_dir().join(format!("fabric-write-at-{}", std::process::id()));
/// assert_eq!(fabric::write_at(&std::fs::File::create(&path).unwrap(), b"ab", 1).unwrap(), 2);
/// assert_eq!(std::fs::read(&path).unwrap(), b"\0ab");
/// std::fs::remove_file(path).unwrap();
/// ```
pub fn write_at(file: &File, bytes: &[u8], offset: u64) -> io::Result<usize> {
    #[cfg(unix)]
    return std::os::unix::fs::FileExt::write_at(file, bytes, offset);
    #[cfg(windows)]
    return std::os::windows::fs::FileExt::seek_write(file, bytes, offset);
}

/// Waits until the disk has the names in a folder, where that can be asked for.
///
/// ```
/// fabric::sync_names(&std::env::temp_dir()).unwrap();
/// ```
pub fn sync_names(folder: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn the_names_of_a_folder_that_is_missing_are_an_error() {
        assert!(sync_names(Path::new("/no such folder")).is_err());
    }
}
