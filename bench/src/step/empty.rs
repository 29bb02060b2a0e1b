//! The empty step against hand-written barriers.

use crate::{
    clock::{on_all, timed},
    contest::{Contest, Sample},
    digest::digest,
    options::Options,
    raw::{
        barrier::{self, Busy, Central, EpochFlags, Spin, Yield},
        team::Arrivals,
    },
    report::Target,
};
use superstep::{Config, cores};

pub(super) const KERNEL: &str = "step";

/// So many processors that do nothing but wait for each other.
#[derive(Clone, Debug)]
pub(super) struct Empty {
    config: Config,
    procs: usize,
    /// How many of them are in one process, and so in sight of each other.
    in_sight: usize,
}

impl Empty {
    pub(super) fn new(procs: usize, options: &Options) -> Self {
        Self { config: options.config(procs), procs, in_sight: options.in_one_process(procs) }
    }

    /// `waits` empty steps, after a check that a step is a barrier.
    pub(super) fn measure(&self, waits: u64) -> superstep::Result<Sample> {
        let arrivals = Arrivals::new(self.procs);
        on_all(&self.config, |g| {
            let first = g.rank() / self.in_sight * self.in_sight;
            let is_barrier = arrivals.check(g.rank(), first..first + self.in_sight, || g.step(|_| ()));
            let before = g.steps();
            let seconds = timed(waits, |_| g.step(|_| ()));
            let steps = g.steps() - before;
            (seconds, is_barrier && steps == waits && g.size() == self.procs, digest(&[steps]))
        })
    }
}

/// `waits` sums over all processes by MPI itself, of 8 bytes each.
fn measure_allreduce(allreduce: fn(u64) -> u64, processes: usize, waits: u64) -> Sample {
    let mut is_right = true;
    let mut sum = |number: u64| is_right &= allreduce(number) == processes as u64 * number;
    sum(0);
    let seconds = timed(waits, sum);
    Sample::by_hand(seconds, is_right)
}

/// The empty step where every processor is a process, against the least that MPI lets all processes wait for.
fn contest_of_processes(procs: usize, variant: &str, options: &Options) -> Contest {
    let (mut contest, empty, limit) =
        (Contest::of_times(KERNEL, procs), Empty::new(procs, options), format!("{variant}/raw-allreduce"));
    if let Some(allreduce) = options.allreduce.filter(|_| empty.in_sight == 1) {
        contest = contest.by_mpi(&limit, move |waits| Ok(measure_allreduce(allreduce, procs, waits)));
    }
    contest.superstep(variant, options, move |waits| empty.measure(waits)).claim(variant, [limit], Target::AtMost(1.5))
}

/// The empty step on so many processors. Those who spin are the limit while there are cores for all, those who yield or
/// sleep beyond.
pub(super) fn contest(procs: usize, variant: &str, options: &Options) -> Contest {
    if options.is_mpi() {
        return contest_of_processes(procs, variant, options);
    }
    let mut contest = Contest::of_times(KERNEL, procs);
    let mut limits = Vec::new();
    let mut add = |contest: Contest, name: &str, measure: fn(usize, u64) -> Sample| {
        limits.push(format!("{variant}/raw-{name}"));
        contest.raw(format!("{variant}/raw-{name}"), move |waits| Ok(measure(procs, waits)))
    };
    let target = if procs <= cores() {
        contest = add(contest, "epoch-flags", barrier::measure::<EpochFlags<Spin>>);
        contest = add(contest, "epoch-flags-busy", barrier::measure::<EpochFlags<Busy>>);
        contest = add(contest, "central-spin", barrier::measure::<Central<Spin>>);
        Target::AtMost(1.6)
    } else {
        contest = add(contest, "central-yield", barrier::measure::<Central<Yield<0>>>);
        contest = add(contest, "central-spin50-yield", barrier::measure::<Central<Yield<50>>>);
        contest = add(contest, "condvar", barrier::measure::<std::sync::Barrier>);
        Target::AtMost(2.0)
    };
    let empty = Empty::new(procs, options);
    contest.superstep(variant, options, move |waits| empty.measure(waits)).claim(variant, limits, target)
}
