//! Answers, collectives and methods that wait (E2 to E5).

use crate::{SEVERAL, SIZES, check, everywhere, is_everybodys, on_sizes};
use superstep::{Config, Epoch, ErrorKind, Fabric, Handle, Max, Min, Sum, Tuning};

/// E2.
#[test]
fn call_returns_what_the_method_did_on_every_processor() {
    on_sizes(&SIZES, |g| {
        let (me, p) = (g.rank(), g.size());
        let table = g.object((0..10).map(|at| 100 * me + at).collect::<Vec<_>>());
        g.epoch(|e| {
            for to in 0..p {
                assert_eq!(e.call(to, &table, 3, |table, _, at| table[at]), 100 * to + 3);
                let name = e.call(to, &table, "x".to_owned(), |table, e, x| format!("{x}{} {}", e.rank(), table[0]));
                assert_eq!(name, format!("x{to} {}", 100 * to));
            }
            assert_eq!(e.call_all(&table, 9, |table, _, at| table[at] % 100), vec![9; p]);
        });
    });
}

/// E2 and E3: what was sent before a call has run before it.
#[test]
fn a_call_sees_what_was_sent_before_it() {
    everywhere(|g| {
        let (me, p) = (g.rank(), g.size());
        let sums = g.object(vec![0; p]);
        g.epoch(|e| {
            for round in 1..=10 {
                for to in 0..p {
                    e.send(to, &sums, (me, 1), |sums, _, (from, x)| sums[from] += x);
                    assert_eq!(e.call(to, &sums, me, |sums, _, from| sums[from]), round);
                }
            }
        });
    });
}

/// E2: answers may be taken in any order, in the epoch or after it, or never.
#[test]
fn answers_wait_until_they_are_taken() {
    on_sizes(&SIZES, |g| {
        let (me, p) = (g.rank(), g.size());
        let square = g.object(());
        for tuning in [Tuning::new().near(64, 4).far(64, 4), Tuning::new()] {
            let later = g.epoch_with(tuning, |e| {
                let ask = |at: usize| e.ask((me + at) % p, &square, at as u64, |(), _, x| x * x);
                let mut asked: Vec<_> = (0..100).map(ask).collect();
                let texts: Vec<_> =
                    (0..5).map(|at| e.ask(at % p, &square, at, |(), e, at| format!("{at} of {}", e.rank()))).collect();
                let later = asked.split_off(60);
                for (at, answer) in asked.into_iter().enumerate().rev().skip(10) {
                    assert_eq!(e.take(answer), (at * at) as u64);
                }
                for (at, text) in texts.into_iter().enumerate() {
                    assert_eq!(e.take(text), format!("{at} of {}", at % p));
                }
                later
            });
            for (at, answer) in later.into_iter().enumerate() {
                assert!(answer.is_ready());
                assert_eq!(answer.value(), ((at + 60) * (at + 60)) as u64);
            }
        }
    });
}

/// E2: what has not left has no answer yet.
#[test]
fn an_answer_is_not_ready_before_its_question_was_sent() {
    everywhere(|g| {
        let (next, none) = ((g.rank() + 1) % g.size(), g.object(()));
        let answer = g.epoch(|e| {
            let answer = e.ask(next, &none, 3u32, |(), _, x| x + 1);
            assert!(!answer.is_ready());
            answer
        });
        assert!(answer.is_ready());
        assert_eq!(answer.value(), 4);
    });
}

/// E3: what has come and waits for its object runs before a call of this processor.
#[test]
fn a_call_on_the_own_processor_comes_after_what_waits_there() {
    on_sizes(&[1, 2, 3], |g| {
        let log = g.object(Vec::new());
        g.epoch(|e| {
            log.with(|_| {
                e.send(e.rank(), &log, 1, |log, _, x| log.push(x));
                e.poll();
            });
            e.call(e.rank(), &log, 2, |log, _, x| log.push(x));
        });
        assert_eq!(log.with(|log| log.clone()), [1, 2]);
    });
}

/// E4: methods that wait give way to others, so everybody may call everybody at once.
#[test]
fn methods_may_call_further_processors() {
    fn relay(_: &mut (), e: &Epoch, (value, left): (Handle<u64>, usize)) -> u64 {
        let to = (e.rank() + left) % e.size();
        e.call(to, &value, left as u64, |value, _, x| {
            *value += x;
            x
        })
    }
    on_sizes(&SIZES, |g| {
        let p = g.size();
        let (relays, value) = (g.object(()), g.object(0u64));
        g.epoch(|e| {
            for round in 0..10 {
                for to in 0..p {
                    assert_eq!(e.call(to, &relays, (value.handle(), round), relay), round as u64);
                }
            }
        });
        let mine = value.with(|value| *value);
        assert_eq!(g.step(|s| s.reduce(mine, Sum)), (p * p * 45) as u64);
    });
}

