//! Rayon, as its users write it: parallel iterators over slices.

pub(crate) mod access;
pub(crate) mod group;
pub(crate) mod permute;
pub(crate) mod pick;
pub(crate) mod prefix;
pub(crate) mod programs;
mod sort;
pub(crate) mod spmv;
pub(crate) mod transpose;

pub(crate) use sort::sort;

use std::time::Instant;

/// How many seconds it takes. The pool is there before.
fn timed(work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_secs_f64()
}
