//! Moves bytes between the processors of a superstep program, lends memory, and waits.
//!
//! A fabric is the only part of superstep that knows how processors reach each other. Threads share memory, and the
//! simulated fabric lets processors take turns in an order that one seed decides. The layers above speak in groups and
//! steps and never ask which fabric they run on: all they see is a [`Circle`] per group, and its numbered
//! [contract](circle).
//!
//! Programs use the `superstep` crate; this one is its lowest layer.

// Forked processes and MPI use much that threads and the simulator do not, and loom and Shuttle have fences of their
// own.
#![cfg_attr(any(loom, shuttle, not(target_os = "linux")), allow(dead_code, unused_imports))]

mod ahead;
mod alarm;
pub mod circle;
pub mod code;
pub mod contract;
mod deal;
mod failure;
#[cfg(fuzzing)]
#[doc(hidden)]
pub mod fuzzing;
mod lock;
#[cfg(target_os = "linux")]
mod mapping;
mod memory;
mod messages;
#[cfg_attr(not(unix), path = "mpi/elsewhere.rs")]
pub mod mpi;
mod nest;
mod pages;
mod plain;
#[cfg(all(unix, not(miri)))]
pub mod processes;
#[cfg_attr(not(target_os = "linux"), path = "procs/elsewhere.rs")]
pub mod procs;
mod region;
mod scarcity;
mod secret;
pub mod settings;
pub mod sight;
pub mod signals;
pub mod sim;
mod spares;
mod system;
pub mod threads;
mod touches;
mod tray;
pub mod tree;
pub mod wire;

pub use ahead::{Ahead, CHUNK, ask_on, chunks, chunks_before, load, visit, visit_each};
pub use alarm::Alarm;
pub use circle::{Circle, Common, Counts, Mail, Meetings, Meld, Melded};
pub use deal::deal;
pub use failure::Failure;
pub use memory::{Buffer, PartedMemory, append, make_room, try_make_room, zeros};
pub use nest::Name;
pub use pages::{Lent, Lines, Pages, Slice, SliceMut};
pub use plain::Plain;
pub use region::{Flat, Loan, Reach, Refused, Region};
pub use sight::{Limits, Pen};
pub use spares::{Spares, fitting};
pub use system::{give_way, is_root, read_at, sync_names, write_at};
pub use touches::{Touch, Use, first_clash};
pub use tray::Tray;
