//! What a run is carried by, and its settings.

use super::simulated::Simulated;
use crate::{
    error::{Error, ErrorKind, Result},
    sim::{Cost, Faults, Trace},
};
use std::{
    fmt::{self, Display, Formatter},
    str::FromStr,
    time::Duration,
};

/// What carries a run.
///
/// ```
/// use superstep::{Config, Fabric, Sum};
///
/// let sum = |fabric| Config::new().procs(3).fabric(fabric).run(|g| g.step(|s| s.reduce(0.1 * s.rank() as f64, Sum)));
/// let simulated = Fabric::Sim { seed: 7, shares_memory: false };
/// assert_eq!(sum(simulated).unwrap().to_bits(), sum(Fabric::Threads).unwrap().to_bits());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fabric {
    /// Threads of this process.
    Threads,
    /// The processes that an MPI launcher has started together, with so many threads each. On Windows they are refused
    /// with [`ErrorKind::NoMpi`](crate::ErrorKind::NoMpi).
    Mpi {
        /// How many processors each process has.
        threads: usize,
    },
    /// Processes that are forked from this one on this machine, and end with the run. They need Linux; elsewhere they
    /// are refused with [`ErrorKind::BadConfig`](crate::ErrorKind::BadConfig).
    ///
    /// Each has its own copy of all memory, so a program may have globals and libraries that are not made for threads.
    /// What processors write to variables outside of the run is seen by nobody else, and a run returns what processor 0
    /// returned: this process is processor 0, and goes on alone. [`run_all`](Config::run_all) returns that one result.
    /// If a process is killed or ends itself, the run ends with an error, and nobody is left.
    ///
    /// The other processes do not have the threads that the program has started, and what those threads have locked
    /// stays locked. So such a program should call this before it starts them. That holds for runs from several
    /// threads at once as well: where one of them panics with a backtrace while another forks, the forked processes
    /// may wait for ever for a lock of the standard library.
    ///
    /// ```
    /// use std::process;
    /// use superstep::{Config, Fabric};
    ///
    /// let config = Config::new().procs(3).fabric(Fabric::Procs);
    /// let mut ids = config.run(|g| g.step(|s| s.collect(process::id()))).unwrap();
    /// assert_eq!(ids[0], process::id());
    /// ids.dedup();
    /// assert_eq!(ids.len(), 3);
    ///
    /// let error = config.run(|g| if g.rank() == 2 { process::abort() } else { g.step(|_| ()) }).unwrap_err();
    /// assert_eq!(error.to_string(), "process 2 was killed by signal 6");
    /// ```
    Procs,
    /// Processors that take turns in an order that the seed decides; for tests, and to [predict](crate::sim).
    Sim {
        /// Decides the order. The same seed gives the same order.
        seed: u64,
        /// Whether they share memory as threads do, or exchange packets alone as on a cluster.
        shares_memory: bool,
    },
}
/// As `SUPERSTEP_FABRIC` has it, with the seed or the number of threads after a colon: `sim:7`, `mpi:2`.
///
/// ```
/// use superstep::Fabric;
///
/// for fabric in [Fabric::Procs, Fabric::Mpi { threads: 2 }, Fabric::Sim { seed: 7, shares_memory: true }] {
///     assert_eq!(fabric.to_string().parse(), Ok(fabric));
/// }
/// assert_eq!("sim".parse(), Ok(Fabric::Sim { seed: 0, shares_memory: false }));
/// assert_eq!("cloud".parse::<Fabric>().unwrap_err().kind(), superstep::ErrorKind::BadConfig);
/// ```
impl FromStr for Fabric {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let (name, number) = text.split_once(':').map_or((text, None), |(name, number)| (name, Some(number)));
        let seed = number.map_or(Some(0), |number| number.parse().ok());
        let threads = number.map_or(Some(1), |number| number.parse().ok());
        let fabric = match name {
            "threads" if number.is_none() => Some(Self::Threads),
            "procs" if number.is_none() => Some(Self::Procs),
            "mpi" => threads.map(|threads| Self::Mpi { threads }),
            "sim" | "sim-shared" => seed.map(|seed| Self::Sim { seed, shares_memory: name == "sim-shared" }),
            _ => None,
        };
        fabric.ok_or_else(|| {
            let message = format!("no fabric is called {text:?}; there are threads, procs, mpi, sim and sim-shared");
            Error::new(ErrorKind::BadConfig, message)
        })
    }
}

