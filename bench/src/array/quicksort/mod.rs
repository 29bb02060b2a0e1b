//! Kernel `quicksort`: the p-way randomised sort of the paper's figure 3, against rayon on as many threads.
//!
//! `figure-3` is that program with oversampling: sample, partition, write the slices to a second array, read the slice
//! that is to be sorted here, sort it, write it back. `irregular` is the library's own sort, in which slices arrive
//! where they are sorted, however long they are, as the paper wishes they could: the last two rounds are saved.
//!
//! Keys are numbers below a million as `f32`, as in the paper; any `u64`; and `u64` of every magnitude alike, of which
//! most are small.

pub(crate) mod keys;
pub(crate) mod local;
pub(crate) mod program;
pub(crate) mod rivals;

use super::{
    PROCS,
    job::{Job, count_name, job},
    paper,
};
use crate::{
    contest::{Contest, Sample},
    options::{Extent, Options},
    report::Target,
};
use keys::{Input, Key};
use std::rc::Rc;
use superstep::{Config, Result};

const KERNEL: &str = "quicksort";

/// The paper's sizes, and larger ones.
const BRIEF: [usize; 2] = [80_000, 120_000];
const FULL: [usize; 4] = [80_000, 120_000, 10_000_000, 50_000_000];

/// Plans a contest for each kind of key and each size.
pub(crate) fn plan(options: &Options) -> Vec<Contest> {
    let sizes = options.sizes(&BRIEF, &FULL);
    let mut contests = Vec::new();
    contests.extend(sizes.iter().map(|&len| contest("f32", keys::below_a_million, len, options)));
    contests.extend(sizes.iter().map(|&len| contest("u64", keys::any, len, options)));
    if options.extent == Extent::Full {
        contests.push(contest("u64-skewed", keys::skewed, options.shrunk(10_000_000), options));
    }
    contests
}

type Program<K> = fn(&Config, &Input<K>, u64) -> Result<Sample>;

fn contest<K: Key>(kind: &str, make: fn(usize) -> Vec<K>, len: usize, options: &Options) -> Contest {
    let procs = options.procs.unwrap_or(PROCS);
    let input: Job<Input<K>> = job(move || Input::new(make(len)));
    let name = format!("{kind}/{}", count_name(len));
    let (limit, alone) = (format!("{name}/raw-rayon"), format!("{name}/one-thread"));
    let (of_limit, of_one) = (Rc::clone(&input), Rc::clone(&input));
    let mut contest = Contest::of_elements(KERNEL, procs, len as u64)
        .raw(&limit, move |rounds| rivals::rayon(procs, &of_limit, rounds))
        .alone(&alone, move |rounds| rivals::one_thread(&of_one, rounds));
    let programs: [(&str, Program<K>); 2] = [("figure-3", program::figure_3), ("irregular", program::library)];
    for (way, program) in programs {
        let (config, input, variant) = (options.config(procs), Rc::clone(&input), format!("{name}/{way}"));
        contest = contest
            .superstep(&variant, options, move |rounds| program(&config, &input, rounds))
            .claim(&variant, [&limit], Target::AtLeast(1.0))
            .speedup(variant, &alone, paper::quicksort(len, procs));
    }
    contest
}
