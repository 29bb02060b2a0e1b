//! Entering an epoch, and leaving it.

use super::{state::Epoch, tuning::Tuning};
use crate::{
    engine::{Core, Group, Occasion, Phase},
    error::Result,
    panics,
};
use std::{
    any::Any,
    panic::{AssertUnwindSafe, Location, catch_unwind, resume_unwind},
    rc::Rc,
};

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

    /// Runs an epoch like [`epoch`](Self::epoch), and returns the group's error if there is one. Every member gets the
    /// same error, and the group can go on; an object whose method has panicked cannot be used any more.
    ///
    /// ```
    /// use superstep::{Config, ErrorKind};
    ///
    /// let kinds = Config::new().procs(2).run_all(|g| {
    ///     let object = g.object(());
    ///     let error = g.try_epoch(|e| {
    ///         if e.rank() == 0 { e.send(1, &object, 5, |_, _, x| assert_eq!(x, 6)) }
    ///     });
    ///     g.step(|_| ());
    ///     error.unwrap_err().kind()
    /// });
    /// assert_eq!(kinds.unwrap(), [ErrorKind::RemotePanic; 2]);
    /// ```
    #[track_caller]
    pub fn try_epoch<R>(&mut self, body: impl FnOnce(&Epoch) -> R) -> Result<R> {
        run_epoch(self.core(), Tuning::default(), body, Location::caller())
    }

    /// Runs an epoch like [`epoch_with`](Self::epoch_with), and returns the group's error if there is one.
    ///
    /// ```
    /// use superstep::{Config, ErrorKind, Tuning};
    ///
    /// let error = Config::new().procs(2).run(|g| {
    ///     let object = g.object(());
    ///     g.try_epoch_with(Tuning::new().nesting(2), |e| {
    ///         if e.rank() == 0 { e.send(1, &object, (), |_, _, ()| panic!("no")) }
    ///     })
    /// });
    /// assert_eq!(error.unwrap_err().kind(), ErrorKind::RemotePanic);
    /// ```
    #[track_caller]
    pub fn try_epoch_with<R>(&mut self, tuning: Tuning, body: impl FnOnce(&Epoch) -> R) -> Result<R> {
        run_epoch(self.core(), tuning, body, Location::caller())
    }
}

const BEGINNING: Occasion = Occasion::new("epoch");

fn run_epoch<R>(
    core: &Rc<Core>,
    tuning: Tuning,
    body: impl FnOnce(&Epoch) -> R,
    site: &'static Location<'static>,
) -> Result<R> {
    core.begin(site, Phase::Step);
    core.boundary(&BEGINNING)?;
    core.set_phase(Phase::Epoch);
    core.go_to(", in the epoch", site);
    // What the epoch before has left is dropped now, which runs code of the program.
    let epoch = match catch_unwind(AssertUnwindSafe(|| Epoch::begin(core, tuning))) {
        Ok(epoch) => epoch,
        Err(payload) => end_run(core, payload),
    };
    let ended = catch_unwind(AssertUnwindSafe(|| body(&epoch)));
    let outcome = match ended {
        Ok(result) => epoch.fence().map(|()| result),
        Err(payload) => epoch.unwound(payload),
    };
    core.set_phase(Phase::Between);
    core.go_to("", site);
    outcome
}

/// Goes on with a panic that ends the run.
#[cold]
fn end_run(core: &Core, payload: Box<dyn Any + Send>) -> ! {
    // The others must not wait for this processor, even if the program catches the panic above.
    core.wire.circle().alarm().raise(panics::last_words(core.processor, &*payload));
    resume_unwind(payload)
}

impl Epoch {
    /// Goes on where the body did not end well.
    fn unwound<R>(&self, payload: Box<dyn Any + Send>) -> Result<R> {
        // Where a method has failed, here or elsewhere, all others hear of it at the end. So they do where nobody could
        // go on; then nothing is under way.
        if !self.trouble.is_known() {
            end_run(&self.core, payload);
        }
        match self.fence() {
            Err(error) => {
                panics::dispose(payload);
                Err(error)
            }
            Ok(()) => resume_unwind(payload),
        }
    }
}
