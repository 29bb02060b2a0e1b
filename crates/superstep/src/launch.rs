//! Starting processors: the only place that picks a fabric.

mod simulated;

use crate::{
    engine::{Group, Outcome},
    error::{Causes, Error, ErrorKind, Result},
    panics,
    sim::{Cost, Faults, Trace},
};
use fabric::{Circle, Failure, Limits, mpi, procs, settings, sim, threads};
use simulated::Simulated;
use std::{
    panic::{AssertUnwindSafe, Location, catch_unwind},
    sync::{Mutex, OnceLock, PoisonError},
    time::Duration,
};

/// Starts the processors on `body`, each with its view of the group of all, and returns what the lowest rank of this
/// process returned (G0).
///
/// `SUPERSTEP_PROCS` says how many there are; otherwise there is one for each core that this process may use (see
/// [`Config`]). Threads are kept, so a second run starts in microseconds.
///
/// ```
/// use superstep::Sum;
///
/// fn main() -> superstep::Result {
///     superstep::run(|world| {
///         let total = world.step(|s| s.reduce(s.rank() as u64, Sum));
///         if world.is_leader() { println!("{total}") }
///     })
/// }
/// ```
///
/// # Errors
///
/// If a setting makes no sense, if a processor panics or misuses the library, if the members of a group diverge, or if
/// the body returned an error on any processor. All processors have ended then, and the error says in one line which
/// one was first, where and why.
///
/// The line of a panic is known from a panic hook, which the first run puts before the one that is there. A program
/// that sets one of its own later should call the one that it takes ([`take_hook`](std::panic::take_hook)), or set its
/// own before the first run; else errors say "an unknown place".
///
/// A body may return a `Result`, and use `?`; see [`Outcome`]:
///
/// ```
/// fn main() -> superstep::Result {
///     # let path = std::env::temp_dir().join("superstep run");
///     # std::fs::write(&path, "12").unwrap();
///     superstep::run(|world| -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
///         let number: u64 = std::fs::read_to_string(&path)?.parse()?;
///         let sum = world.step(|s| s.reduce(number, superstep::Sum));
///         assert_eq!(sum, 12 * world.size() as u64);
///         Ok(())
///     })
/// }
/// ```
#[track_caller]
pub fn run<R: Outcome<T>, T: Send>(body: impl Fn(&mut Group) -> R + Sync) -> Result<T> {
    Config::new().run(body)
}

/// Starts the processors like [`run`], and returns what each of this process returned, by rank.
///
/// ```
/// let ranks = superstep::run_all(|world| (world.rank(), world.size())).unwrap();
/// assert_eq!(ranks.last(), Some(&(ranks.len() - 1, ranks.len())));
/// ```
#[track_caller]
pub fn run_all<R: Outcome<T>, T: Send>(body: impl Fn(&mut Group) -> R + Sync) -> Result<Vec<T>> {
    Config::new().run_all(body)
}

/// How many cores this process may use: by its affinity and by the limits of its cgroup.
///
/// ```
/// let allowed = std::thread::available_parallelism().unwrap().get();
/// assert_eq!(superstep::cores(), allowed);
/// ```
pub fn cores() -> usize {
    threads::cores()
}

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
    /// The processes that an MPI launcher has started together, with so many threads each.
    Mpi {
        /// How many processors each process has.
        threads: usize,
    },
    /// Processes that are forked from this one on this machine, and end with the run.
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
    procs: Option<usize>,
    fabric: Option<Fabric>,
    pin: Option<bool>,
    stack_bytes: Option<usize>,
    wait_notice: Option<Duration>,
    wait_limit: Option<Duration>,
    first_step: u64,
    simulated: Simulated,
}

/// The settings of the environment, read once per process because a run starts in microseconds.
#[derive(Clone, Debug)]
struct Environment {
    /// For each process under MPI.
    threads: usize,
    limits: Limits,
    /// Everything else.
    config: Config,
}

