//! What misuse of arrays gets (X1, X2; the list of misuse under distributed arrays).

use crate::{SEVERAL, SIZES, check, everywhere, failing, here, is_everybodys, on_sizes};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use superstep::{Any, Array, Block, Cyclic, ErrorKind, Group, Local, Sum, strided};

/// Numbers that are no index of something of `len` elements; among them what negative ones turn into.
fn beyond(len: usize) -> [usize; 5] {
    [len, len + 1, usize::MAX, -2isize as usize, i64::MIN as usize]
}

/// X1: index ≥ len, negative, `i64::MIN`; what is refused has queued nothing, wherever in the list it stands.
#[test]
fn an_index_that_is_not_there_is_refused_and_nothing_of_its_call_is_queued() {
    on_sizes(&SIZES, |g| {
        let a = g.array::<u64, Cyclic>(5);
        let p = g.size() as u64;
        let read = g.step(|s| {
            s.scatter(&a, &[0, 1], &[1, 1], Sum);
            s.scatter_one(&a, &[4], 1, Sum);
            for bad in beyond(5) {
                let words = format!("step 1 of group 0: index {bad} of an array of 5");
                let (error, place) = (s.try_scatter(&a, &[0, 4, bad, 2], &[9, 9, 9, 9], Sum).unwrap_err(), here());
                check(&error, ErrorKind::IndexOutOfRange, &[&words, &place]);
                let (error, place) = (s.try_scatter(&a, &[1, bad], &[9, 9], Any).unwrap_err(), here());
                check(&error, ErrorKind::IndexOutOfRange, &[&words, &place]);
                let (error, place) = (s.try_scatter_one(&a, &[3, 4, bad], 9, Sum).unwrap_err(), here());
                check(&error, ErrorKind::IndexOutOfRange, &[&words, &place]);
                let (error, place) = (s.try_scatter_one(&a, &[4, 4, bad, 0], 1, Sum).unwrap_err(), here());
                check(&error, ErrorKind::IndexOutOfRange, &[&words, &place]);
                let (error, place) = (s.try_gather(&a, &[0, bad, usize::MAX]).unwrap_err(), here());
                check(&error, ErrorKind::IndexOutOfRange, &[&words, &place]);
                assert!(error.is_misuse());
            }
            s.scatter_one(&a, &[4], 1, Sum);
            s.mirror(&a, ..)
        });
        assert_eq!(read, [p, p, 0, 0, 2 * p]);
    });
}

/// X1: an array that is empty has no index at all.
#[test]
fn an_empty_array_has_no_index() {
    everywhere(|g| {
        let a = g.array::<u8, Block>(0);
        g.step(|s| {
            let errors = [
                s.try_scatter(&a, &[0], &[1], Sum).unwrap_err(),
                s.try_scatter_one(&a, &[0], 1, Sum).unwrap_err(),
                s.try_gather(&a, &[0]).unwrap_err(),
            ];
            for error in errors {
                check(&error, ErrorKind::IndexOutOfRange, &["index 0 of an array of 0"]);
            }
        });
        assert_eq!(g.step(|s| s.mirror(&a, ..)), [0u8; 0]);
    });
}

