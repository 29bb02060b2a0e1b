//! Steps that do not close leave nothing behind, wherever what they had asked for had got to (X6).
//!
//! Over messages a tray of 64 KiB and more leaves while the step still computes, and a put of as many stays out of its
//! tray, so these claims are about long ones.

use crate::{SEVERAL, check, everywhere, on_sizes};
use serde::{Deserialize, Serialize};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use superstep::{Block, Error, ErrorKind, Group, Local, Same, Step, Sum};

/// So many words are more than a tray holds that waits for the end of its step.
const LONG: usize = 20_000;

/// Runs a step whose body ends before its time, and catches that.
fn unwound(g: &mut Group, body: impl FnOnce(&Step)) {
    let caught = catch_unwind(AssertUnwindSafe(|| {
        g.step(|s| {
            body(s);
            resume_unwind(Box::new("on purpose"));
        });
    }));
    assert!(caught.is_err());
}

#[test]
fn long_puts_of_a_body_that_unwinds_are_never_seen() {
    everywhere(|g| {
        let (me, p) = (g.rank(), g.size());
        let area = g.area::<usize>(LONG);
        for _ in 0..3 {
            unwound(g, |s| {
                for to in 0..p {
                    s.put(to, &vec![7; LONG], &area, 0);
                    // These share trays, which are soon full.
                    (0..8).for_each(|part| s.put(to, &vec![8; LONG / 8], &area, part * (LONG / 8)));
                }
            });
        }
        g.step(|s| s.put((me + 1) % p, &[1 + me], &area, 5));
        let left = (me + p - 1) % p;
        assert_eq!(area.local().iter().sum::<usize>(), 1 + left);
        assert_eq!(area.local()[5], 1 + left);
    });
}

#[test]
fn sections_of_a_step_that_does_not_close_are_never_moved() {
    everywhere(|g| {
        let (me, p) = (g.rank(), g.size());
        let (next, left) = ((me + 1) % p, (me + p - 1) % p);
        let (area, source) = (g.area::<usize>(4), g.area::<usize>(2));
        source.local_mut().fill(me + 1);
        let moves = |s: &Step| {
            s.hp_put(next, (&source, 0..2), &area, 2);
            s.hp_get(next, &source, ..1, &area, 1);
        };
        unwound(g, moves);
        let failed = g.try_step(|s| {
            moves(s);
            s.agree(Err::<(), _>("on purpose"))
        });
        assert!(failed.is_err());
        g.step(|s| s.hp_put(next, (&source, 0..1), &area, 0));
        assert_eq!(*area.local(), [left + 1, 0, 0, 0]);
    });
}

#[test]
fn one_member_may_begin_a_step_again_while_the_others_are_in_it() {
    everywhere(|g| {
        let (me, p) = (g.rank(), g.size());
        let area = g.area::<usize>(2 * LONG);
        for again in 0..p {
            for attempt in 0.. {
                let is_last = me != again || attempt == 2;
                let caught = catch_unwind(AssertUnwindSafe(|| {
                    g.step(|s| {
                        let (values, to) = (vec![100 * attempt + me + 1; LONG], (me + 1) % p);
                        s.put(to, &values, &area, if is_last { 0 } else { LONG });
                        if !is_last {
                            resume_unwind(Box::new("once more"));
                        }
                    });
                }));
                if caught.is_ok() {
                    break;
                }
            }
            let left = (me + p - 1) % p;
            let expected = if left == again { 200 } else { 0 } + left + 1;
            assert!(area.local()[..LONG].iter().all(|&value| value == expected));
            assert!(area.local()[LONG..].iter().all(|&value| value == 0));
        }
    });
}

#[test]
fn long_reads_of_a_body_that_unwinds_do_not_touch_later_ones() {
    everywhere(|g| {
        let p = g.size();
        let array = g.array::<u64, Block>(LONG * p);
        for (at, x) in array.local_mut().iter_mut().enumerate() {
            *x = at as u64 + 1;
        }
        let area = g.area::<u64>(4);
        area.local_mut().fill(9);
        let (all, few): (Vec<usize>, Vec<usize>) = ((0..LONG * p).rev().collect(), vec![0, LONG * p - 1]);
        unwound(g, |s| {
            let _ = (s.gather(&array, &all), s.mirror(&array, ..), s.get((s.rank() + 1) % p, &area, ..));
        });
        let (ends, some) = g.step(|s| (s.gather(&array, &few), s.mirror(&array, 1..3)));
        let last = array.len() - LONG * (p - 1);
        assert_eq!((ends, some), (vec![1, last as u64], vec![2, 3]));
        g.step(|s| s.put((s.rank() + 1) % p, &[1], &area, 0));
        assert_eq!(*area.local(), [1, 9, 9, 9]);
        // Nobody but rank 0 waits for an answer now.
        unwound(g, |s| drop((s.gather(&array, &all), s.get((s.rank() + 1) % p, &area, ..))));
        let ends = g.step(|s| (s.rank() == 0).then(|| s.gather(&array, &few)));
        assert_eq!(ends, (g.rank() == 0).then(|| vec![1, last as u64]));
    });
}