impl Environment {
    /// A bad value is an error even where a setting of the program overrides it.
    fn get() -> Result<&'static Self> {
        static READ: OnceLock<Result<Environment>> = OnceLock::new();
        READ.get_or_init(Self::read).as_ref().map_err(Clone::clone)
    }

    fn read() -> Result<Self> {
        fn one<T>(name: &'static str, wanted: &str, parse: impl FnOnce(&str) -> Option<T>) -> Result<Option<T>> {
            settings::read(name, wanted, parse).map_err(|wrong| Error::new(ErrorKind::BadConfig, wrong.to_string()))
        }
        let number = |text: &str| text.parse().ok().filter(|&number: &usize| number > 0);
        let seed = one("SUPERSTEP_SEED", "a number", |text| text.parse().ok())?.unwrap_or(0);
        let threads = one("SUPERSTEP_THREADS", "a number of threads, at least 1", number)?.unwrap_or(1);
        let fabric = |text: &str| match text {
            "threads" => Some(Fabric::Threads),
            "procs" => Some(Fabric::Procs),
            "mpi" => Some(Fabric::Mpi { threads }),
            "sim" => Some(Fabric::Sim { seed, shares_memory: false }),
            "sim-shared" => Some(Fabric::Sim { seed, shares_memory: true }),
            _ => None,
        };
        let switch = |text: &str| match text {
            "0" => Some(false),
            "1" => Some(true),
            _ => None,
        };
        let limits = Limits::from_environment().map_err(|why| Error::new(ErrorKind::BadConfig, why))?;
        let config = Config {
            procs: one("SUPERSTEP_PROCS", "a number of processors, at least 1", number)?,
            fabric: one("SUPERSTEP_FABRIC", "threads, procs, mpi, sim or sim-shared", fabric)?,
            pin: one("SUPERSTEP_PIN", "0 or 1", switch)?,
            stack_bytes: one("SUPERSTEP_STACK_BYTES", "a number of bytes, at least 1", number)?,
            simulated: Simulated::read().map_err(|wrong| Error::new(ErrorKind::BadConfig, wrong.to_string()))?,
            ..Config::default()
        };
        Ok(Self { threads, limits, config })
    }
}

/// A door for fuzzing: reads the environment again.
#[cfg(fuzzing)]
pub fn fuzz_environment() -> Result {
    Environment::read().map(|_| ())
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

    /// Pins each processor to a core: processor i to the i-th that this process may use, counted round.
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

    fn resolve(&self) -> Result<(usize, Fabric, sim::Plan, threads::Options)> {
        let environment = Environment::get()?;
        if self.procs == Some(0) {
            return Err(Error::new(ErrorKind::BadProcs, "procs is 0; a run needs at least 1 processor"));
        }
        let usual = threads::Options::default();
        let options = threads::Options {
            pin: self.pin.or(environment.config.pin).unwrap_or(usual.pin),
            stack_bytes: self.stack_bytes.or(environment.config.stack_bytes).unwrap_or(usual.stack_bytes),
            first: usual.first,
            limits: Limits {
                notice: self.wait_notice.unwrap_or(environment.limits.notice),
                most: self.wait_limit.unwrap_or(environment.limits.most),
            },
        };
        let usual = || {
            if mpi::is_launched() { Fabric::Mpi { threads: environment.threads } } else { Fabric::Threads }
        };
        let fabric = self.fabric.or(environment.config.fabric).unwrap_or_else(usual);
        let procs = self.procs.or(environment.config.procs);
        let procs = if let Fabric::Mpi { threads } = fabric {
            launched(threads, procs)?
        } else {
            procs.unwrap_or_else(threads::cores)
        };
        let plan = if let Fabric::Sim { seed, shares_memory } = fabric {
            self.simulated.plan(&environment.config.simulated, seed, shares_memory)?
        } else {
            self.simulated.refuse()?;
            sim::Plan::default()
        };
        Ok((procs, fabric, plan, options))
    }

    /// Starts the processors and returns what the lowest rank of this process returned; see [`run`].
    ///
    /// ```
    /// let rank = superstep::Config::new().procs(3).run(|g| g.rank());
    /// assert_eq!(rank.unwrap(), 0);
    /// ```
    #[track_caller]
    pub fn run<R: Outcome<T>, T: Send>(&self, body: impl Fn(&mut Group) -> R + Sync) -> Result<T> {
        let results = self.run_all(body)?;
        Ok(results.into_iter().next().expect("a run has at least one processor"))
    }

    /// Starts the processors and returns what each of this process returned, by rank; see [`run_all`].
    ///
    /// ```
    /// let squares = superstep::Config::new().procs(3).run_all(|g| g.rank() * g.rank());
    /// assert_eq!(squares.unwrap(), [0, 1, 4]);
    /// ```
    #[track_caller]
    pub fn run_all<R: Outcome<T>, T: Send>(&self, body: impl Fn(&mut Group) -> R + Sync) -> Result<Vec<T>> {
        let (procs, fabric, plan, options) = self.resolve()?;
        if threads::is_processor() {
            let message = "a run was started inside a run; split the group instead, or wait until the run has ended";
            return Err(Error::new(ErrorKind::NestedRun, message));
        }
        panics::note_places();
        let (site, causes, values) = (Location::caller(), Causes::default(), Mutex::new(Vec::new()));
        start(procs, (fabric, &plan), options, &causes, &|circle| {
            let rank = circle.rank();
            let value = be_processor(circle, &body, site, self.first_step, causes.clone())?;
            values.lock().unwrap_or_else(PoisonError::into_inner).push((rank, value));
            Ok(())
        })?;
        let mut values = values.into_inner().unwrap_or_else(PoisonError::into_inner);
        values.sort_unstable_by_key(|(rank, _)| *rank);
        Ok(values.into_iter().map(|(_, value)| value).collect())
    }
}

