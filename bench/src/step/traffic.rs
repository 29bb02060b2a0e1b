//! Steps with 8 bytes of traffic, against the empty step.

use super::empty::{Empty, KERNEL};
use crate::{
    clock::{on_all, timed},
    contest::{Contest, Sample},
    digest::digest,
    options::Options,
    report::Target,
};
use superstep::{Config, Sum};

/// The empty step of this contest, so that all three are measured by turns.
const LIMIT: &str = "empty-beside-traffic";

/// Each step sums a number over all processors and over those before; every result is checked.
fn reduce_and_prefix(config: &Config, steps: u64) -> superstep::Result<Sample> {
    on_all(config, |g| {
        let (rank, p) = (g.rank() as u64, g.size() as u64);
        let (mut is_right, mut last) = (true, [0; 2]);
        let mut step = |round: u64| {
            let mine = round + rank;
            let (sum, before) = g.step(|s| (s.reduce(mine, Sum), s.prefix(mine, Sum)));
            is_right &= sum == p * round + p * (p - 1) / 2;
            is_right &= before == rank * round + rank * rank.saturating_sub(1) / 2;
            last = [sum, before];
        };
        step(0);
        let seconds = timed(steps, step);
        (seconds, is_right, digest(&last))
    })
}

/// How many puts are checked one by one before the clock starts; while it runs, only the last is.
const CHECKS: u64 = 100;

/// Each step puts a number into the next processor's area.
fn put(config: &Config, steps: u64) -> superstep::Result<Sample> {
    on_all(config, |g| {
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
        (seconds, is_right, digest(&area.local()))
    })
}

/// A reduction with a prefix, and a put, on so many processors.
pub(super) fn contest(procs: usize, options: &Options) -> Contest {
    let config = || options.config(procs);
    let (empty, of_reduce, of_put) = (Empty::new(procs, options), config(), config());
    Contest::of_times(KERNEL, procs)
        .superstep(LIMIT, options, move |steps| empty.measure(steps))
        .superstep("reduce+prefix", options, move |steps| reduce_and_prefix(&of_reduce, steps))
        .superstep("put8", options, move |steps| put(&of_put, steps))
        .claim("reduce+prefix", [LIMIT], Target::AtMost(2.0))
        .claim("put8", [LIMIT], Target::AtMost(2.5))
}
