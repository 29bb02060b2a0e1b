//! What misuse of paged arrays gets (X1, X2, X3).

use crate::{check, failing, is_everybodys, on_sizes};
use std::{
    ops::Range,
    panic::{AssertUnwindSafe, catch_unwind},
};
use superstep::{ErrorKind, Group, Result, Sum, strided};

/// X1: refused at the call, with its numbers, and nothing was sent: the group goes on.
#[test]
fn what_one_processor_can_see_is_refused_at_the_call() {
    on_sizes(&[2, 3, 4], |g| {
        let (me, p) = (g.rank(), g.size());
        let a = g.paged::<u32, 2>([2 * p, 4], [2, 4]);
        let all: Vec<usize> = (0..p).collect();
        let failed = |made: Result| made.expect_err("it is wrong");
        let error = failed(g.try_cohere(&a, (0..2 * p + 1, ..), &all));
        check(&error, ErrorKind::OutOfBounds, &[&format!("0..{} of {} elements", 2 * p + 1, 2 * p), "paged_misuse.rs"]);
        let error = failed(g.try_cohere(&a, (.., strided(0..2, 0)), &all));
        check(&error, ErrorKind::BadSection, &["a stride of 0"]);
        let error = failed(g.try_cohere(&a, (.., ..), &[me, p]));
        check(&error, ErrorKind::RankOutOfRange, &[&format!("rank {p} named in a group of {p}")]);
        let error = failed(g.try_cohere(&a, (0..1, ..), &[(me + 1) % p]));
        check(&error, ErrorKind::NotInSet, &[&format!("rank {me} is not among the ranks [{}]", (me + 1) % p)]);
        let (theirs, them) = (2 * ((me + 1) % p), (me + 1) % p);
        let error = failed(g.try_cohere(&a, (theirs..theirs + 1, ..), &[me]));
        let says = [format!("element [{theirs}, 0]"), format!("belongs to rank {them}"), format!("ranks [{me}]")];
        check(&error, ErrorKind::OwnerNotInGroup, &says.each_ref().map(String::as_str));
        assert!(error.is_misuse() && !error.is_divergence());
        // All of it had no effect.
        g.cohere(&a, (.., ..), &all);
        g.step(|_| ());
    });
}

/// Runs a claim that fails on every processor, and holds the error's kind and words against what they should be.
fn fails(claim: impl Fn(&mut Group) + Sync, kind: ErrorKind, says: &[&str]) {
    failing(&[2, 3, 4], claim, |context, error| {
        assert_eq!(error.kind(), kind, "{context}: {error}");
        check(&error, kind, says);
    });
}

#[test]
fn indices_that_there_are_not_are_refused() {
    let kind = ErrorKind::IndexOutOfRange;
    fails(
        |g| assert_eq!(g.paged::<u8, 2>([4, 4], [2, 4]).read([0, 4]), 0),
        kind,
        &["index 4 in dimension 1", "[4, 4]"],
    );
    fails(|g| g.paged::<u8, 2>([4, 4], [2, 4]).write([4, 0], 1), kind, &["index 4 in dimension 0"]);
    fails(|g| g.paged::<u8, 1>([4], [2]).write(usize::MAX, 1), kind, &["of shape [4]"]);
    fails(|g| drop(g.paged::<u8, 2>([4, 4], [2, 4]).row(9)), kind, &["index 9 in dimension 0"]);
    // Also where there would be nothing of it.
    fails(|g| drop(g.paged::<u8, 2>([4, 0], [2, 4]).row(4)), kind, &["index 4 in dimension 0"]);
    fails(|g| drop(g.paged::<u8, 2>([4, 4], [2, 4]).run([0, 5], 0)), kind, &["index 5 in dimension 1"]);
}

