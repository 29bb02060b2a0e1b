//! A file that all write, under another name until it is whole.

use super::{
    disk::{self, File},
    together::{by_leader, named, same_path, together},
};
use crate::{engine::Group, error::Result};
use std::{
    io,
    path::{Path, PathBuf},
    sync::atomic::{AtomicU64, Ordering},
};

/// A file that is being written beside the one that it will replace.
pub(super) struct Aside {
    path: PathBuf,
    beside: PathBuf,
    file: File,
}

/// What a file is called while it is written: nobody else has a file of that name, and it is no longer than names are.
fn beside(path: &Path, (process, number): (u32, u64)) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let some: String = name.chars().take(40).collect();
    disk::folder_of(path).join(format!(".{some}.{process}-{number}.part"))
}

/// A number that no other file of this process has.
fn next_number() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

impl Aside {
    /// Makes a file of so many bytes for all. Collective.
    #[track_caller]
    pub(super) fn begin(g: &mut Group, path: &Path, len: u64) -> Result<Self> {
        same_path(g, path);
        let made = by_leader(g, || {
            let make = || {
                if path.as_os_str().is_empty() {
                    return Err(io::Error::other("its name is empty"));
                }
                if path.file_name().is_none() || path.is_dir() {
                    return Err(io::Error::other("it is a folder"));
                }
                // A process of the same number may have left one behind.
                let (mine, file) = loop {
                    let mine = (std::process::id(), next_number());
                    match File::create_new(&beside(path, mine)) {
                        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                        made => break (mine, made?),
                    }
                };
                let sized = file.set_len(len);
                sized.inspect_err(|_| drop(disk::remove(&beside(path, mine)))).map(|()| mine)
            };
            named(make(), "written", path)
        })?;
        let beside = beside(path, made);
        let opened = {
            let mine = named(File::reopen(&beside), "written", path);
            together(g, mine)
        };
        let file = opened.inspect_err(|_| give_up(g, &beside))?;
        Ok(Self { path: path.to_owned(), beside, file })
    }

    /// Writes some of it.
    pub(super) fn write(&self, bytes: &[u8], offset: u64) -> Result<(), String> {
        named(self.file.write(bytes, offset), "written", &self.path)
    }

    /// Waits until all is on the disk, and gives the file its name if every member has written its part. Collective.
    #[track_caller]
    pub(super) fn finish(self, g: &mut Group, mine: Result<(), String>) -> Result {
        let mine = mine.and_then(|()| named(self.file.sync(), "written", &self.path));
        let name = || {
            // Whoever may read and write the file that is replaced may do so with this one.
            self.file.take_rights(&self.path);
            disk::rename(&self.beside, &self.path)?;
            disk::sync_folder(&disk::folder_of(&self.path))
        };
        let outcome = match together(g, mine) {
            Ok(()) => by_leader(g, || named(name(), "written", &self.path)),
            error => error,
        };
        outcome.inspect_err(|_| give_up(g, &self.beside))
    }
}

/// Removes what has not become a file. Where that fails too, it has another name than anybody looks for.
fn give_up(g: &Group, beside: &Path) {
    if g.is_leader() {
        let _ = disk::remove(beside);
    }
}
