//! How a benchmark is to be run, and how that can fail.

use crate::sample::Sample;
use std::{any::Any, fmt, io};
use superstep::{And, Config, Fabric, Group, Max};

/// Puts a foreign load on one core that lasts until what it returns is dropped.
///
/// The load must be a process of its own: a library that counts its own threads would see through anything else.
pub type Load = Box<dyn Fn() -> io::Result<Box<dyn Any>>>;

/// Which of a kernel's sizes are measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// Those that are soon done.
    Brief,
    /// All of them.
    Full,
}

impl Extent {
    /// How many rounds there are unless somebody asks for more or fewer: where every kernel runs, somebody waits.
    #[must_use]
    pub const fn rounds(self) -> usize {
        match self {
            Self::Brief => 3,
            Self::Full => 7,
        }
    }
}

/// What a halo exchange by hand needs of MPI.
#[derive(Clone, Copy, Debug)]
pub struct Halo {
    /// Which process this is.
    pub rank: fn() -> usize,
    /// Sends bytes to another process and receives as many of it.
    pub exchange: fn(usize, &[u8], &mut [u8]),
}

/// How a benchmark is to be run.
pub struct Options {
    /// How many processors; the kernel's usual numbers unless given.
    pub procs: Option<usize>,
    /// Of how many rounds the best counts.
    pub rounds: usize,
    /// How long a round should last; if that is 0, as long as one iteration does.
    pub round_seconds: f64,
    /// Which sizes the kernels on arrays have.
    pub extent: Extent,
    /// By what the sizes of the kernels on arrays are divided.
    pub shrink: usize,
    /// What carries superstep's side.
    pub fabric: Fabric,
    /// How to load a core; without it no contest under load is held.
    pub load: Option<Load>,
    /// Adds up a number of each process by MPI itself; without it no boundary is held against that.
    pub allreduce: Option<fn(u64) -> u64>,
    /// Exchanges rows by MPI itself; without it no halo exchange by hand is held against superstep's.
    pub halo: Option<Halo>,
    /// Sends three words from the first process to the second and back by MPI itself, where one is added to the first;
    /// without it no call is held against that.
    pub bounce: Option<fn([u64; 3]) -> [u64; 3]>,
}

impl Options {
    /// How long a round lasts unless somebody asks otherwise, in milliseconds.
    pub const ROUND_MILLIS: usize = 60;

    /// A configuration of superstep with so many processors.
    pub(crate) fn config(&self, procs: usize) -> Config {
        Config::new().procs(procs).fabric(self.fabric)
    }

    /// Whether superstep's side is several processes, each of which runs all of this.
    pub(crate) fn is_mpi(&self) -> bool {
        matches!(self.fabric, Fabric::Mpi { .. })
    }

    /// How many of so many processors are in one process.
    pub(crate) fn in_one_process(&self, procs: usize) -> usize {
        match self.fabric {
            Fabric::Mpi { threads } => threads,
            Fabric::Procs => 1,
            _ => procs,
        }
    }

    /// What all processes together took: they have to decide alike how to go on.
    pub(crate) fn agreed(&self, mine: Sample) -> superstep::Result<Sample> {
        if !self.is_mpi() {
            return Ok(mine);
        }
        let of_all = |g: &mut Group| g.step(|s| (s.reduce(mine.seconds, Max), s.reduce(mine.verified, And)));
        let (seconds, verified) = Config::new().fabric(self.fabric).run(of_all)?;
        Ok(Sample { seconds, verified, ..mine })
    }

    /// The longest of what a time is in all processes.
    pub(crate) fn longest(&self, seconds: f64) -> superstep::Result<f64> {
        Ok(self.agreed(Sample::by_hand(seconds, true))?.seconds)
    }

    /// The sizes to measure: of a brief and a full list the one that was asked for, each divided as asked for.
    pub(crate) fn sizes(&self, brief: &[usize], full: &[usize]) -> Vec<usize> {
        let wanted = if self.extent == Extent::Full { full } else { brief };
        wanted.iter().map(|&size| self.shrunk(size)).collect()
    }

    /// A size, divided as asked for.
    pub(crate) fn shrunk(&self, size: usize) -> usize {
        (size / self.shrink).max(1)
    }

    /// The name of the fabric that carries superstep's side.
    pub(crate) fn fabric_name(&self) -> &'static str {
        match self.fabric {
            Fabric::Threads => "threads",
            Fabric::Procs => "procs",
            Fabric::Mpi { threads: 1 } => "mpi",
            Fabric::Mpi { .. } => "mixed",
            Fabric::Sim { .. } => "sim",
            _ => "other",
        }
    }
}

impl Default for Options {
    fn default() -> Self {
        Self {
            procs: None,
            rounds: Extent::Full.rounds(),
            round_seconds: Self::ROUND_MILLIS as f64 / 1e3,
            extent: Extent::Full,
            shrink: 1,
            fabric: Fabric::Threads,
            load: None,
            allreduce: None,
            halo: None,
            bounce: None,
        }
    }
}

/// Why a benchmark could not be finished.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// A run of superstep failed.
    Run(superstep::Error),
    /// The foreign load could not be started.
    Load(io::Error),
    /// A peer could not do its work.
    Peer(String),
    /// A kernel needs more processors than it was given.
    TooFewProcs {
        /// The kernel.
        kernel: &'static str,
        /// How many it needs.
        needed: usize,
        /// How many it was given.
        given: usize,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Run(error) => write!(f, "a run failed: {error}"),
            Self::Load(error) => write!(f, "the load on one core could not be started: {error}"),
            Self::Peer(why) => f.write_str(why),
            Self::TooFewProcs { kernel, needed, given } => {
                write!(f, "{kernel} needs at least {needed} processors and was given {given}")
            }
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Run(error) => Some(error),
            Self::Load(error) => Some(error),
            Self::Peer(_) | Self::TooFewProcs { .. } => None,
        }
    }
}

impl From<superstep::Error> for Error {
    fn from(error: superstep::Error) -> Self {
        Self::Run(error)
    }
}