#[test]
fn slices_that_cannot_be_lent_are_refused() {
    let row_of_columns = |g: &mut Group| {
        let a = g.paged::<u8, 2>([4, 4 * g.size()], [4, 4]);
        let _ = a.row(0);
    };
    fails(row_of_columns, ErrorKind::BadSection, &["pages of this array run along dimension 0", "read_section"]);
    let too_long = |g: &mut Group| {
        let a = g.paged::<u8, 2>([g.size(), 4], [1, 4]);
        let _ = a.run([g.size() - 1, 2], 3);
    };
    fails(too_long, ErrorKind::OutOfBounds, &["3 elements from", "1 more than there are"]);
    let twice = |g: &mut Group| {
        let a = g.paged::<u8, 2>([g.size(), 4], [1, 4]);
        let me = g.rank();
        let _first = a.row_mut(me);
        let _second = a.row(me);
    };
    fails(twice, ErrorKind::StillBorrowed, &["paged array [", "drop it first"]);
    let write_under = |g: &mut Group| {
        let a = g.paged::<u8, 2>([g.size(), 4], [1, 4]);
        let me = g.rank();
        let _row = a.row(me);
        a.write([me, 0], 1);
    };
    fails(write_under, ErrorKind::StillBorrowed, &["still borrowed"]);
    let cohere_under = |g: &mut Group| {
        let a = g.paged::<u8, 2>([g.size(), 4], [1, 4]);
        let all: Vec<usize> = (0..g.size()).collect();
        let _row = a.row(g.rank());
        g.cohere(&a, (.., ..), &all);
    };
    fails(cohere_under, ErrorKind::StillBorrowed, &["still borrowed"]);
    // Of a call that has begun, the line of its end is told.
    let finish = line!() + 6;
    let finish_under = |g: &mut Group| {
        let a = g.paged::<u8, 2>([g.size(), 4], [1, 4]);
        let all: Vec<usize> = (0..g.size()).collect();
        let begun = g.begin_cohere(&a, (.., ..), &all);
        let _row = a.row(g.rank());
        begun.finish();
    };
    let says = ["drop it before finish", &format!("paged_misuse.rs:{finish}")];
    fails(finish_under, ErrorKind::StillBorrowed, &says);
    let absent = |g: &mut Group| {
        let a = g.paged::<u8, 2>([g.size(), 4], [1, 4]);
        let _ = a.row((g.rank() + 1) % g.size());
    };
    fails(absent, ErrorKind::NotPresent, &["0] is not present on rank"]);
    let lengths = |g: &mut Group| g.paged::<u8, 1>([4], [4]).write_section(0..2, &[1, 2, 3]);
    fails(lengths, ErrorKind::BadLength, &["3 values for a section of 2"]);
}

#[test]
fn rows_that_there_are_not_are_refused() {
    let beyond = |rows: Range<usize>, says: &str| {
        let claim = |g: &mut Group| drop(g.paged::<u8, 2>([4, 4], [4, 4]).rows(rows.clone()));
        fails(claim, ErrorKind::OutOfBounds, &[says]);
        let claim = |g: &mut Group| drop(g.paged::<u8, 2>([4, 4], [4, 4]).rows_mut(rows.clone()));
        fails(claim, ErrorKind::OutOfBounds, &[says]);
    };
    beyond(2..5, "section 2..5 of 4 elements");
    beyond(5..5, "section 5..5 of 4 elements");
    // So many that their elements, counted in a usize, are those of one row.
    beyond(0..(1 << 62) + 1, "section 0..4611686018427387905 of 4 elements");
    let backwards = |g: &mut Group| drop(g.paged::<u8, 2>([4, 4], [4, 4]).rows(Range { start: 3, end: 1 }));
    fails(backwards, ErrorKind::BadSection, &["section 3..1 runs backwards"]);
}

