//! Methods that fail, and what everybody hears of it (X1 to X3, E3).

use crate::{SEVERAL, check, failing, is_everybodys, on_sizes};
use std::panic::{AssertUnwindSafe, catch_unwind};
use superstep::{Epoch, ErrorKind, Group, Handle, Object, Tuning};

/// X3: later requests to the object do not hide why it cannot be used.
#[test]
fn the_panic_itself_is_everybodys_error_and_not_what_it_leads_to() {
    on_sizes(&[2, 3, 4], |g| {
        let last = g.size() - 1;
        let object = g.object(0);
        let error = g
            .try_epoch(|e| {
                if e.rank() == last {
                    e.send(last, &object, (), |_, _, ()| panic!("the cause"));
                    e.flush();
                }
                for _ in 0..20 {
                    e.call(last, &object, (), |_, _, ()| ());
                }
            })
            .unwrap_err();
        check(&error, ErrorKind::RemotePanic, &["the cause", "epoch_failures.rs", &format!("processor {last}")]);
        is_everybodys(g, &error);
        // In a later epoch the object was broken before.
        let error = g.try_epoch(|e| e.send(last, &object, (), |_, _, ()| ())).unwrap_err();
        check(&error, ErrorKind::Poisoned, &["object of type i32"]);
        is_everybodys(g, &error);
    });
}

/// X2: questions to one's own processor are no exception.
#[test]
fn a_question_behind_one_that_panics_does_not_end_the_run() {
    on_sizes(&[1, 2, 3], |g| {
        let object = g.object(0);
        for to in 0..g.size() {
            let object = g.object(0);
            let error = g
                .try_epoch(|e| {
                    if e.rank() == 0 {
                        let _first = e.ask(to, &object, (), |_, _, ()| -> u8 { panic!("the first") });
                        let second = e.ask(to, &object, (), |_, _, ()| 1);
                        e.take(second);
                    }
                })
                .unwrap_err();
            check(&error, ErrorKind::RemotePanic, &["the first"]);
            is_everybodys(g, &error);
        }
        assert_eq!(object.with(|object| *object), 0);
    });
}

/// X2: what this library refuses inside a method is the method's failure, wherever it was called.
#[test]
fn misuse_in_a_method_is_an_error_of_the_epoch() {
    fn again(_: &mut u32, e: &Epoch, me: Handle<u32>) {
        e.call(e.rank(), &me, (), |_, _, ()| ());
    }
    on_sizes(&[1, 2, 3], |g| {
        for to in 0..g.size() {
            let object = g.object(0);
            let error = g
                .try_epoch(|e| {
                    if e.rank() == 0 {
                        e.call(to, &object, object.handle(), again);
                    }
                })
                .unwrap_err();
            check(&error, ErrorKind::StillBorrowed, &["object of type u32", "epoch_failures.rs"]);
            is_everybodys(g, &error);
        }
    });
}

/// X2: an epoch in which nobody can go on is over, even for those who catch its error.
#[test]
fn a_deadlock_that_is_caught_is_still_everybodys_error() {
    on_sizes(&SEVERAL, |g| {
        let object = g.object(0);
        let error = g
            .try_epoch(|e| {
                if e.rank() == 0 {
                    assert!(catch_unwind(AssertUnwindSafe(|| e.wait_one())).is_err());
                    e.send(e.size() - 1, &object, 1, |object, _, x| *object += x);
                    assert!(catch_unwind(AssertUnwindSafe(|| e.poll())).is_err());
                }
            })
            .unwrap_err();
        check(&error, ErrorKind::Deadlock, &["rank 0 waits for a request"]);
        is_everybodys(g, &error);
        assert_eq!(object.with(|object| *object), 0);
    });
}

/// X1: two groups may have declared the same, and still have objects of their own.
#[test]
fn a_handle_of_another_group_is_refused() {
    let claim = |g: &mut Group| {
        let object = g.object(0);
        let outer = object.handle();
        g.split(1, |sub| {
            let inner = sub.object(0);
            sub.epoch(|e| e.send(0, &outer, 1, |object, _, x| *object += x));
            drop(inner);
        });
    };
    failing(&[1, 2, 4], claim, |_, error| check(&error, ErrorKind::HandleMismatch, &["another group"]));
}