/// X1: what is not tried but done ends the run, with the caller's line; so do look-ups.
#[test]
fn a_call_with_a_bad_index_ends_the_run_with_its_line() {
    let calls: [fn(&mut Group, &Array<u8, Block>); 13] = [
        |g, a| g.step(|s| s.scatter(a, &[6], &[1], Sum)),
        |g, a| g.step(|s| s.scatter_one(a, &[6], 1, Sum)),
        |g, a| g.step(|s| s.scatterer(a, Sum).push(6, 1)),
        |g, a| g.step(|s| s.scatterer_one(a, 1, Sum).push(6)),
        |g, a| drop(g.step(|s| s.gather(a, &[6]))),
        |g, a| drop(g.step(|s| s.gather_into(a, &[6], vec![]))),
        |g, a| g.step(|s| s.gatherer(a).push(6)),
        |_, a| assert!(a.owner(6) < 99),
        |_, a| assert!(a.is_owned([6])),
        |_, a| assert!(a.offset(6) < 99),
        |_, a| assert!(a.index(6) < 99),
        |_, a| assert!(a.place(6) < [99]),
        |_, a| assert!(a.get(6) < 99),
    ];
    for (number, call) in calls.into_iter().enumerate() {
        failing(
            &[1, 3],
            |g| {
                let a = g.array::<u8, Block>(6);
                call(g, &a);
            },
            |context, error| {
                check(&error, ErrorKind::IndexOutOfRange, &["step 1 of group 0: index 6 of an array of 6", file!()]);
                assert!(error.is_misuse(), "call {number} on {context}");
            },
        );
    }
    failing(
        &[2],
        |g| g.array_with::<u8, _, 2>([3, 4], Block::new()).set([2, 4], 1),
        |_, error| {
            let words = "index 4 in dimension 1 of an array of shape [3, 4]";
            check(&error, ErrorKind::IndexOutOfRange, &[words, file!()]);
        },
    );
    failing(
        &[2],
        |g| assert_eq!(g.array::<u8, Block>(3).len_of(2), 0),
        |_, error| check(&error, ErrorKind::RankOutOfRange, &["rank 2 named in a group of 2", file!()]),
    );
}

/// X1: start > end, stride 0, a stride against its bounds, and what lies outside; an empty section is no error.
#[test]
fn sections_that_make_no_sense_are_refused() {
    everywhere(|g| {
        let a = g.array::<u8, Cyclic>(8);
        let b = g.array_with::<u8, _, 2>([3, 4], Block::new());
        let read = g.step(|s| {
            for (error, words) in [
                (s.try_mirror(&a, 5..3).unwrap_err(), "section 5..3 runs backwards"),
                (s.try_update(&a, 5..=3, &[]).unwrap_err(), "section 5..=3 runs backwards"),
                (s.try_mirror(&a, strided(.., 0)).unwrap_err(), "section .. by 0 has a stride of 0"),
                (s.try_update(&a, strided(2..4, 0), &[]).unwrap_err(), "has a stride of 0"),
                (s.try_mirror(&a, strided(2..5, -1)).unwrap_err(), "counts down from the lower bound"),
                (s.try_mirror(&a, strided(5..2, 1)).unwrap_err(), "runs backwards"),
                (s.try_update_with(&b, (.., 3..1), &[], Sum).unwrap_err(), "section 3..1 runs backwards"),
            ] {
                check(&error, ErrorKind::BadSection, &["step 2 of group 0", words, file!()]);
                assert!(error.is_misuse());
            }
            for (error, words) in [
                (s.try_mirror(&a, 6..9).unwrap_err(), "section 6..9 of 8 elements"),
                (s.try_update(&a, 8..=8, &[1]).unwrap_err(), "section 8..=8 of 8 elements"),
                (s.try_mirror(&a, ..=usize::MAX).unwrap_err(), "of 8 elements"),
                (s.try_mirror(&a, strided(8..=0, -1)).unwrap_err(), "of 8 elements"),
                (s.try_mirror(&b, (.., 3..5)).unwrap_err(), "section 3..5 of 4 elements"),
                (s.try_mirror(&b, (3..4, ..)).unwrap_err(), "section 3..4 of 3 elements"),
            ] {
                check(&error, ErrorKind::OutOfBounds, &["step 2 of group 0", words, file!()]);
            }
            s.update(&a, 4..4, &[]);
            s.update(&a, 8.., &[]);
            (s.mirror(&a, 8..8), s.mirror(&b, (3.., ..)), s.mirror(&a, ..))
        });
        assert_eq!(read, (vec![], vec![], vec![0; 8]));
    });
    failing(
        &[1, 2],
        |g| g.array::<u8, Block>(4).forall_mut_in(2..5, |_, _| ()),
        |_, error| check(&error, ErrorKind::OutOfBounds, &["section 2..5 of 4 elements", file!()]),
    );
    failing(
        &[1, 2],
        |g| g.array_with::<u8, _, 2>([4, 4], Block::new()).forall_mut_in((.., strided(.., 0)), |_, _| ()),
        |_, error| check(&error, ErrorKind::BadSection, &["has a stride of 0", file!()]),
    );
}

