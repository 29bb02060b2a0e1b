//! The life of arrays: making and dropping many, subgroups, and leaving (A1, G6, G7).

use crate::{SEVERAL, SIZES, arrays::fill, check, everywhere, failing, is_everybodys, on_sizes};
use superstep::{
    Any, Array, Block, Config, Cyclic, ErrorKind, Every, Fabric, Group, Irregular, Local, Max, Plain, Sum, Tiles,
    Weighted,
};

/// G7: what all have dropped is forgotten, its memory is free and its number serves again.
#[test]
fn ten_thousand_arrays_come_and_go() {
    let claim = |g: &mut Group| {
        let kept = g.array::<u32, Block>(4);
        let mut before = None;
        for round in 0..10_000u32 {
            let a = g.array::<u32, Cyclic>(3);
            assert!(a.local().iter().all(|&value| value == 0));
            a.local_mut().fill(round);
            if round % 1000 == 0 {
                let read = g.step(|s| {
                    s.scatter_one(&kept, &[3], 1, Sum);
                    s.scatter_one(&a, &[1], 1, Sum);
                    (s.mirror(&a, ..), s.mirror(&kept, 3..))
                });
                assert_eq!(read.0, [round, round + g.size() as u32, round]);
                assert_eq!(read.1, [(round / 1000 + 1) * g.size() as u32]);
            }
            before = Some(a);
        }
        assert!(before.is_some_and(|a| a.local().iter().all(|&value| value == 9999)));
    };
    let fabrics =
        [Fabric::Threads, Fabric::Sim { seed: 1, shares_memory: false }, Fabric::Sim { seed: 1, shares_memory: true }];
    for fabric in fabrics {
        Config::new().procs(2).fabric(fabric).run(claim).unwrap();
    }
}

/// G7: arrays, areas and queues are dropped and made in any order, as long as all do the same.
#[test]
fn arrays_and_areas_come_and_go_and_stay_apart() {
    on_sizes(&SIZES, |g| {
        let (me, p) = (g.rank(), g.size());
        let mut kept: Vec<Array<usize, Block>> = Vec::new();
        for round in 0..20 {
            kept.push(g.array(p + round % 3));
            let area = g.area::<usize>(1);
            if round % 3 == 2 {
                kept.remove(round % kept.len());
            }
            let read = g.step(|s| {
                s.put((me + 1) % p, &[round], &area, 0);
                for (at, a) in kept.iter().enumerate() {
                    s.scatter(a, &[(me + 1) % p], &[100 * round + at], Any);
                }
                kept.iter().map(|a| s.gather(a, &[me, p - 1])).collect::<Vec<_>>()
            });
            assert_eq!(area.local()[0], round);
            for (at, read) in read.iter().enumerate() {
                assert_eq!(*read, [100 * round + at; 2]);
            }
        }
    });
}

/// G7.
#[test]
fn a_group_may_have_a_thousand_arrays() {
    on_sizes(&[2, 3], |g| {
        let arrays: Vec<Array<u16, Cyclic>> = (0..1000).map(|_| g.array(5)).collect();
        let me = g.rank() as u16;
        g.step(|s| {
            for (number, a) in arrays.iter().enumerate() {
                s.scatter(a, &[number % 5], &[number as u16 + me], Any);
            }
        });
        let read = g.step(|s| arrays.iter().map(|a| s.mirror(a, ..)).collect::<Vec<_>>());
        for (number, read) in read.iter().enumerate() {
            assert!((0..5).all(|i| read[i] == if i == number % 5 { number as u16 } else { 0 }), "array {number}");
        }
    });
}

/// G7: the boundary of the step in which it is dropped has need of it still.
#[test]
fn an_array_that_is_dropped_in_a_step_is_written_and_read_at_its_boundary() {
    on_sizes(&SIZES, |g| {
        let p = g.size();
        for _ in 0..3 {
            let (a, area) = (g.array::<usize, Block>(8), g.area::<usize>(1));
            let read = g.step(move |s| {
                s.put(0, &[1], &area, 0);
                s.scatter_one(&a, &[2, 7], 1, Sum);
                (s.mirror(&a, ..), s.gather(&a, &[7]))
            });
            assert_eq!(read, (vec![0, 0, p, 0, 0, 0, 0, p], vec![p]));
            let a = g.array::<usize, Block>(8);
            g.step(move |s| s.update(&a, .., &[1; 8]));
            g.step(|_| ());
        }
    });
}

