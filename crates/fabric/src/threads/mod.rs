//! Processors as threads of one process.
//!
//! Everything is shared memory here: meetings are a few cache lines (see `README.md` beside this file), trays change
//! hands without a copy, and every region can be reached.

pub(crate) mod affinity;
mod alarm;
mod circle;
mod fences;
mod letters;
pub(crate) mod pool;
mod room;
mod seat;
mod sync;
mod table;
pub(crate) mod wait;

#[cfg(all(test, loom))]
mod loom_tests;

pub(crate) use affinity::allowed;
pub(crate) use alarm::Cord;
pub use pool::{Options, is_processor};
pub use wait::cores;

use crate::circle::Circle;
use circle::ThreadCircle;
use pool::Crew;
use std::io;
use sync::Arc;
use table::Table;

/// Runs `body` on `processors` threads, each with its end of the circle of all, and returns what each returned, by
/// rank.
///
/// # Errors
///
/// If the system has not so many threads to give; then none of those that were started is left.
///
/// # Panics
///
/// If `processors` is 0, or if `body` panics; then with the first payload, when all have ended. A body that panics must
/// have raised the alarm, or the others wait for it.
pub fn run<R: Send>(
    processors: usize,
    options: Options,
    body: impl Fn(Box<dyn Circle>) -> R + Sync,
) -> io::Result<Vec<R>> {
    // What they share is made last: it grows with the square of their number.
    let crew = Crew::hire(processors, options)?;
    let (cord, table) = (Arc::new(Cord::default()), Arc::new(Table::new(processors)));
    Ok(crew.run(|rank| body(Box::new(ThreadCircle::root(Arc::clone(&cord), Arc::clone(&table), rank)))))
}
