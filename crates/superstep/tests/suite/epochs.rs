//! Epochs: objects, requests and the fence (E1 to E6).

use crate::{SEVERAL, SIZES, everywhere, on_sizes};
use serde::{Deserialize, Serialize};
use std::{cell::Cell, rc::Rc};
use superstep::{Epoch, Handle, Object, Sum, Tuning};

/// Settings from one request per letter to all of them in one.
fn tunings() -> [Tuning; 5] {
    let usual = Tuning::new();
    [
        usual.near(0, 1).far(0, 1).window(1),
        usual.near(64, 3).far(64, 3).poll_every(1),
        usual.near(1000, 1 << 20).far(1000, 1 << 20).window(2),
        usual,
        usual.near(1 << 24, 1 << 24).far(1 << 24, 1 << 24).poll_every(u32::MAX),
    ]
}

/// What a processor has heard, by sender.
#[derive(Default)]
struct Heard(Vec<Vec<(char, u32)>>);

/// E3: whatever the settings, and whatever methods and objects the requests are for.
#[test]
fn requests_of_one_processor_to_another_run_in_the_order_they_were_sent() {
    on_sizes(&[1, 2, 3, 7], |g| {
        let (me, p) = (g.rank(), g.size());
        for tuning in tunings() {
            let heard = g.object(Heard(vec![Vec::new(); p]));
            let other = g.object(0u32);
            g.epoch_with(tuning, |e| {
                for number in 0..60 {
                    for to in 0..p {
                        match number % 5 {
                            0 => e.send(to, &heard, (me, number), |heard, _, (from, n)| heard.0[from].push(('a', n))),
                            1 => {
                                let text = format!("{number}");
                                e.send(to, &heard, (me, text), |heard, _, (from, n)| {
                                    heard.0[from].push(('b', n.parse().unwrap()));
                                });
                            }
                            2 => e.send(to, &other, number, |other, _, n| *other += n),
                            _ => {
                                let args = [me as u32, number];
                                e.send(to, &heard, args, |heard, _, [from, n]| heard.0[from as usize].push(('c', n)));
                            }
                        }
                    }
                }
            });
            let kinds = ['a', 'b', '-', 'c', 'c'];
            let expected: Vec<_> =
                (0..60).filter(|n| n % 5 != 2).map(|n| (kinds[n as usize % 5], n)).collect::<Vec<(char, u32)>>();
            heard.with(|heard| assert_eq!(heard.0, vec![expected.clone(); p], "{tuning:?}"));
            assert_eq!(other.with(|other| *other), p as u32 * (0..60).filter(|n| n % 5 == 2).sum::<u32>());
        }
    });
}

/// A tree of requests: each leads to two more, on processors that its number decides.
fn grow(count: &mut u64, e: &Epoch, (tree, height, seed): (Handle<u64>, u32, u64)) {
    *count += 1;
    for side in 0..2 {
        if height > 0 {
            let seed = seed.wrapping_mul(2).wrapping_add(side).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(23);
            e.send((seed % e.size() as u64) as usize, &tree, (tree, height - 1, seed), grow);
        }
    }
}

/// E4 and E5.
#[test]
fn an_epoch_ends_when_every_request_that_a_request_has_led_to_has_run() {
    everywhere(|g| {
        for tuning in tunings() {
            let count = g.object(0);
            let me = g.rank() as u64;
            g.epoch_with(tuning, |e| e.send(0, &count, (count.handle(), 7, me), grow));
            let mine = count.with(|count| *count);
            let all = g.step(|s| s.reduce(mine, Sum));
            assert_eq!(all, g.size() as u64 * 255, "{tuning:?}");
        }
    });
}

fn hop(hops: &mut u32, e: &Epoch, (ring, left): (Handle<u32>, u32)) {
    *hops += 1;
    if left > 0 {
        e.send((e.rank() + 1) % e.size(), &ring, (ring, left - 1), hop);
    }
}

/// E5: one request at a time is under way, and everybody waits at the fence.
#[test]
fn a_chain_keeps_the_epoch_open_however_long_it_is() {
    on_sizes(&SIZES, |g| {
        let hops = g.object(0);
        let last = g.size() - 1;
        g.epoch(|e| {
            if e.rank() == last {
                e.send(0, &hops, (hops.handle(), 299), hop);
            }
        });
        let mine = hops.with(|hops| *hops);
        assert_eq!(g.step(|s| s.reduce(mine, Sum)), 300);
    });
}