/// G7: who has dropped its handle still owns its part, as long as anybody holds one.
#[test]
fn an_array_outlives_the_handles_of_others() {
    on_sizes(&SIZES, |g| {
        let (me, p) = (g.rank(), g.size());
        let mut a = Some(g.array::<usize, Cyclic>(2 * p));
        for round in 0..p {
            let read = g.step(|s| {
                a.as_ref().map(|a| {
                    s.scatter_one(a, &[0, 2 * p - 1], round + 1, Any);
                    (s.gather(a, &[0]), s.mirror(a, 2 * p - 1..))
                })
            });
            assert_eq!(read, a.as_ref().map(|_| (vec![round + 1], vec![round + 1])));
            if me == round {
                a = None;
            }
        }
        assert!(g.array::<u8, Block>(1).local().iter().all(|&value| value == 0));
    });
}

/// G7: each subgroup has arrays of its own, at every depth, and those of outer groups are as they were.
#[test]
fn subgroups_have_arrays_of_their_own() {
    fn level(g: &mut Group, depth: usize) -> usize {
        let (a, p) = (g.array::<usize, Block>(2 * g.size() + 1), g.size());
        fill(&a, |i| i);
        let inner = if depth == 0 {
            Some(0)
        } else if depth.is_multiple_of(2) {
            g.split(2, |sub| level(sub, depth - 1))
        } else {
            g.split(Weighted(&[1.0, 2.0]), |sub| level(sub, depth - 1))
        };
        let read = g.step(|s| {
            s.scatter_one(&a, &[2 * p], 1, Sum);
            s.mirror(&a, ..)
        });
        let mut expected: Vec<usize> = (0..=2 * p).collect();
        expected[2 * p] += p;
        assert_eq!(read, expected);
        1 + inner.unwrap_or(0)
    }
    on_sizes(&SIZES, |g| {
        let levels = level(g, 4);
        assert!(levels >= 1);
        // One after another on the same processors.
        g.split(Every(5), |sub| level(sub, 1));
    });
}

/// G7: the part that a processor owns is its own, also while it is in a subgroup.
#[test]
fn the_part_of_an_outer_array_is_at_hand_in_a_subgroup() {
    everywhere(|g| {
        let a = g.array::<usize, Block>(10);
        g.split(2, |sub| {
            a.forall_mut(|i, x| *x = 10 * i);
            sub.step(|_| ());
            a.forall_mut(|_, x| *x += sub.id());
        });
        let read = g.step(|s| s.mirror(&a, ..));
        assert!((0..10).all(|i| read[i] == 10 * i + a.owner(i) % 2));
    });
}

/// Everybody as one subgroup, which may be left.
pub(crate) fn inside<R: Plain>(g: &mut Group, body: impl FnOnce(&mut Group) -> R) -> R {
    g.split(1, body).expect("everybody is in it")
}

/// G6 and X1: nobody can serve the elements of one who has left, and the message says who that is.
#[test]
fn an_array_of_which_an_owner_has_left_is_refused() {
    on_sizes(&SEVERAL, |g| {
        let (me, p) = (g.rank(), g.size());
        inside(g, |sub| {
            let (a, steps) = (sub.array::<usize, Cyclic>(3 * p), sub.steps());
            assert_eq!(steps, 1);
            if me == p / 2 {
                return;
            }
            sub.step(|_| ());
            let read = sub.step(|s| {
                let errors = [
                    s.try_mirror(&a, ..).unwrap_err(),
                    s.try_gather(&a, &[0]).unwrap_err(),
                    s.try_update(&a, ..1, &[1]).unwrap_err(),
                    s.try_scatter(&a, &[], &[], Sum).unwrap_err(),
                    s.try_scatter_one(&a, &[1], 1, Sum).unwrap_err(),
                ];
                let who = format!("step 2 of group 0/0: rank {} of the group that made this array has left", p / 2);
                for error in errors {
                    check(&error, ErrorKind::Departed, &[&who, file!()]);
                }
                s.reduce(1, Sum)
            });
            assert_eq!(read, p - 1);
            // A new one has those who stayed for its owners.
            let b = sub.array::<usize, Cyclic>(3);
            let all = sub.step(|s| {
                s.scatter_one(&b, &[1, 2], me, Max);
                s.mirror(&b, ..)
            });
            let highest = (0..p).rfind(|&rank| rank != p / 2).unwrap();
            assert_eq!(all, [0, highest, highest]);
        });
    });
}

