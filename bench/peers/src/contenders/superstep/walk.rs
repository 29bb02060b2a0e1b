//! Containers on one processor: visits of a graph, and updates of a table.

use super::timed;
use crate::{
    Sample, digest,
    kernels::{group::groups, walk},
};
use ::superstep::{
    Config, Group, Result,
    containers::{Graph, Vertex, Walk},
};

const NOT_YET: u32 = u32::MAX;

type Expand = fn(&mut Vertex<u32, ()>, &Walk<'_, u32, ()>, ());

fn on_one(body: impl Fn(&mut Group) -> Sample + Sync) -> Result<Sample> {
    Config::new().procs(1).run_all(body).map(Sample::of_all)
}

/// Tells all neighbours of a vertex that it has been reached.
fn expand(vertex: &mut Vertex<u32, ()>, walk: &Walk<'_, u32, ()>, (): ()) {
    let level = vertex.value + 1;
    vertex.edges().iter().for_each(|edge| walk.visit(edge.to, level, reach));
}

/// The same, with the visits of all neighbours at once.
fn expand_along(vertex: &mut Vertex<u32, ()>, walk: &Walk<'_, u32, ()>, (): ()) {
    walk.visit_along(vertex.edges(), vertex.value + 1, reach);
}

fn reach(vertex: &mut Vertex<u32, ()>, _: &Walk<'_, u32, ()>, level: u32) {
    if vertex.value == NOT_YET {
        vertex.value = level;
    }
}

/// An epoch for each level, and a visit for each edge.
fn levels(g: &mut Group, graph: &Graph<u32, ()>, expand: Expand) {
    graph.forall_mut(|vertex, at| at.value = if vertex == 0 { 0 } else { NOT_YET });
    let mut reached = vec![0];
    for level in 1.. {
        g.epoch(|e| reached.iter().for_each(|&vertex| graph.visit(e, vertex, (), expand)));
        reached.clear();
        graph.forall_mut(|vertex, at| {
            if at.value == level {
                reached.push(vertex);
            }
        });
        if reached.is_empty() {
            return;
        }
    }
}

pub(crate) fn search_one_by_one(of: &walk::Graph) -> Result<Sample> {
    search(of, expand)
}

pub(crate) fn search_along(of: &walk::Graph) -> Result<Sample> {
    search(of, expand_along)
}

fn search(of: &walk::Graph, expand: Expand) -> Result<Sample> {
    on_one(|g| {
        let graph = g.graph(of.vertices(), |_| NOT_YET);
        g.epoch(|e| {
            for from in 0..of.vertices() {
                of.of(from).iter().for_each(|&to| graph.add_edge(e, from, to as usize, ()));
            }
        });
        levels(g, &graph, expand);
        let (seconds, ()) = timed(g, |g| levels(g, &graph, expand));
        let mut all = Vec::new();
        graph.forall_mut(|_, vertex| all.push(vertex.value));
        Sample::of_answer(seconds, digest(0, all))
    })
}

pub(crate) fn update(keys: &[u64]) -> Result<Sample> {
    on_one(|g| {
        let counted = |g: &mut Group| {
            let counts = g.hash_map::<u64, u64>();
            g.epoch(|e| keys.iter().for_each(|&key| counts.update(e, key, 1, |count, more| *count += more)));
            counts
        };
        counted(g);
        let (seconds, counts) = timed(g, counted);
        let mut found = Vec::new();
        counts.forall_mut(|&key, &mut count| found.push((key, count)));
        Sample::of_answer(seconds, groups(found.into_iter()))
    })
}
