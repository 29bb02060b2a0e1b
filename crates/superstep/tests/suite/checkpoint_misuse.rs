//! Checkpoints that are used wrongly, or beside something that has nothing to do with them (issue 20).

use crate::{
    check, everywhere,
    files::{Folder, is_refused},
    is_everybodys, on_sizes,
};
use std::{fs, path::Path};
use superstep::{
    Block, Element, ErrorKind, Group,
    files::{Each, One},
};

/// Saves one number in this folder.
fn save(g: &mut Group, path: &Path, value: u64) -> superstep::Result {
    let x = One::new(value);
    let mut saved = g.checkpoint(path)?;
    saved.add("x", &x);
    saved.save(g)
}

/// The number that comes back.
fn restored(g: &mut Group, path: &Path) -> superstep::Result<Option<u64>> {
    let x = One::new(0);
    let mut saved = g.checkpoint(path)?;
    saved.add("x", &x);
    let is_there = saved.restore(g)?;
    Ok(is_there.then(|| x.get()))
}

/// Whole or not at all: what a member takes with it is missing, so nothing counts and what was there stays.
#[test]
fn a_member_that_leaves_before_the_end_of_a_save_leaves_no_generation() {
    on_sizes(&[2, 3, 4], |g| {
        let folder = Folder::new(g);
        for leaver in [None, None, Some(g.size() - 1), Some(0)] {
            g.split(1, |sub| {
                let u = sub.array::<f64, Block>(9);
                let mut saved = sub.checkpoint(&folder.path).unwrap();
                saved.add("u", &u);
                saved.start(sub).unwrap();
                if leaver == Some(sub.rank()) {
                    return;
                }
                let outcome = saved.finish(sub);
                match leaver {
                    None => outcome.unwrap(),
                    Some(_) => is_refused(sub, outcome, &["a member that has begun to write it has left"]),
                }
            });
        }
        g.split(1, |sub| {
            let u = sub.array::<f64, Block>(9);
            let mut saved = sub.checkpoint(&folder.path).unwrap();
            saved.add("u", &u);
            assert!(saved.restore(sub).unwrap());
            assert_eq!(saved.generation(), Some(2));
        });
        folder.remove(g);
    });
}

/// A type is more than its name: another build of the program may have changed it.
#[test]
fn elements_of_another_size_are_refused() {
    everywhere(|g| {
        let folder = Folder::new(g);
        let dirs = ["array", "area"].map(|name| folder.path.join(name));
        {
            #[derive(Element)]
            #[repr(C)]
            struct P {
                _two: [f64; 2],
            }
            let (u, area) = (g.array::<P, Block>(6), g.area::<P>(2));
            let mut saved = g.checkpoint(&dirs[0]).unwrap();
            saved.add("u", &u);
            saved.save(g).unwrap();
            let mut saved = g.checkpoint(&dirs[1]).unwrap();
            saved.add("u", &area);
            saved.save(g).unwrap();
        }
        {
            #[derive(Element)]
            #[repr(C)]
            struct P {
                _one: f64,
            }
            let (u, area) = (g.array::<P, Block>(6), g.area::<P>(4));
            let mut saved = g.checkpoint(&dirs[0]).unwrap();
            saved.add("u", &u);
            let outcome = saved.restore(g);
            is_refused(g, outcome, &["`u` was saved with elements of 16 bytes, and has 8 now"]);
            let mut saved = g.checkpoint(&dirs[1]).unwrap();
            saved.add("u", &area);
            let outcome = saved.restore(g);
            is_refused(g, outcome, &["`u` was saved with elements of 16 bytes, and has 8 now"]);
        }
        folder.remove(g);
    });
}

/// Names that nobody here has given stand in nobody's way.
#[test]
fn strange_names_in_the_folder_are_passed_over() {
    on_sizes(&[1, 2, 3], |g| {
        let folder = Folder::new(g);
        save(g, &folder.path, 1).unwrap();
        save(g, &folder.path, 2).unwrap();
        g.leader(|| {
            fs::write(folder.path.join("generation-000007"), "a file").unwrap();
            for name in ["generation-7", "generation-+5", "generation-x"] {
                fs::create_dir(folder.path.join(name)).unwrap();
            }
        });
        assert_eq!(restored(g, &folder.path), Ok(Some(2)));
        save(g, &folder.path, 3).unwrap();
        assert_eq!(restored(g, &folder.path), Ok(Some(3)));
        g.leader(|| fs::create_dir(folder.path.join(format!("generation-{}", u64::MAX))).unwrap());
        let outcome = save(g, &folder.path, 4);
        is_refused(g, outcome, &["has the last number there is"]);
        assert_eq!(restored(g, &folder.path), Ok(Some(3)));
        folder.remove(g);
    });
}

