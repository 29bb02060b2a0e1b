//! Whether answers are right: rules that only right answers keep, checked edge by edge.
//!
//! Each of these reads what the neighbours of a vertex have, by the plan of the graph, and none of them repeats what
//! the kernel does.

use super::{
    bc::Ways,
    bfs,
    graph::{Graph, NONE, Weighted},
};
use superstep::{And, Group, Max};

/// How far sums of floats may be apart.
const CLOSE: f64 = 1e-9;

fn everywhere(g: &mut Group, is_right: bool) -> bool {
    g.step(|s| s.reduce(is_right, And))
}

/// How far the vertices of a tree are from its root; none if it is no tree. Ways are doubled until all end at the root.
pub(super) fn levels(g: &mut Group, graph: &Graph, source: usize, parents: &[u32]) -> Option<Vec<u32>> {
    // For each vertex one that is above it, and how far.
    let begin = |(place, &parent): (usize, &u32)| {
        let is_root = graph.vertices.place(source) == Some(place);
        [parent, u32::from(!is_root)]
    };
    let mut ways: Vec<[u32; 2]> = parents.iter().enumerate().map(begin).collect();
    let all = graph.vertices.array(g, &ways);
    // After 32 rounds no way can be longer.
    for _ in 0..=32 {
        let reached: Vec<usize> = (0..ways.len()).filter(|&place| ways[place][0] != NONE).collect();
        let above: Vec<usize> = reached.iter().map(|&place| ways[place][0] as usize).collect();
        let is_range = above.iter().all(|&vertex| vertex < graph.vertices());
        if !everywhere(g, is_range) {
            return None;
        }
        let above = g.step(|s| s.gather(&all, &above));
        let mut is_done = true;
        for (&place, [higher, further]) in reached.iter().zip(above) {
            let [there, far] = &mut ways[place];
            is_done &= *there == source as u32;
            *there = higher;
            *far = far.saturating_add(further);
        }
        let is_tree = reached.iter().all(|&place| ways[place][0] != NONE);
        if !everywhere(g, is_tree) {
            return None;
        }
        if everywhere(g, is_done) {
            return Some(ways.iter().map(|&[there, far]| if there == NONE { NONE } else { far }).collect());
        }
        all.local_mut().copy_from_slice(&ways);
    }
    None
}

/// Whether these are the parents of a search: they are neighbours, and no edge is a short cut.
pub(super) fn parents(g: &mut Group, graph: &Graph, source: usize, parents: &[u32], levels: &[u32]) -> bool {
    let inward = graph.inward();
    let mut is_right = true;
    for (place, &parent) in parents.iter().enumerate().filter(|(_, parent)| **parent != NONE) {
        let slots = inward.of(place);
        let at = slots.partition_point(|&slot| inward.number(slot) < parent as usize);
        let is_neighbour = slots.get(at).is_some_and(|&slot| inward.number(slot) == parent as usize);
        is_right &= if levels[place] == 0 { parent as usize == source } else { is_neighbour };
    }
    is_right &= graph.vertices.place(source).is_none_or(|place| levels[place] == 0);
    is_right &= has_no_short_cut(g, graph, levels);
    everywhere(g, is_right)
}

/// Whether every edge from a vertex that was reached leads at most one level further.
fn has_no_short_cut(g: &mut Group, graph: &Graph, levels: &[u32]) -> bool {
    let lie = graph.vertices.array(g, levels);
    let around = graph.out.gather(g, &lie, Vec::new());
    let reached = levels.iter().enumerate().filter(|(_, level)| **level != NONE);
    let mut edges = reached.flat_map(|(place, &level)| graph.out.of(place).iter().map(move |&slot| (level, slot)));
    edges.all(|(level, slot)| around[slot as usize] <= level + 1)
}

