//! Coherence calls that are under way at the same time (C2), and what becomes of those that are not finished (X2, X3).

use crate::{check, failing, on_sizes};
use std::{
    mem::forget,
    panic::{AssertUnwindSafe, catch_unwind},
};
use superstep::{Cohering, ErrorKind, Group, Paged, strided};

/// Calls count in the order in which they were begun: what was written between two belongs to the second.
#[test]
fn what_is_written_between_two_calls_belongs_to_the_second() {
    on_sizes(&[2, 3], |g| {
        let (me, pair) = (g.rank(), [0, 1]);
        for writer in pair {
            let a = g.paged::<u64, 1>([g.size()], [1]);
            if me > 1 {
                continue;
            }
            let first = g.begin_cohere(&a, 1..2, &pair);
            if me == writer {
                a.write(1, 7);
            }
            let second = g.begin_cohere(&a, 1..2, &pair);
            first.finish();
            assert_eq!(a.read(1), if me == writer { 7 } else { 0 }, "rank {writer} writes");
            second.finish();
            assert_eq!(a.read(1), 7);
            g.cohere(&a, 1..2, &pair);
            assert_eq!(a.read(1), 7);
        }
    });
}

/// The owner's later write stands, though another wrote before the first call.
#[test]
fn a_later_write_of_the_owner_stands() {
    on_sizes(&[2, 4], |g| {
        let (me, pair) = (g.rank(), [0, 1]);
        let a = g.paged::<u64, 1>([g.size()], [1]);
        if me < 2 {
            if me == 0 {
                a.write(1, 5);
            }
            let first = g.begin_cohere(&a, 1..2, &pair);
            if me == 1 {
                a.write(1, 7);
            }
            let second = g.begin_cohere(&a, 1..2, &pair);
            first.finish();
            assert_eq!(a.read(1), if me == 0 { 5 } else { 7 });
            second.finish();
            assert_eq!(a.read(1), 7);
            g.cohere(&a, 1..2, &pair);
            assert_eq!(a.read(1), 7);
        }
    });
}

/// So does one that no later call has told.
#[test]
fn a_write_of_the_owner_after_the_call_was_begun_stands() {
    on_sizes(&[2, 4], |g| {
        let (me, pair) = (g.rank(), [0, 1]);
        let a = g.paged::<u64, 1>([g.size()], [1]);
        if me < 2 {
            if me == 0 {
                a.write(1, 5);
            }
            let begun = g.begin_cohere(&a, 1..2, &pair);
            if me == 1 {
                a.write(1, 7);
            }
            begun.finish();
            assert_eq!(a.read(1), if me == 0 { 5 } else { 7 });
            g.cohere(&a, 1..2, &pair);
            assert_eq!(a.read(1), 7);
        }
    });
}

/// The owner has told others a value that an earlier call, not finished yet, replaces: everybody hears of it.
#[test]
fn an_owner_that_has_told_an_old_value_is_refused() {
    let claim = |g: &mut Group| {
        let (me, pair) = (g.rank(), [0, 1]);
        let a = g.paged::<u64, 1>([g.size()], [1]);
        match me {
            0 => {
                a.write(1, 5);
                g.cohere(&a, 1..2, &pair);
                g.cohere(&a, 1..2, &pair);
            }
            1 => {
                let first = g.begin_cohere(&a, 1..2, &pair);
                let second = g.begin_cohere(&a, 1..2, &pair);
                first.finish();
                second.finish();
            }
            _ => {}
        }
        g.step(|_| ());
    };
    failing(&[2, 3], claim, |context, error| {
        assert_eq!(error.kind(), ErrorKind::CoherenceMismatch, "{context}: {error}");
        let says = ["rank 0 wrote element [1] of rank 1", "paged_flight.rs", "finish a call before the next one"];
        check(&error, ErrorKind::CoherenceMismatch, &says);
    });
}

