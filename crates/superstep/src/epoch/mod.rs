//! Remote methods: objects, epochs and the fence.
//!
//! An epoch is the asynchronous sibling of a step. While it lasts processors send each other requests, each a method to
//! run on the receiver's representative of an [`Object`]. Requests to one processor wait in its *lane* until there are
//! enough for a *letter*; those that follow each other with the same method and object are a *run*, which has one
//! header and is worked off in one loop. Letters are taken in and requests run only while a processor is inside a call
//! of the epoch. The epoch ends when counting letters shows that none is under way; `README.md` beside this file says
//! why that is right.

mod ask;
mod book;
mod collective;
mod deed;
#[cfg(test)]
mod explorer;
mod fence;
mod lane;
mod letter;
mod object;
mod running;
mod serve;
mod state;
mod tuning;
mod verbs;
mod volatile;
mod work;

pub use ask::Answer;
pub use deed::Method;
pub(crate) use deed::{Deed, Plain};
pub use object::{Handle, Object, Target};
pub use tuning::Tuning;
pub use volatile::{Number, Volatile, VolatileArray};

use crate::{
    engine::{Core, Group, Kind, Phase},
    error::{Error, ErrorKind, Result},
    panics,
};
use state::State;
use std::{
    any::Any,
    panic::{AssertUnwindSafe, Location, catch_unwind, resume_unwind},
    rc::Rc,
};

/// An epoch, as one of its processors sees it: what remote methods are sent with.
///
/// ```
/// use superstep::{Config, Epoch, Handle};
///
/// struct Part { seen: Vec<bool> }
///
/// // Visits the vertices of a ring of 12, of which processor v % p has vertex v.
/// fn visit(part: &mut Part, e: &Epoch, (graph, v): (Handle<Part>, usize)) {
///     if std::mem::replace(&mut part.seen[v / e.size()], true) { return }
///     let next = (v + 1) % 12;
///     e.send(next % e.size(), &graph, (graph, next), visit);
/// }
///
/// let seen = Config::new().procs(3).run_all(|g| {
///     let part = g.object(Part { seen: vec![false; 4] });
///     g.epoch(|e| if e.rank() == 0 { e.send(0, &part, (part.handle(), 0), visit) });
///     part.with(|part| part.seen.iter().all(|&seen| seen))
/// });
/// assert_eq!(seen.unwrap(), [true; 3]);
/// ```
///
/// It stays on its processor:
///
/// ```compile_fail,E0277
/// superstep::run(|g| {
///     g.epoch(|e| std::thread::scope(|threads| { threads.spawn(|| e.poll()); }));
/// });
/// ```
pub struct Epoch {
    pub(crate) core: Rc<Core>,
    state: Rc<State>,
}

impl Group {
    /// Runs an epoch: `body`, then everything that it and the methods it leads to have sent. Collective.
    ///
    /// It returns when every processor has ended its body and no request is under way anywhere, however long the
    /// chains. Requests from one processor to another run in the order in which they were sent; those of different
    /// processors come in any order, so a result that depends on it may differ from run to run.
    ///
    /// ```
    /// let sums = superstep::Config::new().procs(3).run_all(|g| {
    ///     let sum = g.object(0);
    ///     g.epoch(|e| for to in 0..e.size() {
    ///         e.send(to, &sum, 10 * e.rank(), |sum, _, x| *sum += x);
    ///     });
    ///     sum.with(|sum| *sum)
    /// });
    /// assert_eq!(sums.unwrap(), [30; 3]);
    /// ```
    ///
    /// The group cannot step inside:
    ///
    /// ```compile_fail,E0500
    /// superstep::run(|g| g.epoch(|e| g.step(|_| ())));
    /// ```
    ///
    /// # Cost
    ///
    /// l at its beginning, one count of letters where nothing was sent, and two or more where something was.
    ///
    /// # Panics
    ///
    /// With the group's error, if the members diverge, if a method panics, or if methods wait for each other.
    #[track_caller]
    pub fn epoch<R>(&mut self, body: impl FnOnce(&Epoch) -> R) -> R {
        run_epoch(self.core(), Tuning::default(), body, Location::caller()).unwrap_or_else(|error| error.raise())
    }

