//! Processors as processes that were forked on this machine: each has its own globals, and they share memory that was
//! mapped before they parted.
//!
//! A [`Team`] is such processes, watched over. Programs run on [circles](crate::circle) by [`run`]; a library for C
//! places what it likes in the memory that a team [shares](Mapping), and waits with a [`Waiter`].

mod board;
mod carry;
mod child;
#[cfg(fuzzing)]
mod door;
mod first_thread;
mod futex;
mod header;
mod link;
mod reach;
mod receiving;
mod ring;
mod run;
mod sending;
mod team;
mod waiter;
mod watch;

#[cfg(fuzzing)]
pub(crate) use {door::fuzz_link, header::fuzz};

pub use crate::mapping::{Mappable, Mapping};
pub use board::MOST;
pub use futex::Count;
pub use run::run;
pub use team::{Speaker, Team};
pub use waiter::Waiter;
pub use watch::Terms;
