//! Kernels of the NAS parallel benchmarks.
//!
//! Each makes its own input from the benchmark's random numbers, works for a given number of iterations, and ends with
//! values that are held against the published ones. Their modules say what they compute, in which supersteps, and what
//! these cost: [`ep`], [`is`], [`cg`], [`mg`] and [`ft`]. What these have of loops that communicate with nobody is
//! public, so that `bench/peers` can hold the same loops on bare threads against them.

pub mod cg;
mod class;
pub mod cube;
pub mod ep;
pub mod fft;
mod figures;
pub mod ft;
pub mod grid;
pub mod is;
pub mod mg;
mod official;
mod outcome;
pub mod random;

pub use class::{Class, Kernel, Kernels};
pub use figures::Figures;
pub use outcome::{Outcome, Value};

use superstep::Group;

/// Runs a kernel on all members of a group. Collective.
///
/// ```
/// use superstep_programs::nas::{self, Class, Kernel};
///
/// let outcome = superstep::Config::new().procs(2).run(|g| superstep::Local(nas::run(g, Kernel::Is, Class::S)));
/// assert!(outcome.unwrap().is_right());
/// ```
pub fn run(g: &mut Group, kernel: Kernel, class: Class) -> Outcome {
    match kernel {
        Kernel::Ep => ep::run(g, class),
        Kernel::Is => is::run(g, class),
        Kernel::Cg => cg::run(g, class),
        Kernel::Mg => mg::run(g, class),
        Kernel::Ft => ft::run(g, class),
    }
}
