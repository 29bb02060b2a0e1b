//! Hash maps and graphs: entries lie with their owners, and walks find their way (E2).

use crate::{containers::mixed, everywhere};
use std::collections::BTreeMap;
use superstep::{
    Tuning,
    containers::{Edge, Vertex, Walk},
};

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
        table.forall_mut(|key, value| mine.push((key.clone(), *value)));
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
        table.forall_mut(|key, list| {
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
        graph.forall_mut(|v, vertex: &mut Vertex<usize, f64>| {
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

/// The same, along all edges at once.
fn reach_along(vertex: &mut Vertex<usize, ()>, walk: &Walk<'_, usize, ()>, distance: usize) {
    if distance < vertex.value {
        vertex.value = distance;
        walk.visit_along(vertex.edges(), distance + 1, reach_along);
    }
}

/// E4 and E5: visits go on by themselves, and the epoch ends when none is under way.
#[test]
fn a_walk_finds_the_shortest_ways_through_a_graph() {
    let few = Tuning::new().near(0, 1).far(0, 1);
    let ways: [fn(&mut Vertex<usize, ()>, &Walk<'_, usize, ()>, usize); 2] = [reach, reach_along];
    for (tuning, reach) in [Tuning::new(), few].into_iter().flat_map(|tuning| ways.map(|way| (tuning, way))) {
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
            graph.forall_mut(|v, vertex| assert_eq!(vertex.value, expected[v], "vertex {v}"));
        });
    }
}

#[test]
fn a_loop_over_what_is_here_may_visit_the_rest() {
    everywhere(|g| {
        let n = 23;
        let graph = g.graph::<usize, ()>(n, |_| 0);
        g.epoch(|e| {
            graph
                .forall_mut(|v, _| (0..n).for_each(|to| graph.visit(e, to, v, |vertex, _, from| vertex.value += from)));
        });
        graph.forall_mut(|v, vertex| assert_eq!(vertex.value, n * (n - 1) / 2, "vertex {v}"));
    });
}

/// E3: what is sent along edges comes in the order of the edges, behind what was sent before and before what follows;
/// also where it fills letters, and where arguments own memory.
#[test]
fn visits_along_edges_keep_their_order_among_others() {
    fn note(vertex: &mut Vertex<Vec<usize>, usize>, _: &Walk<'_, Vec<usize>, usize>, x: usize) {
        vertex.value.push(x);
    }
    fn note_text(vertex: &mut Vertex<Vec<usize>, usize>, _: &Walk<'_, Vec<usize>, usize>, x: String) {
        vertex.value.push(x.len());
    }
    fn start(vertex: &mut Vertex<Vec<usize>, usize>, walk: &Walk<'_, Vec<usize>, usize>, (): ()) {
        let edges = vertex.edges();
        for edge in edges {
            walk.visit(edge.to, 1, note);
        }
        walk.visit_along(edges, 2, note);
        walk.visit_along(edges, "long".to_string(), note_text);
        walk.visit_along(&edges[..0], 3, note);
        walk.visit(edges[0].to, 5, note);
        walk.visit_along(edges, 6, note);
    }
    for (tuning, each) in [(Tuning::new(), 3), (Tuning::new(), 2500), (Tuning::new().near(40, 3).far(40, 3), 7)] {
        everywhere(|g| {
            let graph = g.graph(4, |_| Vec::new());
            g.epoch(|e| {
                if e.rank() == 0 {
                    (0..each).for_each(|at| graph.add_edge(e, 1, [2, 0, 3][at % 3], at));
                }
            });
            g.epoch_with(tuning, |e| {
                if e.rank() == 0 {
                    graph.visit(e, 1, (), start);
                }
            });
            graph.forall_mut(|v, vertex| {
                let count = (0..each).filter(|at| [2, 0, 3][at % 3] == v).count();
                let last = vec![5; usize::from(v == 2)];
                let expected = [vec![1; count], vec![2; count], vec![4; count], last, vec![6; count]].concat();
                assert_eq!(vertex.value, expected, "vertex {v}, {each} edges");
            });
        });
    }
}
