//! What is under way at the boundary of a leaving (G6, X2).

use crate::{SEVERAL, check, failing, leaving::inside, on_sizes};
use superstep::{Block, ErrorKind, Sum};

/// G6, D1, D2 and R2.
#[test]
fn areas_variables_and_queues_follow_the_new_numbers() {
    on_sizes(&SEVERAL, |g| {
        let (me, p) = (g.rank(), g.size());
        for leaver in [0, p / 2, p - 1] {
            inside(g, |sub| {
                let (area, sum, queue) = (sub.area::<usize>(me + 1), sub.shared(0, Sum), sub.queue::<usize, String>());
                area.local_mut().fill(me);
                sub.step(|_| ());
                if me == leaver {
                    return;
                }
                let stayed: Vec<usize> = (0..p).filter(|&rank| rank != leaver).collect();
                sub.step(|_| sum.set(me));
                assert_eq!(sum.get(), stayed.iter().sum::<usize>());
                for (rank, &old) in stayed.iter().enumerate() {
                    assert_eq!(area.len_of(rank), old + 1);
                }
                let next = (sub.rank() + 1) % sub.size();
                let got = sub.step(|s| {
                    s.put(next, &[100 + me], &area, 0);
                    s.send(next, &queue, s.rank(), format!("from {me}"));
                    (0..s.size()).map(|from| s.get(from, &area, ..)).collect::<Vec<_>>()
                });
                assert_eq!(got, stayed.iter().map(|&old| vec![old; old + 1]).collect::<Vec<_>>());
                let last = stayed[(sub.rank() + sub.size() - 1) % sub.size()];
                assert_eq!(area.local()[0], 100 + last);
                assert_eq!(queue.drain().map(|(_, text)| text).collect::<Vec<_>>(), [format!("from {last}")]);
                sub.step(|s| s.hp_put(next, (&area, 0..1), &area, 0));
                let before = stayed[(sub.rank() + 2 * sub.size() - 2) % sub.size()];
                assert_eq!(area.local()[0], 100 + before);
            });
        }
    });
}

/// G6 and S2: the boundary at which somebody leaves is a whole one for all others.
#[test]
fn those_who_stay_get_and_move_at_the_boundary_of_a_leaving() {
    on_sizes(&SEVERAL, |g| {
        let (me, p) = (g.rank(), g.size());
        for leaver in [0, p / 2, p - 1] {
            inside(g, |sub| {
                let (area, into) = (sub.area::<usize>(2), sub.area::<usize>(p));
                area.local_mut().fill(me);
                if me == leaver {
                    return;
                }
                let stayed: Vec<usize> = (0..p).filter(|&rank| rank != leaver).collect();
                let at = stayed.iter().position(|&rank| rank == me).unwrap();
                let (next, last) = (stayed[(at + 1) % (p - 1)], stayed[(at + p - 2) % (p - 1)]);
                let got = sub.step(|s| {
                    s.put(next, &[100 + me], &area, 0);
                    s.hp_put(next, (&area, 0..2), &area, 0);
                    for &from in &stayed {
                        s.hp_get(from, &area, 1..2, &into, from);
                    }
                    stayed.iter().map(|&from| s.get(from, &area, ..)).collect::<Vec<_>>()
                });
                assert_eq!(got, stayed.iter().map(|&from| vec![from; 2]).collect::<Vec<_>>());
                assert_eq!(*area.local(), [100 + last, last]);
                for &from in &stayed {
                    assert_eq!(into.local()[from], from);
                }
                assert_eq!((sub.rank(), sub.size()), (at, p - 1));
                sub.step(|_| ());
            });
        }
    });
}