/// X3: the method that panicked is named, and not one that it had called.
#[test]
fn an_error_names_the_method_that_panicked() {
    fn inner(_: &mut u32, _: &Epoch, (): ()) {}
    fn outer(_: &mut (), e: &Epoch, other: Handle<u32>) {
        e.call(e.rank(), &other, (), inner);
        panic!("after the inner one");
    }
    fn breaks(_: &mut u32, _: &Epoch, (): ()) {
        panic!("in the inner one");
    }
    fn around(_: &mut (), e: &Epoch, other: Handle<u32>) {
        e.call(e.rank(), &other, (), breaks);
    }
    on_sizes(&[1, 2, 3], |g| {
        for to in 0..g.size() {
            // A function is called by its signature.
            for (name, says) in [("outer", "Handle<u32>), sent by rank "), ("breaks", "Epoch, ()), sent by rank ")] {
                let (object, other) = (g.object(()), g.object(0));
                let error = g
                    .try_epoch(|e| {
                        if e.rank() == 0 {
                            match name {
                                "outer" => e.call(to, &object, other.handle(), outer),
                                _ => e.call(to, &object, other.handle(), around),
                            }
                        }
                    })
                    .unwrap_err();
                check(&error, ErrorKind::RemotePanic, &["in the method ", says]);
                is_everybodys(g, &error);
            }
        }
    });
}

/// X2: whoever catches a method's panic, the epoch has failed, here as elsewhere; and methods are counted rightly.
#[test]
fn a_panic_of_a_method_that_the_program_catches_is_an_error_of_the_epoch() {
    on_sizes(&[1, 2, 3], |g| {
        for to in 0..g.size() {
            let (object, other) = (g.object(0), g.object(0));
            let error = g
                .try_epoch_with(Tuning::new().nesting(4), |e| {
                    if e.rank() != 0 {
                        return;
                    }
                    for _ in 0..10 {
                        let called = catch_unwind(AssertUnwindSafe(|| {
                            e.call(to, &object, (), |_, _, ()| -> u8 { panic!("it is caught") });
                        }));
                        assert!(called.is_err());
                    }
                    e.call(0, &other, (), |other, _, ()| *other += 1);
                })
                .unwrap_err();
            check(&error, ErrorKind::RemotePanic, &["it is caught"]);
            is_everybodys(g, &error);
            assert_eq!(other.with(|other| *other), i32::from(g.rank() == 0));
        }
    });
}

/// E3: that a request may once run out of order, where nobody could go on otherwise, is over with that one.
#[test]
fn requests_run_in_order_again_after_one_could_not() {
    type Pair = (Handle<Vec<u32>>, Handle<Vec<u32>>);
    /// Waits with its object busy until a request that stands behind one to that object has run.
    fn outer(_: &mut Vec<u32>, e: &Epoch, pair: Pair) {
        e.call(0, &pair.1, pair, |_, e, (x, y)| {
            e.send(1, &x, (), |_, _, ()| ());
            e.call(1, &y, (), |_, _, ()| ());
        });
    }
    /// Keeps its object busy while rank 0 sends it two further requests.
    fn busy(_: &mut Vec<u32>, e: &Epoch, (x, y): Pair) {
        e.call(0, &y, (x, y), |_, e, (x, y)| {
            e.send(2, &x, y, |_, e, y| e.call(2, &y, (), |order, _, ()| order.push(1)));
            e.send(2, &y, (), |order, _, ()| order.push(2));
            e.flush();
        });
        // The answer came behind the two.
        for _ in 0..10 {
            e.poll();
        }
        e.call(2, &y, (), |order, _, ()| order.push(0));
    }
    on_sizes(&[3, 4], |g| {
        let (x, y) = (g.object(Vec::new()), g.object(Vec::new()));
        let pair = (x.handle(), y.handle());
        g.epoch(|e| {
            if e.rank() == 0 {
                e.call(1, &x, pair, outer);
                e.call(2, &x, pair, busy);
            }
        });
        let expected = if g.rank() == 2 { vec![0, 1, 2] } else { Vec::new() };
        assert_eq!(y.with(|y| y.clone()), expected);
    });
}

