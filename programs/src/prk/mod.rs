//! The Parallel Research Kernels: patterns that programs are made of, each with its own check.
//!
//! An iteration more than asked for is made before the clock starts, as the suite does it. Rates are in the suite's
//! units.

mod sparse;
mod stencil;
mod synch;
mod transpose;

use crate::{Summary, Trouble, parts::clocked};
use superstep::Group;

pub use sparse::Sparse;
pub use stencil::Stencil;
pub use synch::Synch;
pub use transpose::Transpose;

/// An error below this is a rounding error.
const EPSILON: f64 = 1e-8;

/// The programs there are.
///
/// ```
/// use superstep_programs::prk::{self, Program, Stencil};
///
/// let program = Program::Stencil(Stencil { size: 20, iterations: 3 });
/// let summary = superstep::Config::new().procs(2).run(|g| prk::run(g, &program));
/// assert!(summary.unwrap().is_right());
/// ```
#[derive(Clone, Debug, clap::Subcommand)]
pub enum Program {
    /// Each point of a grid gets a sum of its neighbours, in a star of radius 2.
    Stencil(Stencil),
    /// A matrix is turned over and added to another.
    Transpose(Transpose),
    /// A sparse matrix, whose rows are a star on a grid, is multiplied with a vector.
    Sparse(Sparse),
    /// A wave runs over a grid: each point needs those before it in both directions.
    Synch(Synch),
}

/// Runs a program on all members of a group, and checks its answer. Collective.
pub fn run(g: &mut Group, program: &Program) -> Result<Summary, Trouble> {
    match program {
        Program::Stencil(asked) => stencil::run(g, asked),
        Program::Transpose(asked) => transpose::run(g, asked),
        Program::Sparse(asked) => sparse::run(g, asked),
        Program::Synch(asked) => synch::run(g, asked),
    }
}

/// How many seconds an iteration takes, of so many behind a first one that is not counted.
fn timed(g: &mut Group, iterations: usize, mut one: impl FnMut(&mut Group)) -> f64 {
    one(g);
    let (seconds, ()) = clocked(g, |g| (0..iterations).for_each(|_| one(g)));
    seconds / iterations as f64
}
