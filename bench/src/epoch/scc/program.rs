//! The components of a distributed graph.
//!
//! Every vertex knows the edges that leave it and those that lead to it. In each round
//!
//! 1. every processor chooses pivots among its vertices that are left, one in the first round and twice as many in each
//!    further one;
//! 2. each vertex learns the highest pivot that reaches it;
//! 3. from each pivot that no higher one reaches, its component is marked: what has its number and reaches it;
//! 4. what is marked is taken out, and with it every vertex that no edge leaves, or none leads to, any more.
//!
//! All of a component has the number of its pivot: a higher pivot that reached one of them would reach the pivot too.

use super::mesh::Mesh;
use crate::{
    clock::{on_all, watched},
    contest::Sample,
    digest::digest,
};
use superstep::{
    Config, Group, Result, Sum,
    containers::{self, Vertex as VertexOf, Walk as WalkOf},
};

const NONE: usize = usize::MAX;

/// What is known of a vertex.
#[derive(Clone, Copy)]
struct State {
    /// Its component: the number of one of its vertices.
    component: usize,
    /// The highest pivot that reaches it.
    pivot: usize,
    /// Edges that leave it and that lead to it, of those between vertices that are left.
    leaving: u32,
    entering: u32,
}

/// An edge says whether it leaves its vertex; else it leads there.
type Graph = containers::Graph<State, bool>;
type Vertex = VertexOf<State, bool>;
type Walk<'a> = WalkOf<'a, State, bool>;

impl State {
    fn new() -> Self {
        Self { component: NONE, pivot: NONE, leaving: 0, entering: 0 }
    }

    fn is_left(&self) -> bool {
        self.component == NONE
    }
}

/// Tells all neighbours that this vertex is out.
fn tell(vertex: &Vertex, mut to: impl FnMut(usize, bool)) {
    // An edge that leaves here leads there.
    vertex.edges().iter().for_each(|edge| to(edge.to, !edge.value));
}

/// Trims a vertex if no edge leaves it, or none leads to it.
fn trim(vertex: &mut Vertex, walk: &Walk<'_>, (): ()) {
    let state = &mut vertex.value;
    if state.is_left() && (state.leaving == 0 || state.entering == 0) {
        (state.component, state.pivot) = (walk.vertex(), NONE);
        tell(vertex, |neighbour, is_leaving| walk.visit(neighbour, is_leaving, lose));
    }
}

/// Takes an edge away, because what is at its other end is out.
fn lose(vertex: &mut Vertex, walk: &Walk<'_>, is_leaving: bool) {
    let state = &mut vertex.value;
    if state.is_left() {
        *(if is_leaving { &mut state.leaving } else { &mut state.entering }) -= 1;
        trim(vertex, walk, ());
    }
}

/// Says that `pivot` reaches this vertex.
fn reach(vertex: &mut Vertex, walk: &Walk<'_>, pivot: usize) {
    let state = &mut vertex.value;
    if state.is_left() && (state.pivot == NONE || state.pivot < pivot) {
        state.pivot = pivot;
        vertex.edges().iter().filter(|edge| edge.value).for_each(|edge| walk.visit(edge.to, pivot, reach));
    }
}

/// Marks a vertex that reaches `pivot`, if that reaches it.
fn mark(vertex: &mut Vertex, walk: &Walk<'_>, pivot: usize) {
    let state = &mut vertex.value;
    if state.is_left() && state.pivot == pivot {
        state.component = pivot;
        vertex.edges().iter().filter(|edge| !edge.value).for_each(|edge| walk.visit(edge.to, pivot, mark));
    }
}

/// Makes the graph of a mesh, of which each processor adds every so many edges.
fn graph(g: &mut Group, mesh: &Mesh) -> Graph {
    let graph = g.graph(mesh.vertices, |_| State::new());
    let (rank, procs) = (g.rank(), g.size());
    g.epoch(|e| {
        for &(from, to) in mesh.edges.iter().skip(rank).step_by(procs) {
            graph.add_edge(e, from, to, true);
            graph.add_edge(e, to, from, false);
        }
    });
    graph
}