/// X1: one page that is borrowed, or not there, keeps all others as they are.
#[test]
fn a_section_that_is_refused_was_not_touched() {
    on_sizes(&[1, 2, 3], |g| {
        let (me, p) = (g.rank(), g.size());
        let a = g.paged::<u32, 2>([4 * p, 8], [4, 8]);
        let mine = 4 * me..4 * me + 4;
        let refused = |call: &mut dyn FnMut()| catch_unwind(AssertUnwindSafe(call)).is_err();
        for columns in [0..8, 2..3] {
            let values = vec![7; 4 * columns.len()];
            let row = a.row(mine.end - 1);
            assert!(refused(&mut || a.write_section((mine.clone(), columns.clone()), &values)));
            drop(row);
            assert!(mine.clone().all(|i| a.row(i).iter().all(|&value| value == 0)));
            let row = a.row_mut(mine.end - 1);
            let mut values = vec![9; 3];
            assert!(refused(&mut || a.read_section_into((mine.clone(), columns.clone()), &mut values)));
            assert_eq!(values, [9; 3]);
            drop(row);
            assert!(p == 1 || refused(&mut || a.read_section_into((.., columns.clone()), &mut values)));
            assert_eq!(values, [9; 3]);
        }
        // Nothing of another's was begun, either.
        let (next, row) = (4 * ((me + 1) % p), a.row(mine.start));
        let rows = strided(next.min(mine.start)..=next.max(mine.start), next.abs_diff(mine.start).max(1) as isize);
        let count = if p == 1 { 1 } else { 2 };
        assert!(refused(&mut || a.write_section((rows, 0..1), &vec![7; count])));
        drop(row);
        assert!(p == 1 || !a.is_present([next, 0]));
        assert_eq!(a.copied_bytes(), 0);
    });
}

/// X1: an array for which there is no memory is refused at once, and the group goes on.
#[test]
fn arrays_that_are_too_large_are_refused() {
    on_sizes(&[1, 2, 3], |g| {
        // The table alone would have more bytes than there are addresses.
        let error = g.try_paged::<u8, 2>([1 << 24, 1 << 24], [1, 1]).map(drop).unwrap_err();
        check(&error, ErrorKind::OutOfMemory, &["the system has no memory for", "[16777216, 16777216]", file!()]);
        let a = g.paged::<u8, 1>([4], [4]);
        assert_eq!(g.step(|s| s.reduce(a.shape()[0], Sum)), 4 * g.size());
    });
}

/// X2: where one processor has no memory for its part, all get its error, and the group goes on.
#[test]
fn a_processor_without_memory_is_everybodys_error() {
    on_sizes(&[1, 2, 3], |g| {
        for _ in 0..2 {
            // All of it belongs to rank 0, and has more bytes than there are addresses.
            let before = g.paged::<u8, 1>([4], [1]);
            let error = g.try_paged::<[u64; 64], 1>([1 << 39], [1 << 39]).map(drop).unwrap_err();
            check(&error, ErrorKind::OutOfMemory, &["no memory for rank 0's part of [549755813888]", file!()]);
            is_everybodys(g, &error);
            let after = g.paged::<u8, 1>([4], [1]);
            let all: Vec<usize> = (0..g.size()).collect();
            for a in [before, after] {
                a.indices().for_each(|at| a.write(at, 3));
                g.cohere(&a, .., &all);
                assert_eq!(a.read_section(..), [3; 4]);
            }
        }
    });
}

/// X2: sections that differ are one error on everybody, who waits and who does not.
#[test]
fn sections_that_differ_are_one_error_on_all() {
    let claim = |g: &mut Group| {
        let a = g.paged::<u8, 2>([4, 4], [2, 4]);
        let end = if g.rank() == 0 { 2 } else { 3 };
        if g.rank() < 2 {
            g.cohere(&a, (..end, ..), &[0, 1]);
        }
        g.step(|_| ());
    };
    let says =
        ["rank 0 makes section (0..2, 0..4)", "rank 1 section (0..3, 0..4)", "among ranks [0, 1]", "paged_misuse.rs"];
    fails(claim, ErrorKind::CoherenceMismatch, &says);
}

