//! Whole programs on superstep: each is short, says what its supersteps are, and checks its answer.
//!
//! - [`gap`]: the GAP benchmark suite's six kernels on graphs.
//! - [`nas`]: kernels of the NAS parallel benchmarks, with the official verification.
//! - [`bale`]: irregular reads and writes of distributed tables.
//! - [`hpcc`]: the HPC Challenge's random access.
//! - [`prk`]: the Parallel Research Kernels.
//! - [`data`]: word count, k-means, a join, and the words of a genome.

#![forbid(unsafe_code)]

mod asked;
pub mod bale;
pub mod data;
pub mod gap;
pub mod hpcc;
pub mod nas;
mod parts;
pub mod prk;
pub mod random;
mod summary;

pub use summary::{Fact, Summary};

/// Why a program could not be run: the same on all processors, in one line.
pub type Trouble = superstep::values::BoxError;