/// E4: each level waits on another object for the one above it, across all processors.
#[test]
fn methods_may_wait_inside_each_other_as_deep_as_the_bound() {
    fn down(_: &mut (), e: &Epoch, levels: Vec<Handle<()>>) -> usize {
        let [next, rest @ ..] = &levels[..] else { return 0 };
        1 + e.call((e.rank() + 1) % e.size(), next, rest.to_vec(), down)
    }
    on_sizes(&[2, 3], |g| {
        let objects: Vec<_> = (0..12).map(|_| g.object(())).collect();
        let levels: Vec<_> = objects.iter().map(superstep::Object::handle).collect();
        let depth = g.epoch(|e| if e.rank() == 0 { down(&mut (), e, levels.clone()) } else { 12 });
        assert_eq!(depth, 12);
        let error =
            g.try_epoch_with(Tuning::new().nesting(2), |e| {
                if e.rank() == 0 { down(&mut (), e, levels.clone()) } else { 12 }
            })
            .unwrap_err();
        check(&error, ErrorKind::TooDeep, &["2"]);
        is_everybodys(g, &error);
    });
}

/// E4 and X3: methods that wait for each other for good are an error, and not a hang.
#[test]
fn methods_that_wait_for_their_own_objects_are_an_error_on_everybody() {
    fn back(_: &mut (), e: &Epoch, (it, left): (Handle<()>, u32)) {
        if left > 0 {
            e.call(1 - e.rank(), &it, (it, left - 1), back);
        }
    }
    on_sizes(&[2, 3, 7], |g| {
        let object = g.object(());
        let error = g
            .try_epoch(|e| {
                if e.rank() == 0 {
                    e.call(1, &object, (object.handle(), 2), back);
                }
            })
            .unwrap_err();
        check(
            &error,
            ErrorKind::Deadlock,
            &["rank 0 waits for an answer of rank 1", "rank 1 waits for an answer of rank 0"],
        );
        is_everybodys(g, &error);
        // The group goes on with new objects.
        let sum = g.object(0);
        g.epoch(|e| e.send_all(&sum, 1, |sum, _, x| *sum += x));
        assert_eq!(sum.with(|sum| *sum), g.size());
    });
}

/// X3, for those who wait for a request.
#[test]
fn waiting_for_a_request_that_nobody_sends_is_an_error_on_everybody() {
    on_sizes(&SIZES, |g| {
        let error = g
            .try_epoch(|e| {
                if e.rank() == 0 {
                    e.wait_one();
                }
            })
            .unwrap_err();
        check(&error, ErrorKind::Deadlock, &["rank 0 waits for a request", file!()]);
        is_everybodys(g, &error);
    });
}

/// E2 and S3: reductions in an epoch have the bits of those in a step.
#[test]
fn collectives_reach_the_whole_group() {
    on_sizes(&SIZES, |g| {
        let (me, p) = (g.rank(), g.size());
        let part = 0.1 + me as f64 / 3.0;
        let object = g.object(part);
        let word = g.object(String::new());
        let expected = g.step(|s| s.reduce(part, Sum));
        let (sum, extremes) = g.epoch(|e| {
            let sum = e.reduce(&object, (), |x, _, ()| *x, Sum);
            let least = e.reduce(&object, 2.0, |x, _, by| *x * by, Min);
            let most = e.reduce(&object, 1.0, |x, _, by| *x * by, Max);
            for root in 0..p {
                e.broadcast(root, &word, (me == root).then(|| format!("{root}.")), |word, _, more| *word += &more);
            }
            e.send((me + 1) % p, &object, 1.0, |x, _, more| *x += more);
            (sum, (least, most))
        });
        assert_eq!(sum.to_bits(), expected.to_bits());
        assert_eq!(extremes, (0.2, 0.1 + (p - 1) as f64 / 3.0));
        word.with(|word| assert_eq!(*word, (0..p).map(|root| format!("{root}.")).collect::<String>()));
        assert_eq!(object.with(|x| x.to_bits()), (part + 1.0).to_bits());
    });
}

