//! Steps, what they hand back, and the check that all members reach the same one (S1, S2, S5).

use crate::{SIZES, check, everywhere, failing, is_everybodys, on_sizes};
use std::panic::{AssertUnwindSafe, catch_unwind};
use superstep::{Config, ErrorKind, Fabric, Leader, Local, Max, Same, Sum};

/// S1.
#[test]
fn nothing_takes_effect_before_the_boundary() {
    everywhere(|g| {
        let (area, sum, queue) = (g.area::<u64>(1), g.shared(5, Sum), g.queue::<(), u8>());
        let (me, p) = (g.rank() as u64, g.size() as u64);
        g.step(|s| {
            for to in 0..s.size() {
                s.put(to, &[me + 1], &area, 0);
                s.send(to, &queue, (), 1);
            }
            assert_eq!((area.local()[0], sum.get(), queue.len()), (0, 5, 0));
            sum.set(1);
            assert_eq!(sum.get(), 1);
        });
        assert_eq!((area.local()[0], sum.get(), queue.len() as u64), (p, p, p));
    });
}

/// S2: gets read, then puts and combines are committed, then messages are there.
#[test]
fn the_parts_of_a_boundary_happen_in_their_order() {
    everywhere(|g| {
        let (area, queue, last) = (g.area::<usize>(2), g.queue::<(), usize>(), g.shared(0, Max));
        let (me, p) = (g.rank(), g.size());
        area.local_mut().fill(100 + me);
        let next = (me + 1) % p;
        let got = g.step(|s| {
            let early = s.get(next, &area, ..);
            s.put(next, &[me], &area, 0);
            s.send(next, &queue, (), me);
            last.set(me);
            area.local_mut()[1] = 200 + me;
            (early, s.get(next, &area, ..))
        });
        assert_eq!(got, (vec![100 + next, 200 + next], vec![100 + next, 200 + next]));
        let before = (me + p - 1) % p;
        assert_eq!(*area.local(), [before, 200 + me]);
        assert_eq!((queue.drain().next(), last.get()), (Some(((), before)), p - 1));
    });
}

/// Section 3 of the design: everything that may hold a pending value hands back the same shape.
#[test]
fn pending_values_settle_inside_whatever_holds_them() {
    everywhere(|g| {
        let p = g.size();
        let none: Option<superstep::Pending<usize>> = None;
        let (list, array, some, none, fine, bad, plain, ()) = g.step(|s| {
            let one = || s.reduce(1, Sum);
            let (fine, bad) = (Ok::<_, ()>(one()), Err::<superstep::Pending<usize>, _>("no"));
            (vec![one(), one()], [one(), one()], Some((one(),)), none, fine, bad, Local(s.rank()), ())
        });
        assert_eq!((list, array, some), (vec![p, p], [p, p], Some((p,))));
        assert_eq!((none, fine, bad, plain), (None, Ok(p), Err("no"), g.rank()));
    });
}

/// S1: a value that nobody wants is no value, and no trouble.
#[test]
fn a_pending_value_may_be_dropped() {
    everywhere(|g| {
        let sum = g.step(|s| {
            drop(s.reduce(1u8, Sum));
            drop(s.prefix(1u16, Sum));
            s.reduce(1, Sum)
        });
        assert_eq!(sum, g.size());
    });
}

/// X1.
#[test]
fn a_pending_value_is_refused_by_any_other_step() {
    failing(
        &SIZES,
        |g| {
            let kept = g.step(|s| Local(s.reduce(1u64, Sum)));
            g.step(|s| (s.reduce(2u64, Sum), Local(())));
            g.step(|s| {
                drop(s.reduce(2u64, Sum));
                kept
            });
        },
        |context, error| {
            let says = ["step 2 of group 0", "pending u64 of step 0", file!()];
            assert!(error.is_misuse(), "{context}");
            check(&error, ErrorKind::StalePending, &says);
        },
    );
}

/// X1: steps of different groups may have the same number.
#[test]
fn a_pending_value_is_refused_by_a_step_of_another_group() {
    failing(
        &SIZES,
        |g| {
            let kept = g.split(1, |sub| sub.step(|s| Local(s.reduce(1u64, Sum)))).unwrap();
            let wrong = g.split(1, |sub| {
                sub.step(|s| {
                    drop(s.reduce(2u64, Sum));
                    kept
                })
            });
            panic!("a value came out: {wrong:?}");
        },
        |_, error| check(&error, ErrorKind::StalePending, &["pending u64 of step 0", file!()]),
    );
}