impl Display for Fabric {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Threads => f.write_str("threads"),
            Self::Procs => f.write_str("procs"),
            Self::Mpi { threads } => write!(f, "mpi:{threads}"),
            Self::Sim { seed, shares_memory: false } => write!(f, "sim:{seed}"),
            Self::Sim { seed, shares_memory: true } => write!(f, "sim-shared:{seed}"),
        }
    }
}

/// What a run looks for besides doing its work.
///
/// ```
/// use superstep::{Block, Check, Config, ErrorKind};
///
/// let race = |check| Config::new().procs(2).check(check).run(|g| {
///     let a = g.array::<usize, Block>(4);
///     g.step(|s| s.update(&a, 3..4, &[s.rank()]));
/// });
/// assert!(race(Check::None).is_ok());
/// assert_eq!(race(Check::Conflicts).unwrap_err().kind(), ErrorKind::Conflict);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Check {
    /// Nothing.
    #[default]
    None,
    /// Members of a group whose calls in one step get in each other's way; the [guide](crate::guide::checks) says which
    /// do.
    Conflicts,
}

/// The settings of a run. What is set here wins over the environment; what is set in neither is found out.
///
/// | setting | variable | unless set |
/// |---|---|---|
/// | [`procs`](Self::procs) | `SUPERSTEP_PROCS` | the cores that this process may use |
/// | [`fabric`](Self::fabric) | `SUPERSTEP_FABRIC`: `threads`, `procs`, `mpi`, `sim` or `sim-shared`; the seed is
/// `SUPERSTEP_SEED` | MPI if a launcher of MPI has started this process, else threads |
/// | the threads of [`Fabric::Mpi`] | `SUPERSTEP_THREADS` | 1 |
/// | [`pin`](Self::pin) | `SUPERSTEP_PIN`: `0` or `1` | not pinned |
/// | [`stack_bytes`](Self::stack_bytes) | `SUPERSTEP_STACK_BYTES` | 64 MiB |
/// | [`wait_notice`](Self::wait_notice) | `SUPERSTEP_WAIT_NOTICE`: seconds, 0 is off | 10 s |
/// | [`wait_limit`](Self::wait_limit) | `SUPERSTEP_WAIT_LIMIT`: seconds, 0 is off | off |
/// | [`check`](Self::check) | `SUPERSTEP_CHECK`: `none` or `conflicts` | none |
/// | [`faults`](Self::faults) of the simulator | `SUPERSTEP_SIM_FAULTS`: names with commas between | none |
/// | [`cost`](Self::cost) of its machine | `SUPERSTEP_SIM_COST`: r,g,l in Mflop/s, ns and us | 1000,10,10 |
/// | [`trace`](Self::trace) of what it does | `SUPERSTEP_SIM_TRACE`: `0` or `1`, printed | none |
///
/// ```
/// use superstep::{Config, Sum};
///
/// let sum = Config::new().procs(4).run(|g| g.step(|s| s.reduce(1, Sum))).unwrap();
/// assert_eq!(sum, 4);
/// ```
#[derive(Clone, Debug, Default)]
#[must_use = "settings do nothing until `run` is called"]
pub struct Config {
    pub(super) procs: Option<usize>,
    pub(super) fabric: Option<Fabric>,
    pub(super) pin: Option<bool>,
    pub(super) stack_bytes: Option<usize>,
    pub(super) wait_notice: Option<Duration>,
    pub(super) wait_limit: Option<Duration>,
    pub(super) check: Option<Check>,
    pub(super) first_step: u64,
    pub(super) simulated: Simulated,
}
impl Config {
    /// No settings: everything comes from the environment or is found out.
    ///
    /// ```
    /// let sizes = superstep::Config::new().run_all(|g| g.size()).unwrap();
    /// assert_eq!(sizes, vec![sizes.len(); sizes.len()]);
    /// ```
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the number of processors. There may be more than cores.
    ///
    /// ```
    /// let size = superstep::Config::new().procs(20).run(|g| g.size());
    /// assert_eq!(size.unwrap(), 20);
    /// ```
    pub fn procs(mut self, procs: usize) -> Self {
        self.procs = Some(procs);
        self
    }