/// X1: a value for every element and for none besides.
#[test]
fn lists_of_the_wrong_length_are_refused_and_queue_nothing() {
    everywhere(|g| {
        let a = g.array::<u8, Block>(8);
        let read = g.step(|s| {
            for (error, words) in [
                (s.try_update(&a, 2..5, &[1, 1]).unwrap_err(), "2 values for section 2..5, which has 3 elements"),
                (s.try_update(&a, .., &[1; 9]).unwrap_err(), "9 values for section .., which has 8 elements"),
                (s.try_update_with(&a, ..0, &[1], Sum).unwrap_err(), "1 values for section ..0, which has 0"),
                (s.try_scatter(&a, &[1, 2], &[1], Sum).unwrap_err(), "a scatter of 1 values to 2 indices"),
                (s.try_scatter(&a, &[], &[1], Sum).unwrap_err(), "a scatter of 1 values to 0 indices"),
            ] {
                check(&error, ErrorKind::BadLength, &["step 1 of group 0", words, file!()]);
            }
            s.mirror(&a, ..)
        });
        assert_eq!(read, [0; 8]);
    });
}

/// X1: what somebody else owns is neither read nor written without a step.
#[test]
fn elements_of_others_are_neither_read_nor_written_alone() {
    failing(
        &SEVERAL,
        |g| {
            let a = g.array::<u8, Block>(g.size());
            a.get((g.rank() + 1) % g.size());
        },
        |_, error| {
            check(&error, ErrorKind::NotMirrored, &["step 1 of group 0: element [", "belongs to rank", file!()]);
        },
    );
    failing(
        &SEVERAL,
        |g| {
            let a = g.array_with::<u8, _, 2>([g.size(), 3], Cyclic::new());
            a.set([(g.rank() + 1) % g.size(), 2], 1);
        },
        |_, error| check(&error, ErrorKind::NotOwned, &[", 2] belongs to rank", "update or scatter it", file!()]),
    );
}

/// X1: an array of the parent inside a subgroup, and one of a subgroup outside of it.
#[test]
fn an_array_is_used_in_steps_of_its_own_group_alone() {
    everywhere(|g| {
        let a = g.array::<u8, Block>(4);
        let inner = g.split(1, |sub| {
            sub.step(|s| {
                for error in [
                    s.try_mirror(&a, ..).unwrap_err(),
                    s.try_gather(&a, &[]).unwrap_err(),
                    s.try_update(&a, .., &[1; 4]).unwrap_err(),
                    s.try_scatter(&a, &[1], &[1], Sum).unwrap_err(),
                    s.try_scatter_one(&a, &[1], 1, Sum).unwrap_err(),
                ] {
                    check(
                        &error,
                        ErrorKind::NotMember,
                        &["step 0 of group 0/0: this array belongs to group 0;", file!()],
                    );
                    assert!(error.is_misuse());
                }
            });
            Local(sub.array::<u8, Cyclic>(4))
        });
        let inner = inner.expect("everybody was in it");
        g.step(|s| {
            let error = s.try_update(&inner, .., &[1; 4]).unwrap_err();
            check(&error, ErrorKind::NotMember, &["step 3 of group 0: this array belongs to group 0/0", file!()]);
        });
        // What it holds here is still here.
        assert!(inner.local().iter().chain(&*a.local()).all(|&value| value == 0));
    });
    let calls: [fn(&mut Group, &Array<u8, Block>); 3] = [
        |g, a| g.step(|s| s.scatterer(a, Any).push(0, 1)),
        |g, a| g.step(|s| s.scatterer_one(a, 1, Any).push(0)),
        |g, a| drop(g.step(|s| s.gatherer(a).finish())),
    ];
    for call in calls {
        failing(
            &[1, 2],
            |g| {
                let a = g.array::<u8, Block>(4);
                g.split(2, |sub| call(sub, &a));
            },
            |_, error| check(&error, ErrorKind::NotMember, &["belongs to group 0", file!()]),
        );
    }
}

