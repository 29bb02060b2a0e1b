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

/// A save behind the program that finds no space is told at a turn, to all, and what was there before is there.
#[test]
fn a_disk_that_is_full_behind_the_program_takes_nothing_away() {
    let Some(small) = Small::mount() else {
        println!("missing: only root can mount a small file system, so no disk was full");
        return;
    };
    let (dir, filler) = (small.0.0.join("saved"), small.0.0.join("filler"));
    for fabric in [Fabric::Threads, Fabric::Procs] {
        let errors = Config::new().procs(3).fabric(fabric).run_all(|g| {
            // 400 kB in each generation.
            let (a, x) = (g.array::<usize, Block>(50_000), One::new(0));
            let mut saved = g.checkpoint(&dir)?;
            saved.add("a", &a);
            saved.add("x", &x);
            let set = |value: usize| {
                a.local_mut().fill(value);
                x.set(value);
            };
            for value in 1..3 {
                set(value);
                saved.save(g)?;
            }
            g.leader(|| fs::write(&filler, vec![1; 1_000_000]).unwrap());
            set(3);
            let before = saved.generation();
            saved.start(g)?;
            let error = loop {
                match saved.turn(g) {
                    Ok(_) => assert_eq!(saved.generation(), before, "there is no room for it"),
                    Err(error) => break error,
                }
            };
            assert!(saved.restore(g)?);
            assert!(a.local().iter().all(|&element| element == 2) && x.get() == 2);
            g.leader(|| fs::remove_file(&filler).unwrap());
            set(4);
            saved.start(g)?;
            set(5);
            saved.finish(g)?;
            assert!(saved.restore(g)?);
            assert!(a.local().iter().all(|&element| element == 4) && x.get() == 4);
            Ok::<_, superstep::Error>((error.kind(), error.to_string()))
        });
        let errors = errors.unwrap();
        assert!(errors[0].0 == ErrorKind::File && errors[0].1.contains("cannot be written"), "{errors:?}");
        assert!(errors.iter().all(|error| *error == errors[0]), "{errors:?}");
        fs::remove_dir_all(&dir).unwrap();
    }
}

/// Files are written whole or not at all, and a disk that takes nothing is named.
#[test]
fn a_disk_that_is_full_or_only_to_be_read_leaves_files_as_they_are() {
    let Some(small) = Small::mount() else {
        println!("missing: only root can mount a small file system, so no disk was full");
        return;
    };
    let [raw, npy, text, saved] = ["a.raw", "a.npy", "a.txt", "saved"].map(|name| small.0.0.join(name));
    let config = Config::new().procs(3).fabric(Fabric::Threads);
    // 400 kB each time.
    let write = |value: u64| {
        config.run(|g| {
            let a = g.array::<u64, Block>(50_000);
            a.local_mut().fill(value);
            let mut checkpoint = g.checkpoint(&saved)?;
            checkpoint.add("a", &a);
            checkpoint.restore(g)?;
            a.local_mut().fill(value);
            let lines = a.local().iter().map(|x| format!("line {x}")).collect::<Vec<_>>();
            let outcomes =
                [g.write_raw(&raw, &a), g.write_npy(&npy, &a), g.write_lines(&text, lines), checkpoint.save(g)];
            Ok::<_, superstep::Error>(outcomes.map(|outcome| outcome.err().map(|error| error.to_string())))
        })
    };
    let names = || {
        let mut names: Vec<_> = fs::read_dir(&small.0.0).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names
    };
    let files = || [&raw, &npy, &text].map(|path| fs::read(path).unwrap());
    assert_eq!(write(1).unwrap(), [const { None }; 4]);
    let (before, there) = (files(), names());
    let filler = small.0.0.join("filler");
    let _ = fs::write(&filler, vec![1; 2 << 20]);
    let refused = |says: &str| {
        for (outcome, path) in write(2).unwrap().into_iter().zip([&raw, &npy, &text, &saved]) {
            let error = outcome.expect("there is no room");
            assert!(error.contains(&path.display().to_string()) && error.contains(says), "{error}");
        }
        assert!(files() == before);
    };
    refused("cannot be written: ");
    fs::remove_file(&filler).unwrap();
    assert_eq!(names(), there);
    let mounted = |options: &str| {
        let status = Command::new("mount").args(["-o", options]).arg(&small.0.0).status();
        assert!(status.expect("it has just been mounted").success());
    };
    mounted("remount,ro");
    refused("Read-only file system");
    mounted("remount,rw");
    assert_eq!((names(), write(3).unwrap()), (there, [const { None }; 4]));
}
