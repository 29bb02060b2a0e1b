//! The search of a distributed graph: an epoch for each level, and a visit for each edge.

use super::{
    kronecker::Kronecker,
    rules::{NONE, Tree},
};
use crate::{
    clock::{on_all, watched},
    contest::Sample,
    digest::digest,
};
use std::ops::Range;
use superstep::{
    Config, Each, Group, Or, Result, Sum,
    containers::{self, Vertex as VertexOf, Walk as WalkOf},
};

/// How a vertex was reached.
#[derive(Clone, Copy)]
struct Reached {
    parent: u32,
    level: u32,
}

const NOT_YET: Reached = Reached { parent: NONE, level: NONE };

type Graph = containers::Graph<Reached, ()>;
type Vertex = VertexOf<Reached, ()>;
type Walk<'a> = WalkOf<'a, Reached, ()>;

/// Tells all neighbours of a vertex that it has been reached.
fn expand(vertex: &mut Vertex, walk: &Walk<'_>, (): ()) {
    let told = [walk.vertex() as u32, vertex.value.level + 1];
    vertex.edges().iter().for_each(|edge| walk.visit(edge.to, told, discover));
}

/// Takes the first parent that comes.
fn discover(vertex: &mut Vertex, _: &Walk<'_>, [parent, level]: [u32; 2]) {
    if vertex.value.parent == NONE {
        vertex.value = Reached { parent, level };
    }
}

/// What one of so many processors has of `len`.
fn share(len: usize, rank: usize, procs: usize) -> Range<usize> {
    rank * len / procs..(rank + 1) * len / procs
}

/// Makes the graph; every edge leads both ways, and those from a vertex to itself are left out.
fn graph(g: &mut Group, of: &Kronecker) -> Graph {
    let graph = g.graph(of.vertices, |_| NOT_YET);
    let mine = share(of.edges.len(), g.rank(), g.size());
    g.epoch(|e| {
        for [a, b] in of.edges[mine].iter().map(|edge| edge.map(|vertex| vertex as usize)).filter(|[a, b]| a != b) {
            graph.add_edge(e, a, b, ());
            graph.add_edge(e, b, a, ());
        }
    });
    graph
}

/// Searches from `root`.
fn search(g: &mut Group, graph: &Graph, root: usize) {
    g.epoch(|e| {
        if graph.owned().contains(&root) {
            graph.visit(e, root, [root as u32, 0], discover);
        }
    });
    let mut reached = Vec::new();
    for level in 0.. {
        reached.clear();
        graph.forall_mut(|v, vertex| {
            if vertex.value.level == level {
                reached.push(v);
            }
        });
        if g.step(|s| s.reduce(reached.len(), Sum)) == 0 {
            return;
        }
        g.epoch(|e| reached.iter().for_each(|&vertex| graph.visit(e, vertex, (), expand)));
    }
}

/// The whole tree, on every processor.
fn tree(g: &mut Group, graph: &Graph) -> Tree {
    let mut mine = Vec::new();
    graph.forall_mut(|_, vertex| mine.push([vertex.value.parent, vertex.value.level]));
    let all = g.step(|s| s.collect_slice(&mine));
    let (parents, levels) = all.concat().into_iter().map(|[parent, level]| (parent, level)).unzip();
    Tree { parents, levels }
}

/// Whether the tree keeps all rules, of which each processor checks its share.
fn is_right(g: &mut Group, tree: &Tree, of: &Kronecker, root: usize) -> bool {
    let (rank, procs) = (g.rank(), g.size());
    let mut checked = tree.check(of, root, share(of.vertices, rank, procs), share(of.edges.len(), rank, procs));
    checked.joined = g.step(|s| s.reduce(checked.joined.clone(), Each(Or)));
    checked.is_right && checked.joins(tree)
}

/// Searches from one root after another.
pub(super) fn measure(config: &Config, of: &Kronecker, searches: u64) -> Result<Sample> {
    on_all(config, |g| {
        let graph = graph(g, of);
        let (mut all_right, mut number, mut answer) = (true, 0, 0);
        let seconds = watched(searches, |watch| {
            let root = of.root(number);
            number += 1;
            graph.forall_mut(|_, vertex| vertex.value = NOT_YET);
            g.step(|_| ());
            watch.time(|| search(g, &graph, root));
            let tree = tree(g, &graph);
            all_right &= is_right(g, &tree, of, root);
            answer = digest(&tree.levels);
        });
        (seconds, all_right, answer)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_keeps_the_rules_on_any_number_of_processors() {
        let graph = Kronecker::new(7);
        for procs in [1, 2, 3, 5] {
            assert!(measure(&Config::new().procs(procs), &graph, 3).expect("the run succeeds").verified);
        }
    }
}
