//! Errors of arrays that are the whole group's, and what a failed step leaves (X2, X6).

use crate::{SEVERAL, SIZES, array_life::inside, arrays::fill, check, everywhere, failing, is_everybodys, on_sizes};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use superstep::{
    Array, Block, BlockCyclic, Checked, Config, Cyclic, ErrorKind, Fabric, Group, Irregular, Local, Max, Same, Sum,
    Tiles, strided,
};

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
        ("array [9] of u8 (Block)", |g, odd| made::<u8, _, 1>(g, [8 + usize::from(odd)], Block::new())),
        ("array [4, 2] of u8", |g, odd| made::<u8, _, 2>(g, if odd { [4, 2] } else { [2, 4] }, Block::new())),
        ("array [8] of u16", |g, odd| {
            if odd { made::<u16, _, 1>(g, [8], Block::new()) } else { made::<u8, _, 1>(g, [8], Block::new()) }
        }),
        ("array [8] of i8", |g, odd| {
            if odd { made::<i8, _, 1>(g, [8], Block::new()) } else { made::<u8, _, 1>(g, [8], Block::new()) }
        }),
        ("array [8] of u8 (Cyclic)", |g, odd| {
            if odd { made::<u8, _, 1>(g, [8], Cyclic::new()) } else { made::<u8, _, 1>(g, [8], Block::new()) }
        }),
        ("array [4, 2] of u8 (Block over 2 dimensions)", |g, odd| {
            if odd { made::<u8, _, 2>(g, [4, 2], Block::<2>) } else { made::<u8, _, 2>(g, [4, 2], Block::new()) }
        }),
        ("BlockCyclic(3)", |g, odd| made::<u8, _, 1>(g, [8], BlockCyclic::new(2 + usize::from(odd)))),
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
            g.try_array_with::<u8, _, 2>([huge, 2], Block::new()).map(drop).unwrap_err(),
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
            (g.try_array_with::<u8, _, 1>([4], BlockCyclic::new(0)).map(drop).unwrap_err(), "blocks of 0".to_owned()),
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
