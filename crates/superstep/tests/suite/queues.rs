//! Queues (D2).

use crate::{SEVERAL, SIZES, check, everywhere, failing, here, on_sizes};
use serde::{Deserialize, Serialize, Serializer};
use std::{
    cell::{Cell, RefCell},
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
};
use superstep::{Area, Block, ErrorKind, Group, Queue, Sum};

/// D2 and S3.
#[test]
fn messages_come_by_the_rank_of_their_senders_and_then_in_order_of_sending() {
    on_sizes(&SIZES, |g| {
        let (me, p) = (g.rank(), g.size());
        let queue = g.queue::<(usize, usize), String>();
        g.step(|s| {
            for round in 0..3 {
                for to in (0..p).rev() {
                    s.send(to, &queue, (me, round), format!("{me} to {to}"));
                }
            }
            assert!(queue.is_empty());
        });
        assert_eq!((queue.len(), queue.is_empty()), (3 * p, false));
        let expected = (0..p).flat_map(|from| (0..3).map(move |round| ((from, round), format!("{from} to {me}"))));
        assert_eq!(queue.drain().collect::<Vec<_>>(), expected.collect::<Vec<_>>());
        assert!(queue.is_empty());
    });
}

/// D2: a group that makes something, splits or holds an epoch between two steps finds its messages afterwards.
#[test]
fn messages_outlast_every_boundary_but_that_of_a_step() {
    on_sizes(&SIZES, |g| {
        let (me, p) = (g.rank(), g.size());
        let queue = g.queue::<usize, String>();
        let boundaries: [fn(&mut Group); 9] = [
            |g| drop(g.area::<u8>(3)),
            |g| drop(g.array::<u8, Block>(9)),
            |g| drop(g.paged::<u8, 2>([4, 4], [2, 4])),
            |g| drop((g.shared(0, Sum), g.queue::<(), ()>(), g.object(1))),
            |g| drop((g.vector(4, |_| 0), g.hash_map::<u8, u8>())),
            |g| {
                g.split(2, |sub| sub.step(|s| s.reduce(1, Sum)));
            },
            |g| g.epoch(|_| ()),
            |g| {
                let a = g.array::<u8, Block>(9);
                g.split_on(2, &a, |id| if id == 0 { 0..4 } else { 4..9 }, |_, part| part.local_mut().fill(1));
            },
            |g| assert!(g.try_array::<u64, Block>(usize::MAX).is_err()),
        ];
        for (round, boundary) in boundaries.into_iter().enumerate() {
            g.step(|s| (0..p).for_each(|to| s.send(to, &queue, round, format!("from {me}"))));
            boundary(g);
            assert_eq!(queue.len(), p, "boundary {round}");
            assert!(queue.drain().eq((0..p).map(|from| (round, format!("from {from}")))));
        }
    });
}

/// D2: messages of a step can be read until the next one ends and no longer.
#[test]
fn what_is_not_read_by_the_end_of_the_next_step_is_gone() {
    on_sizes(&SIZES, |g| {
        let (me, p) = (g.rank(), g.size());
        let queue = g.queue::<(), usize>();
        for round in 0..5 {
            g.step(|s| {
                s.send((me + 1) % p, &queue, (), round);
                s.send((me + 1) % p, &queue, (), round + 100);
            });
            assert_eq!(queue.len(), 2);
            if round % 2 == 0 {
                // Inside the next step they are still there.
                let last = round % 4 == 2;
                g.step(|s| {
                    assert_eq!(queue.drain().next(), Some(((), round)));
                    if last {
                        s.send(me, &queue, (), 7);
                    }
                });
                assert_eq!(queue.drain().map(|message| message.1).collect::<Vec<_>>(), vec![7; usize::from(last)]);
            }
        }
    });
}

/// D2: nobody has to look, and the step has to ask for nothing.
#[test]
fn what_nobody_reads_is_gone_after_an_empty_step() {
    on_sizes(&SIZES, |g| {
        let queue = g.queue::<(), usize>();
        for _ in 0..2 {
            g.step(|s| s.send((s.rank() + 1) % s.size(), &queue, (), 7));
            assert_eq!(queue.len(), 1);
            g.step(|_| ());
            assert!(queue.is_empty());
        }
    });
}