/// S5: the counter is a u64 that goes round.
#[test]
fn the_step_counter_wraps_around() {
    for procs in [1, 2, 9] {
        let steps = Config::new().procs(procs).fabric(Fabric::Threads).first_step(u64::MAX - 2).run_all(|g| {
            let (area, sum) = (g.area::<usize>(1), g.shared(0, Sum));
            for round in 0..6 {
                let got = g.step(|s| {
                    sum.set(round);
                    area.local_mut()[0] = round;
                    let next = (s.rank() + 1) % s.size();
                    (s.get(next, &area, ..), s.reduce(round, Sum))
                });
                assert_eq!(got, (vec![round], round * g.size()));
                assert_eq!(sum.get(), round * g.size());
                g.split(2, |sub| sub.step(|_| ()));
            }
            g.steps()
        });
        // The making of the area, six steps, and twice six boundaries of splits.
        assert_eq!(steps.unwrap(), vec![(u64::MAX - 2).wrapping_add(1 + 6 + 12); procs]);
    }
}

/// X1 and X2: a borrow that is alive at a boundary is an error on every member, and nothing is changed under it.
#[test]
fn a_borrow_that_is_alive_at_a_boundary_is_everybodys_error() {
    on_sizes(&SIZES, |g| {
        let (area, sum) = (g.area::<u8>(1), g.shared(3, Sum));
        let holder = g.size() - 1;
        let holds = g.rank() == holder;
        for kind in 0..3 {
            let error = {
                let lent = (holds && kind == 0).then(|| area.local_mut());
                let seen = (holds && kind == 1).then(|| area.local());
                let read = (holds && kind == 2).then(|| sum.read());
                let error = g.try_step(|s| {
                    s.put(holder, &[9], &area, 0);
                    if !holds {
                        sum.set(8);
                    }
                });
                drop((lent, seen, read));
                error.unwrap_err()
            };
            let what = if kind == 2 { "shared i32" } else { "area of u8" };
            check(&error, ErrorKind::StillBorrowed, &["of group 0", &format!("rank {holder}"), what, file!()]);
            is_everybodys(g, &error);
            assert_eq!((area.local()[0], sum.get()), (0, 3));
        }
    });
}

/// X1 and X2: the write handle of a variable counts as well.
#[test]
fn a_variable_that_is_lent_for_writing_at_a_boundary_is_refused() {
    on_sizes(&SIZES, |g| {
        let sum = g.shared(3, Sum);
        let holds = g.rank() == 0;
        let lent = std::cell::RefCell::new(None);
        let error = g.try_step(|_| {
            if holds {
                *lent.borrow_mut() = Some(sum.write());
            }
        });
        lent.take();
        let error = error.unwrap_err();
        check(&error, ErrorKind::StillBorrowed, &["step 0 of group 0", "rank 0", "shared i32"]);
        is_everybodys(g, &error);
    });
}

/// X1 and X2: a borrow does not become harmless by outliving one boundary.
#[test]
fn a_borrow_that_outlives_a_failed_boundary_fails_the_next_one_too() {
    on_sizes(&SIZES, |g| {
        let area = g.area::<u8>(1);
        let lent = (g.rank() == 0).then(|| area.local());
        for _ in 0..3 {
            let error = g.try_step(|s| s.put(0, &[9], &area, 0)).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::StillBorrowed, "{error}");
        }
        drop(lent);
        assert_eq!(area.local()[0], 0);
    });
}

