//! Containers: vectors, hash maps and graphs on epochs (E1 to E5).

use crate::{check, everywhere, failing, here, on_sizes};
use superstep::{Each, ErrorKind, Group, Sum, Tuning};

const SIZES: [usize; 6] = [1, 2, 3, 4, 7, 8];
const SEVERAL: [usize; 5] = [2, 3, 4, 7, 8];

/// A number that looks random.
pub(crate) fn mixed(number: usize) -> usize {
    (number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 17) ^ number
}

/// Everything of a vector, by index.
fn whole<T: superstep::Value>(g: &mut Group, vector: &superstep::containers::Vector<T>) -> Vec<T> {
    let mine = vector.with(|values| values.to_vec());
    g.step(|s| s.collect(mine)).concat()
}

#[test]
fn a_vector_lies_in_blocks_and_every_index_has_its_owner() {
    everywhere(|g| {
        for len in [0, 1, 2, 7, 20] {
            let vector = g.vector(len, |index| 10 * index);
            assert_eq!((vector.len(), vector.is_empty()), (len, len == 0));
            let owned = g.step(|s| s.collect(vector.owned()));
            for (rank, range) in owned.iter().enumerate() {
                assert!(range.clone().all(|index| vector.owner(index) == Some(rank)));
            }
            assert!(owned.into_iter().flatten().eq(0..len));
            assert_eq!((vector.owner(len), vector.owner(usize::MAX)), (None, None));
            let mut seen = Vec::new();
            vector.forall_mut(|index, value| seen.push((index, *value)));
            assert!(seen.into_iter().eq(vector.owned().map(|index| (index, 10 * index))));
        }
    });
}

#[test]
fn elements_are_read_and_written_wherever_they_are() {
    everywhere(|g| {
        let (p, len) = (g.size(), 3 * g.size() + 1);
        let vector = g.vector(len, |index| format!("{index}"));
        g.epoch(|e| {
            for index in (e.rank()..len).step_by(p) {
                assert_eq!(vector.get(e, index), format!("{index}"));
                vector.set(e, index, format!("{index} by {}", e.rank()));
                // Contract 1: what was written is read.
                assert_eq!(vector.get(e, index), format!("{index} by {}", e.rank()));
            }
        });
        assert!(whole(g, &vector).into_iter().eq((0..len).map(|index| format!("{index} by {}", index % p))));
    });
}

#[test]
fn what_is_asked_for_comes_in_any_order_of_taking() {
    everywhere(|g| {
        let len = 50;
        let vector = g.vector(len, mixed);
        let late = g.epoch(|e| {
            let mut asked: Vec<_> = (0..len).map(|index| (index, vector.ask(e, index))).collect();
            let late = asked.split_off(len / 2);
            for (index, answer) in asked.into_iter().rev() {
                assert_eq!(e.take(answer), mixed(index));
            }
            late
        });
        for (index, answer) in late {
            assert_eq!(answer.value(), mixed(index));
        }
    });
}

/// E3: updates of one element run one at a time, and those of one processor in order.
#[test]
fn updates_of_one_element_are_not_lost_and_keep_their_order() {
    for tuning in [Tuning::new(), Tuning::new().near(0, 1).far(0, 1), Tuning::new().near(100, 3).far(100, 3)] {
        everywhere(|g| {
            let (p, len, each) = (g.size(), 5, 20);
            let vector = g.vector(len, |_| (0_u64, vec![0_usize; p]));
            g.epoch_with(tuning, |e| {
                for round in 0..each {
                    for index in 0..len {
                        vector.update(e, index, (e.rank(), round), |(sum, last), (rank, round)| {
                            assert_eq!(last[rank], round, "in order");
                            last[rank] = round + 1;
                            *sum += 1;
                        });
                    }
                }
            });
            vector.forall_mut(|_, (sum, last)| assert!(*sum == (p * each) as u64 && last.iter().all(|&n| n == each)));
        });
    }
}

