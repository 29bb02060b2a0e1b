//! The crate `graph`: compressed rows that rayon's threads share, with atomics.

use crate::{
    Sample, digest,
    kernels::gap::{ITERATIONS, Rows, TOLERANCE, components as named, highest},
};
use ::graph::prelude::*;
use std::{sync::atomic::Ordering, time::Instant};
use superstep_programs::gap::NONE;

pub(crate) fn directed(rows: &Rows) -> DirectedCsrGraph<u32> {
    let edges: Vec<(u32, u32)> = rows.edges().map(|(from, to, _)| (from as u32, to)).collect();
    GraphBuilder::new().csr_layout(CsrLayout::Sorted).edges(edges).build()
}

pub(crate) fn weighted(rows: &Rows) -> DirectedCsrGraph<u32, (), f32> {
    let edges: Vec<(u32, u32, f32)> = rows.edges().map(|(from, to, length)| (from as u32, to, length as f32)).collect();
    GraphBuilder::new().csr_layout(CsrLayout::Sorted).edges_with_values(edges).build()
}

/// Each edge once, and vertices renamed by degree, which is not counted.
pub(crate) fn ordered(rows: &Rows) -> UndirectedCsrGraph<u32> {
    let edges: Vec<(u32, u32)> =
        rows.edges().map(|(from, to, _)| (from as u32, to)).filter(|(from, to)| from < to).collect();
    let mut graph: UndirectedCsrGraph<u32> =
        GraphBuilder::new().csr_layout(CsrLayout::Deduplicated).edges(edges).build();
    graph.make_degree_ordered();
    graph
}

pub(crate) fn ranks(graph: &DirectedCsrGraph<u32>) -> Sample {
    let start = Instant::now();
    let (scores, ..) = page_rank(graph, PageRankConfig::new(ITERATIONS, TOLERANCE, 0.85));
    let seconds = start.elapsed().as_secs_f64();
    let scores: Vec<f64> = scores.into_iter().map(f64::from).collect();
    Sample::of_answer(seconds, digest(0, highest(&scores)))
}

/// As wide buckets as the serial code has.
pub(crate) fn distances(graph: &DirectedCsrGraph<u32, (), f32>, rows: &Rows) -> Sample {
    let start = Instant::now();
    let found = delta_stepping(graph, DeltaSteppingConfig::new(rows.source, 16.0));
    let seconds = start.elapsed().as_secs_f64();
    let of = |distance: f32| if distance == f32::MAX { NONE } else { distance as u32 };
    Sample::of_answer(seconds, digest(0, found.iter().map(|distance| of(distance.load(Ordering::Relaxed)))))
}

pub(crate) fn components(graph: &DirectedCsrGraph<u32>) -> Sample {
    let start = Instant::now();
    let found = wcc_afforest(graph, WccConfig::default());
    let seconds = start.elapsed().as_secs_f64();
    let count = graph.node_count();
    Sample::of_answer(seconds, named((0..count).map(|vertex| found.component(vertex) as usize)))
}

pub(crate) fn triangles(graph: &UndirectedCsrGraph<u32>) -> Sample {
    let start = Instant::now();
    let count = global_triangle_count(graph);
    let seconds = start.elapsed().as_secs_f64();
    Sample::of_answer(seconds, digest(0, [count]))
}
