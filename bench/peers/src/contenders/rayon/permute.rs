//! Relaxed stores, because safe code cannot say that no two elements have the same target.

use super::timed;
use crate::{
    Sample,
    contenders::huge,
    digest,
    kernels::{access::element, permutation::Permutation},
};
use ::rayon::prelude::*;
use std::sync::atomic::{AtomicU64, Ordering};

pub(crate) fn stores(permutation: &Permutation) -> Sample {
    let len = permutation.all().len();
    let source = huge::made(len, element);
    let target: Vec<AtomicU64> = huge::zeroed(len);
    let seconds = timed(|| {
        let pairs = source.par_iter().zip(permutation.all());
        pairs.for_each(|(&value, &to)| target[to].store(value, Ordering::Relaxed));
    });
    Sample::of_answer(seconds, digest(0, target.into_iter().map(AtomicU64::into_inner)))
}
