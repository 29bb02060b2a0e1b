//! Kernel `gather`: random reads of a table that is spread over all processors.
//!
//! The limit is threads that load what they need directly, on huge pages, into a buffer that they use again.

mod job;
mod verbs;

use super::{
    PROCS,
    job::{count_name, job as make_job},
};
use crate::{
    contest::{Contest, Sample},
    options::Options,
    random::indices,
    raw::{huge::made, loads},
    report::Target,
};
use job::Reads;
use std::rc::Rc;
use superstep::Config;

const KERNEL: &str = "gather";

/// How many elements each processor reads.
const READS: usize = 10_000_000;

type Verb = fn(&Config, &Reads, u64) -> superstep::Result<Sample>;

/// Every verb that reads by index, and how much of the limit it should reach.
const VERBS: [(&str, Verb, f64); 3] =
    [("gather", verbs::gather, 0.85), ("gather_into", verbs::gather_into, 0.85), ("gatherer", verbs::gatherer, 0.6)];

/// Plans a contest for each size of the table.
pub(crate) fn plan(options: &Options) -> Vec<Contest> {
    let procs = options.procs.unwrap_or(PROCS);
    let sizes = options.sizes(&[1_000_000], &[1_000_000, 10_000_000]);
    sizes.into_iter().map(|len| contest(procs, len, options)).collect()
}

/// Tables of `len` elements per processor.
fn contest(procs: usize, len: usize, options: &Options) -> Contest {
    let (count, size) = (options.shrunk(READS), count_name(len));
    let reads = make_job(move || Reads { len, indices: indices(procs, count, procs * len) });
    let (limit, of_limit) = (format!("{size}/raw-loads"), Rc::clone(&reads));
    let mut contest = Contest::of_elements(KERNEL, procs, (procs * count) as u64)
        .raw(&limit, move |rounds| by_hand(&of_limit, rounds));
    for (name, verb, least) in VERBS {
        let (config, reads, variant) = (options.config(procs), Rc::clone(&reads), format!("{size}/{name}"));
        contest = contest.superstep(&variant, options, move |rounds| verb(&config, &reads, rounds)).claim(
            variant,
            [&limit],
            Target::AtLeast(least),
        );
    }
    contest
}

/// Each loads what it wants out of one table.
fn by_hand(reads: &Reads, rounds: u64) -> superstep::Result<Sample> {
    let table = made(reads.procs() * reads.len, Reads::at);
    loads(&table, &reads.indices, rounds, |seconds, rank, values| {
        Sample::by_hand(seconds, reads.are_right(values, rank))
    })
}