    /// Sets what carries the run.
    ///
    /// ```
    /// use superstep::{Config, Fabric};
    ///
    /// let fabric = Fabric::Sim { seed: 1, shares_memory: true };
    /// let ranks = Config::new().procs(2).fabric(fabric).run_all(|g| g.rank());
    /// assert_eq!(ranks.unwrap(), [0, 1]);
    /// ```
    pub fn fabric(mut self, fabric: Fabric) -> Self {
        self.fabric = Some(fabric);
        self
    }

    /// Pins each processor to a core: processor i to the i-th that this process may use, counted round. On macOS and
    /// Windows, where nobody can choose a core, this does nothing.
    ///
    /// ```
    /// let ranks = superstep::Config::new().procs(2).pin(true).run_all(|g| g.rank());
    /// assert_eq!(ranks.unwrap(), [0, 1]);
    /// ```
    pub fn pin(mut self, pin: bool) -> Self {
        self.pin = Some(pin);
        self
    }

    /// Sets how much stack each processor has. Memory is taken only as it is used.
    ///
    /// ```
    /// let ranks = superstep::Config::new().procs(2).stack_bytes(1 << 20).run_all(|g| g.rank());
    /// assert_eq!(ranks.unwrap(), [0, 1]);
    /// ```
    pub fn stack_bytes(mut self, stack_bytes: usize) -> Self {
        self.stack_bytes = Some(stack_bytes);
        self
    }

    /// Sets how long a wait may last before a line on standard error reports it: which processor waits where, for which
    /// one, and where that was last seen. Each further report comes after twice the time. Zero turns reports off.
    ///
    /// A failed run that cannot end because one of its threads still computes is reported after the same time.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// let size = superstep::Config::new().procs(2).wait_notice(Duration::from_secs(60)).run(|g| g.size());
    /// assert_eq!(size.unwrap(), 2);
    /// ```
    pub fn wait_notice(mut self, after: Duration) -> Self {
        self.wait_notice = Some(after);
        self
    }

    /// Sets how long a wait may last before the run fails with [`ErrorKind::Stalled`], which says the same as the line
    /// of [`wait_notice`](Self::wait_notice). Zero, which is the default, means for ever.
    ///
    /// If the processor that is waited for is a process, it is ended. A thread cannot be ended: if it has not come back
    /// after the same time again, the program exits with the error and code 1. So it does where a run has failed for
    /// any other reason.
    ///
    /// ```
    /// use std::{sync::atomic::{AtomicBool, Ordering}, thread, time::Duration};
    /// use superstep::ErrorKind;
    ///
    /// let has_failed = AtomicBool::new(false);
    /// let error = superstep::Config::new().procs(2).wait_limit(Duration::from_millis(100)).run(|g| {
    ///     if g.is_leader() {
    ///         let error = g.try_step(|_| ()).unwrap_err();
    ///         has_failed.store(true, Ordering::Release);
    ///         assert_eq!(error.kind(), ErrorKind::Stalled);
    ///     }
    ///     // The other one is elsewhere until it is missed.
    ///     while !has_failed.load(Ordering::Acquire) {
    ///         thread::yield_now();
    ///     }
    /// });
    /// assert_eq!(error.unwrap_err().kind(), ErrorKind::Stalled);
    /// ```
    pub fn wait_limit(mut self, after: Duration) -> Self {
        self.wait_limit = Some(after);
        self
    }

