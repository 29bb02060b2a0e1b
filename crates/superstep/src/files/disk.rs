//! The calls of the system that files need, in one place, so that a test can let any of them fail.

use std::{
    cell::Cell,
    fs,
    io::{self, Read as _, Seek as _, SeekFrom},
    path::{Path, PathBuf},
};

/// What a call does in place of what it should.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// There is no space left.
    NoSpace,
    /// The device fails.
    Broken,
    /// Only a part is read or written; the rest goes as it should, as it does for whoever asks again.
    Short,
    /// A signal comes in between; it goes as it should for whoever asks again.
    Interrupted,
    /// The process is killed.
    Killed,
}

thread_local! {
    /// How many calls go well before one fails, and how it does.
    static PLANNED: Cell<Option<(u64, Fault)>> = const { Cell::new(None) };
    static CALLS: Cell<u64> = const { Cell::new(0) };
}

/// Lets a call of this processor's thread to the disk fail, after so many that go well; `None` for none. Says how many
/// there have been since it was called before. For tests.
pub fn plan_fault(planned: Option<(u64, Fault)>) -> u64 {
    PLANNED.set(planned);
    CALLS.replace(0)
}

/// What is planned for this thread, which has nothing planned from now on: for a thread that works in its place.
pub(super) fn take_plan() -> Option<(u64, Fault)> {
    PLANNED.take()
}

/// The fault of the call at hand, if there is to be one.
fn strike() -> io::Result<Option<Fault>> {
    CALLS.set(CALLS.get() + 1);
    let Some((left, fault)) = PLANNED.get() else { return Ok(None) };
    if left > 0 {
        PLANNED.set(Some((left - 1, fault)));
        return Ok(None);
    }
    PLANNED.set(None);
    match fault {
        Fault::NoSpace => Err(io::ErrorKind::StorageFull.into()),
        Fault::Broken => Err(io::Error::other("the device fails, as a test has asked for")),
        Fault::Short => Ok(Some(Fault::Short)),
        Fault::Interrupted => Err(io::ErrorKind::Interrupted.into()),
        Fault::Killed => kill(),
    }
}

/// Ends the process as `kill -9` does.
fn kill() -> ! {
    // A process can be killed by another one only; this one ends without a word if there is none who could.
    let _ = std::process::Command::new("kill").args(["-9", &std::process::id().to_string()]).status();
    std::process::abort()
}

/// A call that does not care about signals.
fn again<T>(mut call: impl FnMut(Option<Fault>) -> io::Result<T>) -> io::Result<T> {
    loop {
        match strike().and_then(&mut call) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            outcome => return outcome,
        }
    }
}

/// A file that is read and written at offsets.
#[derive(Debug)]
pub(super) struct File(fs::File);

impl File {
    /// Opens a file that is there, for reading.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        // A folder can be opened on some systems, and says so only when it is read. A pipe waits for somebody who
        // writes, and a device has no length.
        let about = again(|_| fs::metadata(path))?;
        if about.is_dir() {
            return Err(io::Error::other("it is a folder"));
        }
        if !about.is_file() {
            return Err(io::Error::other("it is no plain file, whose length can be known before it is read"));
        }
        again(|_| fs::File::open(path)).map(Self)
    }

    /// Makes an empty file of this name, or empties the one that is there.
    pub(super) fn create(path: &Path) -> io::Result<Self> {
        again(|_| fs::File::create(path)).map(Self)
    }

    /// Makes a file of this name, which nobody has.
    pub(super) fn create_new(path: &Path) -> io::Result<Self> {
        again(|_| fs::File::create_new(path)).map(Self)
    }

    /// Lets those read and write this file who may with another one, if that is there and this is allowed.
    pub(super) fn take_rights(&self, of: &Path) {
        if let Ok(about) = fs::metadata(of) {
            let _ = self.0.set_permissions(about.permissions());
        }
    }

    /// Opens a file that is there, for writing.
    pub(super) fn reopen(path: &Path) -> io::Result<Self> {
        again(|_| fs::OpenOptions::new().write(true).open(path)).map(Self)
    }

    pub(super) fn len(&self) -> io::Result<u64> {
        again(|_| self.0.metadata()).map(|about| about.len())
    }

    pub(super) fn set_len(&self, len: u64) -> io::Result<()> {
        again(|_| self.0.set_len(len))
    }

    /// Reads at most so many bytes; fewer only at the end of the file.
    pub(super) fn read_some(&self, mut into: &mut [u8], mut offset: u64) -> io::Result<usize> {
        let asked = into.len();
        while !into.is_empty() {
            let read = again(|fault| {
                let most = if fault.is_some() { into.len().div_ceil(2) } else { into.len() };
                fabric::read_at(&self.0, &mut into[..most], offset)
            })?;
            if read == 0 {
                break;
            }
            into = &mut into[read..];
            offset += read as u64;
        }
        Ok(asked - into.len())
    }

    /// Reads exactly so many bytes.
    pub(super) fn read(&self, into: &mut [u8], offset: u64) -> io::Result<()> {
        let asked = into.len();
        match self.read_some(into, offset)? {
            read if read == asked => Ok(()),
            read => Err(io::Error::other(format!("it ends at byte {}", offset + read as u64))),
        }
    }

    /// Reads exactly so many bytes behind those of a vector that has room for them, which is not filled before. Nobody
    /// else may use this file meanwhile.
    pub(super) fn append(&self, into: &mut Vec<u8>, len: usize, offset: u64) -> io::Result<()> {
        let before = into.len();
        again(|_| (&self.0).seek(SeekFrom::Start(offset)))?;
        // What a signal interrupts goes on by itself here, and what is short does, too.
        (&self.0).take(len as u64).read_to_end(into)?;
        match into.len() - before {
            read if read == len => Ok(()),
            read => Err(io::Error::other(format!("it ends at byte {}", offset + read as u64))),
        }
    }

    /// Writes all of the bytes.
    pub(super) fn write(&self, mut bytes: &[u8], mut offset: u64) -> io::Result<()> {
        while !bytes.is_empty() {
            let written = again(|fault| {
                let most = if fault.is_some() { bytes.len().div_ceil(2) } else { bytes.len() };
                fabric::write_at(&self.0, &bytes[..most], offset)
            })?;
            if written == 0 {
                return Err(io::ErrorKind::WriteZero.into());
            }
            bytes = &bytes[written..];
            offset += written as u64;
        }
        Ok(())
    }

    /// Waits until the disk has what was written.
    pub(super) fn sync(&self) -> io::Result<()> {
        again(|_| self.0.sync_all())
    }
}

