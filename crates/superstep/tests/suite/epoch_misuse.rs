//! What goes wrong with epochs, and what is said of it (E1, E2, X1, X2).

use crate::{SEVERAL, check, failing, is_everybodys, on_sizes};
use serde::{Deserialize, Serialize, Serializer};
use std::panic::{AssertUnwindSafe, catch_unwind};
use superstep::{Epoch, ErrorKind, Group, Max, Object, Sum, Tuning, Volatile};

/// X1.
#[test]
fn a_rank_that_is_not_in_the_group_is_refused() {
    let sizes = [1, 2, 3];
    let uses: [fn(&superstep::Epoch, &superstep::Object<u8>); 4] = [
        |e, object| e.send(e.size(), object, (), |_, _, ()| ()),
        |e, object| e.call(e.size(), object, (), |_, _, ()| ()),
        |e, object| drop(e.ask(usize::MAX, object, (), |_, _, ()| ())),
        |e, object| e.broadcast(e.size(), object, Some(()), |_, _, ()| ()),
    ];
    for used in uses {
        let claim = |g: &mut Group| {
            let object = g.object(0);
            g.epoch(|e| used(e, &object));
        };
        failing(&sizes, claim, |context, error| {
            assert_eq!(error.kind(), ErrorKind::RankOutOfRange, "{context}: {error}");
            check(&error, ErrorKind::RankOutOfRange, &["in a group of", "epoch_misuse.rs"]);
        });
    }
}

/// X1: objects belong to the group that made them.
#[test]
fn an_object_of_another_group_is_refused() {
    let claim = |g: &mut Group| {
        let object = g.object(0);
        g.split(1, |sub| sub.epoch(|e| e.send(0, &object, 1, |object, _, x| *object += x)));
    };
    failing(&[1, 2, 4], claim, |_, error| check(&error, ErrorKind::NotMember, &["object of type i32", "group 0"]));
    let claim = |g: &mut Group| {
        let variable = g.volatile(0, 0u8);
        g.split(1, |sub| sub.epoch(|e| e.load(&variable)));
    };
    failing(&[1, 2, 4], claim, |_, error| check(&error, ErrorKind::NotMember, &["volatile variable", "group 0"]));
}

/// X1: a handle outlives its object.
#[test]
fn a_handle_of_an_object_that_was_dropped_is_refused() {
    let claim = |g: &mut Group| {
        let stale = g.object(String::new()).handle();
        g.step(|_| ());
        // This one gets the number that has become free.
        let _other = g.object(String::new());
        g.epoch(|e| e.send(0, &stale, (), |_, _, ()| ()));
    };
    failing(&[1, 2, 3], claim, |_, error| check(&error, ErrorKind::HandleMismatch, &["String", "dropped"]));
}

/// E1 and X2.
#[test]
fn objects_made_in_another_order_are_one_error() {
    let claim = |g: &mut Group| {
        let _objects = if g.rank() == 1 {
            let number = g.object(1u64);
            (g.object("text"), number)
        } else {
            (g.object("text"), g.object(1u64))
        };
        g.epoch(|_| ());
    };
    failing(&SEVERAL, claim, |_, error| check(&error, ErrorKind::DeclMismatch, &["object of type"]));
}

/// X2: an epoch is not a step.
#[test]
fn an_epoch_that_meets_a_step_is_one_error() {
    let line = line!();
    let claim = |g: &mut Group| {
        if g.rank() == 0 {
            g.epoch(|_| ());
        } else {
            g.step(|_| ());
        }
    };
    let place = |what: &str, offset: u32| format!("at the {what} at {}:{}", file!(), line + offset);
    let (epoch, step) = (format!("rank 0 is {}", place("epoch", 3)), format!("rank 1 {}", place("step", 5)));
    failing(&SEVERAL, claim, |_, error| check(&error, ErrorKind::StepMismatch, &[&epoch, &step]));
}

/// X2: members of an epoch in different collectives.
#[test]
fn different_collectives_are_an_error() {
    let claim = |g: &mut Group| {
        let object = g.object(0);
        g.epoch(|e| {
            if e.rank() == 0 {
                e.broadcast(0, &object, Some(1), |object, _, x| *object += x);
            } else {
                e.broadcast(0, &object, None::<i32>, |object, _, x| *object -= x);
            }
        });
    };
    failing(&SEVERAL, claim, |_, error| check(&error, ErrorKind::StepMismatch, &["different collectives"]));
    let claim = |g: &mut Group| {
        let object = g.object(0);
        g.epoch(|e| e.broadcast(0, &object, None::<i32>, |object, _, x| *object += x));
    };
    failing(&[1, 2, 3], claim, |_, error| check(&error, ErrorKind::NoValue, &["gives no arguments"]));
}

