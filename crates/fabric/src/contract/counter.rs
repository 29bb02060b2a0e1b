//! Counts what processors do, where all of them see it.

use std::{
    fs,
    io::Write as _,
    path::PathBuf,
    sync::atomic::{AtomicUsize, Ordering},
};

/// In memory, or as the length of a file: appending to that is atomic, and every process sees it at once.
pub(super) enum Counter {
    Memory(AtomicUsize),
    File(PathBuf),
}

impl Counter {
    pub(super) fn new(file: Option<PathBuf>) -> Self {
        file.map_or_else(|| Self::Memory(AtomicUsize::new(0)), Self::File)
    }

    pub(super) fn add_one(&self) {
        match self {
            // The count needs no order of its own: a meeting makes what came before it visible after it.
            Self::Memory(count) => drop(count.fetch_add(1, Ordering::Relaxed)),
            Self::File(path) => {
                let file = fs::OpenOptions::new().append(true).create(true).open(path);
                file.and_then(|mut file| file.write_all(b"1")).expect("a counter can be written to");
            }
        }
    }

    pub(super) fn get(&self) -> usize {
        match self {
            Self::Memory(count) => count.load(Ordering::Relaxed),
            Self::File(path) => fs::metadata(path).map_or(0, |data| data.len() as usize),
        }
    }
}
