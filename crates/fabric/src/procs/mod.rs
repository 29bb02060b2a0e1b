//! Processors as processes that were forked on this machine: each has its own globals, and they share memory that was
//! mapped before they parted.
//!
//! A [`Team`] is such processes, watched over. Programs run on [circles](crate::circle) by [`run`]; [`Forked`] is
//! the ground of a library for C.

mod carry;
mod child;
mod futex;
mod ground;
mod header;
mod heap;
mod link;
mod reach;
mod ring;
mod run;
mod shared;
mod team;

pub use ground::Forked;
pub use run::run;
pub use team::{MOST, Team, Terms};
pub(crate) use team::{Sheet, UNWINDING};