/// G6 and D1: so it is for what goes straight from memory to memory.
#[test]
fn a_long_put_at_the_boundary_of_a_leaving_comes_to_whom_it_is_for() {
    on_sizes(&SEVERAL[..4], |g| {
        let (me, p) = (g.rank(), g.size());
        for leaver in [0, p / 2, p - 1] {
            inside(g, |sub| {
                let area = sub.area::<usize>(10_000);
                if me == leaver {
                    return;
                }
                let stayed: Vec<usize> = (0..p).filter(|&rank| rank != leaver).collect();
                let at = stayed.iter().position(|&rank| rank == me).unwrap();
                let (next, last) = (stayed[(at + 1) % (p - 1)], stayed[(at + p - 2) % (p - 1)]);
                sub.step(|s| s.put(next, &vec![100 + me; 10_000], &area, 0));
                assert!(area.local().iter().all(|&value| value == 100 + last));
            });
        }
    });
}

/// G6: what is sent to somebody who leaves is gone, and hurts nobody.
#[test]
fn what_is_put_or_sent_to_a_leaver_is_gone() {
    on_sizes(&SEVERAL, |g| {
        let (me, p) = (g.rank(), g.size());
        let leaver = p / 2;
        inside(g, |sub| {
            let (area, queue) = (sub.area::<usize>(1), sub.queue::<(), usize>());
            if me == leaver {
                return;
            }
            sub.step(|s| {
                for to in 0..s.size() {
                    s.put(to, &[s.rank() + 1], &area, 0);
                    s.hp_put(to, vec![s.rank() + 1], &area, 0);
                    s.send(to, &queue, (), me);
                }
            });
            let last = (0..p).filter(|&rank| rank != leaver).max().unwrap();
            assert_eq!(area.local()[0], last + 1);
            assert_eq!(queue.len(), sub.size());
            sub.step(|s| s.put(s.rank(), &[7], &area, 0));
            assert_eq!((area.local()[0], queue.len()), (7, 0));
        });
    });
}

/// G6 and X2: what cannot be had any more is an error that names who left, on whichever fabric.
#[test]
fn a_get_from_somebody_who_leaves_ends_with_departed() {
    failing(
        &SEVERAL,
        |g| {
            let me = g.rank();
            inside(g, |sub| {
                let area = sub.area::<u8>(1);
                if me != 0 {
                    sub.step(|s| s.get(0, &area, ..));
                }
            });
        },
        |context, error| {
            assert!(error.kind() == ErrorKind::Departed, "{context}: {error}");
            check(&error, ErrorKind::Departed, &["rank 0 left", file!()]);
        },
    );
}

/// G6 and X2.
#[test]
fn a_transfer_from_somebody_who_leaves_ends_with_departed() {
    failing(
        &SEVERAL,
        |g| {
            let me = g.rank();
            inside(g, |sub| {
                let area = sub.area::<u8>(1);
                if me != 0 {
                    sub.step(|s| s.hp_get(0, &area, .., &area, 0));
                }
            });
        },
        |_, error| check(&error, ErrorKind::Departed, &["rank 0 left the group before data of its area was moved"]),
    );
}

/// G6 and X2.
#[test]
fn a_broadcast_or_deal_whose_root_leaves_ends_with_departed() {
    for (words, is_deal) in [("small", false), ("small", true), ("long", false), ("long", true)] {
        failing(
            &SEVERAL,
            |g| {
                let (me, text) = (g.rank(), words.repeat(if words == "long" { 1000 } else { 1 }));
                inside(g, |sub| {
                    if me == 0 {
                        return;
                    }
                    sub.step(|s| {
                        let parts = Some(vec![text.clone(); s.size()]);
                        if is_deal { s.deal(0, parts) } else { s.broadcast(0, Some(text)) }
                    });
                });
            },
            |context, error| assert!(error.kind() == ErrorKind::Departed, "{context}: {error}"),
        );
    }
}

/// G6 and S3: a long value travels in pieces where there is no shared memory, and reaches those who stay all the same.
#[test]
fn a_long_broadcast_reaches_all_who_stay() {
    on_sizes(&SEVERAL, |g| {
        let me = g.rank();
        let leaver = g.size() - 1;
        inside(g, |sub| {
            if me == leaver {
                return;
            }
            let long: Vec<u64> = (0..5000).collect();
            assert_eq!(sub.step(|s| s.broadcast(0, (me == 0).then(|| long.clone()))), long);
        });
    });
}