/// The same whichever call is finished first, and though the owner writes the element before a further call.
#[test]
fn an_old_value_is_refused_whatever_comes_after_it() {
    let pair = &[0, 1];
    let finished_first = |g: &Group, a: &Paged<u64, 1>| {
        let first = g.begin_cohere(a, 1..2, pair);
        g.cohere(a, 1..2, pair);
        first.finish();
        g.cohere(a, 1..2, pair);
    };
    let written_later = |g: &Group, a: &Paged<u64, 1>| {
        let first = g.begin_cohere(a, 1..2, pair);
        let second = g.begin_cohere(a, 1..2, pair);
        a.write(1, 8);
        let third = g.begin_cohere(a, 1..2, pair);
        [first, second, third].into_iter().for_each(Cohering::finish);
    };
    let ways: [&(dyn Fn(&Group, &Paged<u64, 1>) + Sync); 2] = [&finished_first, &written_later];
    for owner in ways {
        let claim = |g: &mut Group| {
            let a = g.paged::<u64, 1>([g.size()], [1]);
            match g.rank() {
                0 => {
                    a.write(1, 5);
                    (0..3).for_each(|_| g.cohere(&a, 1..2, pair));
                }
                1 => owner(g, &a),
                _ => {}
            }
            g.step(|_| ());
        };
        failing(&[2, 3], claim, |_, error| {
            let says = ["rank 0 wrote element [1] of rank 1", "paged_flight.rs", "finish a call before the next one"];
            check(&error, ErrorKind::CoherenceMismatch, &says);
        });
    }
}

/// What a later call has brought and was dropped does not come back as what it was before, or as nothing.
#[test]
fn what_was_dropped_meanwhile_stays_away() {
    let drops: [fn(&Paged<u64, 2>); 3] = [
        |a| a.forget((..2, ..)),
        |a| a.limit_copies(64),
        |a| {
            a.forget((..2, ..));
            assert!(!a.prefetch((..2, ..)));
        },
    ];
    on_sizes(&[2, 3], |g| {
        let (me, p, pair) = (g.rank(), g.size(), [0, 1]);
        for drop_copies in drops {
            let a = g.paged::<u64, 2>([2 * p, 8], [1, 8]);
            if me > 1 {
                continue;
            }
            a.row_mut(me).fill(10);
            let first = g.begin_cohere(&a, (..2, ..6), &pair);
            a.row_mut(me).fill(20);
            let second = g.begin_cohere(&a, (..2, 2..), &pair);
            second.finish();
            // What the last call has brought would stay within any limit.
            g.cohere(&a, (p..p + 2, ..), &pair);
            assert_eq!(a.read_section((1 - me..2 - me, 2..)), [20; 6]);
            drop_copies(&a);
            assert!((0..8).all(|j| !a.is_present([1 - me, j])));
            first.finish();
            let seen = |j| a.is_present([1 - me, j]).then(|| a.read([1 - me, j]));
            assert_eq!([0, 1, 2, 5, 6, 7].map(seen), [Some(10), Some(10), None, None, None, None]);
            assert_eq!(*a.row(me), [20; 8]);
            g.cohere(&a, (..2, ..), &pair);
            assert_eq!(*a.row(1 - me), [20; 8]);
        }
    });
}

/// A call that is under way has made nothing coherent yet: what was written before it stays.
#[test]
fn what_was_written_is_kept_until_its_call_is_finished() {
    on_sizes(&[2, 3], |g| {
        let (me, pair) = (g.rank(), [0, 1]);
        let a = g.paged::<u64, 2>([g.size(), 4], [1, 4]);
        if me < 2 {
            a.write([1 - me, 2], 5);
            let begun = g.begin_cohere(&a, (..2, ..), &pair);
            a.forget((.., ..));
            a.limit_copies(0);
            assert_eq!(a.read([1 - me, 2]), 5);
            begun.finish();
            assert_eq!(a.read_section((..2, ..)), [0, 0, 5, 0, 0, 0, 5, 0]);
            a.forget((.., ..));
            assert!(!a.is_present([1 - me, 2]));
        }
    });
}

