//! Kernel `histogram`: random increments of a table that is spread over all processors.
//!
//! The limit is the best way by hand: each thread sorts its increments by owner into buckets of 32-bit places, and
//! after a barrier each owner applies what is for it, without atomics. With a value for each update the buckets hold
//! the values as well.

pub(crate) mod job;
mod verbs;

use super::{
    PROCS,
    job::{count_name, job as make_job},
};
use crate::{
    contest::{Contest, Sample},
    options::Options,
    raw::{increments, updates},
    report::Target,
};
use job::Updates;
use std::rc::Rc;
use superstep::Config;

const KERNEL: &str = "histogram";

/// How many updates each processor makes.
const UPDATES: usize = 10_000_000;

type Limit = fn(&Updates, u64) -> superstep::Result<Sample>;

const LIMITS: [(&str, Limit); 2] = [("raw-buckets", one), ("raw-buckets-of-values", each)];

type Verb = fn(&Config, &Updates, u64) -> superstep::Result<Sample>;

/// Every verb that writes by index, its limit, and how much of that it should reach.
const VERBS: [(&str, Verb, &str, f64); 4] = [
    ("scatter_one", verbs::scatter_one, "raw-buckets", 0.85),
    ("scatter", verbs::scatter, "raw-buckets-of-values", 0.85),
    ("scatterer_one", verbs::scatterer_one, "raw-buckets", 0.6),
    ("scatterer", verbs::scatterer, "raw-buckets-of-values", 0.6),
];

/// Plans a contest for each size of the table.
pub(crate) fn plan(options: &Options) -> Vec<Contest> {
    let procs = options.procs.unwrap_or(PROCS);
    let sizes = options.sizes(&[1_000_000], &[1_000_000, 10_000_000]);
    sizes.into_iter().map(|len| contest(procs, len, options)).collect()
}

/// Tables of `len` elements per processor.
fn contest(procs: usize, len: usize, options: &Options) -> Contest {
    let (count, size) = (options.shrunk(UPDATES), count_name(len));
    let updates = make_job(move || Updates::new(procs, len, count));
    let mut contest = Contest::of_elements(KERNEL, procs, (procs * count) as u64);
    for (name, limit) in LIMITS {
        let updates = Rc::clone(&updates);
        contest = contest.raw(format!("{size}/{name}"), move |rounds| limit(&updates, rounds));
    }
    for (name, verb, limit, least) in VERBS {
        let (config, updates, variant) = (options.config(procs), Rc::clone(&updates), format!("{size}/{name}"));
        contest = contest.superstep(&variant, options, move |rounds| verb(&config, &updates, rounds)).claim(
            variant,
            [format!("{size}/{limit}")],
            Target::AtLeast(least),
        );
    }
    contest
}

/// Places alone travel, and the owner adds one at each.
pub(crate) fn one(job: &Updates, rounds: u64) -> superstep::Result<Sample> {
    let judge = |seconds, rank, part: &[u64]| Sample::by_hand(seconds, job.are_counted(part, rank, rounds));
    increments(job.len, &job.indices, rounds, judge)
}

/// Places travel with a value each, which the owner adds.
pub(crate) fn each(job: &Updates, rounds: u64) -> superstep::Result<Sample> {
    let judge = |seconds, rank, part: &[u64]| Sample::by_hand(seconds, job.are_summed(part, rank, rounds));
    updates(job.len, (&job.indices, &job.values), rounds, |sum, value| *sum += value, judge)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_count_right() {
        for procs in [1, 2, 3] {
            let updates = Updates::new(procs, 100, 1000);
            for limit in [one, each] {
                assert!(limit(&updates, 2).expect("the run succeeds").verified);
            }
        }
    }
}