#[test]
fn scatters_sends_and_exchanges_of_a_body_that_unwinds_are_never_seen() {
    everywhere(|g| {
        let p = g.size();
        let (array, queue) = (g.array::<u64, Block>(LONG), g.queue::<u32, Vec<u64>>());
        let all: Vec<usize> = (0..LONG).collect();
        unwound(g, |s| {
            s.scatter_one(&array, &all, 1, Sum);
            for to in 0..p {
                s.send(to, &queue, 1, vec![1; LONG]);
            }
            let _ = s.exchange(vec![vec![1u64; LONG]; p]);
            let _ = (s.collect(vec![3u8; LONG]), s.broadcast(0, Some(vec![4u8; LONG])));
        });
        let parts = g.step(|s| s.exchange(vec![s.rank(); p]));
        assert_eq!(parts, (0..p).collect::<Vec<_>>());
        assert!(queue.is_empty());
        assert!(array.local().iter().all(|&x| x == 0));
    });
}

/// X6: it fails for all, and some of it had left.
#[test]
fn a_step_that_fails_for_all_has_no_effect_however_much_of_it_had_left() {
    on_sizes(&SEVERAL, |g| {
        let (me, p) = (g.rank(), g.size());
        let (area, array) = (g.area::<usize>(LONG), g.array::<u64, Block>(LONG));
        let all: Vec<usize> = (0..LONG).collect();
        for _ in 0..2 {
            let failed = g.try_step(|s| {
                s.put((me + 1) % p, &vec![7; LONG], &area, 0);
                s.scatter_one(&array, &all, 1, Sum);
                (s.gather(&array, &all), s.reduce(me, Same))
            });
            check(&failed.unwrap_err(), ErrorKind::ReplicaDiverged, &["differ"]);
        }
        let seen = g.step(|s| {
            s.put((me + 1) % p, &[1], &area, 0);
            s.gather(&array, &all)
        });
        assert_eq!((area.local()[0], area.local()[1..].iter().sum::<usize>()), (1, 0));
        assert_eq!(seen, vec![0; LONG]);
    });
}

/// X6: one member alone has made it fail, after its own puts and everybody's had left.
#[test]
fn a_boundary_that_one_member_cannot_hold_has_no_effect_either() {
    on_sizes(&SEVERAL, |g| {
        let (me, p) = (g.rank(), g.size());
        let (area, other) = (g.area::<usize>(LONG), g.area::<u8>(1));
        let borrow = (me == p - 1).then(|| other.local_mut());
        let failed = g.try_step(|s| s.put((me + 1) % p, &vec![7; LONG], &area, 0));
        check(&failed.unwrap_err(), ErrorKind::StillBorrowed, &[]);
        drop(borrow);
        let sum = g.step(|s| {
            s.put((me + 1) % p, &[1], &area, 0);
            s.reduce(1, Sum)
        });
        assert_eq!((area.local()[0], area.local()[1..].iter().sum::<usize>(), sum), (1, 0, p));
    });
}

/// X6 and G6: the leaver's last words were of a step that never closed.
#[test]
fn who_leaves_after_a_body_that_unwound_leaves_nothing_of_it_behind() {
    on_sizes(&SEVERAL, |g| {
        let me = g.rank();
        g.split(1, |sub| {
            let (p, area) = (sub.size(), sub.area::<usize>(LONG));
            unwound(sub, |s| s.put((me + 1) % p, &vec![7; LONG], &area, 0));
            if me == 1 {
                return;
            }
            sub.step(|s| s.put(s.rank(), &[1], &area, 1));
            assert_eq!((area.local()[1], area.local().iter().sum::<usize>()), (1, 1));
        });
    });
}

