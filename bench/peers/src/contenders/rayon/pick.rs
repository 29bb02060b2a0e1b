//! Filters of parallel iterators, sorts without duplicates, and the largest of chunks.

use super::timed;
use crate::{PROCS, Sample, contenders::huge, digest};
use ::rayon::prelude::*;

fn told(play: impl FnOnce() -> Vec<u64>) -> Sample {
    let mut found = Vec::new();
    let seconds = timed(|| found = play());
    Sample::of_answer(seconds, digest(0, found))
}

pub(crate) fn filter(numbers: &[u64], keep: fn(u64) -> bool) -> Sample {
    told(|| numbers.par_iter().copied().filter(|&number| keep(number)).collect())
}

/// Each thread has a vector of its own, as processors have.
pub(crate) fn filter_in_parts(numbers: &[u64], keep: fn(u64) -> bool) -> Sample {
    let mut parts: Vec<Vec<u64>> = Vec::new();
    let seconds = timed(|| {
        let part = |part: &[u64]| part.iter().copied().filter(|&number| keep(number)).collect();
        parts = numbers.par_chunks(numbers.len().div_ceil(PROCS)).map(part).collect();
    });
    Sample::of_answer(seconds, digest(0, parts.concat()))
}

pub(crate) fn unique(numbers: &[u64]) -> Sample {
    let mut numbers = huge::copied(numbers);
    told(|| {
        numbers.par_sort_unstable();
        numbers.dedup();
        numbers
    })
}

/// The largest of chunks, from the largest down, and of these again.
pub(crate) fn top_k(numbers: &[u64], k: usize) -> Sample {
    let largest = |mut numbers: Vec<u64>| {
        if k < numbers.len() {
            numbers.select_nth_unstable_by(k, |a, b| b.cmp(a));
            numbers.truncate(k);
        }
        numbers.sort_unstable_by(|a, b| b.cmp(a));
        numbers
    };
    told(|| {
        let chunks = numbers.par_chunks(1 << 16).map(|chunk| largest(chunk.to_vec()));
        chunks.reduce(Vec::new, |some, others| largest([some, others].concat()))
    })
}
