//! The empty step against hand-written barriers.

use super::KERNEL;
use crate::{
    clock::timed,
    contest::{Contest, Sample},
    options::Options,
    raw::{
        barrier::{self, Busy, Central, EpochFlags, Spin, Yield},
        team::Arrivals,
    },
    report::Target,
};
use superstep::{Config, cores};

/// `waits` empty steps, after a check that a step is a barrier.
pub(super) fn measure(config: &Config, procs: usize, waits: u64) -> superstep::Result<Sample> {
    let arrivals = Arrivals::new(procs);
    let samples = config.run_all(|g| {
        let is_barrier = arrivals.check(g.rank(), || g.step(|_| ()));
        let before = g.steps();
        let seconds = timed(waits, |_| g.step(|_| ()));
        Sample { seconds, verified: is_barrier && g.steps() - before == waits && g.size() == procs }
    })?;
    Ok(Sample::of_all(samples))
}

/// The empty step on so many processors. Those who spin are the limit while there are cores for all, those who yield or
/// sleep beyond.
pub(super) fn contest(procs: usize, variant: &str, options: &Options) -> Contest {
    let mut contest = Contest::of_times(KERNEL, procs);
    let mut limits = Vec::new();
    let mut add = |contest: Contest, name: &str, measure: fn(usize, u64) -> Sample| {
        limits.push(format!("{variant}/raw-{name}"));
        contest.raw(format!("{variant}/raw-{name}"), move |waits| Ok(measure(procs, waits)))
    };
    let target = if procs <= cores() {
        contest = add(contest, "epoch-flags", barrier::measure::<EpochFlags<Spin>>);
        contest = add(contest, "epoch-flags-busy", barrier::measure::<EpochFlags<Busy>>);
        contest = add(contest, "central-spin", barrier::measure::<Central<Spin>>);
        Target::AtMost(1.6)
    } else {
        contest = add(contest, "central-yield", barrier::measure::<Central<Yield<0>>>);
        contest = add(contest, "central-spin50-yield", barrier::measure::<Central<Yield<50>>>);
        contest = add(contest, "condvar", barrier::measure::<std::sync::Barrier>);
        Target::AtMost(2.0)
    };
    let config = options.config(procs);
    contest.superstep(variant, options, move |waits| measure(&config, procs, waits)).claim(variant, limits, target)
}