/// G6, R5.
#[test]
fn collectives_at_the_boundary_of_a_leaving_cover_those_who_stay() {
    on_sizes(&SEVERAL, |g| {
        let (me, p) = (g.rank(), g.size());
        for (leaver, len) in [(0, 1), (p / 2, 1), (p - 1, 1000), (0, 1000)] {
            inside(g, |sub| {
                if me == leaver {
                    return;
                }
                let root = usize::from(leaver == 0);
                let stayed: Vec<usize> = (0..p).filter(|&rank| rank != leaver).collect();
                let (all, at_root, mine, reduced) = sub.step(|s| {
                    let all = s.collect(vec![me; len]);
                    let at_root = s.collect_to(root, vec![me; len]);
                    let mine = s.exchange((0..p).map(|to| (me, to, vec![0u8; len])).collect());
                    (all, at_root, mine, s.reduce_to(root, 1, Sum))
                });
                let expected: Vec<_> = stayed.iter().map(|&old| vec![old; len]).collect();
                assert_eq!(all, expected);
                assert_eq!(at_root, (me == root).then_some(expected));
                assert_eq!(reduced, (me == root).then_some(p - 1));
                assert_eq!(mine, stayed.iter().map(|&old| (old, me, vec![0u8; len])).collect::<Vec<_>>());
            });
        }
    });
}

/// G6 and D1.
#[test]
fn an_area_can_be_made_at_the_boundary_of_a_leaving() {
    on_sizes(&SEVERAL, |g| {
        let (me, leaver) = (g.rank(), g.size() / 2);
        inside(g, |sub| {
            if me == leaver {
                return;
            }
            let area = sub.area::<usize>(me + 1);
            area.local_mut().fill(me);
            let next = (sub.rank() + 1) % sub.size();
            let (len, got) = (area.len_of(next), sub.step(|s| s.get(next, &area, ..)));
            assert_eq!(got, vec![len - 1; len]);
        });
    });
}

/// G6 and G7: an array of which an owner leaves with the very split on it is nobody's to import.
#[test]
fn a_split_on_an_array_that_somebody_leaves_with_is_refused_for_all() {
    on_sizes(&SEVERAL, |g| {
        let (me, p) = (g.rank(), g.size());
        for leaver in [0, p - 1] {
            inside(g, |sub| {
                let a = sub.array::<usize, Block>(2 * p);
                if me == leaver {
                    return;
                }
                let error = sub.try_split_on(1, &a, |_| 0..2 * p, |_, _| ()).unwrap_err();
                check(
                    &error,
                    ErrorKind::Departed,
                    &[&format!("rank {leaver} of the group that made this array"), file!()],
                );
                assert_eq!(sub.step(|s| s.reduce(1, Sum)), p - 1);
            });
        }
    });
}

/// G6 and X2: those who leave pass on what they cannot meld, and an error that one of the others has all the same.
#[test]
fn a_step_that_fails_at_the_boundary_of_a_leaving_fails_alike_for_all_who_stay() {
    on_sizes(&[5, 9, 17], |g| {
        let (me, p) = (g.rank(), g.size());
        for failing in (1..p).filter(|rank| rank % 4 != 0) {
            inside(g, |sub| {
                if me.is_multiple_of(4) {
                    return;
                }
                let stepped = sub.try_step(|s| {
                    let failed = if me == failing { Err("it is so") } else { Ok(()) };
                    (s.broadcast(1, (me == 1).then_some(7)), s.agree(failed))
                });
                check(&stepped.unwrap_err(), ErrorKind::Failed, &["it is so", &format!("rank {failing} brought")]);
                assert_eq!(sub.step(|s| s.reduce(1, Sum)), sub.size());
            });
        }
    });
}
