//! The kernels on remote methods and on what is built of them.
//!
//! - `ping`, `stream`, `fence`: what a request costs, there and back, one way by the million, and at the epoch's end.
//! - `samplesort`, `histogram`: one request per element, against the same in bulk.
//! - `scc`, `kmer`, `bfs`: programs on graphs and tables, each against the same on one thread.

pub(crate) mod bfs;
pub(crate) mod fence;
pub(crate) mod histogram;
pub(crate) mod kmer;
pub(crate) mod ping;
pub(crate) mod samplesort;
pub(crate) mod scc;
pub(crate) mod stream;

use crate::array::PROCS;
