//! The kernels there are, and how to run them.

use crate::{
    array::{gather, histogram, permute, prefix, quicksort, section, spmv, transpose},
    contest::Contest,
    epoch::{self, bfs, fence, kmer, ping, samplesort, scc, stream},
    exchange,
    options::{Error, Options},
    paged::{cohere, jacobi, lu, matmul},
    report::{Digest, Report},
    step,
};

/// A benchmark: a job that superstep and hand-written code do by turns.
#[derive(Debug)]
pub struct Kernel {
    /// What to call it.
    pub name: &'static str,
    /// What it measures, in one line.
    pub about: &'static str,
    /// How many processors it needs at least.
    pub procs_min: usize,
    plan: fn(&Options) -> Vec<Contest>,
}

/// Every kernel there is.
pub const KERNELS: &[Kernel] = &[
    Kernel {
        name: "step",
        about: "what a boundary costs, alone and with 8 bytes of traffic, and what a run costs to start",
        procs_min: 1,
        plan: step::plan,
    },
    Kernel {
        name: "exchange",
        about: "how fast 8 MiB travel between each two processors, all of them at once",
        procs_min: 2,
        plan: exchange::plan,
    },
    Kernel {
        name: "histogram",
        about: "random increments of an array, 10 million by each processor",
        procs_min: 1,
        plan: histogram::plan,
    },
    Kernel {
        name: "gather",
        about: "random reads of an array, 10 million by each processor",
        procs_min: 1,
        plan: gather::plan,
    },
    Kernel {
        name: "mirror",
        about: "reading a whole block of another processor, all of them at once",
        procs_min: 2,
        plan: section::plan_mirror,
    },
    Kernel {
        name: "update",
        about: "writing a whole block of another processor, all of them at once",
        procs_min: 2,
        plan: section::plan_update,
    },
    Kernel {
        name: "permute",
        about: "every element of an array goes to another place",
        procs_min: 1,
        plan: permute::plan,
    },
    Kernel {
        name: "prefix",
        about: "prefix sums of an array, beside the paper's figures",
        procs_min: 1,
        plan: prefix::plan,
    },
    Kernel {
        name: "quicksort",
        about: "the p-way sort of the paper against rayon, beside the paper's figures",
        procs_min: 1,
        plan: quicksort::plan,
    },
    Kernel { name: "transpose", about: "a matrix in tiles, turned over", procs_min: 1, plan: transpose::plan },
    Kernel {
        name: "spmv",
        about: "a sparse matrix with 16 elements in each row times a vector",
        procs_min: 1,
        plan: spmv::plan,
    },
    Kernel { name: "ping", about: "a remote method with 24 bytes, there and back", procs_min: 2, plan: ping::plan },
    Kernel {
        name: "stream",
        about: "remote methods with 8 and with 24 bytes, one way, by the million",
        procs_min: 1,
        plan: stream::plan,
    },
    Kernel { name: "fence", about: "an empty epoch against an empty step", procs_min: 1, plan: fence::plan },
    Kernel {
        name: "samplesort",
        about: "a sort with one request for each key, against the same in bulk and rayon",
        procs_min: 1,
        plan: samplesort::plan,
    },
    Kernel {
        name: "histogram-async",
        about: "random increments of a table, one request for each, 10 million by each processor",
        procs_min: 1,
        plan: epoch::histogram::plan,
    },
    Kernel {
        name: "scc",
        about: "strongly connected components of a mesh, by trimming and pivots",
        procs_min: 1,
        plan: scc::plan,
    },
    Kernel { name: "kmer", about: "words of reads, counted in a hash map", procs_min: 1, plan: kmer::plan },
    Kernel { name: "bfs", about: "a breadth-first search of a Graph500 graph", procs_min: 1, plan: bfs::plan },
    Kernel {
        name: "cohere",
        about: "making rows of 16 KiB coherent between two processors",
        procs_min: 2,
        plan: cohere::plan,
    },
    Kernel {
        name: "jacobi",
        about: "a grid relaxed by neighbours, with coherence and with steps",
        procs_min: 1,
        plan: jacobi::plan,
    },
    Kernel { name: "lu", about: "a matrix factorised, with coherence and with steps", procs_min: 1, plan: lu::plan },
    Kernel {
        name: "matmul",
        about: "the product of two matrices, with coherence and with steps",
        procs_min: 1,
        plan: matmul::plan,
    },
];

impl Kernel {
    /// The kernel of this name.
    pub fn named(name: &str) -> Option<&'static Self> {
        KERNELS.iter().find(|kernel| kernel.name == name)
    }
}

/// How far a benchmark has come.
#[derive(Clone, Copy, Debug)]
pub struct Progress<'a> {
    /// Rounds that are over.
    pub done: usize,
    /// Rounds that there will be.
    pub total: usize,
    /// What is measured now.
    pub now: &'a str,
}

/// Checks that so many processors are enough for these kernels.
pub fn check(kernels: &[&Kernel], procs: Option<usize>) -> Result<(), Error> {
    let Some(given) = procs else { return Ok(()) };
    let too_many = kernels.iter().find(|kernel| kernel.procs_min > given);
    too_many.map_or(Ok(()), |kernel| Err(Error::TooFewProcs { kernel: kernel.name, needed: kernel.procs_min, given }))
}

/// All contests of a kernel, with those who can take part.
fn plan(kernel: &Kernel, options: &Options) -> Vec<Contest> {
    let all = (kernel.plan)(options).into_iter();
    if options.is_mpi() { all.map(Contest::without_bare_threads).collect() } else { all.collect() }
}

/// Lets superstep's contenders do one iteration each, one after another, and says what their answers come to.
pub fn digests(kernels: &[&Kernel], options: &Options) -> Result<Vec<Digest>, Error> {
    check(kernels, options.procs)?;
    let mut all = Vec::new();
    for contest in kernels.iter().flat_map(|kernel| plan(kernel, options)) {
        all.extend(contest.digests(options)?);
    }
    Ok(all)
}

/// What a benchmark tells while it runs.
#[derive(Clone, Copy, Debug)]
pub enum Event<'a> {
    /// A round begins.
    Round(Progress<'a>),
    /// A kernel is done, and this was found of it.
    Done(&'a Kernel, &'a Report),
}

/// Runs kernels one after another, and tells of each round before it and of each kernel after it.
pub fn run(kernels: &[&Kernel], options: &Options, mut tell: impl FnMut(Event<'_>)) -> Result<Report, Error> {
    check(kernels, options.procs)?;
    let plans: Vec<_> = kernels.iter().map(|kernel| (*kernel, plan(kernel, options))).collect();
    let rounds = |contest: &Contest| contest.rounds(options.rounds);
    let total = plans.iter().flat_map(|(_, contests)| contests).map(rounds).sum();
    let none = || Report { rounds: options.rounds, ..Report::default() };
    let (mut whole, mut before) = (none(), 0);
    for (kernel, contests) in plans {
        let mut report = none();
        for contest in contests {
            let (mut done, rounds) = (before, rounds(&contest));
            let found = contest.hold(options, |now| {
                tell(Event::Round(Progress { done, total, now }));
                done += 1;
            })?;
            report.append(found);
            before += rounds;
        }
        tell(Event::Done(kernel, &report));
        whole.append(report);
    }
    Ok(whole)
}
