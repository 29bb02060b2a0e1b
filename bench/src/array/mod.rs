//! The kernels on distributed arrays.
//!
//! Each kernel has a job with a known answer, what superstep makes of it, and the same job by hand on bare threads:
//!
//! - `histogram`, `gather`, `permute`: writing and reading by index.
//! - `section`: reading and writing whole blocks; kernels `mirror` and `update`.
//! - `prefix`, `quicksort`: the two programs of the paper that arrays come from, beside what it measured.
//! - `transpose`, `spmv`: a matrix in tiles, and a sparse one in rows.
//!
//! What a contest works on is made once and shared by all its contenders, when the first of them needs it. Arrays of
//! superstep lie on huge pages; so does what hand-written code works on.

pub(crate) mod gather;
pub(crate) mod histogram;
pub(crate) mod job;
mod paper;
pub(crate) mod permute;
pub(crate) mod prefix;
pub(crate) mod quicksort;
pub(crate) mod section;
pub(crate) mod spmv;
pub(crate) mod transpose;

pub(crate) use job::{Job, job};

/// How many processors take part unless somebody asks for another number.
pub(crate) const PROCS: usize = 2;