#[test]
fn what_is_pushed_is_numbered_when_the_group_settles() {
    everywhere(|g| {
        let (me, p) = (g.rank(), g.size());
        let vector = g.vector(p, |_| 1000);
        for round in 0..=me {
            vector.push(100 * me + round);
        }
        assert_eq!((vector.len(), vector.owned().len()), (p, 1));
        vector.settle(g);
        let expected: Vec<usize> =
            (0..p).flat_map(|rank| std::iter::once(1000).chain((0..=rank).map(move |at| 100 * rank + at))).collect();
        assert_eq!((vector.len(), vector.owned().len()), (expected.len(), me + 2));
        assert_eq!(whole(g, &vector), expected);
        let found = g.epoch(|e| (0..vector.len()).map(|index| vector.get(e, index)).collect::<Vec<_>>());
        assert_eq!(found, expected);
        vector.settle(g);
        assert_eq!(vector.len(), expected.len());
    });
}

#[test]
fn a_vector_is_resized_and_dealt_out_evenly() {
    everywhere(|g| {
        let (me, p) = (g.rank(), g.size());
        let vector = g.vector(0, |_| 0);
        let mut expected: Vec<usize> = Vec::new();
        for (round, len) in [3 * p, 3 * p + 2, 2, 0, 1, 4 * p].into_iter().enumerate() {
            // Only the last processor has new ones.
            if me == p - 1 {
                (0..round).for_each(|at| vector.push(50 + at));
            }
            expected.extend((0..round).map(|at| 50 + at));
            expected.resize(len, round);
            vector.resize(g, len, round);
            assert_eq!(whole(g, &vector), expected);
            let block = len.div_ceil(p);
            assert_eq!(vector.owned(), (me * block).min(len)..((me + 1) * block).min(len));
        }
        if me == 0 {
            (0..=p).for_each(|at| vector.push(at));
        }
        vector.balance(g);
        let (len, block) = (5 * p + 1, (5 * p + 1).div_ceil(p));
        assert_eq!((vector.len(), vector.owned()), (len, (me * block).min(len)..((me + 1) * block).min(len)));
        // What the first processor pushed follows what it had.
        let mut all = expected;
        all.splice(4..4, 0..=p);
        assert_eq!(whole(g, &vector), all);
    });
}

/// X1: an index that is not there is refused at the call.
#[test]
fn an_index_beyond_the_end_is_refused_at_the_call() {
    failing(
        &SIZES,
        |g| {
            let vector = g.vector(5, |_| 0_u8);
            g.epoch(|e| vector.set(e, 5, 1));
        },
        |_, error| {
            check(&error, ErrorKind::IndexOutOfRange, &["index 5 of the Vector<u8> made at", "which has 5", file!()]);
        },
    );
    failing(
        &SIZES,
        |g| {
            let graph = g.graph::<u8, ()>(5, |_| 0);
            g.epoch(|e| graph.add_edge(e, 0, 9, ()));
        },
        |_, error| check(&error, ErrorKind::IndexOutOfRange, &["index 9 of the Graph<u8, ()>", "which has 5", file!()]),
    );
    failing(
        &SIZES,
        |g| {
            let graph = g.graph::<u8, ()>(5, |_| 0);
            g.epoch(|e| graph.visit(e, 1, (), |_, walk, ()| walk.visit(5, (), |_, _, ()| ())));
        },
        |_, error| check(&error, ErrorKind::IndexOutOfRange, &["index 5 of a graph, which has 5", file!()]),
    );
    failing(
        &SIZES,
        |g| {
            let graph = g.graph::<u8, ()>(5, |_| 0);
            g.epoch(|e| graph.add_edge(e, 1, 4, ()));
            graph.forall_mut(|_, vertex| vertex.edges_mut().iter_mut().for_each(|edge| edge.to += 3));
            g.epoch(|e| {
                graph.visit(e, 1, (), |vertex, walk, ()| walk.visit_along(vertex.edges(), (), |_, _, ()| ()));
            });
        },
        |_, error| check(&error, ErrorKind::IndexOutOfRange, &["index 7 of a graph, which has 5", file!()]),
    );
}

