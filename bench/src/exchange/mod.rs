//! Kernel `exchange`: how fast 8 MiB travel from each processor to each other one, all at once.
//!
//! There are four limits, because verbs promise different things:
//!
//! - `raw-memcpy`: each thread copies what it gets into a buffer that it has already. One copy, warm pages. For the
//!   `hp_` verbs, which write into an area.
//! - `raw-owned`: each thread copies what it gives into a new buffer and hands that over by moving it; the receiver
//!   owns it and frees it. One copy and one allocation. For `exchange_slices`, whose slices nobody can reach any more
//!   when the step has closed.
//! - `raw-fresh`: each thread copies what it gets into a new buffer of its own. One copy and one allocation, and the
//!   thread that allocates also frees. For `get`, which reads at the boundary.
//! - `raw-buffered`: each thread copies what it gives into a buffer in between, and after a barrier the receiver copies
//!   it out. Two copies, warm pages. For `put`, which must leave both sides undisturbed until the boundary.
//!
//! Where superstep has data in an area, the limit has it in memory of the same kind, so that both have huge pages or
//! neither.

mod limits;
mod pattern;
mod verbs;

use crate::{
    contest::{Contest, Sample},
    options::Options,
    report::Target,
};
use pattern::WORDS;
use superstep::Config;

const KERNEL: &str = "exchange";

/// How many processors take part unless somebody asks for another number.
const PROCS: usize = 2;

type Limit = fn(usize, u64) -> superstep::Result<Sample>;

/// Every limit, by the end of its name.
const LIMITS: [(&str, Limit); 5] = [
    ("raw-memcpy", limits::memcpy),
    ("raw-owned", limits::owned),
    ("raw-fresh", limits::fresh),
    ("raw-buffered", limits::buffered),
    ("raw-given", limits::given),
];

type Verb = fn(&Config, u64) -> superstep::Result<Sample>;

/// Every verb that moves data, and which limit it is held against.
const VERBS: [(&str, Verb, &str); 6] = [
    ("owned", verbs::exchange_slices, "raw-owned"),
    ("put", verbs::put, "raw-buffered"),
    ("hp_put", verbs::hp_put, "raw-memcpy"),
    ("hp_put-given", verbs::hp_put_given, "raw-given"),
    ("get", verbs::get, "raw-fresh"),
    ("hp_get", verbs::hp_get, "raw-memcpy"),
];

/// Plans the one contest of the kernel.
pub(crate) fn plan(options: &Options) -> Vec<Contest> {
    let procs = options.procs.unwrap_or(PROCS);
    let bytes = (procs * (procs - 1) * WORDS * size_of::<u64>()) as u64;
    let mut contest = Contest::of_rates(KERNEL, procs, bytes);
    for (name, work) in LIMITS {
        contest = contest.raw(format!("8MiB/{name}"), move |rounds| work(procs, rounds));
    }
    for (name, verb, limit) in VERBS {
        let config = options.config(procs);
        contest = contest.superstep(name, options, move |rounds| verb(&config, rounds)).claim(
            name,
            [format!("8MiB/{limit}")],
            Target::AtLeast(0.9),
        );
    }
    vec![contest]
}