/// Whether these are lengths of shortest ways: no edge makes one shorter, and each is the way to a neighbour and an
/// edge.
pub(super) fn distances(g: &mut Group, graph: &Weighted, source: usize, distances: &[u32]) -> bool {
    let lie = graph.vertices.array(g, distances);
    let around = g.step(|s| s.gather_by(&lie, graph.rows.plan()));
    let (mut is_right, mut is_way) = (true, vec![0u8; graph.slots()]);
    for (place, &distance) in distances.iter().enumerate().filter(|(_, distance)| **distance != NONE) {
        let (slots, lengths) = graph.rows.row(place);
        for (&slot, &length) in slots.iter().zip(lengths) {
            let there = around[slot as usize];
            is_right &= u64::from(there) <= u64::from(distance) + u64::from(length) && there != NONE;
            is_way[slot as usize] |= u8::from(u64::from(there) == u64::from(distance) + u64::from(length));
        }
    }
    let has_way = graph.vertices.array(g, &vec![0u8; distances.len()]);
    g.step(|s| s.scatter_by(&has_way, graph.rows.plan(), &is_way, Max));
    for (place, (&distance, &has_way)) in distances.iter().zip(has_way.local().iter()).enumerate() {
        let is_source = graph.vertices.place(source) == Some(place);
        is_right &= if is_source { distance == 0 } else { distance == NONE || has_way == 1 };
    }
    everywhere(g, is_right)
}

/// Whether these are the components: neighbours have the same label, and each component has the vertex that it is named
/// after.
pub(super) fn labels(g: &mut Group, graph: &Graph, labels: &[u32]) -> bool {
    let lie = graph.vertices.array(g, labels);
    let around = graph.out.gather(g, &lie, Vec::new());
    let mut edges = labels
        .iter()
        .enumerate()
        .flat_map(|(place, &label)| graph.out.of(place).iter().map(move |&slot| (label, slot)));
    let are_same = edges.all(|(label, slot)| around[slot as usize] == label);
    let first = graph.vertices.first();
    let named: Vec<usize> = (0..labels.len()).filter(|&place| labels[place] as usize == first + place).collect();
    let reached = bfs::search_from(g, graph, &named);
    everywhere(g, are_same && reached.iter().all(|&parent| parent != NONE))
}

/// Whether these are the scores of ways from these sources: counts are sums of the counts before, and what leads
/// through a vertex is the sum of what leads on from it.
pub(super) fn scores(g: &mut Group, graph: &Graph, sources: &[usize], scores: &[f64]) -> bool {
    let (mut is_right, mut sums) = (true, vec![0.0; scores.len()]);
    for &source in sources {
        let ways = Ways::new(g, graph, source);
        is_right &= are_ways(g, graph, source, &ways);
        sums.iter_mut().zip(&ways.through).for_each(|(sum, through)| *sum += through);
    }
    let largest = sums.iter().copied().fold(0.0, f64::max);
    let largest = g.step(|s| s.reduce(largest, Max)).max(f64::MIN_POSITIVE);
    is_right &= sums.iter().zip(scores).all(|(sum, score)| (sum / largest - score).abs() <= CLOSE);
    everywhere(g, is_right)
}

fn are_ways(g: &mut Group, graph: &Graph, source: usize, ways: &Ways) -> bool {
    let (levels, counts) = (graph.vertices.array(g, &ways.levels), graph.vertices.array(g, &ways.counts));
    let through = graph.vertices.array(g, &ways.through);
    let (out, inward) = (&graph.out, graph.inward());
    let (before, counts_before) =
        g.step(|s| (s.gather_by(&levels, inward.plan()), s.gather_by(&counts, inward.plan())));
    let (behind, counts_behind) = g.step(|s| (s.gather_by(&levels, out.plan()), s.gather_by(&counts, out.plan())));
    let through_behind = out.gather(g, &through, Vec::new());
    let mut is_right = has_no_short_cut(g, graph, &ways.levels);
    let is_close = |found: f64, sum: f64| (found - sum).abs() <= CLOSE * sum.max(1.0);
    for (place, &level) in ways.levels.iter().enumerate() {
        if level == NONE || level == 0 {
            is_right &= (level == 0) == (graph.vertices.place(source) == Some(place));
            is_right &= is_close(ways.counts[place], f64::from(u8::from(level == 0)));
        } else {
            let above = inward.of(place).iter().filter(|&&slot| before[slot as usize] == level - 1);
            let sum = above.map(|&slot| counts_before[slot as usize]).sum::<f64>();
            is_right &= sum > 0.0 && is_close(ways.counts[place], sum);
        }
        let below = out.of(place).iter().filter(|&&slot| level != NONE && behind[slot as usize] == level + 1);
        let parts = below.map(|&slot| (1.0 + through_behind[slot as usize]) / counts_behind[slot as usize]);
        is_right &= is_close(ways.through[place], ways.counts[place] * parts.sum::<f64>());
    }
    is_right
}

#[cfg(test)]
mod tests {
    use super::{super::pr, *};
    use superstep::Config;