/// G6 and A3: a leaving renumbers the group, and moves nobody's elements.
#[test]
fn those_who_stay_find_their_own_elements_where_they_were() {
    on_sizes(&SEVERAL, |g| {
        let (me, p) = (g.rank(), g.size());
        inside(g, |sub| {
            let line = sub.array::<usize, Block>(3 * p + 1);
            let sheet = sub.array_with::<usize, _, 2>([p, 5], Tiles([2, 2]));
            line.forall_mut(|i, x| *x = i);
            fill(&sheet, |index| index);
            let owned: Vec<usize> = (0..line.len()).filter(|&i| line.is_owned(i)).collect();
            // The first of those who are left, one after another.
            for leaver in 0..p - 1 {
                if me == leaver {
                    return;
                }
                sub.step(|_| ());
                let mut seen = Vec::new();
                line.forall(|i, x| seen.push((i, x)));
                assert_eq!(seen, owned.iter().map(|&i| (i, i)).collect::<Vec<_>>());
                assert_eq!((0..line.len()).filter(|&i| line.is_owned(i)).collect::<Vec<_>>(), owned);
                assert!(owned.iter().all(|&i| line.get(i) == i && line.global(line.offset(i)) == Some(i)));
                let mut down = Vec::new();
                line.forall_mut_in(superstep::strided(.., -1), |i, _| down.push(i));
                assert!(down.iter().rev().eq(&owned));
                sheet.forall_mut_in((.., ..), |at, x| assert_eq!(*x, 5 * at[0] + at[1]));
            }
        });
    });
}

/// G6: what is written at the boundary at which an owner leaves reaches those who stay.
#[test]
fn what_is_written_at_the_boundary_of_a_leaving_reaches_those_who_stay() {
    on_sizes(&SEVERAL, |g| {
        let (me, p) = (g.rank(), g.size());
        for leaver in [0, p / 2, p - 1] {
            inside(g, |sub| {
                let a = sub.array::<usize, Cyclic>(2 * p);
                if me == leaver {
                    return;
                }
                let everything: Vec<usize> = (0..2 * p).collect();
                sub.step(|s| s.scatter_one(&a, &everything, 1, Sum));
                assert_eq!(*a.local(), [p - 1, p - 1]);
            });
        }
    });
}

/// G6 and X2: what cannot be had any more is an error that names who left.
#[test]
fn a_read_from_an_owner_that_leaves_ends_with_departed() {
    for kind in 0..2 {
        failing(
            &SEVERAL,
            |g| {
                let last = g.size() - 1;
                inside(g, |sub| {
                    let a = sub.array::<u8, Block>(40);
                    if sub.rank() == last {
                        return;
                    }
                    let read = sub.step(|s| if kind == 0 { s.mirror(&a, ..) } else { s.gather(&a, &[39]) });
                    drop(Local(read));
                });
            },
            |_, error| check(&error, ErrorKind::Departed, &["left the group before this", file!()]),
        );
    }
}

/// X2: where one processor has no memory for its part, all get its error, and the group goes on.
#[test]
fn a_processor_without_memory_is_everybodys_error() {
    on_sizes(&[1, 2, 3], |g| {
        for _ in 0..2 {
            let mut lens = vec![1; g.size()];
            lens[0] = 1 << 45;
            let made = g.try_array_with::<u64, _, 1>([lens.iter().sum()], Irregular(lens));
            let error = made.map(drop).unwrap_err();
            check(&error, ErrorKind::OutOfMemory, &["no memory for 35184372088832 elements of u64 on rank 0", file!()]);
            is_everybodys(g, &error);
            let a = g.array::<u8, Block>(3);
            assert_eq!(g.step(|s| s.mirror(&a, ..)), [0; 3]);
        }
    });
}