/// E2: who waits in a collective serves others.
#[test]
fn collectives_let_others_be_served() {
    on_sizes(&SEVERAL, |g| {
        let (me, p) = (g.rank(), g.size());
        let object = g.object(me);
        g.epoch(|e| {
            if me == p - 1 {
                for to in 0..p - 1 {
                    assert_eq!(e.call(to, &object, (), |rank, _, ()| *rank), to);
                }
            }
            assert_eq!(e.reduce(&object, (), |rank, _, ()| *rank, Max), p - 1);
        });
    });
}

/// X2: a panic in a method is everybody's error, with the method's name and the line.
#[test]
fn a_panic_in_a_method_reaches_everybody_and_the_group_goes_on() {
    fn explode(_: &mut u32, e: &Epoch, x: u32) -> u32 {
        assert!(x != 7 || e.rank() != e.size() - 1, "seven came");
        x
    }
    on_sizes(&SEVERAL, |g| {
        let last = g.size() - 1;
        let (object, fine) = (g.object(0), g.object(0));
        for asks in [false, true] {
            let object = g.object(0);
            let error = g
                .try_epoch(|e| {
                    e.send_all(&fine, 1, |fine, _, x| *fine += x);
                    if e.rank() == 0 {
                        if asks {
                            let answer = e.call(last, &object, 7, explode);
                            panic!("there is no answer {answer}");
                        }
                        for x in 0..10 {
                            e.send(last, &object, x, |object, e, x| *object = explode(object, e, x));
                        }
                    }
                })
                .unwrap_err();
            check(&error, ErrorKind::RemotePanic, &["seven came", file!(), &format!("processor {last}"), "rank 0"]);
            let says = if asks { "u32) -> u32, sent by" } else { "u32), sent by" };
            check(&error, ErrorKind::RemotePanic, &["in the method ", "fn(&", says]);
            is_everybodys(g, &error);
            if g.rank() == last {
                // It may be half changed.
                let used = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| object_is_used(&object)));
                assert_eq!(used.unwrap_err().downcast_ref::<superstep::Error>().unwrap().kind(), ErrorKind::Poisoned);
            }
        }
        assert_eq!(fine.with(|fine| *fine), 2 * g.size());
        assert_eq!(object.with(|object| *object), 0);
    });
}

fn object_is_used(object: &superstep::Object<u32>) {
    object.with(|_| ());
}

/// E2: inside a process arguments and answers move. A vector is where it was, there and back.
#[test]
fn a_vector_is_not_copied_inside_a_process() {
    let stayed = Config::new().procs(2).fabric(Fabric::Threads).run_all(|g| {
        let none = g.object(());
        g.epoch(|e| {
            let vector = vec![7u8; 100_000];
            let there = vector.as_ptr().addr();
            let answer = e.call(1 - e.rank(), &none, (there, vector), |(), _, (there, vector): (usize, Vec<u8>)| {
                (vector.as_ptr().addr() == there, vector)
            });
            answer.0 && answer.1.as_ptr().addr() == there && answer.1.len() == 100_000
        })
    });
    assert_eq!(stayed.expect("the run succeeds"), [true; 2]);
}

/// E4: a method that ran out of its turn may wait for another one that has to. Nothing but its beginning shows that the
/// processor has gone on, because it has sent nothing to others.
#[test]
fn methods_go_on_that_wait_inside_each_other_for_their_own_processor() {
    type All = (Handle<(u8, u64)>, Handle<(u16, u64)>, Handle<u64>);
    fn leaf(sum: &mut u64, _: &Epoch, x: u64) -> u64 {
        *sum += x;
        x
    }
    fn first(seen: &mut (u8, u64), e: &Epoch, (a, b, last): All) {
        e.send(e.rank(), &b, (a, b, last), second);
        let asked = e.ask(e.rank(), &last, 1, leaf);
        seen.1 += e.take(asked);
    }
    fn second(seen: &mut (u16, u64), e: &Epoch, (_, _, last): All) {
        let asked = e.ask(e.rank(), &last, 10, leaf);
        seen.1 += e.take(asked);
    }
    everywhere(|g| {
        let (a, b, last) = (g.object((0u8, 0u64)), g.object((0u16, 0u64)), g.object(0u64));
        let all: All = (a.handle(), b.handle(), last.handle());
        g.epoch(|e| {
            e.send(e.rank(), &a, all, first);
            // It waits for the object of the first, and what the first asks for waits behind it.
            e.send(e.rank(), &a, (), |seen, _, ()| seen.1 += 100);
        });
        assert_eq!((a.with(|a| a.1), b.with(|b| b.1), last.with(|last| *last)), (101, 10, 11));
    });
}
