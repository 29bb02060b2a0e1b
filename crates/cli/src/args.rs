//! What the command line says.

use crate::{
    number::at_least_one,
    place::{self, Processes},
    run,
};
use clap::{Parser, Subcommand, ValueEnum as _};
use std::path::PathBuf;
use superstep_bench::Options;

/// Bulk-synchronous parallel programs: run them, measure a machine, and what superstep makes of it.
#[derive(Debug, Parser)]
#[command(name = "superstep", version, arg_required_else_help = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Bench(Bench),
    Inspect(Inspect),
    Probe(Probe),
    Run(run::Options),
    Soak(Soak),
    /// Let every processor say who it is.
    #[command(hide = true)]
    Hello(run::hello::Hello),
    /// Keep one core busy until standard input ends.
    #[command(hide = true)]
    Spin,
}

/// Run benchmarks next to hand-written code, by turns, and check every answer.
///
/// Each line of the table compares superstep with the best hand-written code for the same job on bare threads, measured
/// in the same run. The best of several interleaved rounds counts. The exit code is 1 if an answer was wrong; a missed
/// target does not change it.
///
/// Without a name every kernel runs, those on arrays with their smaller sizes. A kernel that is named runs with all its
/// sizes, which takes up to some minutes and 4 GB.
///
/// With --fabric mpi this command has itself launched as `superstep run` launches programs, or takes part where a
/// launcher has started it. Code on bare threads takes no part then, so most lines have no limit; the empty step is
/// held against `MPI_Allreduce`. Every process holds the whole of what a kernel works on.
///
/// With --fabric procs each of superstep's runs forks processes, and is held against threads all the same.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  superstep bench                      every kernel, with its smaller sizes
  superstep bench quicksort            one kernel, with all its sizes
  superstep bench step --rounds 20     one kernel, measured longer
  superstep bench --procs 4 --json     one JSON object per line
  superstep bench step --fabric procs  processes that are forked, beside bare threads
  superstep bench step --fabric mpi -n 4               four processes
  superstep bench step --fabric mpi -n 4 --threads 2   two processes of two threads
  superstep run -n 8 --hosts hosts superstep bench     on the hosts of a file
  superstep bench --digest --shrink 1000 -n 4          answers to compare with another fabric's
  superstep bench --costs              words and messages of the algorithms, counted")]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the command line")]
pub(crate) struct Bench {
    /// Which kernels to run; all of them unless named.
    #[arg(value_name = "KERNEL")]
    pub(crate) kernels: Vec<String>,
    /// Say which kernels there are, and stop.
    #[arg(long)]
    pub(crate) list: bool,
    /// Print one JSON object per line instead of a table.
    #[arg(long)]
    pub(crate) json: bool,
    /// Print what superstep's answers come to after one iteration, instead of times: for as many processors
    /// they are the same on every fabric.
    #[arg(long, conflicts_with = "json")]
    pub(crate) digest: bool,
    /// Count what the algorithms of the library send on 1 to 64 simulated processors, beside what their documentation
    /// says, instead of measuring.
    #[arg(long, conflicts_with_all = ["kernels", "digest", "json"])]
    pub(crate) costs: bool,
    /// Use so many processors instead of each kernel's usual numbers; under MPI two processes unless given.
    #[arg(short = 'n', long, value_name = "N", value_parser = at_least_one)]
    pub(crate) procs: Option<usize>,
    /// Take the best of so many rounds; 7 unless given, and 3 where every kernel runs.
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub(crate) rounds: Option<usize>,
    /// Let a round last so many milliseconds.
    #[arg(long, value_name = "N", default_value_t = Options::ROUND_MILLIS, value_parser = at_least_one)]
    pub(crate) round_ms: usize,
    /// Divide the sizes of the kernels on arrays by so many, for a quick look.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = at_least_one)]
    pub(crate) shrink: usize,
    /// What carries superstep's side; threads unless a launcher has started this command.
    #[arg(long, value_enum)]
    pub(crate) fabric: Option<place::Carrier>,
    #[command(flatten)]
    pub(crate) processes: Processes,
}

/// Say what is in a checkpoint or an `.npy` file, and whether it is whole.
///
/// Of a checkpoint these are its generations, the newest first, and those of subgroups that have saved in the same
/// folder. The exit code is 1 if something is damaged.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  superstep inspect saved              the generations of a checkpoint
  superstep inspect saved --verify     and whether every byte is as it was written
  superstep inspect u.npy --json       one JSON object")]
