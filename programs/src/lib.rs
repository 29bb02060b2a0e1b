//! Whole programs on superstep: each is short, says what its supersteps are, and checks its answer.
//!
//! - [`nas`]: kernels of the NAS parallel benchmarks, with the official verification.

#![forbid(unsafe_code)]

pub mod nas;