/// D2: empty tags, empty payloads, both, and long ones.
#[test]
fn messages_of_any_size_arrive() {
    on_sizes(&[1, 2, 3, 9], |g| {
        let (me, p) = (g.rank(), g.size());
        let (empty, long, texts) = (g.queue::<(), ()>(), g.queue::<u8, Vec<u64>>(), g.queue::<String, Vec<String>>());
        let to = (me + 1) % p;
        let from = (me + p - 1) % p;
        g.step(|s| {
            for _ in 0..1000 {
                s.send(to, &empty, (), ());
            }
            s.send(to, &long, 1, vec![me as u64; 1 << 17]);
            s.send(to, &long, 2, vec![]);
            s.send(to, &texts, String::new(), vec![]);
            s.send(to, &texts, "tag".to_owned(), vec![String::new(), format!("{me}")]);
        });
        assert_eq!(empty.drain().count(), 1000);
        let got: Vec<_> = long.drain().collect();
        assert!(got == [(1, vec![from as u64; 1 << 17]), (2, vec![])]);
        let expected = [(String::new(), vec![]), ("tag".to_owned(), vec![String::new(), format!("{from}")])];
        assert_eq!(texts.drain().collect::<Vec<_>>(), expected);
    });
}

/// D2: queues of one type are not one queue.
#[test]
fn queues_do_not_mix() {
    everywhere(|g| {
        let me = g.rank();
        let queues: Vec<_> = (0..5).map(|_| g.queue::<usize, usize>()).collect();
        g.step(|s| {
            for (at, queue) in queues.iter().enumerate().rev() {
                for to in 0..s.size() {
                    s.send(to, queue, at, me);
                }
            }
        });
        for (at, queue) in queues.iter().enumerate() {
            let expected = (0..g.size()).map(|from| (at, from));
            assert!(queue.drain().eq(expected));
        }
    });
}

/// X1: what is refused has queued nothing.
#[test]
fn a_message_to_nobody_is_refused_at_the_call() {
    on_sizes(&SIZES, |g| {
        let (queue, p) = (g.queue::<u8, String>(), g.size());
        g.step(|s| {
            for to in [p, p + 1, usize::MAX] {
                let (error, place) = (s.try_send(to, &queue, 1, "lost".to_owned()).unwrap_err(), here());
                let words = [format!("rank {to} named in a group of {p}"), "step 0 of group 0".to_owned(), place];
                check(&error, ErrorKind::RankOutOfRange, &words.each_ref().map(String::as_str));
            }
        });
        assert!(queue.is_empty());
    });
    failing(
        &SIZES,
        |g| {
            let queue = g.queue::<u8, u8>();
            g.step(|s| s.send(s.size(), &queue, 1, 1));
        },
        |_, error| check(&error, ErrorKind::RankOutOfRange, &["step 0 of group 0", "named in a group of", file!()]),
    );
}

/// D2: one may be read with nothing in it.
#[test]
fn an_empty_queue_yields_nothing() {
    everywhere(|g| {
        let queue = g.queue::<u8, u8>();
        assert_eq!((queue.drain().next(), queue.len(), queue.is_empty()), (None, 0, true));
        g.step(|_| ());
        assert_eq!(queue.drain().next(), None);
        assert!(format!("{queue:?}").contains("0 messages"));
    });
}

/// D2: a queue that some have dropped still takes messages to the others.
#[test]
fn a_queue_outlives_the_handles_of_others() {
    on_sizes(&SIZES, |g| {
        let (me, p) = (g.rank(), g.size());
        let queue = g.queue::<(), usize>();
        let mut queue = Some(queue);
        for round in 0..p {
            g.step(|s| {
                if let Some(queue) = &queue {
                    (0..p).for_each(|to| s.send(to, queue, (), me));
                }
            });
            if let Some(queue) = &queue {
                assert!(queue.drain().map(|message| message.1).eq(round..p));
            }
            if me == round {
                queue = None;
            }
        }
        g.step(|_| ());
    });
}

/// A payload that cannot be encoded.
#[derive(Clone, Debug, Deserialize)]
struct Stubborn;

impl Serialize for Stubborn {
    fn serialize<S: Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
        Err(serde::ser::Error::custom("refused on purpose"))
    }
}

