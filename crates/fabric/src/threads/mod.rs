//! Processors as threads of one process.
//!
//! Everything is shared memory here: meetings are a few cache lines (see `README.md` beside this file), trays change
//! hands without a copy, and every region can be reached.

pub(crate) mod affinity;
mod alarm;
mod circle;
pub(crate) mod exit;
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

use crate::{
    circle::{Alarm, Circle, or_raise},
    sight::monitor,
};
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
/// If `processors` is 0, or if `body` panics; then with the first payload, when all have ended. The others hear of it.
pub fn run<R: Send>(
    processors: usize,
    options: Options,
    body: impl Fn(Box<dyn Circle>) -> R + Sync,
) -> io::Result<Vec<R>> {
    // What they share is made last: it grows with the square of their number.
    let crew = Crew::hire(processors, options)?;
    let cord = Arc::new(Cord::new(processors, 0));
    let _watch = monitor::watch(cord.board(), options.limits, Arc::clone(&cord) as Arc<dyn Alarm>);
    exit::watch();
    Ok(work(crew, processors, &cord, |circle| exit::being(circle.rank(), || body(circle))))
}

/// The same with this alarm, which also says what number the first of them has in a larger run; nobody looks after it.
pub(crate) fn run_with<R: Send>(
    processors: usize,
    options: Options,
    cord: &Arc<Cord>,
    body: impl Fn(Box<dyn Circle>) -> R + Sync,
) -> io::Result<Vec<R>> {
    Ok(work(Crew::hire(processors, options)?, processors, cord, body))
}

fn work<R: Send>(
    crew: Crew,
    processors: usize,
    cord: &Arc<Cord>,
    body: impl Fn(Box<dyn Circle>) -> R + Sync,
) -> Vec<R> {
    let table = Arc::new(Table::new(processors));
    crew.run(|rank| {
        let circle = ThreadCircle::root(Arc::clone(cord), Arc::clone(&table), rank);
        let pen = circle.pen();
        pen.begin();
        let result = or_raise(&**cord, cord.number(rank), || body(Box::new(circle)));
        pen.end();
        result
    })
}
