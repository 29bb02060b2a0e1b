//! Processors as processes that were forked on this machine: each has its own globals, and they share memory that was
//! mapped before they parted.

mod futex;
mod ground;
mod heap;
mod reach;
mod shared;
mod team;

pub use ground::Forked;
pub use team::{MOST, Team, Terms};
