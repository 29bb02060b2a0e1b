//! Containers: vectors, hash maps and graphs on epochs (E1 to E5).

use crate::{check, here};
use std::collections::BTreeMap;
use superstep::{
    Each, ErrorKind, Group, Sum, Tuning,
    containers::{Edge, Vertex, Walk},
    testing::{everywhere, failing, on_sizes},
};

const SIZES: [usize; 6] = [1, 2, 3, 4, 7, 8];
const SEVERAL: [usize; 5] = [2, 3, 4, 7, 8];

/// A number that looks random.
fn mixed(number: usize) -> usize {
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
            vector.for_each(|index, value| seen.push((index, *value)));
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
            vector.for_each(|_, (sum, last)| assert!(*sum == (p * each) as u64 && last.iter().all(|&n| n == each)));
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
fn a_hash_map_has_what_one_table_would() {
    everywhere(|g| {
        let (p, each) = (g.size(), 40);
        let table = g.hash_map::<String, (usize, usize)>();
        // All processors insert keys of their own; then everybody reads and takes those of the next one.
        g.epoch(|e| (0..each).for_each(|at| table.insert(e, format!("{} {at}", e.rank()), (e.rank(), at))));
        assert_eq!(table.count(g), p * each);
        g.epoch(|e| {
            let next = (e.rank() + 1) % p;
            for at in 0..each {
                assert_eq!(table.get(e, &format!("{next} {at}")), Some((next, at)));
            }
            assert_eq!(table.get(e, &"nobody".to_owned()), None);
            for at in (0..each).step_by(2) {
                assert_eq!(table.remove(e, &format!("{next} {at}")), Some((next, at)));
                assert_eq!(table.remove(e, &format!("{next} {at}")), None);
            }
        });
        assert_eq!(table.count(g), p * each / 2);
        let mut mine = Vec::new();
        table.for_each(|key, value| mine.push((key.clone(), *value)));
        assert!(mine.iter().all(|(key, _)| table.owner(key) == g.rank()) && mine.len() == table.owned_count());
        let mut all = g.step(|s| s.collect(mine)).concat();
        all.sort();
        let mut expected: Vec<_> =
            (0..p).flat_map(|rank| (1..each).step_by(2).map(move |at| (format!("{rank} {at}"), (rank, at)))).collect();
        expected.sort();
        assert_eq!(all, expected);
        table.clear();
        assert_eq!(table.count(g), 0);
    });
}

#[test]
fn values_are_updated_in_place_from_their_default() {
    everywhere(|g| {
        let (me, p, each) = (g.rank(), g.size(), 200);
        let table = g.hash_map::<u64, Vec<usize>>();
        g.epoch(|e| {
            for at in 0..each {
                table.update(e, mixed(at) as u64 % 17, (me, at), |list, (rank, at)| list.extend([rank, at]));
            }
        });
        let mut expected: BTreeMap<u64, usize> = BTreeMap::new();
        (0..each).for_each(|at| *expected.entry(mixed(at) as u64 % 17).or_default() += 1);
        assert_eq!(table.count(g), expected.len());
        table.for_each(|key, list| {
            assert_eq!(list.len(), 2 * p * expected[key]);
            // E3: those of each processor came in order.
            let of = |wanted| list.chunks(2).filter(move |pair| pair[0] == wanted).map(|pair| pair[1]);
            assert!((0..p).all(|rank| of(rank).is_sorted()));
        });
        let asked = g.epoch(|e| [0, 99].map(|key| table.ask(e, &key)));
        let [some, none] = asked.map(|answer| answer.value().map(|list| list.len()));
        assert_eq!((some, none), (expected.get(&0).map(|count| 2 * p * count), None));
    });
}

/// Contract 4.
#[test]
fn everybody_agrees_on_the_owner_of_a_key() {
    everywhere(|g| {
        let (numbers, words) = (g.hash_map::<u64, ()>(), g.hash_map::<String, ()>());
        let mine: Vec<usize> =
            (0..100_u64).flat_map(|key| [numbers.owner(&(key << 30)), words.owner(&format!("word {key}"))]).collect();
        let p = g.size();
        assert!(mine.iter().all(|&owner| owner < p));
        let all = g.step(|s| s.collect(mine.clone()));
        assert!(all.iter().all(|owners| *owners == mine));
    });
}

#[test]
fn edges_lie_with_the_vertex_they_leave() {
    everywhere(|g| {
        let (p, n) = (g.size(), 11);
        let graph = g.graph::<usize, f64>(n, |v| v);
        g.epoch(|e| {
            for v in (e.rank()..n).step_by(p) {
                for to in 0..v {
                    graph.add_edge(e, v, to, to as f64 / 2.0);
                }
            }
        });
        assert_eq!((graph.vertices(), graph.edges(g)), (n, n * (n - 1) / 2));
        let mut seen = Vec::new();
        graph.for_each(|v, vertex: &mut Vertex<usize, f64>| {
            assert_eq!((vertex.value, graph.owner(v)), (v, Some(g.rank())));
            assert!(vertex.edges().iter().copied().eq((0..v).map(|to| Edge { to, value: to as f64 / 2.0 })));
            seen.push(v);
        });
        assert!(seen.into_iter().eq(graph.owned()));
        assert_eq!(graph.owner(n), None);
        let found = g.epoch(|e| {
            let asked: Vec<_> = (0..n).map(|v| graph.ask(e, v, 1, |vertex, _, x| vertex.edges().len() + x)).collect();
            asked.into_iter().map(|answer| e.take(answer)).collect::<Vec<_>>()
        });
        assert!(found.into_iter().eq(1..=n));
        let last = g.epoch(|e| graph.call(e, n - 1, (), |vertex, walk, ()| (vertex.value, walk.vertex())));
        assert_eq!(last, (n - 1, n - 1));
    });
}

/// How far every vertex is from where the walk began; a shorter way that comes later goes over it again.
fn reach(vertex: &mut Vertex<usize, ()>, walk: &Walk<'_, usize, ()>, distance: usize) {
    if distance < vertex.value {
        vertex.value = distance;
        vertex.edges().iter().for_each(|edge| walk.visit(edge.to, distance + 1, reach));
    }
}

/// E4 and E5: visits go on by themselves, and the epoch ends when none is under way.
#[test]
fn a_walk_finds_the_shortest_ways_through_a_graph() {
    for tuning in [Tuning::new(), Tuning::new().near(0, 1).far(0, 1)] {
        everywhere(|g| {
            let (rank, n) = (g.rank(), 30);
            let edges: Vec<(usize, usize)> =
                (0..n).flat_map(|v| [(v, (v + 1) % n), (v, mixed(v) % n), (v, mixed(v + n) % n)]).collect();
            let graph = g.graph(n, |_| usize::MAX);
            g.epoch(|e| {
                for &(from, to) in edges.iter().skip(rank).step_by(e.size()) {
                    graph.add_edge(e, from, to, ());
                }
            });
            g.epoch_with(tuning, |e| {
                if e.rank() == e.size() - 1 {
                    graph.visit(e, 4, 0, reach);
                }
            });
            let mut expected = vec![usize::MAX; n];
            expected[4] = 0;
            for _ in 0..n {
                for &(from, to) in &edges {
                    expected[to] = expected[to].min(expected[from].saturating_add(1));
                }
            }
            graph.for_each(|v, vertex| assert_eq!(vertex.value, expected[v], "vertex {v}"));
        });
    }
}

#[test]
fn a_loop_over_what_is_here_may_visit_the_rest() {
    everywhere(|g| {
        let n = 23;
        let graph = g.graph::<usize, ()>(n, |_| 0);
        g.epoch(|e| {
            graph.for_each(|v, _| (0..n).for_each(|to| graph.visit(e, to, v, |vertex, _, from| vertex.value += from)));
        });
        graph.for_each(|v, vertex| assert_eq!(vertex.value, n * (n - 1) / 2, "vertex {v}"));
    });
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
            vector.for_each(|_, value| assert_eq!(*value, sub.size()));
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
        let outcome = g.try_epoch(Tuning::new(), |e| {
            if e.rank() == 0 {
                vector.update(e, 1, (), |value, ()| assert_eq!(*value, 7, "not the one"));
            }
        });
        let error = outcome.expect_err("the method panics");
        check(&error, ErrorKind::RemotePanic, &["not the one", file!()]);
        crate::is_everybodys(g, &error);
    });
}
