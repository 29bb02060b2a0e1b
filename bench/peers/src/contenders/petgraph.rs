//! Petgraph: what most programs in Rust take for graphs, on one thread.

use crate::{Sample, digest, kernels::gap::Rows};
use ::petgraph::{algo::dijkstra, csr::Csr};
use std::{collections::VecDeque, time::Instant};
use superstep_programs::gap::NONE;

pub(crate) fn csr(rows: &Rows) -> Csr<(), u32> {
    let mut edges: Vec<(u32, u32, u32)> = rows.edges().map(|(from, to, length)| (from as u32, to, length)).collect();
    edges.dedup();
    let mut graph = Csr::from_sorted_edges(&edges).expect("the edges are sorted");
    while graph.node_count() < rows.vertices() {
        graph.add_node(());
    }
    graph
}

/// Petgraph's `Bfs` tells no levels, so the queue is kept here.
pub(crate) fn search(graph: &Csr<(), u32>, rows: &Rows) -> Sample {
    let start = Instant::now();
    let mut levels = vec![NONE; graph.node_count()];
    levels[rows.source] = 0;
    let mut queue = VecDeque::from([rows.source as u32]);
    while let Some(vertex) = queue.pop_front() {
        for &to in graph.neighbors_slice(vertex) {
            if levels[to as usize] == NONE {
                levels[to as usize] = levels[vertex as usize] + 1;
                queue.push_back(to);
            }
        }
    }
    let seconds = start.elapsed().as_secs_f64();
    Sample::of_answer(seconds, digest(0, levels))
}

pub(crate) fn distances(graph: &Csr<(), u32>, rows: &Rows) -> Sample {
    let start = Instant::now();
    let found = dijkstra(graph, rows.source as u32, None, |edge| *edge.weight());
    let seconds = start.elapsed().as_secs_f64();
    let of = |vertex: usize| found.get(&(vertex as u32)).copied().unwrap_or(NONE);
    Sample::of_answer(seconds, digest(0, (0..rows.vertices()).map(of)))
}