pub(crate) struct Inspect {
    /// The folder of a checkpoint, or an `.npy` file.
    #[arg(value_name = "PATH")]
    pub(crate) path: PathBuf,
    /// Read all of it, and hold it against its checksums.
    #[arg(long)]
    pub(crate) verify: bool,
    /// Print one JSON object per line instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Measure the parameters r, g and l of this machine in the BSP model.
///
/// A step in which every processor computes w operations and sends and receives at most h words takes about w/r + g h +
/// l. Here r is how fast a processor computes while all do, g the time per word of 8 bytes when all communicate at once
/// (a total exchange by put), and l the time of an empty step.
///
/// With --fabric mpi this command has itself launched as `superstep run` launches programs, or takes part where a
/// launcher has started it; with one number of processors then.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  superstep probe                      from one processor to four per core
  superstep probe --procs 1 2 8        these numbers of processors
  superstep probe --svg plot.svg       and a plot of time against h
  superstep probe --json probe.json    one JSON object per line, into a file
  superstep probe --fabric procs       processes that are forked
  superstep probe --fabric mpi -n 4                  four processes
  superstep probe --fabric mpi -n 4 --threads 2      two processes of two threads
  superstep run -n 8 --hosts hosts superstep probe   on the hosts of a file")]
pub(crate) struct Probe {
    /// Measure with so many processors; 1 to the number of cores, twice and four times that unless given. Under MPI
    /// this is one number: that of the cores unless given.
    #[arg(short = 'n', long, value_name = "N", num_args = 1.., value_parser = at_least_one)]
    pub(crate) procs: Vec<usize>,
    /// Print one JSON object per line instead of a table, or write them to a file beside it.
    #[arg(long, value_name = "FILE", num_args = 0..=1)]
    #[expect(clippy::option_option, reason = "given or not, with a file or not")]
    pub(crate) json: Option<Option<PathBuf>>,
    /// Write a plot of time against h, with the fitted lines.
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,
    /// Take the best of so many rounds.
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = at_least_one)]
    pub(crate) rounds: usize,
    /// What carries the steps; threads unless a launcher has started this command.
    #[arg(long, value_enum)]
    pub(crate) fabric: Option<run::Carrier>,
    #[command(flatten)]
    pub(crate) processes: Processes,
}

/// Run mixed programs for a long time, and see whether memory, descriptors or threads grow.
///
/// Steps, areas, queues, arrays, shared variables, groups in groups, epochs and paged arrays take turns, with several
/// numbers of processors. Every program knows its answer. The exit code is 1 if an answer was wrong, a run failed, or
/// something has grown: memory by more than 1 % from the first half of the time to the second, descriptors or threads
/// at all. With --fabric procs this is about the process that forks the others.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  superstep soak                       for a minute, on threads
  superstep soak --minutes 60 --json   for an hour; one JSON object
  superstep soak --fabric procs        processes that are forked
  superstep soak --seed 7 --procs 3    begin with this program, and use three processors")]
pub(crate) struct Soak {
    /// How long, in minutes; at least twice through all programs.
    #[arg(long, value_name = "N", default_value_t = 1.0, value_parser = minutes)]
    pub(crate) minutes: f64,
    /// What the programs' numbers begin with.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,
    /// Use so many processors; 1 to 4 in turn unless given.
    #[arg(short = 'n', long, value_name = "N", value_parser = at_least_one)]
    pub(crate) procs: Option<usize>,
    /// What carries the programs.
    #[arg(long, value_enum, default_value_t = Soaked::Threads)]
    pub(crate) fabric: Soaked,
    /// Print one JSON object instead of a table.
    #[arg(long)]
    pub(crate) json: bool,
}

/// What carries the programs of a soak.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub(crate) enum Soaked {
    /// Threads of this process.
    Threads,
    /// Processes that are forked from this one.
    Procs,
    /// Simulated processors, with another interleaving each time.
    Sim,
}

impl std::fmt::Display for Soaked {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.to_possible_value().expect("none is hidden").get_name())
    }
}

fn minutes(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number: &f64| (0.0..=1e6).contains(number));
    number.ok_or_else(|| "it must be a number of minutes".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_well_formed() {
        Args::command().debug_assert();
    }
}