    /// A way 0-1-2-3, a short cut 0-2, and two vertices apart.
    const EDGES: [(usize, usize); 5] = [(0, 1), (1, 2), (2, 3), (0, 2), (4, 5)];
    const N: u32 = NONE;

    /// Whether each of these answers is taken for right, on any number of processors.
    fn judged<T: Copy + Sync, const K: usize>(
        answers: [[T; 6]; K],
        judge: impl Fn(&mut Group, &Graph, &[T]) -> bool + Sync,
    ) -> [bool; K] {
        let all: Vec<Vec<bool>> = [1, 2, 4]
            .map(|procs| {
                let judged = Config::new().procs(procs).run(|g| {
                    let edges = if g.is_leader() { &EDGES[..] } else { &[] };
                    let graph = Graph::undirected(g, 6, edges);
                    let (first, here) = (graph.vertices.first(), graph.vertices.here());
                    answers.iter().map(|answer| judge(g, &graph, &answer[first..first + here])).collect::<Vec<_>>()
                });
                judged.unwrap()
            })
            .into();
        assert!(all.iter().all(|judged| *judged == all[0]), "{all:?}");
        std::array::from_fn(|at| all[0][at])
    }

    #[test]
    fn every_rule_of_a_search_can_be_broken() {
        let judge = |g: &mut Group, graph: &Graph, found: &[u32]| {
            let levels = levels(g, graph, 0, found);
            levels.is_some_and(|levels| parents(g, graph, 0, found, &levels))
        };
        let answers = [
            [0, 0, 0, 2, N, N],
            // A cycle; a longer way than there is; a vertex that is missing; no neighbour; an unreached parent; another
            // root; a number that is none.
            [0, 2, 1, 2, N, N],
            [0, 0, 1, 2, N, N],
            [0, 0, 0, N, N, N],
            [0, 0, 0, 1, N, N],
            [0, 0, 0, 2, 5, N],
            [1, 1, 1, 2, N, N],
            [0, 0, 0, 2, 6, N],
        ];
        assert_eq!(judged(answers, judge), [true, false, false, false, false, false, false, false]);
    }

    #[test]
    fn every_rule_of_components_can_be_broken() {
        let answers = [
            [0, 0, 0, 0, 4, 4],
            // Two become one; one becomes two; one that is named after nobody of its own.
            [0, 0, 0, 0, 0, 0],
            [0, 0, 0, 3, 4, 4],
            [4, 4, 4, 4, 4, 4],
        ];
        assert_eq!(judged(answers, labels), [true, false, false, false]);
    }

    #[test]
    fn ranks_that_are_not_settled_have_a_residual() {
        let judge = |g: &mut Group, graph: &Graph, found: &[f32]| pr::residual(g, graph, found) < 1e-3;
        let sixth = 1.0 / 6.0;
        let right = [0.163_95, 0.163_95, 0.244_49, 0.094_27, sixth, sixth];
        assert_eq!(judged([right, [sixth; 6]], judge), [true, false]);
    }

    #[test]
    fn scores_that_are_not_of_these_sources_are_wrong() {
        let judge = |g: &mut Group, graph: &Graph, found: &[f64]| scores(g, graph, &[0], found);
        // From 0 there are three vertices to be reached, and of the ways one leads on through 2.
        let third = 1.0 / 3.0;
        let answers = [[1.0, 0.0, third, 0.0, 0.0, 0.0], [1.0, third, 0.0, 0.0, 0.0, 0.0], [0.0; 6]];
        assert_eq!(judged(answers, judge), [true, false, false]);
    }

    #[test]
    fn every_rule_of_distances_can_be_broken() {
        let answers = [[0, 5, 8, N], [0, 5, 7, N], [0, 5, 9, N], [0, 5, 8, 9], [1, 6, 9, N], [0, N, 8, N]];
        for procs in [1, 3] {
            let judged = Config::new().procs(procs).run(|g| {
                let edges: &[_] = if g.is_leader() { &[(0, 1, 5), (1, 2, 3), (0, 2, 9), (3, 0, 1)] } else { &[] };
                let graph = Weighted::new(g, 4, edges);
                let (first, here) = (graph.vertices.first(), graph.vertices.here());
                answers.map(|answer| distances(g, &graph, 0, &answer[first..first + here])).to_vec()
            });
            assert_eq!(judged.unwrap(), [true, false, false, false, false, false], "{procs}");
        }
    }
}
