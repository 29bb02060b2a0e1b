//! Issue 20: a disk that is really full.

use crate::Folder;
use std::{fs, process::Command};
use superstep::{Block, Config, ErrorKind, Fabric, files::One};

/// A file system of two megabytes, as long as it lives; nothing where this process may not mount one.
struct Small(Folder);

impl Small {
    fn mount() -> Option<Self> {
        let folder = Folder::new();
        let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", "size=2m", "tmpfs"]).arg(&folder.0).output();
        mounted.is_ok_and(|output| output.status.success()).then_some(Self(folder))
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0.0).output();
    }
}

/// A save that finds no space is an error on all, and what was there before is there.
#[test]
fn a_full_disk_takes_nothing_away() {
    let Some(small) = Small::mount() else {
        println!("missing: only root can mount a small file system, so no disk was full");
        return;
    };
    let (dir, filler) = (small.0.0.join("saved"), small.0.0.join("filler"));
    let config = Config::new().procs(3).fabric(Fabric::Threads);
    // 400 kB in each generation.
    let run = |value: usize, is_saved: bool| {
        config.run(|g| {
            let (a, x) = (g.array::<usize, Block>(50_000), One::new(0));
            let mut saved = g.checkpoint(&dir)?;
            saved.add("a", &a);
            saved.add("x", &x);
            saved.restore(g)?;
            assert!(a.local().iter().all(|&element| element == x.get()));
            let found = x.get();
            if is_saved {
                a.forall_mut(|_, element| *element = value);
                x.set(value);
                saved.save(g)?;
            }
            Ok::<_, superstep::Error>(found)
        })
    };
    assert_eq!(run(1, true), Ok(0));
    assert_eq!(run(2, true), Ok(1));
    fs::write(&filler, vec![1; 1_000_000]).unwrap();
    let error = run(3, true).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::File, "{error}");
    assert!(error.to_string().contains("cannot be written"), "{error}");
    assert_eq!(run(0, false), Ok(2));
    fs::remove_file(&filler).unwrap();
    assert_eq!(run(4, true), Ok(2));
    assert_eq!(run(0, false), Ok(4));
}