/// Makes everything as it was before.
fn reset(graph: &Graph) {
    graph.forall_mut(|_, vertex| {
        let leaving = vertex.edges().iter().filter(|edge| edge.value).count() as u32;
        let entering = vertex.edges().len() as u32 - leaving;
        vertex.value = State { leaving, entering, ..State::new() };
    });
}

/// So many of these, spread evenly.
fn spread(all: &[usize], count: usize) -> impl Iterator<Item = usize> {
    let count = count.min(all.len());
    (0..count).map(move |at| all[at * all.len() / count])
}

/// Finds all components; says how many rounds that took.
fn solve(g: &mut Group, graph: &Graph) -> usize {
    g.epoch(|e| graph.owned().for_each(|v| graph.visit(e, v, (), trim)));
    for round in 0.. {
        let mut left = Vec::new();
        graph.forall_mut(|v, vertex| {
            vertex.value.pivot = NONE;
            if vertex.value.is_left() {
                left.push(v);
            }
        });
        if g.step(|s| s.reduce(left.len(), Sum)) == 0 {
            return round;
        }
        let pivots: Vec<usize> = spread(&left, 1 << round.min(20)).collect();
        g.epoch(|e| pivots.iter().for_each(|&pivot| graph.visit(e, pivot, pivot, reach)));
        g.epoch(|e| pivots.iter().for_each(|&pivot| graph.visit(e, pivot, pivot, mark)));
        g.epoch(|e| {
            graph.forall_mut(|_, vertex| {
                if !vertex.value.is_left() && vertex.value.pivot != NONE {
                    vertex.value.pivot = NONE;
                    tell(vertex, |neighbour, is_leaving| graph.visit(e, neighbour, is_leaving, lose));
                }
            });
        });
    }
    unreachable!("rounds have no end but the one above")
}

/// Whether all vertices of this processor are with those of their component, and how many components lie here.
fn check(graph: &Graph, mesh: &Mesh) -> (bool, usize, Vec<u64>) {
    let (mut is_right, mut count, mut found) = (true, 0, Vec::new());
    graph.forall_mut(|v, vertex| {
        let component = vertex.value.component;
        is_right &= mesh.components.get(component) == Some(&mesh.components[v]);
        count += usize::from(component == v);
        found.push(component as u64);
    });
    (is_right, count, found)
}

/// Rounds of it.
pub(super) fn measure(config: &Config, mesh: &Mesh, rounds: u64) -> Result<Sample> {
    on_all(config, |g| {
        let graph = graph(g, mesh);
        let (mut is_right, mut answer) = (graph.edges(g) == 2 * mesh.edges.len(), 0);
        let seconds = watched(rounds, |watch| {
            reset(&graph);
            g.step(|_| ());
            watch.time(|| solve(g, &graph));
            let (is_right_here, here, found) = check(&graph, mesh);
            // With as many numbers as components, and each within one, every component has one number.
            is_right &= is_right_here && g.step(|s| s.reduce(here, Sum)) == mesh.count;
            answer = digest(&found);
        });
        (seconds, is_right, answer)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn components_are_those_of_tarjan() {
        let mut random = Random::new(9);
        let mut sparse = |vertices: usize, edges: usize| {
            let edges = (0..edges).map(|_| (random.below(vertices), random.below(vertices))).collect();
            Mesh::of(vertices, edges)
        };
        let graphs = [
            Mesh::new(2),
            Mesh::new(15),
            Mesh::of(1, vec![]),
            Mesh::of(2, vec![(0, 0), (1, 0), (1, 0)]),
            Mesh::of(7, (0..7).map(|v| (v, (v + 1) % 7)).collect()),
            sparse(50, 60),
            sparse(50, 100),
            sparse(60, 300),
        ];
        for graph in graphs {
            for procs in [1, 2, 3, 5] {
                let sample = measure(&Config::new().procs(procs), &graph, 1).expect("the run succeeds");
                assert!(sample.verified, "{} vertices on {procs}", graph.vertices);
            }
        }
    }
}