/// X2: where messages have to be encoded, one that cannot be is everybody's error, and none of its step arrives later.
#[test]
fn a_message_that_cannot_be_encoded_takes_its_step_along() {
    on_sizes(&SIZES, |g| {
        let (me, p) = (g.rank(), g.size());
        let queue = g.queue::<usize, Option<Stubborn>>();
        let outcome = g.try_step(|s| {
            for to in 0..p {
                s.send(to, &queue, 1, (me == 0 && to == 0).then_some(Stubborn));
            }
        });
        match outcome {
            // Nothing is encoded where memory is shared.
            Ok(()) => assert_eq!(queue.drain().count(), p),
            Err(error) => {
                check(&error, ErrorKind::Encode, &["Stubborn", "step 0 of group 0", file!()]);
                crate::is_everybodys(g, &error);
                g.step(|s| s.send((me + 1) % p, &queue, 2, None));
                assert_eq!(queue.drain().map(|message| message.0).collect::<Vec<_>>(), [2]);
            }
        }
    });
}

thread_local! {
    /// Whether the next message that is dropped unwinds.
    static UNWINDS: Cell<bool> = const { Cell::new(false) };
    /// What a message asks for, or lets go, when it is dropped.
    static ASKED: RefCell<Option<Queue<(), Message>>> = const { RefCell::new(None) };
    static LEFT: RefCell<Option<Area<u8>>> = const { RefCell::new(None) };
}

/// A message with something to do when it is dropped.
#[derive(Clone, Serialize, Deserialize)]
struct Message;

impl Drop for Message {
    fn drop(&mut self) {
        drop(LEFT.take());
        ASKED.with_borrow(|queue| queue.as_ref().map(Queue::len));
        if UNWINDS.take() {
            resume_unwind(Box::new("a message"));
        }
    }
}

/// S5: what is not read is dropped when the step is over for its member too.
#[test]
fn a_message_that_unwinds_when_it_is_dropped_leaves_nobody_behind() {
    on_sizes(&SEVERAL, |g| {
        let (queue, x, me) = (g.queue::<(), Message>(), g.shared(0, Sum), g.rank());
        g.step(|s| s.send(me, &queue, (), Message));
        UNWINDS.set(me == 1);
        let closed = catch_unwind(AssertUnwindSafe(|| g.step(|_| x.set(1))));
        assert_eq!((closed.is_err(), x.get()), (me == 1, g.size()));
        g.step(|_| x.set(2));
        assert_eq!(x.get(), 2 * g.size());
    });
}

/// D2: a message may do what the program may do.
#[test]
fn a_message_may_ask_for_its_queue_when_it_is_dropped() {
    on_sizes(&SIZES, |g| {
        let queue = g.queue::<(), Message>();
        g.step(|s| (0..s.size()).for_each(|to| s.send(to, &queue, (), Message)));
        assert_eq!(queue.len(), g.size());
        ASKED.set(Some(queue));
        assert_eq!(g.step(|s| s.reduce(1, Sum)), g.size());
        let queue = ASKED.take().unwrap();
        assert!(queue.is_empty());
        g.step(|s| s.send((s.rank() + 1) % s.size(), &queue, (), Message));
        assert_eq!(queue.drain().count(), 1);
    });
}

/// D1: a handle may be dropped wherever code of the program runs: by a message, and by an operator.
#[test]
fn a_handle_may_be_dropped_in_the_middle_of_a_boundary() {
    on_sizes(&SIZES, |g| {
        let (p, queue) = (g.size(), g.queue::<(), Message>());
        LEFT.set(Some(g.area::<u8>(3)));
        g.step(|s| s.send((s.rank() + 1) % p, &queue, (), Message));
        assert_eq!(g.step(|s| s.reduce(1, Sum)), p);
        assert!(LEFT.take().is_none());
        // The same in a step that fails.
        LEFT.set(Some(g.area::<u8>(3)));
        let failed = g.try_step(|s| {
            s.send(s.rank(), &queue, (), Message);
            s.agree(Err::<(), _>("on purpose"))
        });
        assert!(failed.is_err() && LEFT.take().is_none());
        LEFT.set(Some(g.area::<u8>(3)));
        let sum = g.step(|s| {
            s.reduce(1, |a: &mut usize, b: &usize| {
                drop(LEFT.take());
                *a += b;
            })
        });
        drop(LEFT.take());
        assert_eq!(sum, p);
        // Everybody has dropped the areas: their numbers are given again, and nothing is in the way.
        for _ in 0..3 {
            let area = g.area::<u8>(1);
            g.step(|s| s.put((s.rank() + 1) % p, &[7], &area, 0));
            assert_eq!(*area.local(), [7]);
        }
    });
}