/// X2: the lower rank is named first, also where it is the one that finds it out.
#[test]
fn of_two_calls_that_differ_that_of_the_lower_rank_is_named_first() {
    let claim = |g: &mut Group| {
        let a = g.paged::<u8, 1>([3], [1]);
        match g.rank() {
            0 => g.cohere(&a, 0..1, &[0, 1]),
            1 => {
                // It never looks at what rank 0 says, because rank 2 waits for that one.
                let begun = g.begin_cohere(&a, 0..2, &[0, 1]);
                g.cohere(&a, 1..2, &[1, 2]);
                begun.finish();
            }
            _ => {
                g.cohere(&a, 0..1, &[0, 2]);
                g.cohere(&a, 1..2, &[1, 2]);
            }
        }
    };
    failing(&[3], claim, |_, error| {
        let says = ["rank 0 makes section (0..1)", "rank 1 section (0..2)", "paged_misuse.rs"];
        check(&error, ErrorKind::CoherenceMismatch, &says);
    });
}

/// X2: so are sets that differ, also for those whom only one side names.
#[test]
fn sets_that_differ_are_one_error_on_all() {
    let claim = |g: &mut Group| {
        let p = g.size();
        let a = g.paged::<u8, 1>([4], [2]);
        let all: Vec<usize> = (0..p).collect();
        let named: &[usize] = if g.rank() == 0 { &[0, 1] } else { &all };
        g.cohere(&a, .., named);
        g.step(|_| ());
    };
    failing(&[3, 4], claim, |_, error| {
        check(&error, ErrorKind::CoherenceMismatch, &["among ranks [0, 1]", "among ranks [0, 1, 2", "rank 0"]);
    });
}

/// X2: a member that does not come at all is missed at its next boundary, or at its end.
#[test]
fn whoever_steps_instead_is_told_and_so_are_all() {
    let steps = |g: &mut Group| {
        let a = g.paged::<u8, 1>([4], [2]);
        if g.rank() == 0 {
            g.cohere(&a, .., &[0, 1]);
        }
        g.step(|_| ());
    };
    fails(steps, ErrorKind::CoherenceMismatch, &["call at", "waits for rank 1", "rank 1 has gone on to the step at"]);
    let ends = |g: &mut Group| {
        let a = g.paged::<u8, 1>([4], [2]);
        if g.rank() == 0 {
            g.cohere(&a, .., &[0, 1]);
        }
    };
    fails(ends, ErrorKind::CoherenceMismatch, &["waits for rank 1", "rank 1 has come to its end"]);
}

/// X2: it is the same error whichever of several misses it first.
#[test]
fn of_several_that_miss_a_member_none_is_named() {
    let line = line!() + 4;
    let claim = |g: &mut Group| {
        let a = g.paged::<u8, 1>([9], [3]);
        if g.rank() != 1 {
            g.cohere(&a, .., &[0, 1, 2]);
        }
    };
    failing(&[3], claim, |_, error| {
        let says = format!("a coherence call at {}:{line} waits for rank 1 to make", file!());
        check(&error, ErrorKind::CoherenceMismatch, &[&says, "rank 1 has come to its end"]);
        assert!(!error.to_string().contains("rank 0") && !error.to_string().contains("rank 2"), "{error}");
    });
}

/// X2: arrays that differ are told at their making.
#[test]
fn arrays_that_differ_are_told_at_their_making() {
    let claim = |g: &mut Group| {
        let block = if g.is_leader() { 2 } else { 3 };
        g.paged::<u8, 1>([9], [block]);
    };
    let says = ["paged array [9] of u8 in blocks of [2]", "in blocks of [3]"];
    fails(claim, ErrorKind::DeclMismatch, &says);
}

/// G7: an array of an outer group is not a subgroup's.
#[test]
fn an_array_of_another_group_is_refused() {
    let claim = |g: &mut Group| {
        let a = g.paged::<u8, 1>([9], [2]);
        g.split(1, |sub| sub.cohere(&a, .., &[sub.rank()]));
    };
    fails(claim, ErrorKind::NotMember, &["this paged array belongs to group 0"]);
}

