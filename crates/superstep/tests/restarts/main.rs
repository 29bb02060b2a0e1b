//! Programs that are killed, told to end, or run out of space, and go on from their checkpoints.
//!
//! Each test starts this same executable again, with the name of one of the [`programs`], and looks at what that did.

#![forbid(unsafe_code)]

mod bytes;
mod full;
mod kills;
#[path = "../mpi/launched.rs"]
#[allow(dead_code, reason = "much of it is for programs under MPI")]
mod launched;
mod occasions;
mod programs;
mod random;

use std::{
    env, fs,
    path::PathBuf,
    sync::atomic::{AtomicUsize, Ordering},
};

/// A folder of a test's own, which goes with it.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = env::temp_dir().join(format!("superstep-restarts-{}-{number}", std::process::id()));
        fs::create_dir_all(&path).expect("a folder can be made");
        Self(path)
    }

    fn name(&self) -> String {
        self.0.to_string_lossy().into_owned()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