/// X2: what a method has caught before it panics is not what it has panicked with.
#[test]
fn a_refusal_that_a_method_has_caught_is_not_its_panic() {
    fn breaks(_: &mut u32, e: &Epoch, me: Handle<u32>) {
        let refused = catch_unwind(AssertUnwindSafe(|| e.send(99, &me, (), |_, _, ()| ())));
        assert!(refused.is_err());
        std::panic::resume_unwind(Box::new("real"));
    }
    on_sizes(&[1, 2, 3], |g| {
        for to in 0..g.size() {
            let object = g.object(0);
            let error = g
                .try_epoch(|e| {
                    if e.rank() == 0 {
                        e.call(to, &object, object.handle(), breaks);
                    }
                })
                .unwrap_err();
            check(&error, ErrorKind::RemotePanic, &[&format!("processor {to} panicked in the method "), ": real ("]);
            is_everybodys(g, &error);
        }
    });
}

/// X2: an answer of an epoch that has failed is refused in the next one, which has not.
#[test]
fn an_answer_of_an_epoch_that_failed_does_not_fail_the_next_one() {
    on_sizes(&[2, 3], |g| {
        let object = g.object(5);
        let (mut failed, mut left) = (None, None);
        let error = g.try_epoch(|e| {
            if e.rank() == 0 {
                failed = Some(e.ask(1, &object, (), |_, _, ()| -> u8 { panic!("it has failed") }));
                left = Some(e.ask(1, &object, (), |_, _, ()| 1));
            }
        });
        check(&error.unwrap_err(), ErrorKind::RemotePanic, &["it has failed"]);
        let ranks = g.epoch(|e| {
            for answer in [failed.take(), left.take()].into_iter().flatten() {
                assert!(catch_unwind(AssertUnwindSafe(|| e.take(answer))).is_err());
            }
            e.rank()
        });
        assert_eq!(ranks, g.rank());
        g.step(|_| ());
    });
}

/// What panics when it is dropped, if it is armed.
#[derive(Clone, serde::Serialize, serde::Deserialize)]
struct Bomb(bool);

impl Drop for Bomb {
    fn drop(&mut self) {
        if self.0 && !std::thread::panicking() {
            std::panic::resume_unwind(Box::new("dropped"));
        }
    }
}

/// X3: an epoch drops what the one before it has left; nobody waits for a processor that unwinds with that.
#[test]
fn what_panics_when_an_epoch_drops_it_ends_everybody() {
    let answer = |g: &mut Group| {
        let object = g.object(0);
        g.epoch(|e| {
            if e.rank() == 0 {
                let _ = e.ask(1, &object, (), |_, _, ()| Bomb(true));
            }
        });
    };
    // Each keeps its object from the other, so that the request stays where it is.
    let request = |g: &mut Group| {
        let (object, me) = (g.object(0), g.rank());
        let stuck = g.try_epoch(|e| {
            if me < 2 {
                object.with(|_| {
                    e.call(1 - me, &object, Bomb(me == 0), |_, _, bomb| {
                        std::mem::forget(bomb);
                        1
                    })
                });
            }
        });
        assert!(stuck.is_err());
    };
    let leaves: [&(dyn Fn(&mut Group) + Sync); 2] = [&answer, &request];
    for leave in leaves {
        failing(
            &[2, 3],
            |g| {
                leave(g);
                let _ = catch_unwind(AssertUnwindSafe(|| g.epoch(|_| ())));
                g.step(|_| ());
                // Where it travels as bytes it is dropped at once, or never.
                std::panic::resume_unwind(Box::new("dropped"));
            },
            |_, error| {
                assert!(error.is_loss(), "{error}");
                assert!(error.to_string().contains(": dropped ("), "{error}");
            },
        );
    }
}

