//! A search by a queue, and a hash map.

use crate::{
    Sample, digest,
    kernels::{group::groups, walk::Graph},
};
use rustc_hash::FxHashMap;
use std::time::Instant;

/// How far each vertex is from the first; `u32::MAX` where there is no way.
pub(crate) fn levels(graph: &Graph) -> Vec<u32> {
    let mut levels = vec![u32::MAX; graph.vertices()];
    levels[0] = 0;
    let (mut queue, mut next) = (vec![0u32], 0);
    while let Some(&vertex) = queue.get(next) {
        next += 1;
        let level = levels[vertex as usize] + 1;
        for &to in graph.of(vertex as usize) {
            if levels[to as usize] == u32::MAX {
                levels[to as usize] = level;
                queue.push(to);
            }
        }
    }
    levels
}

pub(crate) fn search(graph: &Graph) -> Sample {
    let start = Instant::now();
    let levels = levels(graph);
    let seconds = start.elapsed().as_secs_f64();
    Sample::of_answer(seconds, digest(0, levels))
}

pub(crate) fn counts(keys: &[u64]) -> FxHashMap<u64, u64> {
    let mut counts = FxHashMap::default();
    for key in keys {
        *counts.entry(*key).or_insert(0) += 1;
    }
    counts
}

pub(crate) fn update(keys: &[u64]) -> Sample {
    let start = Instant::now();
    let counts = counts(keys);
    let seconds = start.elapsed().as_secs_f64();
    Sample::of_answer(seconds, groups(counts.into_iter()))
}