/// X6: whatever the group does next.
#[test]
fn a_split_a_making_and_an_epoch_may_follow_a_body_that_unwound() {
    everywhere(|g| {
        let (me, p) = (g.rank(), g.size());
        let area = g.area::<usize>(LONG);
        let put = |s: &Step| s.put((me + 1) % p, &vec![7; LONG], &area, 0);
        unwound(g, put);
        g.split(2, |sub| sub.step(|_| ()));
        unwound(g, put);
        let (second, sum) = (g.area::<usize>(3), g.object(0));
        unwound(g, put);
        g.epoch(|e| e.send((me + 1) % p, &sum, 1, |sum, _, x| *sum += x));
        g.step(|s| s.put(me, &[1], &second, 0));
        assert_eq!((area.local().iter().sum::<usize>(), sum.with(|sum| *sum)), (0, 1));
        assert_eq!(*second.local(), [1, 0, 0]);
    });
}

#[test]
fn a_variable_is_what_it_was_as_soon_as_the_body_has_unwound() {
    everywhere(|g| {
        let (list, sum) = (g.shared(vec![1], Same), g.shared(1, Sum));
        unwound(g, |_| {
            list.write().push(2);
            sum.set(7);
        });
        assert_eq!((list.get(), sum.get()), (vec![1], 1));
        let outside = catch_unwind(AssertUnwindSafe(|| sum.set(2)));
        assert!(outside.is_err(), "there is no step to write in");
        g.step(|_| sum.set(1));
        assert_eq!(sum.get(), g.size());
    });
}

/// X6 and G5: so is a variable of an outer group that the step of a subgroup has written.
#[test]
fn a_variable_of_an_outer_group_is_what_it_was_before_a_step_that_did_not_close() {
    everywhere(|g| {
        let (sum, list) = (g.shared(0, Sum), g.shared(vec![1], Same));
        g.split(2, |sub| {
            unwound(sub, |_| {
                sum.set(7);
                sum.set(8);
                list.write().push(2);
            });
            assert_eq!((sum.get(), list.get()), (0, vec![1]));
            sub.step(|_| sum.set(1));
            unwound(sub, |_| sum.set(9));
            assert_eq!(sum.get(), 1);
            // It fails for all, also where nobody has anything else to say.
            let failed = sub.try_step(|s| {
                *sum.write() += 10;
                s.agree(Err::<(), _>("on purpose"))
            });
            assert!(failed.is_err());
            assert_eq!(sum.get(), 1);
            // Between the steps of a subgroup there is nothing to fail.
            sum.set(2);
            sub.split(1, |inner| {
                inner.step(|_| sum.set(3));
                unwound(inner, |_| sum.set(9));
                assert_eq!(sum.get(), 3);
            });
            // A borrow that has got away keeps nothing.
            let mut held = None;
            unwound(sub, |_| {
                let mut lent = sum.write();
                *lent = 50;
                held = Some(lent);
            });
            if let Some(mut lent) = held {
                *lent = 60;
            }
            assert_eq!(sum.get(), 3);
        });
        assert_eq!((sum.get(), list.get()), (3 * g.size(), vec![1]));
    });
}

/// X6: what was pending in it comes to nothing, also where the step is begun again under its number.
#[test]
fn a_pending_value_of_an_abandoned_step_is_not_one_of_the_next() {
    everywhere(|g| {
        let mut old = None;
        unwound(g, |s| old = Some(s.reduce(1u8, Sum)));
        let late = catch_unwind(AssertUnwindSafe(|| {
            g.step(|s| {
                let _ = s.reduce(100u8, Sum);
                old.take().expect("it was made above")
            });
        }));
        let payload = late.unwrap_err();
        check(payload.downcast_ref::<Error>().unwrap(), ErrorKind::StalePending, &["a pending u8 of step 0"]);
        assert_eq!(g.step(|s| s.reduce(1, Sum)), g.size());
    });
}

/// Unwinds when it is dropped.
#[derive(Clone, Serialize, Deserialize)]
struct Touchy(bool);

impl Drop for Touchy {
    fn drop(&mut self) {
        if self.0 {
            resume_unwind(Box::new("touchy"));
        }
    }
}

/// Values that were to be moved to others are dropped when the step is, and the rest of it is undone all the same.
#[test]
fn what_unwinds_when_it_is_dropped_does_not_keep_the_rest_from_being_undone() {
    everywhere(|g| {
        let (me, p) = (g.rank(), g.size());
        let (x, queue) = (g.shared(5, Sum), g.queue::<(), usize>());
        unwound(g, |s| {
            x.set(7);
            s.send(me, &queue, (), 7);
            let _ = s.exchange((0..p).map(|to| Touchy(p > 1 && to == (me + 1) % p)).collect());
        });
        assert_eq!(x.get(), 5);
        g.step(|s| s.send((me + 1) % p, &queue, (), me));
        assert_eq!((x.get(), queue.drain().count()), (5, 1));
    });
}