    /// Runs an epoch with other settings.
    ///
    /// ```
    /// use superstep::{Config, Tuning};
    ///
    /// let counts = Config::new().procs(2).run_all(|g| {
    ///     let count = g.object(0);
    ///     g.epoch_with(Tuning::new().near(1 << 20, 100_000), |e| {
    ///         for _ in 0..1000 { e.send(1 - e.rank(), &count, (), |count, _, ()| *count += 1) }
    ///     });
    ///     count.with(|count| *count)
    /// });
    /// assert_eq!(counts.unwrap(), [1000; 2]);
    /// ```
    #[track_caller]
    pub fn epoch_with<R>(&mut self, tuning: Tuning, body: impl FnOnce(&Epoch) -> R) -> R {
        run_epoch(self.core(), tuning, body, Location::caller()).unwrap_or_else(|error| error.raise())
    }

    /// Runs an epoch like [`epoch_with`](Self::epoch_with), and returns the group's error if there is one. Every member
    /// gets the same error, and the group can go on; an object whose method has panicked cannot be used any more.
    ///
    /// ```
    /// use superstep::{Config, ErrorKind, Tuning};
    ///
    /// let kinds = Config::new().procs(2).run_all(|g| {
    ///     let object = g.object(());
    ///     let error = g.try_epoch(Tuning::new(), |e| {
    ///         if e.rank() == 0 { e.send(1, &object, 5, |_, _, x| assert_eq!(x, 6)) }
    ///     });
    ///     g.step(|_| ());
    ///     error.unwrap_err().kind()
    /// });
    /// assert_eq!(kinds.unwrap(), [ErrorKind::RemotePanic; 2]);
    /// ```
    #[track_caller]
    pub fn try_epoch<R>(&mut self, tuning: Tuning, body: impl FnOnce(&Epoch) -> R) -> Result<R> {
        run_epoch(self.core(), tuning, body, Location::caller())
    }
}

fn run_epoch<R>(
    core: &Rc<Core>,
    tuning: Tuning,
    body: impl FnOnce(&Epoch) -> R,
    site: &'static Location<'static>,
) -> Result<R> {
    core.begin(site, Phase::Step);
    core.boundary(Kind::Epoch)?;
    core.phase.set(Phase::Epoch);
    core.go_to(", in the epoch", site);
    let state = State::of(core);
    state.begin(tuning);
    let epoch = Epoch { core: Rc::clone(core), state };
    let ended = catch_unwind(AssertUnwindSafe(|| body(&epoch)));
    let outcome = match ended {
        Ok(result) => epoch.fence().map(|()| result),
        Err(payload) => epoch.unwound(payload),
    };
    core.phase.set(Phase::Between);
    core.go_to("", site);
    outcome
}

impl Epoch {
    /// Goes on where the body did not end well.
    fn unwound<R>(&self, payload: Box<dyn Any + Send>) -> Result<R> {
        // Where a method has failed, here or elsewhere, all others hear of it at the end. So they do where nobody could
        // go on; then nothing is under way.
        if self.state.failure.borrow().is_none() {
            // The others must not wait for this processor, even if the program catches the panic above.
            self.core.circle.borrow().alarm().raise(panics::last_words(self.core.processor, &*payload));
            resume_unwind(payload)
        }
        match self.fence() {
            Err(error) => {
                panics::dispose(payload);
                Err(error)
            }
            Ok(()) => resume_unwind(payload),
        }
    }

    /// An error that says in which epoch it happened.
    #[cold]
    fn error(&self, kind: ErrorKind, what: &str) -> Error {
        self.core.error(kind, what, self.core.site.get())
    }
}

impl std::fmt::Debug for Epoch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Epoch(rank {} of {})", self.state.rank, self.state.size)
    }
}
