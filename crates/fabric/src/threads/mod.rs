//! Processors as threads of one process.
//!
//! Everything is shared memory here: meetings are a few cache lines (see `README.md` beside this file), trays change
//! hands without a copy, and every region can be reached.

mod alarm;
mod circle;
pub(crate) mod exit;
mod fences;
mod letters;
mod mail;
pub(crate) mod pool;
mod room;
#[cfg(all(test, any(loom, shuttle)))]
mod schedules;
mod seat;
pub(crate) mod sync;
mod table;
pub(crate) mod wait;

pub(crate) use alarm::ThreadAlarm;
pub use pool::{Options, is_processor};
pub use wait::cores;

/// Finds out now which fences this process has.
pub(crate) fn finds_fences() {
    fences::expedited();
}

use crate::{
    alarm::{Alarm, or_raise},
    circle::Circle,
    sight::monitor,
};
use pool::Crew;
use seat::Seat;
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
    let alarm = Arc::new(ThreadAlarm::new(processors, 0));
    let _watch = monitor::watch(&alarm.sightings, options.limits, Arc::clone(&alarm) as Arc<dyn Alarm>);
    let _underway = exit::watch();
    Ok(work(crew, processors, &alarm, |circle| exit::being(circle.rank(), || body(circle))))
}

/// Runs with this alarm, which also knows the number of the first of them in a larger run. Nobody watches it.
pub(crate) fn run_with<R: Send>(
    processors: usize,
    options: Options,
    alarm: &Arc<ThreadAlarm>,
    body: impl Fn(Box<dyn Circle>) -> R + Sync,
) -> io::Result<Vec<R>> {
    Ok(work(Crew::hire(processors, options)?, processors, alarm, body))
}

fn work<R: Send>(
    crew: Crew,
    processors: usize,
    alarm: &Arc<ThreadAlarm>,
    body: impl Fn(Box<dyn Circle>) -> R + Sync,
) -> Vec<R> {
    let table = Arc::new(Table::new(processors));
    crew.run(|rank| {
        alarm.enlist();
        let circle = Seat::new(Arc::clone(&table), rank, rank, Arc::clone(alarm));
        let pen = circle.pen();
        pen.begin();
        let result = or_raise(&**alarm, alarm.number(rank), || body(Box::new(circle)));
        pen.end();
        result
    })
}

#[cfg(all(test, not(loom), not(shuttle)))]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_a_larger_run_has_numbers_of_that_and_is_seen() {
        let alarm = Arc::new(ThreadAlarm::new(3, 4));
        let ran = run_with(3, Options::default(), &alarm, |mut circle| {
            let is_seen = alarm.sightings[circle.rank()].progress().is_under_way();
            circle.wait().map(|()| (circle.rank(), circle.number(2), is_seen))
        });
        assert_eq!(ran.unwrap(), [0, 1, 2].map(|rank| Ok((rank, 6, true))));
        assert!(!alarm.sightings.iter().any(|one| one.progress().is_under_way()), "all have ended");
    }
}