/// X2: data is as before, and stays so in the steps after it.
#[test]
fn a_failed_step_has_no_effect_now_or_later() {
    on_sizes(&SIZES, |g| {
        let (area, sum, leader) = (g.area::<usize>(4), g.shared(3, Sum), g.shared(4, Leader));
        let queue = g.queue::<usize, String>();
        let me = g.rank();
        g.step(|s| s.send(s.rank(), &queue, 1, "kept".to_owned()));
        for kind in 0..3 {
            let error = g.try_step(|s| {
                for to in 0..s.size() {
                    s.put(to, &[9], &area, 0);
                    s.hp_put(to, vec![9], &area, 1);
                    s.hp_put(to, (&area, 0..1), &area, 2);
                    s.hp_get(to, &area, 0..1, &area, 3);
                    s.send(to, &queue, 2, "lost".to_owned());
                    drop(s.get(to, &area, ..));
                }
                sum.set(9);
                leader.set(9);
                area.local_mut()[0] = 5;
                match kind {
                    0 if s.size() > 1 => drop(s.reduce(me, Same)),
                    1 if me == 0 => drop(s.prefix(1, Sum)),
                    _ => drop(s.reduce(1, |_: &mut i32, _: &i32| panic!("on purpose"))),
                }
            });
            if g.size() == 1 {
                return;
            }
            let error = error.unwrap_err();
            is_everybodys(g, &error);
            // What the owner did to its own part is its own; everything else is as it was.
            assert_eq!(*area.local(), [5, 0, 0, 0], "after {error}");
            assert_eq!((sum.get(), leader.get()), (3, 4));
            assert!(queue.drain().all(|(_, text)| text == "kept"));
            area.local_mut()[0] = 1;
            let got = g.step(|s| {
                s.send(s.rank(), &queue, 3, "kept".to_owned());
                s.hp_put(s.rank(), (&area, 0..1), &area, 1);
                (s.get((me + 1) % s.size(), &area, ..), s.reduce(1, Sum))
            });
            assert_eq!(got, (vec![1, 0, 0, 0], g.size()));
            assert_eq!(*area.local(), [1, 1, 0, 0], "a step after {error}");
            assert_eq!((sum.get(), leader.get()), (3, 4));
            assert_eq!(queue.drain().collect::<Vec<_>>(), [(3, "kept".to_owned())]);
            area.local_mut().fill(0);
            g.step(|_| ());
        }
    });
}

/// X2: the member whose own borrow is the error has sent nothing either.
#[test]
fn what_the_member_at_fault_sent_is_gone_too() {
    on_sizes(&SIZES, |g| {
        let (area, queue) = (g.area::<usize>(2), g.queue::<(), usize>());
        let me = g.rank();
        let lent = (me == 0).then(|| area.local());
        let error = g.try_step(|s| {
            for to in 0..s.size() {
                s.send(to, &queue, (), me);
                s.put(to, &[7], &area, 0);
                s.hp_put(to, (&area, 0..1), &area, 1);
            }
        });
        drop(lent);
        assert_eq!(error.unwrap_err().kind(), ErrorKind::StillBorrowed);
        g.step(|s| s.send((me + 1) % s.size(), &queue, (), 100));
        assert_eq!(queue.drain().collect::<Vec<_>>(), [((), 100)]);
        assert_eq!(*area.local(), [0, 0]);
    });
}

/// A body that unwinds and is caught never reached its boundary, so it has no effect.
#[test]
fn a_body_that_unwinds_and_is_caught_leaves_nothing_behind() {
    everywhere(|g| {
        let (area, queue, sum) = (g.area::<usize>(2), g.queue::<(), usize>(), g.shared(3, Sum));
        let caught = catch_unwind(AssertUnwindSafe(|| {
            g.step(|s| {
                for to in 0..s.size() {
                    s.send(to, &queue, (), 1);
                    s.put(to, &[7], &area, 0);
                    s.hp_put(to, (&area, 0..1), &area, 1);
                }
                sum.set(1);
                s.combine(&sum, Max);
                if sum.get() == 1 {
                    std::panic::resume_unwind(Box::new("on purpose"));
                }
            });
        }));
        assert!(caught.is_err());
        assert_eq!(g.step(|s| s.reduce(1, Sum)), g.size());
        assert_eq!((queue.len(), sum.get()), (0, 3));
        assert_eq!(*area.local(), [0, 0]);
    });
}

/// S5: a step of its own kind for each of many threads on few cores.
#[test]
fn sixty_four_threads_step_together() {
    let sums = Config::new().procs(64).fabric(Fabric::Threads).run_all(|g| {
        let mut sum = 0;
        for round in 0..50 {
            sum += g.step(|s| s.reduce(s.rank() * round, Sum));
            g.split(7, |sub| sub.step(|_| ()));
        }
        sum
    });
    assert_eq!(sums.unwrap(), vec![64 * 63 / 2 * (50 * 49 / 2); 64]);
}
