//! Starting processors: the only place that picks a fabric.

mod config;
mod environment;
mod resolve;
mod simulated;

pub use config::{Check, Config, Fabric};
#[cfg(fuzzing)]
pub use environment::fuzz_environment;
pub(crate) use environment::{forked_sizes, launched_procs};

use crate::{
    engine::{Group, Outcome},
    error::{BoxError, Causes, Error, ErrorKind, Result},
    panics,
};
use fabric::{Circle, Failure, mpi, procs, sim, threads};
use resolve::unable;
use std::{
    io,
    panic::{AssertUnwindSafe, Location, catch_unwind},
    sync::{Mutex, PoisonError},
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

impl Config {
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
        let returned = Mutex::new((Vec::new(), Vec::new()));
        self.run_each(R::MAY_FAIL, Location::caller(), &|root, end| {
            let (rank, outcome) = (root.rank(), body(root).outcome());
            let (outcome, value) = outcome.map_or_else(|error| (Err(error), None), |value| (Ok(()), Some(value)));
            end(root, outcome)?;
            let (ranks, values) = &mut *returned.lock().unwrap_or_else(PoisonError::into_inner);
            let at = ranks.partition_point(|&other| other < rank);
            ranks.insert(at, rank);
            values.insert(at, value.expect("what did not end with an error has returned a value"));
            Ok(())
        })?;
        Ok(returned.into_inner().unwrap_or_else(PoisonError::into_inner).1)
    }

    /// Runs `body` on each processor. Like all below, it is compiled once, and not for each call of [`run`].
    fn run_each(&self, may_fail: bool, site: &'static Location<'static>, body: Body<'_>) -> Result {
        let (procs, fabric, plan, options) = self.resolve()?;
        let watches = self.watches()?;
        if threads::is_processor() {
            let message = "a run was started inside a run; split the group instead, or wait until the run has ended";
            return Err(Error::new(ErrorKind::NestedRun, message));
        }
        panics::note_places();
        let (causes, first_step) = (Causes::default(), self.first_step);
        let outcome = start(procs, (fabric, &plan), options, &causes, &|circle| {
            be_processor(circle, (body, may_fail), site, (first_step, watches), causes.clone())
        });
        outcome.inspect_err(note_loss)
    }
}

/// Tells `superstep run --restart` that this run has lost a process.
fn note_loss(error: &Error) {
    if error.kind() == ErrorKind::PeerLost
        && let Some(path) = std::env::var_os("SUPERSTEP_LOSS_NOTE")
    {
        // Whoever asked for it also goes by how the processes end.
        let _ = std::fs::write(path, "lost\n");
    }
}

/// What a processor does: it works on the group, and ends it with what came of that.
type Body<'a> = &'a (dyn Fn(&mut Group, End<'_>) -> Result + Sync);

/// Ends the root group of a processor whose body has returned this.
type End<'a> = &'a dyn Fn(&mut Group, Result<(), BoxError>) -> Result;

/// Starts the processors.
fn start(
    procs: usize,
    (fabric, plan): (Fabric, &sim::Plan),
    options: threads::Options,
    causes: &Causes,
    processor: &(dyn Fn(Box<dyn Circle>) -> Result<(), Failure> + Sync),
) -> Result {
    let stack = options.stack_bytes;
    let too_many = |how: &str, why: io::Error| {
        let what = format!("procs is {procs}, {how} with {stack} bytes of stack each ({why})");
        Error::new(ErrorKind::BadProcs, format!("{what}; ask for fewer, or less stack"))
    };
    let no_threads = |why| too_many("for which threads cannot be started", why);
    let (results, failure) = match fabric {
        Fabric::Threads => (threads::run(procs, options, processor).map_err(no_threads)?, None),
        Fabric::Procs => procs::run(procs, options, in_words, processor).map_err(|why| match why.kind() {
            io::ErrorKind::Unsupported => Error::new(ErrorKind::BadConfig, format!("{why}; use threads")),
            _ => too_many("which cannot be forked", why),
        })?,
        Fabric::Mpi { threads } => mpi::run(threads, options, in_words, processor).map_err(unable)?,
        Fabric::Sim { .. } => (sim::run(procs, plan, options, processor).map_err(no_threads)?, None),
    };
    // When one fails, all others end with the failure that was raised first, and that is the run's error.
    let failed = failure.or_else(|| results.into_iter().find_map(Result::err));
    failed.map_or(Ok(()), |failure| Err(causes.complete(failure.into())))
}

fn in_words(failure: &Failure) -> String {
    Error::from(failure.clone()).to_string()
}

/// One processor's life in a run.
fn be_processor(
    circle: Box<dyn Circle>,
    (body, may_fail): (Body<'_>, bool),
    site: &'static Location<'static>,
    (first_step, watches): (u64, bool),
    causes: Causes,
) -> Result<(), Failure> {
    let (alarm, rank) = (circle.alarm(), circle.rank());
    panics::forget();
    // The alarm is raised before anything of the program is dropped: that may panic, or wait for another processor.
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        let mut root = Group::root(circle, site, first_step, causes);
        if watches {
            root.core().watch();
        }
        body(&mut root, &|root, returned| root.core().end_run(returned, may_fail, site))
    }));
    match outcome {
        Ok(Ok(())) => return Ok(()),
        // Everybody has it, or the alarm was raised: nobody has to be woken.
        Ok(Err(error)) => return Err(Failure::GaveUp { rank, report: error.report() }),
        Err(payload) => {
            alarm.raise(panics::last_words(rank, &*payload));
            panics::dispose(payload);
        }
    }
    Err(alarm.raised().expect("it was raised just now, if not before"))
}
