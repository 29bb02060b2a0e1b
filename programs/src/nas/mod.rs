//! Kernels of the NAS parallel benchmarks.
//!
//! Each makes its own input from the benchmark's random numbers, works for a given number of iterations, and ends with
//! values that are held against the published ones, where these are known here (classes S and W).

mod cg;
mod class;
mod ep;
mod fft;
mod ft;
mod grid;
mod is;
mod mg;
mod outcome;
mod random;

pub use class::{Class, Kernel};
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
