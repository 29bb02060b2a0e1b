//! Programs of the HPC Challenge.

mod random_access;

use crate::{Summary, Trouble};
use superstep::Group;

pub use random_access::{RandomAccess, stream, update};

/// The programs there are.
///
/// ```
/// use superstep_programs::hpcc::{self, Program, RandomAccess};
///
/// let program = Program::RandomAccess(RandomAccess { log2: 10, ahead: 1024 });
/// let summary = superstep::Config::new().procs(2).run(|g| hpcc::run(g, &program));
/// assert!(summary.unwrap().is_right());
/// ```
#[derive(Clone, Debug, clap::Subcommand)]
pub enum Program {
    /// Words of a distributed table are changed at random places, as few as possible at a time.
    RandomAccess(RandomAccess),
}

/// Runs a program on all members of a group, and checks its answer. Collective.
pub fn run(g: &mut Group, program: &Program) -> Result<Summary, Trouble> {
    match program {
        Program::RandomAccess(asked) => random_access::run(g, asked),
    }
}
