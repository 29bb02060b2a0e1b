//! Kernels of the NAS benchmarks, as the command `programs` runs them.

use crate::Sample;
use superstep::{Config, Local, Result};
use superstep_programs::nas::{self, Class, Kernel};

/// On so many threads.
pub(crate) fn run(kernel: Kernel, class: Class, procs: usize) -> Result<Sample> {
    Config::new().procs(procs).run(|g| Local(sample(&nas::run(g, kernel, class))))
}

/// What came of it: the digest is whether it is right.
pub(crate) fn sample(outcome: &nas::Outcome) -> Sample {
    Sample::of_answer(outcome.figures.seconds, u64::from(outcome.is_right()))
}