/// X2: two reduces that differ in their method, or only in their operator.
#[test]
fn different_reduces_are_an_error() {
    fn value(object: &mut u32, _: &Epoch, (): ()) -> u32 {
        *object
    }
    let reduces: [fn(&Epoch, &Object<u32>) -> u32; 2] = [
        |e, object| match e.rank() {
            0 => e.reduce(object, (), value, Sum),
            _ => e.reduce(object, (), value, Max),
        },
        |e, object| match e.rank() {
            0 => e.reduce(object, (), value, Sum),
            _ => e.reduce(object, (), |object, _, ()| *object + 1, Sum),
        },
    ];
    for reduce in reduces {
        let claim = |g: &mut Group| {
            let object = g.object(1);
            g.epoch(|e| reduce(e, &object));
        };
        failing(&SEVERAL, claim, |_, error| check(&error, ErrorKind::StepMismatch, &["different collectives"]));
    }
}

/// X2: some wait in a collective that the others never come to.
#[test]
fn a_collective_that_not_everybody_comes_to_is_an_error() {
    on_sizes(&SEVERAL, |g| {
        let object = g.object(0);
        let error = g
            .try_epoch(|e| {
                if e.rank() > 0 {
                    e.broadcast(0, &object, None::<i32>, |object, _, x| *object += x);
                }
            })
            .unwrap_err();
        check(&error, ErrorKind::Deadlock, &["waits for rank 0 in a collective"]);
    });
}

/// X2: members that broadcast from different roots, or not at all, hear of it at the epoch's end.
#[test]
fn a_broadcast_that_others_do_not_take_in_is_an_error() {
    let roots: [fn(&Epoch) -> Option<usize>; 2] = [|e| Some(e.rank() % 2), |e| (e.rank() == 0).then_some(0)];
    for root_of in roots {
        on_sizes(&[2, 3, 4], |g| {
            let object = g.object(0);
            let error = g
                .try_epoch(|e| {
                    if let Some(root) = root_of(e) {
                        e.broadcast(root, &object, Some(1), |object, _, x| *object += x);
                    }
                })
                .unwrap_err();
            check(&error, ErrorKind::StepMismatch, &["collective"]);
            is_everybodys(g, &error);
        });
    }
}

/// X1: what is lent cannot be lent again, and a method finds it free.
#[test]
fn what_is_lent_is_not_lent_twice() {
    let claim = |g: &mut Group| {
        let object = g.object(0);
        object.with(|_| object.with(|_| ()));
    };
    failing(&[1, 2], claim, |_, error| check(&error, ErrorKind::StillBorrowed, &["object of type i32"]));
    let claim = |g: &mut Group| {
        let object = g.object(0);
        g.epoch(|e| object.with(|_| e.call(e.rank(), &object, (), |_, _, ()| ())));
    };
    failing(&[1, 2], claim, |_, error| check(&error, ErrorKind::StillBorrowed, &["was called here, but it is lent"]));
    // A request waits until it is free.
    on_sizes(&[1, 2], |g| {
        let object = g.object(0);
        g.epoch(|e| {
            object.with(|object| {
                *object = 1;
            });
            object.with(|_| {
                e.send(e.rank(), &object, 1, |object, _, x| *object += x);
                e.poll();
            });
            e.poll();
            assert_eq!(object.with(|object| *object), 2);
        });
    });
}

#[derive(Clone, Deserialize)]
struct Stubborn;

impl Serialize for Stubborn {
    fn serialize<S: Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
        Err(serde::ser::Error::custom("it will not be written"))
    }
}

/// X1: between processes an argument has to be encoded.
#[test]
fn an_argument_that_cannot_be_encoded_is_refused() {
    use superstep::{Config, Fabric};
    let error = Config::new().procs(2).fabric(Fabric::Sim { seed: 1, shares_memory: false }).run(|g| {
        let object = g.object(0);
        g.epoch(|e| e.send(1 - e.rank(), &object, Stubborn, |_, _, _| ()));
    });
    check(&error.unwrap_err(), ErrorKind::Encode, &["Stubborn", "cannot be encoded", "epoch_misuse.rs:"]);
    // To a thread, or to oneself, it moves.
    for (fabric, distance) in [(Fabric::Threads, 1), (Fabric::Sim { seed: 1, shares_memory: false }, 0)] {
        let sum = Config::new().procs(2).fabric(fabric).run(|g| {
            let object = g.object(0);
            g.epoch(|e| e.send((e.rank() + distance) % 2, &object, Stubborn, |object, _, _| *object += 1));
            object.with(|object| *object)
        });
        assert_eq!(sum.unwrap(), 1);
    }
}

