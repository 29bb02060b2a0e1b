//! Hand-written threads: the limit that everybody is held against.
//!
//! Loops that tell the two halves of a table apart are written for two threads; what needs no such loop is not.

mod ahead;
mod team;

pub(crate) mod gather;
pub(crate) mod histogram;
pub(crate) mod permute;
pub(crate) mod prefix;
pub(crate) mod sort;
pub(crate) mod spmv;
pub(crate) mod transpose;
