//! MPI where it is not to be had: a program that an MPI launcher has started, or that asks for it, is told so.

mod unable;

pub use unable::Unable;

use crate::{circle::Circle, failure::Failure, threads::Options};
use std::time::Duration;

/// Why there is no MPI.
fn none<T>() -> Result<T, Unable> {
    let system = std::env::consts::OS;
    Err(Unable::NoMpi(format!("superstep runs under MPI on Linux and macOS, and this is {system}; use threads")))
}

/// Whether an MPI launcher has started this process.
pub fn is_launched() -> bool {
    ["PMI_RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK"].iter().any(|name| std::env::var_os(name).is_some())
}

/// The number of this process and how many there are.
pub fn place() -> Result<(usize, usize), Unable> {
    none()
}

/// Adds up a number of each process.
pub fn allreduce(_: u64) -> Result<u64, Unable> {
    none()
}

/// Sends bytes to another process and receives as many of it.
pub fn swap(_: usize, _: &[u8], _: &mut [u8]) -> Result<(), Unable> {
    none()
}

/// Sends three words there and back.
pub fn bounce(_: [u64; 3]) -> Result<[u64; 3], Unable> {
    none()
}

/// How long it took to start.
pub fn start_up() -> Result<(Duration, Duration), Unable> {
    none()
}

/// Runs `body` on the processors of all processes.
pub fn run<R: Send>(
    _: usize,
    _: Options,
    _: fn(&Failure) -> String,
    _: impl Fn(Box<dyn Circle>) -> R + Sync,
) -> Result<(Vec<R>, Option<Failure>), Unable> {
    none()
}
