//! Every call of the system that a save makes fails in turn: there is always a whole generation, and it restores.

use crate::{
    arrays::fill,
    check,
    files::{Folder, is_refused},
    is_everybodys, on_sizes,
};
use superstep::{
    Block, ErrorKind, Group,
    files::{Fault, One, plan_fault},
};

/// What a new handle finds: the value, and whether the array has it everywhere.
fn found(g: &mut Group, folder: &Folder) -> (bool, usize) {
    let (a, x) = (g.array::<usize, Block>(20), One::new(0));
    let mut saved = g.checkpoint(&folder.path).unwrap();
    saved.add("a", &a);
    saved.add("x", &x);
    let is_there = saved.restore(g).unwrap();
    assert!(a.local().iter().all(|&element| element == x.get()), "{:?}", a.local());
    assert!(saved.damaged().is_empty(), "{:?}", saved.damaged());
    (is_there, x.get())
}

/// Issue 20: out of space, an I/O error, a short write and an interruption, at each call.
#[test]
fn a_save_that_fails_leaves_a_whole_generation() {
    on_sizes(&[1, 2], |g| {
        let p = g.size();
        // Two kinds of fault on each number of processors.
        for fault in [[Fault::NoSpace, Fault::Short], [Fault::Broken, Fault::Interrupted]][p % 2] {
            for victim in 0..p {
                let (folder, mut failed) = (Folder::new(g), 0);
                let (a, x) = (g.array::<usize, Block>(20), One::new(0));
                let mut saved = g.checkpoint(&folder.path).unwrap();
                saved.add("a", &a);
                saved.add("x", &x);
                let mut before = None;
                for call in 0.. {
                    let value = call as usize + 1;
                    fill(&a, |_| value);
                    x.set(value);
                    plan_fault((g.rank() == victim).then_some((call, fault)));
                    let outcome = saved.save(g);
                    let calls = plan_fault(None);
                    let calls = g.step(|s| s.collect(calls))[victim];
                    let (is_there, now) = found(g, &folder);
                    match &outcome {
                        Ok(()) => assert_eq!((is_there, now), (true, value)),
                        Err(error) => {
                            check(error, ErrorKind::File, &[" cannot be "]);
                            is_everybodys(g, error);
                            // What fails behind the rename need not take it back.
                            assert!(is_there == before.is_some() || now == value);
                            assert!(!is_there || Some(now) == before || now == value, "{now} after {before:?}");
                            failed += 1;
                        }
                    }
                    before = is_there.then_some(now);
                    if call > calls {
                        break;
                    }
                }
                let is_harmless = matches!(fault, Fault::Short | Fault::Interrupted);
                assert_eq!(failed == 0, is_harmless, "{fault:?} on rank {victim}: {failed} failed");
                folder.remove(g);
            }
        }
    });
}

/// Issue 20: what goes wrong behind the program is told at its next turn, once, to all.
#[test]
fn what_goes_wrong_behind_the_program_is_told_at_the_next_turn() {
    on_sizes(&[1, 2, 4], |g| {
        let (folder, a) = (Folder::new(g), g.array::<usize, Block>(100));
        let mut saved = g.checkpoint(&folder.path).unwrap();
        saved.add("a", &a);
        saved.save(g).unwrap();
        let last = g.size() - 1;
        // Members have made a copy by then, and the leader its files: the second call of the last member writes.
        let after = if g.is_leader() { 4 } else { 1 };
        plan_fault((g.rank() == last).then_some((after, Fault::NoSpace)));
        let outcome = saved.start(g).and_then(|()| {
            loop {
                match saved.turn(g) {
                    Ok(_) if saved.generation() == Some(1) => {}
                    outcome => break outcome,
                }
            }
        });
        plan_fault(None);
        is_refused(g, outcome, &["0-a cannot be written: "]);
        assert!(saved.restore(g).unwrap());
        assert_eq!(saved.generation(), Some(1));
        saved.save(g).unwrap();
        folder.remove(g);
    });
}

/// A restore whose calls fail takes the newest generation, or names it as damaged and takes the one before, or is an
/// error of all: it never takes an older one in silence.
#[test]
fn a_restore_whose_calls_fail_passes_over_nothing_in_silence() {
    on_sizes(&[1, 2], |g| {
        let (folder, p) = (Folder::new(g), g.size());
        let (a, x) = (g.array::<usize, Block>(20), One::new(0));
        let mut saved = g.checkpoint(&folder.path).unwrap();
        saved.add("a", &a);
        saved.add("x", &x);
        for value in 1..3 {
            fill(&a, |_| value);
            x.set(value);
            saved.save(g).unwrap();
        }
        let mut seen = [0; 3];
        for fault in [Fault::Broken, Fault::Interrupted] {
            for victim in 0..p {
                for call in 0.. {
                    plan_fault((g.rank() == victim).then_some((call, fault)));
                    let outcome = saved.restore(g);
                    let calls = plan_fault(None);
                    let calls = g.step(|s| s.collect(calls))[victim];
                    match outcome {
                        Ok(is_there) => {
                            let named = usize::from(!saved.damaged().is_empty());
                            assert_eq!((is_there, x.get()), (true, 2 - named), "{fault:?} at {call} of {victim}");
                            assert!(a.local().iter().all(|&element| element == x.get()));
                            seen[named] += 1;
                        }
                        Err(error) => {
                            check(&error, ErrorKind::File, &[" cannot be read: the device fails"]);
                            is_everybodys(g, &error);
                            seen[2] += 1;
                        }
                    }
                    if call > calls {
                        break;
                    }
                }
            }
        }
        assert!(seen.iter().all(|&count| count > 2), "{seen:?}");
        folder.remove(g);
    });
}
