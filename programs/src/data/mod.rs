//! Programs like those that people write for their own data.
//!
//! Each reads files, or draws its input where none are named. What is drawn depends on the seed alone, and not on how
//! many processors draw it.

pub mod join;
pub mod kmeans;
pub mod kmers;
mod letters;
pub mod words;

use crate::{Summary, Trouble};
use superstep::Group;

pub use join::Join;
pub use kmeans::KMeans;
pub use kmers::Kmers;
pub use words::Words;

/// The programs there are.
///
/// ```
/// use superstep_programs::data::{self, Program, Words};
///
/// let program = Program::Words(Words { path: "src/data".into(), top: 3 });
/// let summary = superstep::Config::new().procs(2).run(|g| data::run(g, &program));
/// assert!(summary.unwrap().is_right());
/// ```
#[derive(Clone, Debug, clap::Subcommand)]
pub enum Program {
    /// The words of all files in a folder are counted.
    Words(Words),
    /// Points are divided into clusters around their means.
    #[command(name = "k-means")]
    KMeans(KMeans),
    /// Two tables are joined, and the rows that come of it grouped and added up.
    Join(Join),
    /// The words of k letters in a genome, or in pieces of one, are counted.
    Kmers(Kmers),
}

/// Runs a program on all members of a group, and checks its answer. Collective.
pub fn run(g: &mut Group, program: &Program) -> Result<Summary, Trouble> {
    match program {
        Program::Words(asked) => words::run(g, asked),
        Program::KMeans(asked) => kmeans::run(g, asked),
        Program::Join(asked) => join::run(g, asked),
        Program::Kmers(asked) => kmers::run(g, asked),
    }
}
