//! A run on warm threads against spawning and joining as many.

use super::empty::KERNEL;
use crate::{
    clock::{on_all, timed},
    contest::{Contest, Sample},
    digest::digest,
    options::Options,
    report::Target,
};
use std::thread;
use superstep::Config;

fn run(config: &Config, procs: usize, runs: u64) -> superstep::Result<Sample> {
    let all_are_there = on_all(config, |g| {
        let ranks = g.step(|s| s.collect(s.rank()));
        (0.0, ranks.iter().copied().eq(0..procs), digest(&ranks))
    })?;
    let mut is_right = all_are_there.verified;
    let seconds = timed(runs, |_| is_right &= config.run(|_| ()).is_ok());
    Ok(Sample { seconds, verified: is_right, ..all_are_there })
}

fn spawn_and_join(procs: usize, rounds: u64) -> Sample {
    let mut is_right = true;
    let seconds = timed(rounds, |_| {
        let threads: Vec<_> = (0..procs).map(|rank| thread::spawn(move || rank)).collect();
        let ranks = threads.into_iter().map(|thread| thread.join().unwrap_or(procs));
        is_right &= ranks.eq(0..procs);
    });
    Sample::by_hand(seconds, is_right)
}

/// Starting so many processors.
pub(super) fn contest(procs: usize, options: &Options) -> Contest {
    let config = options.config(procs);
    Contest::of_times(KERNEL, procs)
        .raw("run/raw-spawn-join", move |rounds| Ok(spawn_and_join(procs, rounds)))
        .superstep("run", options, move |runs| run(&config, procs, runs))
        .claim("run", ["run/raw-spawn-join"], Target::AtMost(0.1))
}
