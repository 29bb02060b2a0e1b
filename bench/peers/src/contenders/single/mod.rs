//! The standard library on one thread.

pub(crate) mod gap;
pub(crate) mod programs;
pub(crate) mod walk;

use super::huge;
use crate::{Sample, digest, kernels::keys::Key};
use std::time::Instant;

pub(crate) fn sort<K: Key>(keys: &[K]) -> Sample {
    let mut sorted = huge::copied(keys);
    let start = Instant::now();
    K::sort(&mut sorted);
    let seconds = start.elapsed().as_secs_f64();
    Sample::of_answer(seconds, digest(0, sorted))
}

pub(crate) fn prefix(terms: &[i64]) -> Sample {
    let mut sums = huge::copied(terms);
    let start = Instant::now();
    add_up(&mut sums, 0);
    let seconds = start.elapsed().as_secs_f64();
    Sample::of_answer(seconds, digest(0, sums))
}

/// Each term becomes the sum of all up to it, from `sum` on.
pub(crate) fn add_up(terms: &mut [i64], mut sum: i64) {
    for term in terms {
        sum += *term;
        *term = sum;
    }
}