    /// Sets what the run looks for. With [`Check::Conflicts`] a step fails on all members of its group, and leaves all
    /// data as it was, if two of them write one element without an operator, or if one of them writes without a copy
    /// what is read. The error names both with their lines; the [guide](crate::guide::checks) says more.
    ///
    /// ```
    /// use superstep::{Check, Config};
    ///
    /// let error = Config::new().procs(3).check(Check::Conflicts).run(|g| {
    ///     let area = g.area::<u8>(4);
    ///     g.step(|s| s.put(0, &[7, 8], &area, s.rank()));
    /// });
    /// let text = error.unwrap_err().to_string();
    /// assert!(text.starts_with("step 1 of group 0: element 1 of what rank 0 has of the area of u8"));
    /// assert!(text.contains("was written by rank 0") && text.contains("by rank 1"));
    /// ```
    ///
    /// All processes of a run must look for the same; if they do not, its first step fails. A run that looks for
    /// nothing costs nothing more. One that looks for conflicts takes one more meeting for each step that writes, and
    /// about three times as long where steps are many puts of one word.
    pub fn check(mut self, check: Check) -> Self {
        self.check = Some(check);
        self
    }

    /// Sets what goes wrong in a run on [`Fabric::Sim`]: [`sim`](crate::sim) says what becomes of it.
    ///
    /// ```
    /// use superstep::{Config, Fabric, Sum, sim::Faults};
    ///
    /// let fabric = Fabric::Sim { seed: 3, shares_memory: true };
    /// let config = Config::new().procs(3).fabric(fabric).faults(Faults::DELAY | Faults::STALL);
    /// assert_eq!(config.run(|g| g.step(|s| s.reduce(1, Sum))), Ok(3));
    /// ```
    pub fn faults(mut self, faults: Faults) -> Self {
        self.simulated.faults = Some(faults);
        self
    }

    /// Sets how time passes on [`Fabric::Sim`]: its clock then predicts a run.
    ///
    /// ```
    /// use superstep::{Config, Fabric, sim::{Cost, Trace}};
    ///
    /// let (trace, cost) = (Trace::new(), Cost { l_us: 7.0, ..Cost::default() });
    /// let fabric = Fabric::Sim { seed: 3, shares_memory: false };
    /// Config::new().procs(3).fabric(fabric).cost(cost).trace(&trace).run(|g| g.step(|_| ())).unwrap();
    /// assert!((trace.seconds() - 14e-6).abs() < 1e-12);        // the step, and the end of the run
    /// ```
    pub fn cost(mut self, cost: Cost) -> Self {
        self.simulated.cost = Some(cost);
        self
    }

    /// Keeps what happens in a run on [`Fabric::Sim`] in `trace`.
    ///
    /// ```
    /// use superstep::{Config, Fabric, sim::Trace};
    ///
    /// let trace = Trace::new();
    /// let fabric = Fabric::Sim { seed: 3, shares_memory: false };
    /// Config::new().procs(2).fabric(fabric).trace(&trace).run(|g| g.step(|_| ())).unwrap();
    /// assert!(trace.text().contains("processor 1 meets 1 others in step 0 of group 0"));
    /// ```
    pub fn trace(mut self, trace: &Trace) -> Self {
        self.simulated.trace = Some(trace.clone());
        self
    }

    /// Sets the number of the root group's first step, so that a test can see the counter wrap round.
    #[doc(hidden)]
    pub fn first_step(mut self, first_step: u64) -> Self {
        self.first_step = first_step;
        self
    }
}
