//! Steps with 8 bytes of traffic, against the empty step.

use super::{KERNEL, empty};
use crate::{
    clock::timed,
    contest::{Contest, Sample},
    options::Options,
    report::Target,
};
use superstep::{Config, Sum};

/// The empty step of this contest, so that all three are measured by turns.
const LIMIT: &str = "empty-beside-traffic";

/// Each step sums a number over all processors and over those before; every result is checked.
fn reduce_and_prefix(config: &Config, steps: u64) -> superstep::Result<Sample> {
    let samples = config.run_all(|g| {
        let (rank, p) = (g.rank() as u64, g.size() as u64);
        let mut is_right = true;
        let mut step = |round: u64| {
            let mine = round + rank;
            let (sum, before) = g.step(|s| (s.reduce(mine, Sum), s.prefix(mine, Sum)));
            is_right &= sum == p * round + p * (p - 1) / 2;
            is_right &= before == rank * round + rank * rank.saturating_sub(1) / 2;
        };
        step(0);
        let seconds = timed(steps, step);
        Sample { seconds, verified: is_right }
    })?;
    Ok(Sample::of_all(samples))
}

/// How many puts are checked one by one before the clock starts; while it runs, only the last is.
const CHECKS: u64 = 100;

/// Each step puts a number into the next processor's area.
fn put(config: &Config, steps: u64) -> superstep::Result<Sample> {
    let samples = config.run_all(|g| {
        let (rank, p) = (g.rank(), g.size());
        let (to, from) = ((rank + 1) % p, (rank + p - 1) % p);
        let area = g.area::<u64>(1);
        let number = |round: u64, rank: usize| round << 16 | rank as u64;
        let mut step = |round| g.step(|s| s.put(to, &[number(round, rank)], &area, 0));
        let mut is_right = true;
        for round in 1..=CHECKS {
            step(round);
            is_right &= area.local()[0] == number(round, from);
        }
        let seconds = timed(steps, |round| step(CHECKS + round));
        is_right &= area.local()[0] == number(CHECKS + steps, from);
        Sample { seconds, verified: is_right }
    })?;
    Ok(Sample::of_all(samples))
}

/// A reduction with a prefix, and a put, on so many processors.
pub(super) fn contest(procs: usize, options: &Options) -> Contest {
    let config = || options.config(procs);
    let (of_empty, of_reduce, of_put) = (config(), config(), config());
    Contest::of_times(KERNEL, procs)
        .superstep(LIMIT, options, move |steps| empty::measure(&of_empty, procs, steps))
        .superstep("reduce+prefix", options, move |steps| reduce_and_prefix(&of_reduce, steps))
        .superstep("put8", options, move |steps| put(&of_put, steps))
        .claim("reduce+prefix", [LIMIT], Target::AtMost(2.0))
        .claim("put8", [LIMIT], Target::AtMost(2.5))
}
