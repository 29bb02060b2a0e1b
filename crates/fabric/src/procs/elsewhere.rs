//! Forked processes where there are none: what they need is Linux's alone.

use crate::{circle::Circle, failure::Failure, threads::Options};
use std::io;

/// Refuses to fork.
///
/// # Errors
///
/// Always, and of the kind that says that the system has nothing of the sort.
pub fn run<R: Send>(
    _: usize,
    _: Options,
    _: fn(&Failure) -> String,
    _: impl Fn(Box<dyn Circle>) -> R + Sync,
) -> io::Result<(Vec<R>, Option<Failure>)> {
    let why = format!("forked processes need Linux, and this is {}", std::env::consts::OS);
    Err(io::Error::new(io::ErrorKind::Unsupported, why))
}