/// An argument that some of the time cannot be written.
#[derive(Clone, Deserialize)]
struct Moody(u8);

impl Serialize for Moody {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            0 => Err(serde::ser::Error::custom("not today")),
            1 => panic!("never again"),
            x => serializer.serialize_u8(x),
        }
    }
}

/// X1: what cannot be written leaves the letter as it was, and the epoch ends.
#[test]
fn an_argument_that_is_refused_leaves_no_trace_in_the_letter() {
    for befores in [0, 3] {
        on_sizes(&[2, 3], |g| {
            let (sum, me, p) = (g.object(0), g.rank(), g.size());
            let is_refused = g.epoch(|e| {
                let send = |mood| e.send((me + 1) % p, &sum, Moody(mood), |sum, _, mood| *sum += u32::from(mood.0));
                (0..befores).for_each(|_| send(5));
                let refused = [0, 1].map(|mood| {
                    let outcome = catch_unwind(AssertUnwindSafe(|| send(mood)));
                    e.flush();
                    outcome.is_err()
                });
                (0..befores).for_each(|_| send(5));
                // Where values move neither is refused.
                assert_eq!(refused[0], refused[1]);
                refused[0]
            });
            let are_refused = g.step(|s| s.collect(is_refused));
            let came = u32::from(!are_refused[(me + p - 1) % p]);
            assert_eq!(sum.with(|sum| *sum), 10 * befores + came);
        });
    }
}

/// An argument that cannot be read.
#[derive(Clone, Serialize)]
struct Sealed(u8);

impl<'de> Deserialize<'de> for Sealed {
    fn deserialize<D: serde::Deserializer<'de>>(_: D) -> Result<Self, D::Error> {
        Err(serde::de::Error::custom("it is sealed"))
    }
}

/// X5: who sent what cannot be read, and for which method.
#[test]
fn an_argument_that_cannot_be_decoded_names_its_method_and_its_sender() {
    use superstep::{Config, Fabric, Method};
    struct Open;
    impl Method for Open {
        type On = u32;
        type Args = Sealed;
        type Answer = ();
        fn run(_: &mut u32, _: &Epoch, _: Sealed) {}
    }
    let ways: [(fn(&Epoch, &Object<u32>), &str); 2] = [
        (|e, object| e.send(1, object, Sealed(1), Open::run), "fn(&"),
        (|e, object| e.send_by::<Open>(1, object, Sealed(1)), "::Open"),
    ];
    for (way, name) in ways {
        let error = Config::new().procs(2).fabric(Fabric::Sim { seed: 1, shares_memory: false }).run(|g| {
            let object = g.object(0);
            g.epoch(|e| {
                if e.rank() == 0 {
                    way(e, &object);
                }
            });
        });
        check(&error.unwrap_err(), ErrorKind::Damaged, &[name, "sent by rank 0", "Sealed", "epoch_misuse.rs:"]);
    }
}

/// X2: what cannot be read fails its own request, and those to other objects run.
#[test]
fn an_argument_that_cannot_be_decoded_leaves_other_objects_their_turn() {
    use superstep::{Config, Fabric};
    let sums = Config::new().procs(2).fabric(Fabric::Sim { seed: 1, shares_memory: false }).run_all(|g| {
        let (object, other) = (g.object(0), g.object(0));
        // The method has ended, so that another one may begin.
        let failed = g.try_epoch_with(Tuning::new().nesting(1), |e| {
            if e.rank() == 0 {
                e.send(1, &object, Sealed(1), |_, _, _| ());
                while catch_unwind(AssertUnwindSafe(|| e.poll())).is_ok() {}
                e.send(1, &other, 1, |other, _, x| *other += x);
            }
        });
        check(&failed.unwrap_err(), ErrorKind::Damaged, &["Sealed"]);
        let later = g.try_epoch(|e| e.send(1, &object, (), |_, _, ()| ()));
        check(&later.unwrap_err(), ErrorKind::Poisoned, &["object of type"]);
        other.with(|other| *other)
    });
    assert_eq!(sums.unwrap(), [0, 1]);
}