/// Messages that were never sent are dropped when the step is, and that may unwind again.
#[test]
fn what_unwinds_when_it_is_dropped_does_not_end_the_program() {
    everywhere(|g| {
        let (queue, area) = (g.queue::<(), Touchy>(), g.area::<usize>(LONG));
        unwound(g, |s| {
            s.put((s.rank() + 1) % s.size(), &vec![7; LONG], &area, 0);
            s.send(0, &queue, (), Touchy(true));
        });
        g.step(|s| s.send(0, &queue, (), Touchy(false)));
        assert_eq!(queue.len(), if g.is_leader() { g.size() } else { 0 });
        assert!(area.local().iter().all(|&x| x == 0));
    });
}

/// A number that cannot be written while it is odd: it says so, or it panics.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
struct Fussy(u64);

impl Serialize for Fussy {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self.0 % 4 {
            1 => Err(serde::ser::Error::custom("odd")),
            3 => resume_unwind(Box::new("odd")),
            _ => self.0.serialize(to),
        }
    }
}

/// X1: where a value is moved nothing is written, so the claim is about what comes of it and not about who is refused.
#[test]
fn a_collective_call_that_is_refused_half_way_may_be_made_again() {
    everywhere(|g| {
        let (me, p) = (g.rank(), g.size());
        for bad in [1u64, 3] {
            let (parts, dealt, collected) = g.step(|s| {
                let mut half: Vec<Fussy> = (0..p as u64).map(|to| Fussy(4 * to)).collect();
                *half.last_mut().unwrap() = Fussy(bad);
                let whole: Vec<Fussy> = (0..p).map(|to| Fussy(4 * (10 * me + to) as u64)).collect();
                let first = catch_unwind(AssertUnwindSafe(|| s.exchange(half.clone())));
                let parts = first.unwrap_or_else(|_| s.exchange(whole.clone()));
                let first = catch_unwind(AssertUnwindSafe(|| s.deal(0, Some(half.clone()))));
                let dealt = first.unwrap_or_else(|_| s.deal(0, Some(whole.clone())));
                let first = catch_unwind(AssertUnwindSafe(|| s.collect_to(0, Fussy(bad))));
                let collected = first.unwrap_or_else(|_| s.collect_to(0, whole[0]));
                (parts, dealt, collected)
            });
            assert_eq!(parts.len(), p);
            let is_one = |from: usize, x: Fussy| x == Fussy(4 * (10 * from + me) as u64) || x.0 == 4 * me as u64;
            let is_bad = |x: Fussy| x.0 == bad;
            assert!(parts.iter().enumerate().all(|(from, &x)| is_one(from, x) || is_bad(x)), "{parts:?}");
            assert!(is_one(0, dealt) || is_bad(dealt), "{dealt:?}");
            assert_eq!(collected.is_some(), me == 0);
        }
        assert_eq!(g.step(|s| s.reduce(1, Sum)), p);
    });
}

/// X1: the long put before it stands, and is made once.
#[test]
fn a_refused_call_takes_nothing_of_the_step_with_it() {
    everywhere(|g| {
        let (me, p) = (g.rank(), g.size());
        let (area, array) = (g.area::<usize>(LONG + 1), g.array::<u64, Block>(LONG));
        let all: Vec<usize> = (0..LONG).collect();
        let mut bad = all.clone();
        bad[LONG - 1] = LONG;
        let read = g.step(|s| {
            s.put((me + 1) % p, &vec![me + 1; LONG], &area, 0);
            assert!(s.try_put((me + 1) % p, &vec![9; LONG], &area, 2).is_err());
            assert!(s.try_put(p, &vec![9; LONG], &area, 0).is_err());
            assert!(s.try_gather(&array, &bad).is_err());
            assert!(s.try_scatter_one(&array, &bad, 5, Sum).is_err());
            s.scatter_one(&array, &all, 1, Sum);
            s.put((me + 1) % p, &[8], &area, LONG);
            (s.gather(&array, &all), Local(()))
        });
        let left = (me + p - 1) % p;
        assert!(area.local()[..LONG].iter().all(|&x| x == left + 1));
        assert_eq!((area.local()[LONG], read.0), (8, vec![p as u64; LONG]));
    });
}
