//! What the command line of `superstep run` says.

use super::plan::Carrier;
use crate::number::at_least_one;
use std::{ffi::OsString, path::PathBuf};

/// Run a program on so many processors: as threads or processes here, or as processes under Slurm, Open MPI or MPICH.
///
/// With --fabric mpi the launcher is srun in a Slurm job, else Open MPI's mpirun, else MPICH's mpiexec; it starts a
/// process for each processor, or for every T of them with --threads T. With --fabric threads the program is started
/// itself, and its processors are threads; with --fabric procs it forks them. If none is named, MPI is used if there is
/// a launcher, and threads if not.
///
/// With --restart a program that ends because a process was lost is started again. It finds in `SUPERSTEP_RESTARTS` how
/// often it was, and goes on where its checkpoint is; see `superstep::guide::checkpoints`.
///
/// SIGINT, SIGTERM, SIGHUP and SIGUSR1 are passed on. The exit code is the program's or the launcher's; if a signal
/// ended it, it is 128 plus the signal.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  superstep run -n 4 ./sort data               four processors, by MPI if it is there
  superstep run -n 4 --fabric threads ./sort   four threads of one process
  superstep run -n 4 --fabric procs ./sort     four processes that the program forks
  superstep run -n 8 --threads 4 ./sort        two processes of four threads
  superstep run -n 8 --hosts hosts ./sort      on the hosts of a file, of lines such as: node1 slots=4
  superstep run -n 2 -v --prefix ./sort        show the launcher's command line, and who wrote what
  superstep run -n 8 --restart 3 ./sort        begin again, up to three times, if a process is lost

Variables whose names begin with SUPERSTEP_ reach every process, as do LD_LIBRARY_PATH and RUST_BACKTRACE.
SUPERSTEP_LAUNCHER, SUPERSTEP_FABRIC and SUPERSTEP_THREADS stand for options that are not given. If Slurm has to be
told which MPI it starts, set SLURM_MPI_TYPE, to pmix or pmi2 for example.")]
pub(crate) struct Options {
    /// Use so many processors in all.
    #[arg(short = 'n', long, value_name = "P", value_parser = at_least_one)]
    pub(super) procs: usize,
    /// Let each process have so many of them as threads, instead of one; P must be divisible by it.
    #[arg(long, value_name = "T", value_parser = at_least_one)]
    pub(super) threads: Option<usize>,
    /// Start processes on the hosts in this file; its lines are `HOST slots=N` for up to N processes, and # comments.
    #[arg(long, value_name = "FILE")]
    pub(super) hosts: Option<PathBuf>,
    /// What carries the program.
    #[arg(long, value_enum)]
    pub(super) fabric: Option<Carrier>,
    /// Use this launcher, whichever of the three kinds it is.
    #[arg(long, value_name = "PATH")]
    pub(super) launcher: Option<OsString>,
    /// Begin each line of output with the process that wrote it, as [0]; threads of one process have no such number.
    #[arg(long)]
    pub(super) prefix: bool,
    /// Show the command line that is started, so that it can be pasted into a shell.
    #[arg(short, long)]
    pub(super) verbose: bool,
    /// Start the program again, at most so many times, if it ends because a process was lost.
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub(super) restart: Option<usize>,
    /// Have one process less each time it is started again.
    #[arg(long, requires = "restart")]
    pub(super) shrink: bool,
    /// The program and its arguments.
    #[arg(required = true, value_name = "PROGRAM", trailing_var_arg = true, allow_hyphen_values = true)]
    pub(super) program: Vec<OsString>,
}
