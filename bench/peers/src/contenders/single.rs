//! The standard library on one thread.

use super::huge;
use crate::{Sample, digest, kernels::keys::Key};
use std::time::Instant;

pub(crate) fn sort<K: Key>(keys: &[K]) -> Sample {
    let mut sorted = huge::copied(keys);
    let start = Instant::now();
    sorted.sort_unstable_by(K::order);
    let seconds = start.elapsed().as_secs_f64();
    Sample::of_answer(seconds, digest(0, sorted))
}

pub(crate) fn prefix(terms: &[i64]) -> Sample {
    let mut sums = huge::copied(terms);
    let start = Instant::now();
    let mut sum = 0;
    for term in &mut sums {
        sum += *term;
        *term = sum;
    }
    let seconds = start.elapsed().as_secs_f64();
    Sample::of_answer(seconds, digest(0, sums))
}
