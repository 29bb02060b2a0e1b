//! What misuse of arrays gets (X1, X2; the list of misuse under distributed arrays).

use crate::{SEVERAL, SIZES, array_life::inside, arrays::fill, check, here, is_everybodys};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use superstep::{
    Any, Array, Block, BlockCyclic, Checked, Config, Cyclic, ErrorKind, Fabric, Group, Irregular, Local, Max, Same,
    Sum, Tiles, strided,
    testing::{everywhere, failing, on_sizes},
};

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
        |g| g.array_with::<u8, _, 2>([3, 4], Block::<1>).set([2, 4], 1),
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
        let b = g.array_with::<u8, _, 2>([3, 4], Block::<1>);
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
        |g| g.array::<u8, Block>(4).forall_in(2..5, |_, _| ()),
        |_, error| check(&error, ErrorKind::OutOfBounds, &["section 2..5 of 4 elements", file!()]),
    );
    failing(
        &[1, 2],
        |g| g.array_with::<u8, _, 2>([4, 4], Block::<1>).forall_nd_in((.., strided(.., 0)), |_, _| ()),
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
            let a = g.array_with::<u8, _, 2>([g.size(), 3], Cyclic::<1>);
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

/// X1 and X2: a borrow that is alive at a boundary is everybody's error, which names the array; nothing has happened.
#[test]
fn a_part_that_is_lent_at_a_boundary_is_everybodys_error() {
    on_sizes(&SIZES, |g| {
        let (a, me, p) = (g.array::<u8, Block>(40), g.rank(), g.size());
        for holder in [0, p - 1] {
            for writes in [false, true] {
                let error = {
                    let read = (me == holder && !writes).then(|| a.local());
                    let write = (me == holder && writes).then(|| a.local_mut());
                    let outcome = g.try_step(|s| {
                        s.update(&a, .., &[1; 40]);
                        s.scatter_one(&a, &[0, 39], 1, Sum);
                        s.mirror(&a, ..)
                    });
                    drop((read, write));
                    outcome.unwrap_err()
                };
                let words = format!("rank {holder} still holds a borrow of the array [40] of u8 (Block) of ");
                check(&error, ErrorKind::StillBorrowed, &["of group 0: ", &words, file!()]);
                is_everybodys(g, &error);
                assert!(a.local().iter().all(|&value| value == 0));
                assert_eq!(g.step(|s| s.mirror(&a, ..)), [0; 40]);
            }
        }
    });
}

/// X1.
#[test]
fn a_part_that_is_lent_twice_is_refused() {
    let lend: [fn(&Array<u8, Block>); 5] = [
        |a| drop((a.local_mut(), a.local_mut())),
        |a| drop((a.local(), a.local_mut())),
        |a| drop((a.local_mut(), a.local())),
        |a| a.forall_mut(|_, _| drop(a.local())),
        |a| a.forall(|_, _| a.set(0, 1)),
    ];
    for lend in lend {
        failing(
            &[1],
            |g| lend(&g.array::<u8, Block>(1)),
            |_, error| {
                let words = ["step 1 of group 0", "array [1] of u8", "is borrowed twice", file!()];
                check(&error, ErrorKind::StillBorrowed, &words);
            },
        );
    }
}

/// X2: shape, distribution and element are the same on all members.
#[test]
fn arrays_that_members_make_differently_are_everybodys_error() {
    fn made<T: superstep::Element, D: superstep::Distribution, const N: usize>(
        g: &mut Group,
        shape: [usize; N],
        distribution: D,
    ) -> superstep::Result {
        g.try_array_with::<T, D, N>(shape, distribution).map(drop)
    }
    let ways: [(&str, fn(&mut Group, bool) -> superstep::Result); 9] = [
        ("array [9] of u8 (Block)", |g, odd| made::<u8, _, 1>(g, [8 + usize::from(odd)], Block::<1>)),
        ("array [4, 2] of u8", |g, odd| made::<u8, _, 2>(g, if odd { [4, 2] } else { [2, 4] }, Block::<1>)),
        ("array [8] of u16", |g, odd| {
            if odd { made::<u16, _, 1>(g, [8], Block::<1>) } else { made::<u8, _, 1>(g, [8], Block::<1>) }
        }),
        ("array [8] of i8", |g, odd| {
            if odd { made::<i8, _, 1>(g, [8], Block::<1>) } else { made::<u8, _, 1>(g, [8], Block::<1>) }
        }),
        ("array [8] of u8 (Cyclic)", |g, odd| {
            if odd { made::<u8, _, 1>(g, [8], Cyclic::<1>) } else { made::<u8, _, 1>(g, [8], Block::<1>) }
        }),
        ("array [4, 2] of u8 (Block over 2 dimensions)", |g, odd| {
            if odd { made::<u8, _, 2>(g, [4, 2], Block::<2>) } else { made::<u8, _, 2>(g, [4, 2], Block::<1>) }
        }),
        ("BlockCyclic(3)", |g, odd| made::<u8, _, 1>(g, [8], BlockCyclic::<1>(2 + usize::from(odd)))),
        ("Tiles([1, 2])", |g, odd| made::<u8, _, 2>(g, [8, 8], Tiles(if odd { [1, 2] } else { [2, 1] }))),
        ("Irregular([", |g, odd| {
            let mut sizes = vec![0; g.size()];
            sizes[usize::from(odd)] = 8;
            made::<u8, _, 1>(g, [8], Irregular(sizes))
        }),
    ];
    for (words, make) in ways {
        on_sizes(&[2, 3, 8, 9], |g| {
            let odd = g.rank() == g.size() - 1;
            let error = make(g, odd).unwrap_err();
            check(&error, ErrorKind::DeclMismatch, &["step 0 of group 0: rank 0 declared array", words, file!()]);
            assert!(error.is_divergence());
        });
    }
}

/// X2: and so is the operator, which is compared at the next boundary.
#[test]
fn operators_that_members_declare_differently_are_everybodys_error() {
    let ways: [fn(Array<u64, Block>, bool) -> Array<u64, Block>; 3] = [
        |a, odd| if odd { a.combining(Max) } else { a.combining(Sum) },
        |a, odd| if odd { a.combining(Max) } else { a },
        |a, odd| if odd { a } else { a.combining(|x: &mut u64, y: &u64| *x += y) },
    ];
    for way in ways {
        on_sizes(&[2, 3, 8, 9], |g| {
            let (a, odd) = (g.array::<u64, Block>(8), g.rank() == g.size() - 1);
            let a = way(a, odd);
            let error = g.try_step(|s| s.update(&a, .., &[1; 8])).unwrap_err();
            check(&error, ErrorKind::DeclMismatch, &["step 1 of group 0: rank 0 declared", "combining", file!()]);
            assert!(a.local().iter().all(|&value| value == 0));
        });
    }
}

/// X1: what no machine has, and what no number can count.
#[test]
fn arrays_that_are_too_large_are_refused_and_the_group_goes_on() {
    everywhere(|g| {
        let huge = usize::MAX;
        let overflows = [
            g.try_array::<u64, Block>(huge).map(drop).unwrap_err(),
            g.try_array::<[u64; 1 << 10], Cyclic>(1 << 62).map(drop).unwrap_err(),
            g.try_array_with::<u8, _, 2>([huge, 2], Block::<1>).map(drop).unwrap_err(),
            g.try_array_with::<u8, _, 2>([huge / 2, 3], Block::<2>).map(drop).unwrap_err(),
            g.try_array_with::<u8, _, 5>([1 << 20; 5], Tiles([1 << 19; 3])).map(drop).unwrap_err(),
        ];
        for error in overflows {
            check(&error, ErrorKind::Overflow, &["step 0 of group 0: an array of shape [", file!()]);
        }
        let error = g.try_array::<u8, Block>(1 << 60).map(drop).unwrap_err();
        check(&error, ErrorKind::OutOfMemory, &["step 0 of group 0: the system has no memory for", "of u8", file!()]);
        assert!(error.is_misuse());
        assert_eq!(g.step(|s| s.reduce(1, Sum)), g.size());
        let a = g.array::<u8, Block>(3);
        assert_eq!(g.step(|s| s.mirror(&a, ..)), [0; 3]);
    });
}

/// X1: distributions that do not fit.
#[test]
fn distributions_that_do_not_fit_are_refused_and_the_group_goes_on() {
    everywhere(|g| {
        let p = g.size();
        for (error, words) in [
            (
                g.try_array_with::<u8, _, 1>([4], Irregular(vec![0; p + 1])).map(drop).unwrap_err(),
                format!("an irregular array with {} sizes in a group of {p}", p + 1),
            ),
            (
                g.try_array_with::<u8, _, 1>([4], Irregular(vec![3; p])).map(drop).unwrap_err(),
                format!("the sizes of an irregular array of 4 elements add up to {}", 3 * p),
            ),
            (
                g.try_array_with::<u8, _, 2>([4, 0], Irregular(vec![3; p])).map(drop).unwrap_err(),
                format!("of 4 elements add up to {}", 3 * p),
            ),
            (g.try_array_with::<u8, _, 1>([4], BlockCyclic::<1>(0)).map(drop).unwrap_err(), "blocks of 0".to_owned()),
            (g.try_array_with::<u8, _, 2>([4, 4], Tiles([1, 0])).map(drop).unwrap_err(), "tiles of [1, 0]".to_owned()),
        ] {
            check(&error, ErrorKind::BadLength, &["step 0 of group 0", &words, file!()]);
        }
        assert_eq!(g.step(|s| s.reduce(1, Sum)), p);
    });
    failing(
        &[2],
        |g| drop(g.array_with::<u8, _, 1>([3], Irregular(vec![usize::MAX, 4]))),
        |_, error| check(&error, ErrorKind::BadLength, &["add up to more than a usize can count", file!()]),
    );
}

/// X2: a step that failed has written nothing, and nothing of it comes later.
#[test]
fn a_failed_step_writes_nothing_now_or_later() {
    on_sizes(&SEVERAL, |g| {
        let (a, b, me, p) = (g.array::<usize, Block>(40), g.array::<usize, Cyclic>(9), g.rank(), g.size());
        fill(&a, |i| i);
        for round in 0..3 {
            let body = |s: &superstep::Step| {
                s.update(&a, .., &[1; 40]);
                s.scatter_one(&a, &[3, 39], 500, Sum);
                s.scatter(&b, &[0, 8], &[1, 2], Max);
                s.update_with(&b, strided(.., -3), &[5; 3], Sum);
                (s.mirror(&a, ..), s.gather(&b, &[8]))
            };
            let error = if me == round % p { g.try_step(body).err() } else { g.try_step(body).map(drop).err() };
            let error = error.expect("the members are at different steps");
            assert_eq!(error.kind(), ErrorKind::StepMismatch);
            is_everybodys(g, &error);
            let (all, rest) = g.step(|s| {
                s.scatter_one(&b, &[4], 1, Sum);
                (s.mirror(&a, ..), s.mirror(&b, ..))
            });
            assert_eq!(all, (0..40).collect::<Vec<_>>());
            assert!((0..9).all(|i| rest[i] == if i == 4 { p * (round + 1) } else { 0 }), "{rest:?}");
        }
    });
}

/// A body that unwinds and is caught has written nothing; what is written in its second try is.
#[test]
fn a_body_that_unwinds_and_is_caught_writes_nothing() {
    everywhere(|g| {
        let (a, p) = (g.array::<usize, Block>(8), g.size());
        for round in 1..4 {
            let caught = catch_unwind(AssertUnwindSafe(|| {
                g.step(|s| {
                    s.update(&a, 0..2, &[7, 7]);
                    s.scatter_one(&a, &[2], 7, Sum);
                    drop(s.mirror(&a, ..));
                    let mut writes = s.scatterer(&a, Sum);
                    writes.push(3, 7);
                    if a.len() == 8 {
                        resume_unwind(Box::new("on purpose"));
                    }
                });
            }));
            assert!(caught.is_err());
            let read = g.step(|s| {
                s.scatter_one(&a, &[3], 1, Sum);
                s.mirror(&a, ..)
            });
            assert_eq!(read, [0, 0, 0, p * round, 0, 0, 0, 0]);
        }
    });
}

/// S5: the counter of steps goes round, and no write gets lost at that.
#[test]
fn arrays_are_written_while_the_step_counter_wraps_around() {
    let fabrics =
        [Fabric::Threads, Fabric::Sim { seed: 3, shares_memory: false }, Fabric::Sim { seed: 3, shares_memory: true }];
    for fabric in fabrics {
        // The first write of all is in each of the steps around the turn.
        for quiet in 0..4 {
            let config = Config::new().procs(3).fabric(fabric).first_step(u64::MAX - 3);
            let run = config.run(|g| {
                let a = g.array::<u64, Block>(6);
                (0..quiet).for_each(|_| g.step(|_| ()));
                for round in 1..5 {
                    a.forall_mut(|i, x| *x += u64::from(i == 5));
                    let read = g.step(|s| {
                        s.update(&a, 1..2, &[round]);
                        s.mirror(&a, ..)
                    });
                    assert_eq!(read, [0, round, 0, 0, 0, round]);
                }
            });
            run.unwrap();
        }
    }
}

/// X2: `Same` promises that all writes agree, and is held to it.
#[test]
fn writes_that_should_agree_and_do_not_end_the_run() {
    let ways: [fn(&superstep::Step, &Array<f64, Block>); 4] = [
        |s, a| s.update(a, 2..4, &[1.0, s.rank() as f64]),
        |s, a| s.scatter(a, &[3], &[s.rank() as f64], Same),
        |s, a| s.scatter(a, &[3, 3], &[0.0, -0.0], Same),
        |s, a| {
            s.scatter_one(a, &[3], 1.0, Same);
            s.update(a, 3.., &[2.0]);
        },
    ];
    for way in ways {
        failing(
            &SEVERAL,
            |g| {
                let a = g.array::<f64, Block>(4).combining(Same);
                g.step(|s| way(s, &a));
                g.step(|_| ());
            },
            |_, error| {
                check(
                    &error,
                    ErrorKind::ReplicaDiverged,
                    &["array [4] of f64", "element 3 that should be the same", file!()],
                );
            },
        );
    }
}

/// X3 and X4: an operator that fails ends the run with its words.
#[test]
fn an_operator_that_fails_ends_the_run() {
    failing(
        &SIZES,
        |g| {
            let a = g.array::<u8, Block>(3);
            g.step(|s| s.scatter(&a, &[1, 1], &[200, 100], Checked(Sum)));
            g.step(|_| ());
        },
        |_, error| check(&error, ErrorKind::Overflow, &["200 + 100 overflows u8"]),
    );
    failing(
        &[1, 3, 8],
        |g| {
            let a = g.array::<u8, Block>(3).combining(|x: &mut u8, y: &u8| {
                if x == y {
                    resume_unwind(Box::new("no more of the same"));
                }
                *x = *y;
            });
            g.step(|s| s.update(&a, .., &[1, 0, 2]));
            g.step(|_| ());
        },
        |_, error| check(&error, ErrorKind::Panicked, &["no more of the same"]),
    );
}

/// X1: what fails in one dimension of many, in one of several groups.
#[test]
fn errors_name_the_group_and_the_step_they_are_of() {
    on_sizes(&[2, 3, 7], |g| {
        g.split(2, |sub| {
            let a = sub.array_with::<u8, _, 3>([2, 3, 4], Cyclic::<2>);
            sub.step(|_| ());
            let error = sub.step(|s| Local(s.try_mirror(&a, (.., .., 4..5)).map(drop).unwrap_err()));
            let words = format!("step 2 of group 0/{}: section 4..5 of 4 elements", sub.id());
            check(&error, ErrorKind::OutOfBounds, &[&words, file!()]);
            inside(sub, |inner| {
                let error = inner.step(|s| Local(s.try_gather(&a, &[0]).map(drop).unwrap_err()));
                let words =
                    format!("step 0 of group 0/{}/0: this array belongs to group 0/{}", sub_id(inner), sub_id(inner));
                check(&error, ErrorKind::NotMember, &[&words, file!()]);
            });
        });
    });
}

/// The number of the group above this one.
fn sub_id(g: &Group) -> usize {
    g.parent().map_or(0, |parent| parent.id())
}
