//! Kernels `mirror` and `update`: a whole block of another processor, all processors at once.
//!
//! The limit is `raw-memcpy`: each thread copies the next one's block into a buffer that it has already. A `mirror`
//! whose result is new every time is held against `raw-fresh` as well, where that buffer is new every time.

mod block;
mod limits;
mod verbs;

use super::{PROCS, job::bytes_name};
use crate::{
    contest::{Contest, Sample},
    options::Options,
    report::Target,
};
use superstep::Config;

/// How many bytes a block has.
const BRIEF: [usize; 1] = [8 << 20];
const FULL: [usize; 2] = [8 << 20, 64 << 20];

const TARGET: Target = Target::AtLeast(0.9);

/// Plans a contest for each size of a block: reading it.
pub(crate) fn plan_mirror(options: &Options) -> Vec<Contest> {
    let contest = |bytes: usize| {
        Plan::new("mirror", bytes, options)
            .limit("raw-memcpy", limits::memcpy)
            .limit("raw-fresh", limits::fresh)
            .verb("mirror", verbs::mirror, &["raw-memcpy", "raw-fresh"])
            .verb("mirror_into", verbs::mirror_into, &["raw-memcpy"])
            .contest
    };
    options.sizes(&BRIEF, &FULL).into_iter().map(contest).collect()
}

/// Plans a contest for each size of a block: writing it.
pub(crate) fn plan_update(options: &Options) -> Vec<Contest> {
    let contest = |bytes: usize| {
        Plan::new("update", bytes, options)
            .limit("raw-memcpy", limits::memcpy)
            .verb("update", verbs::update, &["raw-memcpy"])
            .contest
    };
    options.sizes(&BRIEF, &FULL).into_iter().map(contest).collect()
}

/// A contest in the making.
struct Plan<'a> {
    contest: Contest,
    procs: usize,
    words: usize,
    name: String,
    options: &'a Options,
}

impl<'a> Plan<'a> {
    fn new(kernel: &'static str, bytes: usize, options: &'a Options) -> Self {
        let (procs, words) = (options.procs.unwrap_or(PROCS), (bytes / size_of::<u64>()).max(1));
        let bytes = words * size_of::<u64>();
        let contest = Contest::of_rates(kernel, procs, (procs * bytes) as u64);
        Self { contest, procs, words, name: bytes_name(bytes), options }
    }

    fn limit(mut self, name: &str, limit: fn(usize, usize, u64) -> superstep::Result<Sample>) -> Self {
        let (procs, words) = (self.procs, self.words);
        let work = move |rounds| limit(procs, words, rounds);
        self.contest = self.contest.raw(format!("{}/{name}", self.name), work);
        self
    }

    /// Lets a verb take part, and holds it against each of the limits.
    fn verb(mut self, name: &str, verb: fn(&Config, usize, u64) -> superstep::Result<Sample>, limits: &[&str]) -> Self {
        let (config, words, variant) = (self.options.config(self.procs), self.words, format!("{}/{name}", self.name));
        let work = move |rounds| verb(&config, words, rounds);
        self.contest = self.contest.superstep(&variant, self.options, work);
        for limit in limits {
            self.contest = self.contest.claim(&variant, [format!("{}/{limit}", self.name)], TARGET);
        }
        self
    }
}
