//! The kernels on paged arrays.
//!
//! - `cohere`: what it costs to make a row coherent between two processors.
//! - `jacobi`, `lu`, `matmul`: the three programs of the paper that paged arrays come from, each with coherence, with
//!   steps and arrays, and by hand on bare threads.

pub(crate) mod cohere;
pub(crate) mod jacobi;
pub(crate) mod lu;
pub(crate) mod matmul;

use std::ops::Range;

/// How many processors take part unless somebody asks for another number.
const PROCS: usize = 2;

/// The rows of a member, if each but the last have as many.
fn band(side: usize, procs: usize, rank: usize) -> Range<usize> {
    let rows = side.div_ceil(procs);
    (rank * rows).min(side)..((rank + 1) * rows).min(side)
}

/// How many rows and columns a matrix has, of which `shrink` is a fraction.
fn side(full: usize, shrink: usize) -> usize {
    (full / shrink.isqrt()).max(16)
}
