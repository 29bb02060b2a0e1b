//! The small programs of bale, of irregular reads and writes of distributed tables.
//!
//! Bale shows how a partitioned global address space is used, and how its small messages are aggregated. Here they are
//! the verbs of a step: what is asked for in it travels at its end, in one message to each processor.
//!
//! Sizes are those of all processors together, and what is drawn does not depend on how many there are: nor does what
//! comes out.

mod gather;
mod histogram;
mod permutation;
mod toposort;
mod triangles;

use crate::{Summary, Trouble};
use superstep::Group;

pub use gather::Gather;
pub use histogram::Histogram;
pub use permutation::Permutation;
pub use toposort::Toposort;
pub use triangles::Triangles;

/// So many reads or writes go with one step, so that programs need no more memory for more of them.
const BATCH: usize = 1 << 20;

/// The programs there are.
///
/// ```
/// use superstep_programs::bale::{self, Histogram, Program};
///
/// let program = Program::Histogram(Histogram { table: 10, updates: 1000, seed: 1 });
/// let summary = superstep::Config::new().procs(2).run(|g| bale::run(g, &program));
/// assert!(summary.unwrap().is_right());
/// ```
#[derive(Clone, Debug, clap::Subcommand)]
pub enum Program {
    /// Counters of a distributed table are increased at random.
    Histogram(Histogram),
    /// Elements of a distributed table are read at random.
    Gather(Gather),
    /// The numbers from 0 on are put in a random order.
    Permutation(Permutation),
    /// Rows and columns of a matrix are put in an order in which it is upper triangular, as it once was.
    Toposort(Toposort),
    /// Triangles of a random graph are counted, and counted again in another way.
    Triangles(Triangles),
}

/// Runs a program on all members of a group, and checks its answer. Collective.
pub fn run(g: &mut Group, program: &Program) -> Result<Summary, Trouble> {
    match program {
        Program::Histogram(asked) => histogram::run(g, asked),
        Program::Gather(asked) => gather::run(g, asked),
        Program::Permutation(asked) => permutation::run(g, asked),
        Program::Toposort(asked) => toposort::run(g, asked),
        Program::Triangles(asked) => triangles::run(g, asked),
    }
}
