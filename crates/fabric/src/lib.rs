//! Moves bytes between the processors of a superstep program, lends memory, and waits.
//!
//! A fabric is the only part of superstep that knows how processors reach each other. Threads share memory, and the
//! simulated fabric lets processors take turns in an order that one seed decides. The layers above speak in groups and
//! steps and never ask which fabric they run on: all they see is a [`Circle`] per group, and its numbered
//! [contract](circle).
//!
//! Programs use the `superstep` crate; this one is its lowest layer.

mod ahead;
pub mod circle;
pub mod code;
pub mod contract;
mod failure;
pub mod ground;
mod memory;
mod messages;
pub mod mpi;
mod nest;
mod pages;
pub mod processes;
pub mod procs;
mod region;
pub mod sight;
pub mod sim;
pub mod threads;
mod tray;
pub mod tree;

pub use ahead::{Ahead, CHUNK, chunks, load, visit, visit_each};
pub use circle::{Alarm, Circle, Counts, Meld, Melded, Shared};
pub use failure::Failure;
pub use memory::{Buffer, Common, append, fitting, make_room, try_make_room};
pub use nest::Name;
pub use pages::{Lent, Lines, Pages, Slice, SliceMut};
pub use region::{Flat, Loan, Plain, Reach, Refused, Region};
pub use sight::{Limits, Pen};
pub use tray::Tray;
