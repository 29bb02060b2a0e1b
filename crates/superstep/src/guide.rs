//! Guides: longer texts with programs that run.

#[doc = include_str!("../guide/arrays.md")]
pub mod arrays {}

#[doc = include_str!("../guide/bsplib.md")]
pub mod bsplib {}

#[doc = include_str!("../guide/checkpoints.md")]
pub mod checkpoints {}

#[doc = include_str!("../guide/checks.md")]
pub mod checks {}

#[doc = include_str!("../guide/cluster.md")]
pub mod cluster {}

#[doc = include_str!("../guide/coherence.md")]
pub mod coherence {}

#[doc = include_str!("../guide/containers.md")]
pub mod containers {}

#[doc = include_str!("../guide/errors.md")]
pub mod errors {}

#[doc = include_str!("../guide/mpi.md")]
pub mod mpi {}

#[doc = include_str!("../guide/neststep.md")]
pub mod neststep {}

#[doc = include_str!("../guide/outside.md")]
pub mod outside {}

#[doc = include_str!("../guide/rayon.md")]
pub mod rayon {}

#[doc = include_str!("../guide/testing.md")]
pub mod testing {}
