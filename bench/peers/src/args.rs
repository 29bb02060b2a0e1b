//! What can be asked for on the command line.

use crate::{
    contenders::{lamellar, mpi},
    kernels::KERNELS,
};
use clap::{Parser, Subcommand, builder::PossibleValuesParser};
use std::path::{Path, PathBuf};

/// Where results go, seen from the top of the repository.
const RESULTS: &str = "bench/RESULTS.md";

/// Runs the same work through superstep, hand-written threads, rayon and lamellar, by turns, and checks every answer.
///
/// A whole run writes bench/RESULTS.md; start it at the top of the repository.
#[derive(Debug, Parser)]
#[command(version)]
pub(crate) struct Args {
    /// How many rounds each contender has; the best counts [default: 5, or 1 if small]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: Option<u32>,
    /// Only this kernel; may be given more than once
    #[arg(long, value_name = "KERNEL", value_parser = PossibleValuesParser::new(KERNELS.iter().map(|k| k.name)))]
    only: Vec<String>,
    /// Only contests whose title has this in it
    #[arg(long, value_name = "TEXT", default_value = "")]
    pub(crate) title: String,
    /// Only the smaller sizes, for a first look
    #[arg(long)]
    pub(crate) brief: bool,
    /// Tiny sizes: checks every contender, measures nothing of worth
    #[arg(long)]
    pub(crate) small: bool,
    /// Prints one JSON object per contender in place of tables
    #[arg(long)]
    pub(crate) json: bool,
    /// Writes the page of results there, whatever was asked for
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// One processing element of a lamellar world; started by the comparison itself.
    #[command(hide = true)]
    LamellarPe(lamellar::task::Part),
    /// One process of superstep under MPI; started by the comparison itself.
    #[command(hide = true)]
    MpiRank(mpi::rank::Part),
    /// One process of a NAS kernel under MPI; started by the comparison itself.
    #[command(hide = true)]
    NasRank(mpi::nas::Part),
    /// One process of PageRank under MPI; started by the comparison itself.
    #[command(hide = true)]
    GapRank(mpi::gap::Part),
}

impl Args {
    /// Whether the kernel of this name is to run.
    pub(crate) fn wants(&self, kernel: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|name| name == kernel)
    }

    /// How many rounds each contender has.
    pub(crate) fn rounds(&self) -> u32 {
        self.rounds.unwrap_or(if self.small { 1 } else { 5 })
    }

    /// Where the page of results goes. A part of the comparison, or a tiny one, does not overwrite the whole.
    pub(crate) fn output(&self) -> Option<&Path> {
        let is_whole = self.only.is_empty() && self.title.is_empty() && !self.small && !self.brief;
        self.output.as_deref().or_else(|| is_whole.then_some(Path::new(RESULTS)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_well_formed() {
        Args::command().debug_assert();
    }

    #[test]
    fn only_a_whole_run_writes_the_results() {
        let output = |line: &str| Args::parse_from(line.split(' ')).output().map(Path::to_owned);
        assert_eq!(output("peers"), Some(PathBuf::from(RESULTS)));
        assert_eq!(output("peers --small"), None);
        assert_eq!(output("peers --brief"), None);
        assert_eq!(output("peers --only sort"), None);
        assert_eq!(output("peers --title u64"), None);
        assert_eq!(output("peers --only sort --output here"), Some(PathBuf::from("here")));
    }
}