/// X1: a permutation that is refused because an array is lent leaves what the step has written before.
#[test]
fn a_whole_array_verb_whose_source_is_lent_is_refused_and_takes_nothing_with_it() {
    on_sizes(&SIZES, |g| {
        let (me, p) = (g.rank(), g.size());
        let (a, b, to) = (g.array::<usize, Block>(p), g.array::<usize, Block>(p), g.array::<usize, Block>(p));
        b.local_mut().fill(4);
        to.forall_mut(|i, place| *place = i);
        g.step(|s| {
            s.scatter(&a, &[me], &[7], Any);
            if me == p - 1 {
                for lent in [to.local_mut(), b.local_mut()] {
                    let (place, error) = (here(), s.try_permute(&a, &b, &to).unwrap_err());
                    check(&error, ErrorKind::StillBorrowed, &["is borrowed twice", &place]);
                    drop(lent);
                }
            }
        });
        assert_eq!(g.step(|s| s.mirror(&a, ..)), vec![7; p]);
    });
}

/// X1: a call that was refused may be made again, and counts once.
#[test]
fn whole_array_verbs_that_were_refused_may_be_called_again() {
    on_sizes(&SIZES, |g| {
        let (me, p) = (g.rank(), g.size());
        let (a, b) = (g.array::<usize, Block>(p), g.array::<usize, Cyclic>(p));
        b.local_mut().fill(4);
        let whole = vec![3; p];
        g.step(|s| {
            if me == 0 {
                assert_eq!(s.try_scatter_from(0, &a, None).unwrap_err().kind(), ErrorKind::NoValue);
                assert_eq!(s.try_scatter_from(0, &a, Some(&[])).unwrap_err().kind(), ErrorKind::BadLength);
            }
            s.scatter_from(0, &a, Some(&whole));
        });
        assert_eq!(g.step(|s| s.mirror(&a, ..)), whole);
        g.step(|s| {
            if me == p - 1 {
                let lent = b.local_mut();
                let (place, error) = (here(), s.try_assign(&a, &b).unwrap_err());
                check(&error, ErrorKind::StillBorrowed, &["is borrowed twice", &place]);
                drop(lent);
            }
            s.assign(&a, &b);
        });
        assert_eq!(g.step(|s| s.mirror(&a, ..)), vec![4; p]);
    });
}

/// G7 and X2: a borrow of a part that outlives its subgroup is an error at the program's line.
#[test]
fn a_part_that_is_still_borrowed_at_the_end_of_its_subgroup_is_everybodys_error() {
    on_sizes(&SIZES, |g| {
        let (a, last) = (g.array::<u8, Block>(9), g.size() - 1);
        let body = |sub: &mut Group, part: &Array<u8, Block>| {
            part.local_mut().fill(1);
            if sub.rank() == last {
                std::mem::forget(part.local_mut());
            }
        };
        let (place, error) = (here(), g.try_split_on(1, &a, |_| 0..9, body).unwrap_err());
        let words = format!("rank {last} still holds a borrow of its part of the array");
        check(&error, ErrorKind::StillBorrowed, &[&words, &place]);
        is_everybodys(g, &error);
        assert_eq!(g.step(|s| s.mirror(&a, ..)), [0; 9]);
    });
}

/// X1: a split whose sections cannot be named has not begun.
#[test]
fn a_split_whose_sections_panic_has_not_begun() {
    on_sizes(&SIZES, |g| {
        let (a, x, me) = (g.array::<usize, Block>(8), g.shared(0, Sum), g.rank());
        if me == g.size() - 1 {
            let split = catch_unwind(AssertUnwindSafe(|| {
                g.split_on(2, &a, |_| resume_unwind(Box::new("no section")), |_, _| ());
            }));
            assert!(split.is_err());
            let outside = catch_unwind(AssertUnwindSafe(|| x.set(7)));
            check(outside.unwrap_err().downcast_ref().unwrap(), ErrorKind::OutsideStep, &["outside of any step"]);
        }
        g.split_on(1, &a, |_| 0..8, |_, part| part.local_mut().fill(1));
        assert_eq!((g.step(|s| s.mirror(&a, ..)), x.get()), (vec![1; 8], 0));
    });
}
