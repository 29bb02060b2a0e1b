//! Kernel `permute`: every element of an array goes to another place.
//!
//! By the verb for it, out of an array of places, and by `scatter`, out of a list of them. The limit is threads that
//! sort places and values by owner into buckets, out of which the owners store.

use super::{
    PROCS,
    job::{count_name, job},
};
use crate::{
    clock::{clocked, on_all},
    contest::{Contest, Sample},
    digest::digest,
    options::Options,
    random::{mix, permutation},
    raw::updates,
    report::Target,
};
use std::rc::Rc;
use superstep::{Any, Array, Block, Config, Group, Result};

const KERNEL: &str = "permute";

/// A permutation: how many elements each processor has, and by processor where each of them goes.
struct Permutation {
    len: usize,
    to: Vec<Vec<usize>>,
    values: Vec<Vec<u64>>,
}

impl Permutation {
    fn new(procs: usize, len: usize) -> Self {
        let all = permutation(procs * len);
        let to: Vec<Vec<usize>> = all.chunks(len).map(<[usize]>::to_vec).collect();
        let values = to.iter().map(|to| to.iter().map(|&place| Self::at(place)).collect()).collect();
        Self { len, to, values }
    }

    fn procs(&self) -> usize {
        self.to.len()
    }

    /// What should arrive at a place.
    fn at(place: usize) -> u64 {
        mix(place as u64)
    }

    /// Whether all that should be in the part of `rank` has arrived.
    fn has_arrived(&self, part: &[u64], rank: usize) -> bool {
        let first = rank * self.len;
        part.len() == self.len && part.iter().enumerate().all(|(at, &value)| value == Self::at(first + at))
    }
}

/// Plans the one contest of the kernel.
pub(crate) fn plan(options: &Options) -> Vec<Contest> {
    let procs = options.procs.unwrap_or(PROCS);
    options.sizes(&[1_000_000], &[10_000_000]).into_iter().map(|len| contest(procs, len, options)).collect()
}

/// Arrays of `len` elements per processor.
fn contest(procs: usize, len: usize, options: &Options) -> Contest {
    let job = job(move || Permutation::new(procs, len));
    let (of_limit, size) = (Rc::clone(&job), count_name(len));
    let limit = format!("{size}/raw-buckets-of-values");
    let mut contest =
        Contest::of_elements(KERNEL, procs, (procs * len) as u64).raw(&limit, move |rounds| by_hand(&of_limit, rounds));
    for (name, verb) in VERBS {
        let (config, job, variant) = (options.config(procs), Rc::clone(&job), format!("{size}/{name}"));
        contest = contest.superstep(&variant, options, move |rounds| verb(&config, &job, rounds)).claim(
            variant,
            [&limit],
            Target::AtLeast(0.85),
        );
    }
    contest
}

type Verb = fn(&Config, &Permutation, u64) -> Result<Sample>;

const VERBS: [(&str, Verb); 2] = [("permute", permute), ("scatter", scatter)];

/// Clocks rounds of `step`, after one on its own: what it has moved must arrive again.
fn moved(
    g: &mut Group,
    job: &Permutation,
    target: &Array<u64, Block>,
    rounds: u64,
    step: impl Fn(&mut Group),
) -> (f64, bool, u64) {
    let rank = g.rank();
    step(g);
    let is_right = job.has_arrived(&target.local(), rank);
    target.local_mut().fill(0);
    let seconds = clocked(rounds, |_| step(g));
    (seconds, is_right && job.has_arrived(&target.local(), rank), digest(&target.local()))
}

fn permute(config: &Config, job: &Permutation, rounds: u64) -> Result<Sample> {
    on_all(config, |g| {
        let (rank, len) = (g.rank(), job.procs() * job.len);
        let (source, target, to) =
            (g.array::<u64, Block>(len), g.array::<u64, Block>(len), g.array::<usize, Block>(len));
        source.local_mut().copy_from_slice(&job.values[rank]);
        to.local_mut().copy_from_slice(&job.to[rank]);
        moved(g, job, &target, rounds, |g| g.step(|s| s.permute(&target, &source, &to)))
    })
}

fn scatter(config: &Config, job: &Permutation, rounds: u64) -> Result<Sample> {
    on_all(config, |g| {
        let (rank, target) = (g.rank(), g.array::<u64, Block>(job.procs() * job.len));
        let (to, values) = (&job.to[rank], &job.values[rank]);
        moved(g, job, &target, rounds, |g| g.step(|s| s.scatter(&target, to, values, Any)))
    })
}

fn by_hand(job: &Permutation, rounds: u64) -> Result<Sample> {
    let judge = |seconds, rank, part: &[u64]| Sample::by_hand(seconds, job.has_arrived(part, rank));
    updates(job.len, (&job.to, &job.values), rounds, |place, value| *place = value, judge)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_moves_all_elements() {
        for procs in [1, 2, 3] {
            let (config, job) = (Config::new().procs(procs), Permutation::new(procs, 100));
            assert!(permute(&config, &job, 1).expect("the run succeeds").verified);
            assert!(scatter(&config, &job, 1).expect("the run succeeds").verified);
            assert!(by_hand(&job, 1).expect("the run succeeds").verified);
        }
    }
}
