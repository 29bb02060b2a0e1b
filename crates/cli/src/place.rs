//! Where a measurement takes place: in this process, or in those of an MPI launcher.
//!
//! 1. A process that a launcher has started takes part with all others, whose measurement is one and the same.
//! 2. Where MPI is asked for and nobody has started any, this command is started again, by a launcher and with the same
//!    arguments. What is started so is told, and starts nothing in its turn, even if it does not know its launcher.
//! 3. Of several processes the first alone speaks; all of them end alike.

use crate::{failure::Failure, number::at_least_one, paint::Paint, run};
use clap::ValueEnum;
use fabric::mpi;
use std::{
    io::{self, Write},
    process::ExitCode,
    time::Duration,
};
use superstep::Fabric;

/// What carries superstep's side of a benchmark.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Carrier {
    /// Threads of this process.
    Threads,
    /// Processes that are forked from this one.
    Procs,
    /// Processes that an MPI launcher starts.
    Mpi,
    /// Simulated processors that take turns and speak by messages; for looking at costs, not for speed.
    Sim,
}

impl From<run::Carrier> for Carrier {
    fn from(carrier: run::Carrier) -> Self {
        match carrier {
            run::Carrier::Threads => Self::Threads,
            run::Carrier::Procs => Self::Procs,
            run::Carrier::Mpi => Self::Mpi,
        }
    }
}

/// How it is under MPI.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(crate) struct Processes {
    /// Under MPI let each process have so many processors as threads, instead of one; N must be divisible by it.
    #[arg(long, value_name = "T", value_parser = at_least_one)]
    pub(crate) threads: Option<usize>,
    /// Says that this command has had itself launched.
    #[arg(long, hide = true)]
    pub(crate) again: bool,
}

/// What the command line asks for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asked {
    pub(crate) fabric: Option<Carrier>,
    pub(crate) procs: Option<usize>,
    pub(crate) processes: Processes,
    /// How many processors to launch unless that is said, with so many in each process.
    pub(crate) usual: fn(usize) -> usize,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub(crate) fabric: Fabric,
    /// How many processors; under MPI it is always said.
    pub(crate) procs: Option<usize>,
    /// Whether this process speaks for all.
    pub(crate) speaks: bool,
    /// Whether it is this process that measures.
    is_here: bool,
}

impl Place {
    pub(crate) fn find(asked: &Asked) -> Result<Self, Failure> {
        let usual = if mpi::is_launched() { Carrier::Mpi } else { Carrier::Threads };
        let fabric = match asked.fabric.unwrap_or(usual) {
            Carrier::Mpi => return Self::under_mpi(asked),
            Carrier::Threads => Fabric::Threads,
            Carrier::Procs => Fabric::Procs,
            Carrier::Sim => Fabric::Sim { seed: 0, shares_memory: false },
        };
        if let Some(threads) = asked.processes.threads {
            return Err(Failure::Usage(format!("--threads {threads} is for processes of MPI; add --fabric mpi")));
        }
        Ok(Self { fabric, procs: asked.procs, speaks: true, is_here: true })
    }

    fn under_mpi(asked: &Asked) -> Result<Self, Failure> {
        let threads = run::threads(asked.processes.threads)?;
        let fabric = Fabric::Mpi { threads };
        if !mpi::is_launched() && !asked.processes.again {
            let procs = Some(asked.procs.unwrap_or_else(|| (asked.usual)(threads)));
            return Ok(Self { fabric, procs, speaks: true, is_here: false });
        }
        let (process, processes) = mpi::place().map_err(Failure::failed)?;
        let procs = processes.saturating_mul(threads);
        let place = Self { fabric, procs: Some(procs), speaks: process == 0, is_here: true };
        match asked.procs.filter(|&asked| asked != procs) {
            None => Ok(place),
            Some(asked) => place.end(Err(Failure::Usage(format!(
                "--procs is {asked}, but the launcher has started {processes} processes with --threads {threads}; \
                 leave --procs out"
            )))),
        }
    }

    /// How many processors each process has, under MPI.
    pub(crate) fn threads(&self) -> Option<usize> {
        if let Fabric::Mpi { threads } = self.fabric { Some(threads) } else { None }
    }

    /// How long it took to start, under MPI: `MPI_Init`, and everything else.
    pub(crate) fn start_up(&self) -> Option<(Duration, Duration)> {
        self.threads().and_then(|_| mpi::start_up().ok())
    }

    /// Starts this command again if it has to measure elsewhere, and returns how that ended.
    pub(crate) fn elsewhere(&self) -> Option<Result<ExitCode, Failure>> {
        let (procs, threads) = self.procs.zip(self.threads()).filter(|_| !self.is_here)?;
        Some(run::again(procs, threads))
    }

    /// What comes of it, for this process.
    pub(crate) fn end<R>(&self, outcome: Result<R, Failure>) -> Result<R, Failure> {
        outcome.map_err(|failure| if self.speaks { failure } else { Failure::Told(failure.code()) })
    }

    /// Where to write to.
    pub(crate) fn output(&self) -> Box<dyn Write> {
        if self.speaks { Box::new(io::stdout().lock()) } else { Box::new(io::sink()) }
    }

    /// Launchers read output through what looks like a terminal and is none.
    pub(crate) fn paint(&self) -> Paint {
        if self.threads().is_some() { Paint::none() } else { Paint::for_stdout() }
    }
}