/// E4: who polls where no further method may run does not poll in vain.
#[test]
fn a_poll_at_the_bound_of_nesting_is_an_error_if_something_waits() {
    on_sizes(&[1, 2, 3], |g| {
        let (object, other) = (g.object(0), g.object(0));
        g.epoch_with(Tuning::new().nesting(1), |e| e.call(e.rank(), &object, (), |_, e, ()| e.poll()));
        let error = g
            .try_epoch_with(Tuning::new().nesting(1), |e| {
                e.send(e.rank(), &other, (), |_, _, ()| ());
                e.call(e.rank(), &object, other.handle(), |_, e, other| {
                    e.poll();
                    e.send(e.rank(), &other, (), |_, _, ()| ());
                    e.poll();
                });
            })
            .unwrap_err();
        check(&error, ErrorKind::TooDeep, &["1 deep", "epoch_misuse.rs:"]);
        is_everybodys(g, &error);
    });
}

/// X3: at the bound of nesting, who waits for nothing that is there waits in vain, and is not too deep.
#[test]
fn waiting_at_the_bound_of_nesting_for_what_nobody_sends_is_a_deadlock() {
    on_sizes(&[1, 2, 3], |g| {
        let object = g.object(0);
        let error = g
            .try_epoch_with(Tuning::new().nesting(1), |e| {
                if e.rank() == 0 {
                    e.call(e.size() - 1, &object, (), |_, e, ()| e.wait_one());
                }
            })
            .unwrap_err();
        check(&error, ErrorKind::Deadlock, &["waits for a request"]);
        is_everybodys(g, &error);
    });
}

/// X3: who looks for what a method should have done hears that it has failed, wherever it looks.
#[test]
fn a_processor_that_polls_hears_that_a_method_has_panicked() {
    let waits: [fn(&Epoch, &Object<u32>, &Volatile<u32>); 5] = [
        |e, object, _| {
            while object.with(|object| *object) == 0 {
                e.poll();
            }
        },
        |e, _, flag| while e.load(flag) == 0 {},
        |e, _, flag| while e.compare_exchange(flag, 1, 2).is_err() {},
        |e, _, _| loop {
            e.wait_one();
        },
        // A method waits for the value.
        |e, object, flag| {
            e.call(e.rank(), object, (), |_, e, ()| {
                while e.size() > 0 {
                    e.poll();
                }
            });
            e.load(flag);
        },
    ];
    for waits in waits {
        on_sizes(&[2, 3, 4], |g| {
            let last = g.size() - 1;
            let (object, other, flag) = (g.object(0), g.object(0), g.volatile(last, 0));
            let error = g
                .try_epoch(|e| {
                    if e.rank() == 0 {
                        e.send(last, &other, (), |_, _, ()| panic!("it is never set"));
                    }
                    if e.rank() != last {
                        waits(e, &object, &flag);
                    }
                })
                .unwrap_err();
            check(&error, ErrorKind::RemotePanic, &["it is never set", "epoch_misuse.rs"]);
            is_everybodys(g, &error);
        });
    }
}

/// X3: who sends without end hears of it as well.
#[test]
fn a_processor_that_sends_hears_that_a_method_has_panicked() {
    on_sizes(&[2, 3], |g| {
        let last = g.size() - 1;
        for tuning in [Tuning::new().near(64, 4).far(64, 4).window(2), Tuning::new()] {
            let (object, sum) = (g.object(0), g.object(0u64));
            let error = g
                .try_epoch_with(tuning, |e| {
                    if e.rank() == 0 {
                        e.send(last, &object, (), |_, _, ()| panic!("enough"));
                        loop {
                            e.send(last, &sum, 1, |sum, _, x| *sum += x);
                        }
                    }
                })
                .unwrap_err();
            check(&error, ErrorKind::RemotePanic, &["enough"]);
            is_everybodys(g, &error);
        }
    });
}

/// X3: a body that panics ends the run, and nobody waits at the fence.
#[test]
fn a_panic_in_the_body_ends_the_run() {
    let claim = |g: &mut Group| {
        let object = g.object(0);
        g.epoch(|e| {
            e.send_all(&object, 1, |object, _, x| *object += x);
            assert!(e.rank() != e.size() - 1, "the last one gives up");
            e.call(e.size() - 1, &object, (), |_, _, ()| ());
        });
    };
    failing(&[1, 2, 3, 8], claim, |_, error| check(&error, ErrorKind::Panicked, &["the last one gives up"]));
}
