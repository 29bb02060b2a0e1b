//! Kernel `fence`: an empty epoch against an empty step.

use super::PROCS;
use crate::{
    clock::{on_all, timed},
    contest::{Contest, Sample},
    digest::digest,
    options::Options,
    raw::team::Arrivals,
    report::Target,
};
use superstep::{Config, Group};

const KERNEL: &str = "fence";

/// What all wait in.
type Wait = fn(&mut Group);

/// `waits` waits, after a check that they are waits. Of `in_sight` processors in one process each sees the others.
fn measure(config: &Config, procs: usize, in_sight: usize, wait: Wait, waits: u64) -> superstep::Result<Sample> {
    let arrivals = Arrivals::new(procs);
    on_all(config, |g| {
        let first = g.rank() / in_sight * in_sight;
        let is_wait = arrivals.check(g.rank(), first..first + in_sight, || wait(g));
        let seconds = timed(waits, |_| wait(g));
        (seconds, is_wait, digest(&[waits]))
    })
}

/// Plans the contest.
pub(crate) fn plan(options: &Options) -> Vec<Contest> {
    let procs = options.procs.unwrap_or(PROCS);
    let in_sight = options.in_one_process(procs);
    let ways: [(&str, Wait); 2] = [("empty-step", |g| g.step(|_| ())), ("empty-epoch", |g| g.epoch(|_| ()))];
    let mut contest = Contest::of_times(KERNEL, procs);
    for (name, wait) in ways {
        let config = options.config(procs);
        contest = contest.superstep(name, options, move |waits| measure(&config, procs, in_sight, wait, waits));
    }
    vec![contest.claim("empty-epoch", ["empty-step"], Target::AtMost(4.0))]
}
