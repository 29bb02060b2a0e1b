//! Nobody waits for ever, and who waits long says so (X3, X8).
//!
//! What a program says on standard error is seen by starting this same executable again, with the name of one of the
//! [`programs`].

#![forbid(unsafe_code)]

mod exits;
#[path = "../mpi/launched.rs"]
#[allow(dead_code, reason = "not all of it is needed here")]
mod launched;
mod notices;
mod payloads;
mod programs;
mod slow;