/// Everything is checked before any of it is taken.
#[test]
fn a_restore_that_is_refused_takes_nothing() {
    on_sizes(&[1, 2, 3], |g| {
        let folder = Folder::new(g);
        let (u, area, word) = (g.array::<u32, Block>(5), g.area::<u8>(4), Each::new(String::from("word")));
        u.local_mut().fill(1);
        let mut saved = g.checkpoint(&folder.path).unwrap();
        saved.add("u", &u);
        saved.add("area", &area);
        saved.add("word", &word);
        saved.save(g).unwrap();
        u.local_mut().fill(2);
        let longer = g.area::<u8>(5);
        let mut saved = g.checkpoint(&folder.path).unwrap();
        saved.add("u", &u);
        saved.add("area", &longer);
        saved.add("word", &word);
        let outcome = saved.restore(g);
        let says = ["`area` has 4 elements of rank 0's part of the area, which has 5 now", "checkpoint_misuse.rs:"];
        is_refused(g, outcome, &says);
        assert!(u.local().iter().all(|&x| x == 2));
        folder.remove(g);
    });
}

/// Members that name different folders get one error, and nothing is written.
#[test]
fn members_that_open_different_folders_are_told() {
    on_sizes(&[2, 3], |g| {
        let folder = Folder::new(g);
        let mine = folder.path.join(if g.rank() == 1 { "one" } else { "others" });
        let error = g.checkpoint(&mine).map(drop).unwrap_err();
        check(&error, ErrorKind::DeclMismatch, &["the file ", "others"]);
        is_everybodys(g, &error);
        folder.remove(g);
    });
}

/// A borrow that is alive is an error of all, and the group goes on.
#[test]
fn a_save_of_something_borrowed_is_everybodys_error() {
    on_sizes(&[1, 2, 3], |g| {
        let folder = Folder::new(g);
        let area = g.area::<u8>(4);
        let mut saved = g.checkpoint(&folder.path).unwrap();
        saved.add("area", &area);
        let held = g.is_leader().then(|| area.local_mut());
        let error = saved.save(g).unwrap_err();
        drop(held);
        assert!([ErrorKind::File, ErrorKind::StillBorrowed].contains(&error.kind()), "{error}");
        is_everybodys(g, &error);
        saved.save(g).unwrap();
        folder.remove(g);
    });
}

/// A save that failed behind the program does not keep the next one from being whole.
#[test]
fn a_save_goes_on_after_one_that_failed_behind_the_program() {
    on_sizes(&[1, 2, 3], |g| {
        let folder = Folder::new(g);
        let x = One::new(1u64);
        let mut saved = g.checkpoint(&folder.path).unwrap();
        saved.add("x", &x);
        saved.save(g).unwrap();
        g.leader(|| {
            superstep::files::plan_fault(Some((5, superstep::files::Fault::Broken)));
        });
        let started = saved.start(g);
        x.set(2);
        saved.save(g).unwrap();
        superstep::files::plan_fault(None);
        drop(started);
        assert_eq!(restored(g, &folder.path), Ok(Some(2)));
        folder.remove(g);
    });
}

/// Misuse: two checkpoints in one folder. One of them is told, and what is there is whole.
#[test]
fn two_checkpoints_in_one_folder_never_share_a_generation() {
    on_sizes(&[1, 2, 3], |g| {
        let folder = Folder::new(g);
        let (u, v) = (g.array::<u64, Block>(5000), g.array::<u64, Block>(5000));
        u.local_mut().fill(1);
        v.local_mut().fill(2);
        let [mut one, mut other] = [&u, &v].map(|part| {
            let mut saved = g.checkpoint(&folder.path).unwrap();
            saved.add("u", part);
            saved
        });
        one.start(g).unwrap();
        other.start(g).unwrap();
        other.finish(g).unwrap();
        assert_eq!(other.generation(), Some(2));
        // That was in the way of the other one.
        let outcome = one.finish(g);
        is_refused(g, outcome, &["generation-000001 cannot be written: "]);
        assert!(one.restore(g).unwrap() && one.damaged().is_empty());
        assert!(u.local().iter().all(|&x| x == 2));
        folder.remove(g);
    });
}

/// What is still borrowed is told with the call of the program.
#[test]
fn a_save_of_a_borrowed_array_names_the_save() {
    on_sizes(&[1, 2, 3], |g| {
        let (folder, a) = (Folder::new(g), g.array::<u64, superstep::Cyclic>(30));
        let mut saved = g.checkpoint(&folder.path).unwrap();
        saved.add("a", &a);
        let held = g.is_leader().then(|| a.local_mut());
        let site = format!("checkpoint_misuse.rs:{}", line!() + 1);
        let error = saved.save(g).unwrap_err();
        drop(held);
        check(&error, ErrorKind::StillBorrowed, &["of u64 (Cyclic)", &site]);
        is_everybodys(g, &error);
        saved.save(g).unwrap();
        folder.remove(g);
    });
}