/// G6: who leaves takes its part of the array along, and the rest are told.
#[test]
fn an_array_of_which_an_owner_has_left_is_refused() {
    on_sizes(&[3, 4], |g| {
        g.split(1, |sub| {
            let a = sub.paged::<u8, 1>([9], [2]);
            a.write(2 * sub.rank(), 1);
            if sub.rank() == 1 {
                return;
            }
            sub.step(|_| ());
            let mine = 2 * if sub.rank() == 0 { 0 } else { sub.rank() + 1 };
            assert_eq!(a.read(mine), 1);
            let error = sub.try_cohere(&a, 0..1, &[0, sub.rank()]).expect_err("rank 1 has left");
            check(&error, ErrorKind::Departed, &["rank 1 of the group that made this array has left"]);
            // A new one lies over those who are left.
            let b = sub.paged::<u8, 1>([sub.size()], [1]);
            b.write(sub.rank(), 3);
            let all: Vec<usize> = (0..sub.size()).collect();
            sub.cohere(&b, .., &all);
            assert_eq!(b.read_section(..), vec![3; sub.size()]);
        });
    });
}

/// X3: whoever waits in a coherence call hears of a panic elsewhere.
#[test]
fn a_panic_ends_the_waits_of_all() {
    let claim = |g: &mut Group| {
        let a = g.paged::<u8, 1>([9], [2]);
        assert!(g.rank() != 1, "rank 1 has had enough");
        let all: Vec<usize> = (0..g.size()).collect();
        g.cohere(&a, .., &all);
    };
    fails(claim, ErrorKind::Panicked, &["rank 1 has had enough"]);
}

/// X2: calls that wait for each other in a circle are told, on every fabric.
#[test]
fn calls_that_wait_in_a_circle_are_one_error_on_all() {
    let claim = |g: &mut Group| {
        let (me, p) = (g.rank(), g.size());
        let a = g.paged::<u8, 1>([p], [1]);
        if me < 3 {
            g.cohere(&a, 0..0, &[me, (me + 1) % 3]);
            g.cohere(&a, 0..0, &[(me + 2) % 3, me]);
        }
        g.step(|_| ());
    };
    failing(&[3, 4], claim, |context, error| {
        let says = [
            "rank 0 waits at",
            "for rank 1",
            "rank 1 waits at",
            "for rank 2",
            "for rank 0: nobody can go on",
            "one order",
        ];
        assert_eq!(error.kind(), ErrorKind::CoherenceMismatch, "{context}: {error}");
        check(&error, ErrorKind::CoherenceMismatch, &says);
    });
}

/// X2, X3: a circle is found though letters of its members are still on their way when they begin to wait.
#[test]
fn a_circle_is_found_while_letters_are_on_their_way() {
    let claim = |g: &mut Group| {
        let a = g.paged::<u64, 1>([3000], [1000]);
        let begin = || g.begin_cohere(&a, 0..2000, &[0, 1]);
        let _begun = match g.rank() {
            0 => {
                let begun = begin();
                g.cohere(&a, 2000..3000, &[0, 2]);
                begun
            }
            1 => {
                let begun = begin();
                g.cohere(&a, 0..2000, &[0, 1]);
                begun
            }
            _ => {
                g.cohere(&a, 1000..3000, &[1, 2]);
                begin()
            }
        };
    };
    failing(&[3], claim, |_, error| {
        check(&error, ErrorKind::CoherenceMismatch, &["rank 0 waits at", "rank 1 waits at", "nobody can go on"]);
    });
}

/// X3: the run has failed, and goes on to its end without a panic of its own.
#[test]
fn a_call_that_is_forgotten_fails_the_run_once() {
    let claim = |g: &mut Group| {
        let (p, me) = (g.size(), g.rank());
        let all: Vec<usize> = (0..p).collect();
        let a = g.paged::<u32, 1>([p * 4], [4]);
        if me == 1 {
            std::mem::forget(g.begin_cohere(&a, .., &all));
        } else {
            g.cohere(&a, .., &all);
        }
        let _ = g.try_step(|_| ());
    };
    failing(&[2, 3], claim, |context, error| {
        assert_eq!(error.kind(), ErrorKind::StillBorrowed, "{context}: {error}");
    });
}
