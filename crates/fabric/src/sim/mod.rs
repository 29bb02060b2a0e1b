//! Processors that take turns, in an order that one seed decides.
//!
//! Each processor is a thread, but only one of them runs at a time. Whenever one sends, receives, meets alone or ends,
//! the seed decides who goes on, and from whom the next packet comes where several are there. A program that depends on
//! an accident of timing fails under some seed, and fails again under the same one.
//!
//! The processors speak by [messages], like those of a cluster. Under [`Memory::Shared`] they may also move objects
//! and reach each other's regions, like threads do, so that both ways through the layers above can be walked.
//!
//! [messages]: crate::circle

mod turns;

use crate::{
    circle::{Alarm, Circle, or_raise},
    messages::{MessageCircle, Secret},
    sight::monitor,
    threads::{Options, exit, pool::Crew},
};
use std::{io, sync::Arc};
use turns::{Turns, TurnsLink};

/// Whether simulated processors share an address space.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Memory {
    /// Everything travels as bytes.
    #[default]
    Apart,
    /// Objects can move, and regions can be reached.
    Shared,
}

/// Runs `body` on `processors` that take turns as `seed` says; like [`threads::run`](crate::threads::run).
///
/// # Errors
///
/// As there.
///
/// # Panics
///
/// As there.
pub fn run<R: Send>(
    processors: usize,
    seed: u64,
    memory: Memory,
    options: Options,
    body: impl Fn(Box<dyn Circle>) -> R + Sync,
) -> io::Result<Vec<R>> {
    let crew = Crew::hire(processors, options)?;
    exit::watch();
    let turns = Arc::new(Turns::new(processors, seed));
    let _watch = monitor::watch(turns.board(), options.limits, Arc::clone(&turns) as Arc<dyn Alarm>);
    Ok(crew.run(|rank| {
        let pen = turns.pen(rank);
        pen.begin();
        turns.begin(rank);
        let _end = turns.at_end(rank);
        let link = TurnsLink { turns: Arc::clone(&turns), rank, shares: memory == Memory::Shared };
        let circle = Box::new(MessageCircle::root(link, processors, rank, Secret::of_seed(seed)));
        let result = or_raise(&*turns, rank, || exit::being(rank, || body(circle)));
        pen.end();
        result
    }))
}