/// Starts the processors. It is compiled once, because four fabrics in each call of [`run`] take long to build.
fn start(
    procs: usize,
    (fabric, plan): (Fabric, &sim::Plan),
    options: threads::Options,
    causes: &Causes,
    processor: &(dyn Fn(Box<dyn Circle>) -> Result<(), Failure> + Sync),
) -> Result {
    let stack = options.stack_bytes;
    let too_many = |how: &str, why: std::io::Error| {
        let what = format!("procs is {procs}, {how} with {stack} bytes of stack each ({why})");
        Error::new(ErrorKind::BadProcs, format!("{what}; ask for fewer, or less stack"))
    };
    let no_threads = |why| too_many("for which threads cannot be started", why);
    let (results, failure) = match fabric {
        Fabric::Threads => (threads::run(procs, options, processor).map_err(no_threads)?, None),
        Fabric::Procs => {
            procs::run(procs, options, in_words, processor).map_err(|why| too_many("which cannot be forked", why))?
        }
        Fabric::Mpi { threads } => mpi::run(threads, options, in_words, processor).map_err(unable)?,
        Fabric::Sim { .. } => (sim::run(procs, plan, options, processor).map_err(no_threads)?, None),
    };
    // When one fails, all others end with the failure that was raised first, and that is the run's error.
    let failed = failure.or_else(|| results.into_iter().find_map(Result::err));
    failed.map_or(Ok(()), |failure| Err(causes.complete(failure.into())))
}

/// The number of processors that an MPI launcher has started, if it has started this process.
pub(crate) fn launched_procs() -> Option<usize> {
    let environment = Environment::get().ok()?;
    if environment.config.fabric.is_some_and(|fabric| !matches!(fabric, Fabric::Mpi { .. })) || !mpi::is_launched() {
        return None;
    }
    mpi::place().ok().map(|(_, processes)| processes.saturating_mul(environment.threads))
}

/// The sizes to try, if the environment asks for forked processes; it may also name one size.
pub(crate) fn forked_sizes(sizes: &[usize]) -> Option<Vec<usize>> {
    let environment = Environment::get().ok().filter(|it| it.config.fabric == Some(Fabric::Procs))?;
    let is_tried = |size: &usize| environment.config.procs.is_none_or(|procs| procs == *size);
    Some(sizes.iter().copied().filter(is_tried).collect())
}

/// The most threads that a process may have under MPI: more than a system has, and few enough to be counted.
const MOST_THREADS: usize = 1 << 16;

/// The number of processors under an MPI launcher; refuses if another number was asked for.
fn launched(threads: usize, asked: Option<usize>) -> Result<usize> {
    if threads == 0 {
        return Err(Error::new(ErrorKind::BadProcs, "threads is 0; a process needs at least 1 processor"));
    }
    if threads > MOST_THREADS {
        let message = format!("threads is {threads}; a process may have up to {MOST_THREADS} processors");
        return Err(Error::new(ErrorKind::BadProcs, message));
    }
    let (_, processes) = mpi::place().map_err(unable)?;
    let procs = processes.saturating_mul(threads);
    match asked {
        Some(asked) if asked != procs => {
            let message = format!(
                "procs is {asked}, but the launcher has started {processes} processes of {threads} threads; leave \
                 procs to the launcher, or change its number of processes"
            );
            Err(Error::new(ErrorKind::BadConfig, message))
        }
        _ => Ok(procs),
    }
}

fn in_words(failure: &Failure) -> String {
    Error::from(failure.clone()).to_string()
}

fn unable(why: mpi::Unable) -> Error {
    let kind = match why {
        mpi::Unable::NotLaunched | mpi::Unable::NoMpi(_) => ErrorKind::NoMpi,
        mpi::Unable::WrongLauncher(_) => ErrorKind::WrongLauncher,
        mpi::Unable::Differs(_) => ErrorKind::BuildMismatch,
        mpi::Unable::Underway => ErrorKind::NestedRun,
    };
    Error::new(kind, why.to_string())
}

/// One processor's life in a run.
fn be_processor<R: Outcome<T>, T>(
    circle: Box<dyn Circle>,
    body: &(impl Fn(&mut Group) -> R + Sync),
    site: &'static Location<'static>,
    first_step: u64,
    causes: Causes,
) -> Result<T, Failure> {
    let (alarm, rank) = (circle.alarm(), circle.rank());
    panics::forget();
    // The alarm is raised before anything of the program is dropped: that may panic, or wait for another processor.
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        let mut root = Group::root(circle, site, first_step, causes);
        let returned = body(&mut root).outcome();
        root.core().end_run(returned, R::MAY_FAIL, site)
    }));
    match outcome {
        Ok(Ok(value)) => return Ok(value),
        // Everybody has it, or the alarm was raised: nobody has to be woken.
        Ok(Err(error)) => return Err(Failure::GaveUp { rank, report: error.report() }),
        Err(payload) => {
            alarm.raise(panics::last_words(rank, &*payload));
            panics::dispose(payload);
        }
    }
    Err(alarm.raised().expect("it was raised just now, if not before"))
}
