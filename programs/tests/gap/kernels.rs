//! Each kernel against its serial twin, on graphs made by hand and on random ones.

use crate::serial::{Lists, distances};
use superstep::{Config, Fabric, Group, Local, values::Value};
use superstep_programs::gap::{Graph, Kernel, Kind, NONE, Options, Weighted, bc, bfs, cc, pr, run, sssp, tc};

const FABRICS: [(usize, Fabric); 7] = [
    (1, Fabric::Threads),
    (2, Fabric::Threads),
    (3, Fabric::Threads),
    (3, Fabric::Procs),
    (3, Fabric::Sim { seed: 1, shares_memory: false }),
    (3, Fabric::Sim { seed: 2, shares_memory: true }),
    (7, Fabric::Threads),
];

type Edges = Vec<(usize, usize)>;

/// Graphs that are easily got wrong, and random ones.
fn graphs() -> Vec<(usize, Edges)> {
    let path = |count: usize| (1..count).map(|a| (a - 1, a)).collect::<Edges>();
    let mut graphs = vec![
        (1, vec![]),
        (1, vec![(0, 0)]),
        (2, vec![(1, 0)]),
        (5, vec![]),
        (40, path(40)),
        // Far from each other at every step, so that most edges lead to another processor.
        (40, path(40).into_iter().map(|(a, b)| (a * 17 % 40, b * 17 % 40)).collect()),
        (30, (1..30).map(|leaf| (leaf, 0)).collect()),
        (8, (0..8).flat_map(|a| (0..a).map(move |b| (a, b))).collect()),
        // Loops, edges that come again and the other way round, and vertices apart.
        (9, vec![(1, 1), (1, 2), (2, 1), (1, 2), (2, 3), (3, 1), (5, 6), (6, 5), (8, 8)]),
    ];
    for seed in 1..=6u64 {
        let count = 20 * seed as usize;
        let mut state = seed;
        let mut draw = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize
        };
        // Few edges leave many components, and many make one.
        let edges = count * seed as usize / 2;
        graphs.push((count, (0..edges).map(|_| (draw() % count, draw() % count * (draw() % 2))).collect()));
    }
    graphs
}

/// This processor's share of a list.
fn share<T: Copy>(g: &Group, list: &[T]) -> Vec<T> {
    list.iter().copied().skip(g.rank()).step_by(g.size()).collect()
}

fn graph(g: &mut Group, (vertices, edges): &(usize, Edges), are_both: bool) -> Graph {
    let mine = share(g, edges);
    if are_both { Graph::undirected(g, *vertices, &mine) } else { Graph::directed(g, *vertices, &mine) }
}

/// Runs `work` on each fabric with each graph, as it is or with edges that lead both ways, and hands `check` what all
/// processors have found together.
#[track_caller]
fn each<T: Value>(
    ways: &[bool],
    work: impl Fn(&mut Group, &Graph) -> Vec<T> + Sync,
    check: impl Fn(&Lists, &[T], &str),
) {
    for of in graphs() {
        for &are_both in ways {
            let lists = Lists::new(of.0, &of.1, are_both);
            for (procs, fabric) in FABRICS {
                let found = Config::new().procs(procs).fabric(fabric).run(|g| {
                    let graph = graph(g, &of, are_both);
                    let found = work(g, &graph);
                    g.step(|s| s.collect(found)).concat()
                });
                check(&lists, &found.unwrap(), &format!("{of:?}, both ways: {are_both}, {procs} on {fabric:?}"));
            }
        }
    }
}

#[track_caller]
fn are_close(found: &[f64], expected: &[f64], error: f64, case: &str) {
    assert_eq!(found.len(), expected.len(), "{case}");
    let is_close = |(found, expected): (&f64, &f64)| (found - expected).abs() <= error;
    assert!(found.iter().zip(expected).all(is_close), "{found:?} is not {expected:?}: {case}");
}

#[test]
fn a_search_finds_every_vertex_on_a_shortest_way() {
    for source in [0, 4] {
        each(
            &[true, false],
            |g, graph| bfs::search(g, graph, source.min(graph.vertices() - 1)),
            |lists, parents, case| {
                let source = source.min(parents.len() - 1);
                let levels = lists.levels(source);
                for (vertex, &parent) in parents.iter().enumerate() {
                    assert_eq!(parent == NONE, levels[vertex].is_none(), "{vertex} of {case}");
                    if vertex == source {
                        assert_eq!(parent as usize, source, "{case}");
                    } else if parent != NONE {
                        assert!(lists.0[parent as usize].contains(&vertex), "{vertex} of {case}");
                        assert_eq!(
                            levels[parent as usize].map(|level| level + 1),
                            levels[vertex],
                            "{vertex} of {case}"
                        );
                    }
                }
            },
        );
    }
}

#[test]
fn components_are_named_after_their_lowest_vertex() {
    each(
        &[true],
        |g, graph| cc::labels(g, graph).unwrap(),
        |lists, labels, case| assert_eq!(labels, lists.labels(), "{case}"),
    );
}