/// Gives a file another name, in place of what has it now.
pub(super) fn rename(from: &Path, to: &Path) -> io::Result<()> {
    again(|_| fs::rename(from, to))
}

pub(super) fn remove(path: &Path) -> io::Result<()> {
    again(|_| fs::remove_file(path))
}

/// Makes a folder, and those that it is in, unless they are there. The disk has their names then.
pub(super) fn make_folder(path: &Path) -> io::Result<()> {
    let above = folder_of(path);
    if !path.is_dir() {
        if !above.is_dir() {
            make_folder(&above)?;
        }
        // Another program may have made it meanwhile.
        match make_new_folder(path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => {}
            made => made?,
        }
    }
    sync_folder(&above)
}

/// Makes a folder of this name, which nobody has.
pub(super) fn make_new_folder(path: &Path) -> io::Result<()> {
    again(|_| fs::create_dir(path))
}

/// The names in a folder, in no order; those that are no text are nobody's here.
pub(super) fn names_in(folder: &Path) -> io::Result<Vec<String>> {
    let entries = again(|_| fs::read_dir(folder))?;
    let names = entries.map(|entry| entry.map(|entry| entry.file_name().into_string().ok()));
    names.filter_map(Result::transpose).collect()
}

/// Removes a folder in which there is nothing.
pub(super) fn remove_folder(path: &Path) -> io::Result<()> {
    again(|_| fs::remove_dir(path))
}

/// The folder that a path is in.
pub(super) fn folder_of(path: &Path) -> PathBuf {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
        _ => PathBuf::from("."),
    }
}

/// Waits until the disk has the names in a folder, where that can be asked for.
pub(super) fn sync_folder(folder: &Path) -> io::Result<()> {
    again(|_| fabric::sync_names(folder))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(name: &str) -> (PathBuf, File) {
        let path = std::env::temp_dir().join(format!("superstep-disk-{}-{name}", std::process::id()));
        let file = File::create(&path).unwrap();
        (path, file)
    }

    #[test]
    fn what_is_short_or_interrupted_goes_on() {
        let (path, out) = file("short");
        for fault in [Fault::Short, Fault::Interrupted] {
            plan_fault(Some((0, fault)));
            out.write(&[1, 2, 3, 4, 5], 2).unwrap();
            // To open a file takes two calls.
            assert_eq!(plan_fault(Some((2, fault))), 2);
            let (into, mut bytes) = (File::open(&path).unwrap(), [9; 7]);
            into.read(&mut bytes, 0).unwrap();
            assert_eq!((bytes, plan_fault(None)), ([0, 0, 1, 2, 3, 4, 5], 4));
        }
        fs::remove_file(path).unwrap();
    }

    #[test]
    fn what_fails_says_so_once() {
        let (path, out) = file("fails");
        plan_fault(Some((0, Fault::NoSpace)));
        assert_eq!(out.write(&[1], 0).unwrap_err().kind(), io::ErrorKind::StorageFull);
        out.write(&[1], 0).unwrap();
        plan_fault(Some((1, Fault::Broken)));
        out.sync().unwrap();
        assert!(out.sync().is_err());
        fs::remove_file(path).unwrap();
    }

    #[test]
    fn a_file_that_is_too_short_says_where_it_ends() {
        let (path, out) = file("ends");
        out.write(&[1, 2, 3], 0).unwrap();
        let error = File::open(&path).unwrap().read(&mut [0; 4], 1).unwrap_err();
        assert_eq!(error.to_string(), "it ends at byte 3");
        assert_eq!(File::open(&std::env::temp_dir()).unwrap_err().to_string(), "it is a folder");
        fs::remove_file(path).unwrap();
    }
}
