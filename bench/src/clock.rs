//! Clocks around rounds, with a few rounds before that do not count.

use crate::{contest::Sample, digest::digest};
use std::time::{Duration, Instant};
use superstep::{And, Config, Group, Max};

/// Three rounds before the clock starts, so that every page is there: memory that changes hands is used by turns, and
/// there are at most three pieces of it.
pub(crate) const WARM_UP: u64 = 3;

/// How many seconds it takes to do `body` for 1 to `iterations`.
#[inline]
pub(crate) fn timed(iterations: u64, mut body: impl FnMut(u64)) -> f64 {
    let start = Instant::now();
    for iteration in 1..=iterations {
        body(iteration);
    }
    start.elapsed().as_secs_f64()
}

/// Runs `round` often enough, numbered from 1, with a clock around all but the first few.
pub(crate) fn clocked(rounds: u64, mut round: impl FnMut(u64)) -> f64 {
    (1..=WARM_UP).for_each(&mut round);
    timed(rounds, |number| round(WARM_UP + number))
}

/// Adds up the time of rounds that have something to prepare, for which it stands still.
#[derive(Default)]
pub(crate) struct Stopwatch {
    elapsed: Duration,
}

impl Stopwatch {
    /// Does `work` with the clock running.
    pub(crate) fn time<R>(&mut self, work: impl FnOnce() -> R) -> R {
        let start = Instant::now();
        let result = work();
        self.elapsed += start.elapsed();
        result
    }

    pub(crate) fn reset(&mut self) {
        self.elapsed = Duration::ZERO;
    }

    pub(crate) fn seconds(&self) -> f64 {
        self.elapsed.as_secs_f64()
    }
}

/// Runs `round` once to warm up and then often enough; what it does with the watch of the later rounds counts.
pub(crate) fn watched(rounds: u64, mut round: impl FnMut(&mut Stopwatch)) -> f64 {
    let mut watch = Stopwatch::default();
    round(&mut watch);
    watch.reset();
    for _ in 0..rounds {
        round(&mut watch);
    }
    watch.seconds()
}

/// Runs `body` on every processor; it gets the group and says how long it took, whether all was right, and what the
/// answer comes to. All processes get the same: as long as the slowest took, and right if all were.
pub(crate) fn on_all(
    config: &Config,
    body: impl Fn(&mut Group) -> (f64, bool, u64) + Sync,
) -> superstep::Result<Sample> {
    config.run(|g| {
        let (seconds, verified, answer) = body(g);
        let (seconds, verified, answers) =
            g.step(|s| (s.reduce(seconds, Max), s.reduce(verified, And), s.collect(answer)));
        Sample { seconds, verified, digest: digest(&answers) }
    })
}