/// X2: of a series of questions those before the one that panics are answered, and other series are, before and behind.
#[test]
fn questions_before_and_beside_the_one_that_panics_are_answered() {
    on_sizes(&[1, 2, 3], |g| {
        for to in 0..g.size() {
            let (object, other) = (g.object(0u32), g.object(10u32));
            let mut asked = Vec::new();
            let error = g
                .try_epoch(|e| {
                    let ask = |on: &Object<u32>, x: u32| {
                        e.ask(to, on, x, |value, _, x| {
                            assert!(x != 3, "three came");
                            *value + x
                        })
                    };
                    if e.rank() == 0 {
                        asked.extend([0, 1].map(|x| ask(&other, x)));
                        asked.extend([2, 3, 4].map(|x| ask(&object, x)));
                        asked.push(ask(&other, 5));
                    }
                })
                .unwrap_err();
            check(&error, ErrorKind::RemotePanic, &["three came"]);
            is_everybodys(g, &error);
            let answers: Vec<Option<u32>> =
                asked.into_iter().map(|answer| catch_unwind(AssertUnwindSafe(|| answer.value())).ok()).collect();
            let expected = [Some(10), Some(11), Some(2), None, None, Some(15)];
            assert_eq!(answers, expected[..if g.rank() == 0 { 6 } else { 0 }]);
        }
    });
}

/// X2: what was never answered is not answered by another epoch.
#[test]
fn an_answer_that_never_came_is_not_that_of_a_later_question() {
    on_sizes(&[2, 3], |g| {
        let (object, other) = (g.object(5), g.object(7));
        let mut never = None;
        let stuck = g.try_epoch(|e| match e.rank() {
            0 => never = Some(e.ask(1, &object, (), |object, _, ()| *object)),
            1 => object.with(|_| e.wait_one()),
            _ => {}
        });
        check(&stuck.unwrap_err(), ErrorKind::Deadlock, &["rank 1 waits for a request"]);
        let later = g.epoch(|e| (e.rank() == 0).then(|| e.ask(1, &other, (), |other, _, ()| *other)));
        if let (Some(never), Some(later)) = (never, later) {
            assert!(!never.is_ready());
            assert_eq!(later.value(), 7);
        }
    });
}

/// X3: who catches a method's panic and calls another one of the object hears of that panic.
#[test]
fn a_call_behind_a_panic_that_was_caught_is_refused_with_that_panic() {
    on_sizes(&[1, 2, 3], |g| {
        let object = g.object(0);
        let error = g
            .try_epoch(|e| {
                if e.rank() == 0 {
                    let panics = || e.call(0, &object, (), |_, _, ()| -> u8 { panic!("the cause") });
                    assert!(catch_unwind(AssertUnwindSafe(panics)).is_err());
                    let again = catch_unwind(AssertUnwindSafe(|| e.call(0, &object, (), |_, _, ()| ())));
                    let refused = again.unwrap_err();
                    check(refused.downcast_ref().expect("it is an error"), ErrorKind::RemotePanic, &["the cause"]);
                }
            })
            .unwrap_err();
        check(&error, ErrorKind::RemotePanic, &["the cause"]);
        is_everybodys(g, &error);
    });
}

/// X2: a method that waits goes on where another one has failed, because its object could not be used any more.
#[test]
fn a_method_that_waits_goes_on_when_the_epoch_has_failed() {
    fn outlives(seen: &mut u32, e: &Epoch, (fails, fine): (Handle<u8>, Handle<u32>)) {
        let next = (e.rank() + 1) % e.size();
        let failed = catch_unwind(AssertUnwindSafe(|| {
            e.take(e.ask(next, &fails, (), |_, _, ()| -> u8 { panic!("it has failed") }));
        }));
        assert!(failed.is_err());
        *seen = e.take(e.ask(next, &fine, (), |fine, _, ()| *fine));
    }
    on_sizes(&[1, 2, 3], |g| {
        let (seen, fails, fine) = (g.object(0), g.object(0), g.object(7));
        let error = g
            .try_epoch(|e| {
                if e.rank() == 0 {
                    e.send(0, &seen, (fails.handle(), fine.handle()), outlives);
                }
            })
            .unwrap_err();
        check(&error, ErrorKind::RemotePanic, &["it has failed"]);
        is_everybodys(g, &error);
        assert_eq!(seen.with(|seen| *seen), if g.rank() == 0 { 7 } else { 0 });
    });
}
