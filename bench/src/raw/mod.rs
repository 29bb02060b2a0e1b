//! What hand-written code on bare threads reaches.

pub(crate) mod barrier;
pub(crate) mod buckets;
pub mod huge;
pub(crate) mod memory;
pub(crate) mod parts;
pub(crate) mod ring;
pub(crate) mod sort;
pub(crate) mod sparse;
pub(crate) mod stores;
pub(crate) mod sweeps;
pub(crate) mod team;
pub(crate) mod turning;
pub(crate) mod updates;

pub use barrier::{Barrier, Gate};
pub use parts::{fill_parts, loads};
pub use sort::sample_sort;
pub use sparse::Sparse;
pub use stores::{bucketed, stores};
pub use sweeps::Sweeps;
pub use turning::turn;
pub use updates::{increments, updates};