/// G7: a container belongs to the group that made it.
#[test]
fn a_container_of_another_group_is_refused() {
    failing(
        &SEVERAL,
        |g| {
            let (table, place) = (g.hash_map::<u32, u32>(), here());
            g.split(1, |sub| {
                sub.epoch(|e| {
                    let error = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| table.insert(e, 1, 1)));
                    let payload = error.expect_err("another group made it");
                    let error = payload.downcast_ref::<superstep::Error>().expect("an error of this library");
                    check(error, ErrorKind::NotMember, &["HashMap<u32, u32> made at", &place, "belongs to group 0"]);
                });
            });
            g.split(1, |sub| table.count(sub));
        },
        |_, error| check(&error, ErrorKind::NotMember, &["HashMap<u32, u32>", "belongs to group 0", file!()]),
    );
}

/// X2: a length is everybody's.
#[test]
fn lengths_that_differ_are_one_error() {
    let claims: [fn(&mut Group); 3] = [
        |g| {
            let len = 10 + g.rank();
            let vector = g.vector(len, |index| index);
            g.epoch(|e| vector.get(e, 0));
        },
        |g| {
            let len = 10 + g.rank();
            let vector = g.vector(10, |index| index);
            vector.resize(g, len, 0);
        },
        |g| {
            let len = 10 + g.rank();
            let graph = g.graph::<_, ()>(len, |vertex| vertex);
            g.epoch(|e| graph.visit(e, 0, (), |_, _, ()| ()));
        },
    ];
    for claim in claims {
        failing(&SEVERAL, claim, |_, error| check(&error, ErrorKind::DeclMismatch, &["10 elements", file!()]));
    }
}

/// G6: those who leave take their parts along.
#[test]
fn a_container_is_refused_when_some_have_left_with_their_parts() {
    failing(
        &SEVERAL,
        |g| {
            g.split(1, |sub| {
                let vector = sub.vector(10, |index| index);
                if sub.rank() == 0 {
                    return;
                }
                sub.step(|_| ());
                sub.epoch(|e| vector.get(e, 0));
            });
        },
        |_, error| check(&error, ErrorKind::Departed, &["Vector<usize>", "are left in the group", file!()]),
    );
}

#[test]
fn containers_of_one_type_do_not_mix_and_can_be_made_in_subgroups() {
    everywhere(|g| {
        let tables: Vec<_> = (0..3).map(|_| g.hash_map::<u32, u32>()).collect();
        g.epoch(|e| {
            for (at, table) in tables.iter().enumerate() {
                (0..=at as u32).for_each(|key| table.update(e, key, 1, |count, more| *count += more));
            }
        });
        let counts: Vec<usize> = tables.iter().map(|table| table.count(g)).collect();
        assert_eq!(counts, [1, 2, 3]);
        g.split(2, |sub| {
            let vector = sub.vector(5, |_| 0);
            sub.epoch(|e| (0..5).for_each(|index| vector.update(e, index, 1, |value, more| *value += more)));
            vector.forall_mut(|_, value| assert_eq!(*value, sub.size()));
        });
    });
}

/// What an object holds is dropped with it, also where that is registered itself.
#[test]
fn an_object_can_hold_an_area_and_another_object() {
    on_sizes(&SIZES, |g| {
        for round in 0..3 {
            let area = g.area::<u64>(3);
            let inner = g.object(0_u64);
            let outer = g.object((area, inner));
            let next = (g.rank() + 1) % g.size();
            g.epoch(|e| {
                e.send(next, &outer, round, |(area, inner), _, round| {
                    area.local_mut()[1] = round;
                    inner.with(|inner| *inner += 1);
                });
            });
            outer.with(|(area, inner)| assert_eq!((area.local()[1], inner.with(|inner| *inner)), (round, 1)));
            drop(outer);
            let sums = g.step(|s| s.reduce(vec![1, 2], Each(Sum)));
            assert_eq!(sums, [g.size(), 2 * g.size()]);
        }
    });
}

/// E3: a panic in the method of an update is everybody's error, and names what was sent.
#[test]
fn a_panic_in_an_update_reaches_everybody() {
    on_sizes(&SEVERAL, |g| {
        let vector = g.vector(g.size(), |index| index);
        let outcome = g.try_epoch(|e| {
            if e.rank() == 0 {
                vector.update(e, 1, (), |value, ()| assert_eq!(*value, 7, "not the one"));
            }
        });
        let error = outcome.expect_err("the method panics");
        check(&error, ErrorKind::RemotePanic, &["not the one", file!()]);
        crate::is_everybodys(g, &error);
    });
}
