//! One who takes part in a contest.

use crate::{
    options::{Error, Options},
    sample::Sample,
};
use std::time::Instant;

/// How many times longer than the last a trial may be; the first iterations are slow and tell little.
const GROWTH: u64 = 50;

/// Does the job as often as it is told, and says how long that took.
pub(crate) type Work<'a> = Box<dyn FnMut(u64) -> Result<Sample, Error> + 'a>;

/// What a contender is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Superstep,
    /// Hand-written code on threads of this process.
    BareThreads,
    /// A call of MPI's, which all processes make.
    Mpi,
}

pub(crate) struct Contender<'a> {
    pub(crate) side: Side,
    pub(crate) variant: String,
    pub(crate) fabric: &'static str,
    pub(crate) procs: usize,
    pub(crate) work: Work<'a>,
    iterations: u64,
    /// How long a round should take, by what the trials took: longer than asked for if one iteration is, or if there is
    /// much to prepare.
    pub(crate) round_seconds: f64,
    pub(crate) best_seconds: f64,
    pub(crate) verified: bool,
}

impl<'a> Contender<'a> {
    pub(crate) fn new(side: Side, variant: String, fabric: &'static str, procs: usize, work: Work<'a>) -> Self {
        let (round_seconds, best_seconds) = (0.0, f64::INFINITY);
        Self { side, variant, fabric, procs, work, iterations: 1, round_seconds, best_seconds, verified: true }
    }

    /// Finds out how many iterations make a round. The fastest iteration seen counts, so that a trial that the machine
    /// held up does not make all rounds too short.
    pub(crate) fn calibrate(&mut self, options: &Options) -> Result<(), Error> {
        if options.round_seconds == 0.0 {
            // A round of one iteration needs no trial.
            return Ok(());
        }
        let (mut fastest, mut aside) = (f64::INFINITY, f64::INFINITY);
        loop {
            let start = Instant::now();
            let seconds = options.agreed((self.work)(self.iterations)?)?.seconds.max(1e-9);
            aside = options.longest(start.elapsed().as_secs_f64() - seconds)?.min(aside);
            fastest = fastest.min(seconds / self.iterations as f64);
            let wanted = (options.round_seconds / fastest).ceil() as u64;
            if wanted <= 2 * self.iterations {
                self.iterations = wanted;
                self.round_seconds = fastest * wanted as f64 + aside.max(0.0);
                return Ok(());
            }
            self.iterations = wanted.min(GROWTH * self.iterations);
        }
    }

    pub(crate) fn play(&mut self, options: &Options) -> Result<(), Error> {
        let sample = options.agreed((self.work)(self.iterations)?)?;
        self.best_seconds = self.best_seconds.min(sample.seconds / self.iterations as f64);
        self.verified &= sample.verified;
        Ok(())
    }
}
