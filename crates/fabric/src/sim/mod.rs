//! Processors that take turns, in an order that one seed decides.
//!
//! Each processor is a thread, but only one of them runs at a time. Whenever one sends, receives, meets alone or ends,
//! the seed decides who goes on, and from whom the next packet comes where several are there. A program that depends on
//! an accident of timing fails under some seed, and fails again under the same one.
//!
//! The processors speak by [messages], like those of a cluster. Under [`Memory::Shared`] they may also move objects
//! and reach each other's regions, like threads do, so that both ways through the layers above can be walked.
//!
//! The seed also decides what goes wrong, if [`Faults`] are asked for. What is late is held back for some turns, or
//! until nobody else can go on. A processor that crashes fails in the call that it makes: all its later calls fail as
//! well, what it says is not heard, and after a while everybody else finds out.
//!
//! Time is virtual: it passes by the [`Cost`] of a machine, and everything that happens can be kept in a [`Trace`].
//!
//! [messages]: crate::circle

mod agenda;
mod clock;
mod cost;
mod dice;
mod fate;
mod faults;
mod here;
mod link;
mod pile;
mod plan;
mod roster;
mod table;
mod trace;
mod turns;

pub use cost::{Cost, NoCost};
pub use faults::{Faults, NoFaults};
pub use here::is_here;
pub use plan::{Memory, Plan};
pub use trace::{Predicted, Trace};

use crate::{
    alarm::{Alarm, or_raise},
    circle::Circle,
    messages::MessageCircle,
    scarcity,
    secret::Secret,
    sight::monitor,
    threads::{Options, exit, pool::Crew},
};
use fate::Fate;
use here::Here;
use link::TurnsLink;
use std::{io, sync::Arc};
use turns::Turns;

/// Runs `body` on `processors` that take turns as the plan says, and fails as [`threads::run`](crate::threads::run)
/// does.
pub fn run<R: Send>(
    processors: usize,
    plan: &Plan,
    options: Options,
    body: impl Fn(Box<dyn Circle>) -> R + Sync,
) -> io::Result<Vec<R>> {
    let mut fate = Fate::new(plan.faults, plan.seed);
    if fate.refuses_threads() {
        return Err(io::Error::new(io::ErrorKind::WouldBlock, "the system refuses threads, as the seed has it"));
    }
    let crew = Crew::hire(processors, options)?;
    let _underway = exit::watch();
    let turns = Arc::new(Turns::new(processors, plan, fate));
    let _watch = monitor::watch(&turns.sightings, options.limits, Arc::clone(&turns) as Arc<dyn Alarm>);
    Ok(crew.run(|rank| {
        let pen = turns.pen(rank);
        pen.begin();
        turns.begin(rank);
        let _end = turns.at_end(rank);
        let link = TurnsLink { turns: Arc::clone(&turns), rank, shares: plan.memory == Memory::Shared };
        let circle = Box::new(MessageCircle::apart(link, processors, rank, 0, Secret::of_seed(plan.seed)));
        let judge = Arc::clone(&turns);
        let _judged =
            plan.faults.has(Faults::MEMORY).then(|| scarcity::judge(move || judge.lock().refuses_memory(rank)));
        let _here = Here::enter();
        let result = exit::being(rank, || or_raise(&*turns, rank, || body(circle)));
        pen.end();
        result
    }))
}