/// E6: what waits behind a method that is under way is not forgotten when it comes to holding senders back.
#[test]
fn a_receiver_whose_object_is_busy_holds_its_sender_back() {
    /// Keeps its object busy for a while, and says how far rank 0 came meanwhile.
    fn hold(seen: &mut u64, e: &Epoch, other: Handle<u64>) {
        *seen = e.call(2, &other, other, |_, e, other| {
            (0..300).map(|_| e.call(0, &other, (), |sent, _, ()| *sent)).max().unwrap()
        });
    }
    on_sizes(&[3, 4], |g| {
        let (seen, sent) = (g.object(0), g.object(0));
        let tuning = Tuning::new().near(64, 1).far(64, 1).window(1);
        g.epoch_with(tuning, |e| {
            if e.rank() == 0 {
                e.send(1, &seen, sent.handle(), hold);
                for _ in 0..50 {
                    e.send(1, &seen, vec![1u64; 100], |_, _, _| ());
                    sent.with(|sent| *sent += 1);
                }
            }
        });
        let seen = seen.with(|seen| *seen);
        assert!(seen < 10, "rank 0 had sent {seen} of 50");
    });
}

/// E6: a window does not make processors wait for each other.
#[test]
fn a_request_behind_many_to_an_object_that_is_lent_is_still_reached() {
    on_sizes(&[2, 3], |g| {
        let (lent, other) = (g.object(0), g.object(0));
        let tuning = Tuning::new().near(64, 1).far(64, 1).window(1);
        g.epoch_with(tuning, |e| match e.rank() {
            0 => {
                (0..20).for_each(|_| e.send(1, &lent, 1, |lent, _, x| *lent += x));
                e.send(1, &other, 1, |other, _, x| *other += x);
            }
            1 => lent.with(|_| e.wait_one()),
            _ => {}
        });
        let expected = if g.rank() == 1 { (20, 1) } else { (0, 0) };
        assert_eq!((lent.with(|lent| *lent), other.with(|other| *other)), expected);
    });
}

