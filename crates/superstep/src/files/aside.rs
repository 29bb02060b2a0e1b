//! A file that all write, under another name until it is whole.

use super::{
    disk::{self, File},
    together::{by_leader, named, together},
};
use crate::{engine::Group, error::Result};
use std::path::{Path, PathBuf};

/// A file that is being written beside the one that it will replace.
pub(super) struct Aside {
    path: PathBuf,
    beside: PathBuf,
    file: File,
}

/// What a file is called while it is written.
fn beside(path: &Path) -> PathBuf {
    let mut name = std::ffi::OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(".part");
    disk::folder_of(path).join(name)
}

impl Aside {
    /// Makes a file of so many bytes for all. Collective.
    #[track_caller]
    pub(super) fn begin(g: &mut Group, path: &Path, len: u64) -> Result<Self> {
        let beside = beside(path);
        let made = by_leader(g, || {
            let make = || {
                if path.file_name().is_none() || path.is_dir() {
                    return Err(std::io::Error::other("it is a folder"));
                }
                File::create(&beside)?.set_len(len)
            };
            named(make(), "written", path)
        });
        let opened = made.and_then(|()| {
            let mine = named(File::reopen(&beside), "written", path);
            together(g, mine)
        });
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
        let outcome = together(g, mine).and_then(|()| {
            by_leader(g, || {
                let name = || {
                    disk::rename(&self.beside, &self.path)?;
                    disk::sync_folder(&disk::folder_of(&self.path))
                };
                named(name(), "written", &self.path)
            })
        });
        outcome.inspect_err(|_| give_up(g, &self.beside))
    }
}

/// Removes what has not become a file. Where that fails too, it has another name than anybody looks for.
fn give_up(g: &Group, beside: &Path) {
    if g.is_leader() {
        let _ = disk::remove(beside);
    }
}