/// Too many pairs of trees for everybody to be told all of them: nearly every edge of these ways leads elsewhere.
#[test]
fn components_of_long_ways_over_all_processors_are_agreed_on() {
    const COUNT: usize = 6000;
    let place = |at: usize| at * 4999 % COUNT;
    let ways: Edges = (1..COUNT).filter(|at| at % 2000 != 0).map(|at| (place(at - 1), place(at))).collect();
    let labels = Lists::new(COUNT, &ways, true).labels();
    for (procs, fabric) in FABRICS {
        let found = Config::new().procs(procs).fabric(fabric).run(|g| {
            let graph = graph(g, &(COUNT, ways.clone()), true);
            let found = cc::labels(g, &graph).unwrap();
            g.step(|s| s.collect(found)).concat()
        });
        assert_eq!(found.unwrap(), labels, "{procs} on {fabric:?}");
    }
}

#[test]
fn triangles_are_counted_once() {
    each(
        &[true],
        |g, graph| {
            if g.is_leader() {
                vec![tc::triangles(g, graph).unwrap()]
            } else {
                tc::triangles(g, graph).map(|_| vec![]).unwrap()
            }
        },
        |lists, count, case| assert_eq!(count, [lists.triangles()], "{case}"),
    );
}

#[test]
fn ranks_are_those_of_the_iteration() {
    for iterations in [0, 1, 5] {
        each(
            &[true, false],
            |g, graph| {
                let ranks = pr::ranks(g, graph, 0.0, iterations);
                assert_eq!(ranks.iterations, iterations);
                ranks.scores.into_iter().map(f64::from).collect()
            },
            |lists, ranks, case| are_close(ranks, &lists.ranks(iterations), 1e-5, case),
        );
    }
}

#[test]
fn scores_are_those_of_brandes() {
    each(
        &[true, false],
        |g, graph| bc::scores(g, graph, &[0, graph.vertices() / 2, 0]),
        |lists, scores, case| are_close(scores, &lists.scores(&[0, lists.0.len() / 2, 0]), 1e-9, case),
    );
}

#[test]
fn distances_are_shortest() {
    for (width, longest) in [(1, 3), (10, 255), (1000, 255)] {
        for (vertices, edges) in graphs() {
            let length = |&(a, b): &(usize, usize)| (a, b, (a * 31 + b * 17) as u32 % longest + 1);
            let edges: Vec<_> = edges.iter().map(length).collect();
            let expected = distances(vertices, &edges, vertices / 3);
            for (procs, fabric) in FABRICS {
                let found = Config::new().procs(procs).fabric(fabric).run(|g| {
                    let mine = share(g, &edges);
                    let graph = Weighted::new(g, vertices, &mine);
                    let found = sssp::distances(g, &graph, vertices / 3, width).unwrap();
                    g.step(|s| s.collect(found)).concat()
                });
                assert_eq!(found.unwrap(), expected, "{edges:?}, {procs} on {fabric:?}, width {width}");
            }
        }
    }
}

#[test]
fn a_way_that_is_too_long_is_refused_and_not_wrong() {
    let refused = Config::new().procs(2).run_all(|g| {
        let edges = [(0, 1, u32::MAX - 1), (1, 2, u32::MAX - 1)];
        let graph = Weighted::new(g, 3, &edges);
        sssp::distances(g, &graph, 0, 1 << 30).unwrap_err().to_string()
    });
    assert!(refused.unwrap().iter().all(|what| what.contains("32 bits")));
}

#[test]
fn what_needs_edges_both_ways_refuses_others() {
    let refused = Config::new().procs(2).run_all(|g| {
        let graph = Graph::directed(g, 3, &[(0, 1)]);
        [tc::triangles(g, &graph).unwrap_err(), cc::labels(g, &graph).unwrap_err()].map(|what| what.to_string())
    });
    assert!(refused.unwrap().iter().flatten().all(|what| what.contains("--symmetrize")));
}

/// What is said of an answer but the time, and the bits of its floats.
fn said(procs: usize, fabric: Fabric, options: &Options) -> Vec<String> {
    let all = Config::new().procs(procs).fabric(fabric).run(|g| Local(run(g, options).unwrap())).unwrap();
    assert!(all.iter().all(|one| one.to_string().contains(": verified; ")), "{all:?}");
    all.iter().map(|one| format!("{:?}", one.facts())).collect()
}

#[test]
fn drawn_graphs_and_answers_are_the_same_on_every_fabric_and_whole_numbers_on_any_size() {
    for kind in [Kind::Kron, Kind::Uniform] {
        for kernel in [Kernel::Bfs, Kernel::Sssp, Kernel::Pr, Kernel::Cc, Kernel::Bc, Kernel::Tc] {
            let options = Options { scale: 7, degree: 4, kind, trials: 2, sources: 2, ..Options::new(kernel) };
            let on_three = said(3, Fabric::Threads, &options);
            for fabric in [Fabric::Procs, Fabric::Sim { seed: 3, shares_memory: false }] {
                assert_eq!(said(3, fabric, &options), on_three, "{kernel:?} on {fabric:?}");
            }
            let is_whole = !matches!(kernel, Kernel::Pr | Kernel::Bc);
            for procs in [1, 5] {
                let found = said(procs, Fabric::Threads, &options);
                assert!(!is_whole || found == on_three, "{kernel:?}: {found:?} is not {on_three:?}");
            }
        }
    }
}

#[test]
fn a_graph_of_one_vertex_has_answers() {
    for kernel in [Kernel::Bfs, Kernel::Sssp, Kernel::Pr, Kernel::Cc, Kernel::Bc, Kernel::Tc] {
        let options = Options { scale: 0, ..Options::new(kernel) };
        let said = &said(3, Fabric::Threads, &options)[0];
        assert!(said.starts_with(r#"[("vertices", Count(1)), ("edges", Count(0)), "#), "{said}");
    }
}