/// E5: a method that sends itself on to its own processor, a letter each time, leaves others their turn.
#[test]
fn a_chain_on_one_processor_does_not_keep_others_out() {
    /// Goes on until it is told to stop.
    fn on(is_over: &mut bool, e: &Epoch, (chain, long): (Handle<bool>, Vec<u64>)) {
        if !*is_over {
            e.send(e.rank(), &chain, (chain, long), on);
        }
    }
    on_sizes(&[2, 3, 4], |g| {
        let last = g.size() - 1;
        let is_over = g.object(false);
        g.epoch_with(Tuning::new().near(64, 4).far(64, 4), |e| {
            if e.rank() == 0 {
                e.send(last, &is_over, (is_over.handle(), vec![1; 100]), on);
                e.flush();
            }
            if e.rank() == last {
                e.wait_one();
                e.call(0, &is_over, (), |is_over, _, ()| *is_over = true);
            } else if e.rank() == 0 {
                while !is_over.with(|is_over| *is_over) {
                    e.poll();
                }
                e.send(last, &is_over, (), |is_over, _, ()| *is_over = true);
            }
        });
        assert_eq!(is_over.with(|is_over| *is_over), g.rank() == 0 || g.rank() == last);
    });
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum Shape {
    Point,
    Circle { name: String, radius: f64 },
    Many(Vec<Shape>),
}

/// E2: arguments of every sort travel by value.
#[test]
fn arguments_of_any_kind_and_length_arrive() {
    on_sizes(&[1, 2, 3, 4], |g| {
        let (me, p) = (g.rank(), g.size());
        let to = (me + 1) % p;
        let from = (me + p - 1) % p;
        let seen = g.object(Vec::<String>::new());
        let shape = Shape::Many(vec![Shape::Point, Shape::Circle { name: "Kreis".to_owned(), radius: 0.5 }]);
        g.epoch(|e| {
            e.send(to, &seen, (), |seen, _, ()| seen.push("unit".to_owned()));
            e.send(to, &seen, vec![me as u64; 200_000], |seen, _, long| {
                seen.push(format!("{} {} {}", long.len(), long[0], long[199_999]));
            });
            e.send(to, &seen, Vec::<f32>::new(), |seen, _, empty| seen.push(format!("{empty:?}")));
            e.send(to, &seen, vec![vec![1u8], vec![], vec![2, 3]], |seen, _, nested| seen.push(format!("{nested:?}")));
            e.send(to, &seen, shape.clone(), |seen, _, shape| seen.push(format!("{shape:?}")));
            e.send(to, &seen, (Some('x'), i128::MIN, [1.5f32; 3]), |seen, _, it| seen.push(format!("{it:?}")));
            e.send(to, &seen, [u64::MAX; 4], |seen, _, it| seen.push(format!("{it:?}")));
        });
        let expected = [
            "unit".to_owned(),
            format!("200000 {from} {from}"),
            "[]".to_owned(),
            "[[1], [], [2, 3]]".to_owned(),
            format!("{shape:?}"),
            format!("{:?}", (Some('x'), i128::MIN, [1.5f32; 3])),
            format!("{:?}", [u64::MAX; 4]),
        ];
        seen.with(|seen| assert_eq!(*seen, expected));
    });
}

/// E3: nothing else runs on a processor while a method does not wait.
#[test]
fn a_method_that_sends_does_not_give_way() {
    struct Account {
        is_busy: Rc<Cell<bool>>,
        runs: u32,
    }
    type Pair = (Handle<Account>, Handle<Account>);
    fn book(account: &mut Account, e: &Epoch, ((it, other), left): (Pair, u32)) {
        assert!(!account.is_busy.replace(true));
        for to in 0..e.size() {
            if left > 0 {
                e.send(to, &other, ((other, it), left - 1), book);
            }
        }
        e.flush();
        account.is_busy.set(false);
        account.runs += 1;
    }
    on_sizes(&[1, 2, 3], |g| {
        let (p, is_busy) = (g.size() as u32, Rc::new(Cell::new(false)));
        let [one, other] = [(); 2].map(|()| g.object(Account { is_busy: Rc::clone(&is_busy), runs: 0 }));
        g.epoch_with(Tuning::new().near(0, 1).far(0, 1).poll_every(1).window(1), |e| {
            e.send_all(&one, ((one.handle(), other.handle()), 3), book);
        });
        assert_eq!(one.with(|account| account.runs), p + p.pow(3));
        assert_eq!(other.with(|account| account.runs), p.pow(2) + p.pow(4));
    });
}

/// E6: what a body sends to itself does not pile up: nobody else works it off.
#[test]
fn a_full_letter_to_oneself_is_worked_off_at_once() {
    on_sizes(&[1, 2, 3], |g| {
        let count = g.object(0);
        g.epoch_with(Tuning::new().near(1 << 20, 3).far(1 << 20, 3), |e| {
            let counts = [0; 6].map(|_| {
                e.send(e.rank(), &count, (), |count, _, ()| *count += 1);
                count.with(|count| *count)
            });
            assert_eq!(counts, [0, 0, 3, 3, 3, 6]);
        });
    });
}

/// E2 and E6: a sender that outruns the others is held back, and nobody waits for good.
#[test]
fn everybody_may_flood_everybody() {
    on_sizes(&[1, 2, 3, 8], |g| {
        let p = g.size() as u64;
        for window in [1, 2, 32] {
            let sum = g.object(0u64);
            g.epoch_with(Tuning::new().near(16, 2).far(16, 2).window(window), |e| {
                for x in 0..500 {
                    e.send((x % p) as usize, &sum, x, |sum, _, x| *sum += x);
                    e.send(0, &sum, x, |sum, _, x| *sum += x);
                }
            });
            let mine = sum.with(|sum| *sum);
            assert_eq!(g.step(|s| s.reduce(mine, Sum)), p * 2 * (499 * 500 / 2));
        }
    });
}

/// E1 and E5: groups of any depth have objects and epochs of their own, at the same time.
#[test]
fn subgroups_have_epochs_of_their_own() {
    on_sizes(&SEVERAL, |g| {
        let before = g.object(0);
        g.split(2, |sub| {
            let (id, size) = (sub.id(), sub.size());
            let sum = sub.object(0);
            for round in 0..3 {
                sub.epoch(|e| e.send_all(&sum, 10 * id + round, |sum, _, x| *sum += x));
            }
            assert_eq!(sum.with(|sum| *sum), size * (30 * id + 3));
            sub.split(2, |inner| {
                let count = inner.object(0);
                inner.epoch(|e| e.send(0, &count, (), |count, _, ()| *count += 1));
                assert_eq!(count.with(|count| *count), if inner.rank() == 0 { inner.size() } else { 0 });
            });
        });
        g.epoch(|e| e.send(0, &before, 1, |sum, _, x| *sum += x));
        assert_eq!(before.with(|sum| *sum), if g.rank() == 0 { g.size() } else { 0 });
    });
}

/// E1 and G6: who stays goes on with the objects there are.
#[test]
fn those_who_stay_go_on_with_their_objects() {
    on_sizes(&[3, 4, 8], |g| {
        let p = g.size();
        g.split(1, |sub| {
            let sum = sub.object(0);
            sub.epoch(|e| e.send_all(&sum, 1, |sum, _, x| *sum += x));
            if sub.rank() == 1 {
                return;
            }
            sub.step(|_| ());
            assert_eq!(sub.size(), p - 1);
            sub.epoch(|e| e.send_all(&sum, 100, |sum, _, x| *sum += x));
            assert_eq!(sum.with(|sum| *sum), p + 100 * (p - 1));
        });
    });
}

/// E1: local access needs no message, and dropping objects leaves the others as they are.
#[test]
fn objects_come_and_go_between_epochs() {
    everywhere(|g| {
        let (me, p) = (g.rank(), g.size());
        let mut kept: Vec<Object<usize>> = Vec::new();
        for round in 0..12 {
            let passing = g.object(format!("{round}"));
            kept.push(g.object(round * me));
            if round % 3 == 2 {
                kept.remove(0);
            }
            g.epoch(|e| {
                for object in &kept {
                    e.send((me + 1) % p, object, 1, |object, _, x| *object += x);
                }
                e.send(me, &passing, '!', |text, _, mark| text.push(mark));
            });
            assert_eq!(passing.with(|text| text.clone()), format!("{round}!"));
            g.step(|_| ());
        }
        assert_eq!(kept.len(), 8);
        for (at, object) in kept.iter().enumerate() {
            assert_eq!(object.with(|object| *object), (at + 4) * me + 8 - at);
        }
    });
}

/// E6: one that computes answers only when it polls.
#[test]
fn poll_and_wait_one_run_what_has_come() {
    on_sizes(&SEVERAL, |g| {
        let (me, p) = (g.rank(), g.size());
        let log = g.object(Vec::new());
        g.epoch(|e| {
            // The word goes round, and each passes it on after it has it.
            if me > 0 {
                e.wait_one();
                assert_eq!(log.with(|log| log.clone()), [me - 1]);
            }
            e.send((me + 1) % p, &log, me, |log, _, from| log.push(from));
            if me == 0 {
                while log.with(|log| log.is_empty()) {
                    e.poll();
                }
            }
        });
        log.with(|log| assert_eq!(*log, [(me + p - 1) % p]));
    });
}

/// E6: a request that has run already counts, once.
#[test]
fn wait_one_returns_at_once_for_what_has_run() {
    on_sizes(&[2, 3], |g| {
        let (me, p) = (g.rank(), g.size());
        let count = g.object(0);
        g.epoch(|e| {
            for round in 1..4 {
                e.send((me + 1) % p, &count, (), |count, _, ()| *count += 1);
                // Several may have run by the time it returns, and they count as one.
                while count.with(|count| *count) < round {
                    e.wait_one();
                }
            }
            assert_eq!(count.with(|count| *count), 3);
        });
    });
}

/// What an object holds is dropped when the object is, within a boundary; and a handle that it held is, by and by, too.
#[test]
fn an_object_that_holds_an_object_takes_it_along() {
    struct Told(Rc<Cell<u32>>);
    impl Drop for Told {
        fn drop(&mut self) {
            self.0.set(self.0.get() + 1);
        }
    }
    on_sizes(&SIZES, |g| {
        let dropped = Rc::new(Cell::new(0));
        let inner = g.object(Told(Rc::clone(&dropped)));
        let outer = g.object(inner);
        g.step(|_| ());
        assert_eq!(dropped.get(), 0);
        drop(outer);
        // Nobody asks these for anything.
        for _ in 0..4 {
            g.step(|_| ());
        }
        assert_eq!(dropped.get(), 1);
    });
}