/// Calls may be finished in any order, and others may be made meanwhile; what they bring is as old as they are.
#[test]
fn calls_are_finished_in_any_order() {
    on_sizes(&[2, 3, 4], |g| {
        let (me, p) = (g.rank(), g.size());
        let all: Vec<usize> = (0..p).collect();
        let (a, b) = (g.paged::<usize, 1>([100 * p], [100]), g.paged::<usize, 1>([p], [1]));
        for round in 1..4 {
            a.run_mut(100 * me, 100).fill(10 * round);
            b.write(me, 10 * round);
            let first = g.begin_cohere(&a, .., &all);
            let second = g.begin_cohere(&b, .., &all);
            a.run_mut(100 * me, 100).fill(10 * round + 1);
            g.cohere(&a, .., &all);
            assert_eq!(a.read_section(..), vec![10 * round + 1; 100 * p]);
            second.finish();
            assert_eq!(b.read_section(..), vec![10 * round; p]);
            first.finish();
            assert_eq!(a.read_section(..), vec![10 * round + 1; 100 * p]);
        }
        g.step(|_| ());
    });
}

/// Nobody's write waits for a peer that has begun a call and does not finish it: rank 1 waits for rank 2, which waits
/// for rank 0, which writes what it has lent to rank 1.
#[test]
fn a_write_does_not_wait_for_who_has_begun_a_call() {
    on_sizes(&[3], |g| {
        for width in [1, 4, 64, 2000] {
            let a = g.paged::<usize, 2>([3, width], [1, width]);
            a.row_mut(g.rank()).fill(10 + g.rank());
            match g.rank() {
                0 => {
                    g.cohere(&a, (0..2, ..), &[0, 1]);
                    a.write([0, 0], 99);
                    g.cohere(&a, (strided(0..3, 2), ..), &[0, 2]);
                }
                1 => {
                    let begun = g.begin_cohere(&a, (0..2, ..), &[0, 1]);
                    g.cohere(&a, (1..3, ..), &[1, 2]);
                    begun.finish();
                    assert_eq!(a.read_section((0..1, ..)), vec![10; width], "not what was written later");
                }
                _ => {
                    g.cohere(&a, (strided(0..3, 2), ..), &[0, 2]);
                    g.cohere(&a, (1..3, ..), &[1, 2]);
                    assert_eq!(a.read([0, 0]), 99);
                }
            }
        }
    });
}

/// A call that is dropped is finished there.
#[test]
fn a_call_that_is_dropped_is_finished() {
    on_sizes(&[1, 2, 3], |g| {
        let all: Vec<usize> = (0..g.size()).collect();
        let a = g.paged::<usize, 1>([g.size()], [1]);
        for round in 0..3 {
            a.write(g.rank(), round);
            if g.rank() == 0 {
                drop(g.begin_cohere(&a, .., &all));
            } else {
                g.cohere(&a, .., &all);
            }
            assert_eq!(a.read_section(..), vec![round; g.size()]);
        }
        g.step(|_| ());
    });
}

/// Whoever never finishes a call ends the run at its next boundary or its end: others may wait for what comes next.
#[test]
fn a_call_that_is_never_finished_is_told() {
    let abandon = |g: &mut Group, leaves: bool, how: fn(Cohering<'_, u8, 1>)| {
        let all: Vec<usize> = (0..g.size()).collect();
        let a = g.paged::<u8, 1>([9], [2]);
        if g.rank() == 0 {
            how(g.begin_cohere(&a, .., &all));
        } else {
            g.cohere(&a, .., &all);
            if leaves {
                g.cohere(&a, .., &all);
            }
        }
        if !leaves {
            g.step(|_| ());
        }
    };
    let forgotten = |begun: Cohering<'_, u8, 1>| forget(begun);
    let panicked = |begun: Cohering<'_, u8, 1>| {
        let caught = catch_unwind(AssertUnwindSafe(|| {
            let _begun = begun;
            std::panic::resume_unwind(Box::new("caught"));
        }));
        assert!(caught.is_err());
    };
    for leaves in [false, true] {
        for how in [forgotten as fn(Cohering<'_, u8, 1>), panicked] {
            failing(
                &[2, 3],
                |g: &mut Group| abandon(g, leaves, how),
                |context, error| {
                    assert_eq!(error.kind(), ErrorKind::StillBorrowed, "{context}: {error}");
                    check(&error, ErrorKind::StillBorrowed, &["begun at", "paged_flight.rs", "not finished"]);
                },
            );
        }
    }
}
