//! How a processor ends its part of a group: well, with an error of the program, or unwinding (G6, X3, X7).
//!
//! Whoever ends enters the group's next meeting for the last time. One that ends well says that it leaves, and the rest
//! go on without it. One that ends with an error brings the error, and whoever else comes to that meeting gets it
//! there: nobody is left waiting, and of several errors the lowest rank's is everybody's, in every run. Only where
//! members may wait elsewhere than at a meeting, in an epoch or for a coherence call, and where a processor panics, the
//! run as a whole is ended at once.

use super::{
    contribution::{self, Contribution, flags},
    core::Core,
    items::Item,
    meld::Melder,
    membership::Phase,
    pending::Pending,
    step::Step,
};
use crate::{
    error::{BoxError, Error, Result, place},
    panics,
};
use fabric::{Failure, Melded};
use std::{
    any::{Any, type_name},
    iter::successors,
    panic::{Location, resume_unwind},
};

impl Core {
    /// Makes the boundary at hand fail for all.
    pub(crate) fn fail_with(&self, error: Error) {
        self.stir();
        // The first one counts.
        self.log.failing.borrow_mut().get_or_insert(error);
    }

    /// Ends the body of a subgroup, which has returned or unwound. The outer result is fatal to the run.
    pub(super) fn end_body<T>(
        &self,
        body: std::thread::Result<Result<T, BoxError>>,
        site: &'static Location<'static>,
    ) -> Result<Result<T>> {
        let error = match body {
            Ok(Ok(value)) => return self.end().map(|()| Ok(value)),
            Ok(Err(source)) => self.returned(source, site),
            Err(payload) => match payload.downcast_ref::<Error>() {
                Some(error) if self.can_fail_alone() => error.clone(),
                _ => {
                    // The rest of the subgroup must not wait for this processor, even if the program catches the panic.
                    self.wire.circle().alarm().raise(panics::last_words(self.processor, &*payload));
                    resume_unwind(payload)
                }
            },
        };
        self.end_failing(&error).map(|_| Err(error))
    }

    /// Ends the root group here; the error is everybody's. If no body `may_fail`, nobody waits for the others.
    pub(crate) fn end_run(
        &self,
        returned: Result<(), BoxError>,
        may_fail: bool,
        site: &'static Location<'static>,
    ) -> Result {
        let returned = returned.map_err(|source| self.returned(source, site));
        let other = match &returned {
            // Somebody else may have an error to tell.
            Ok(()) if may_fail && self.size() > 1 => self.meet_last(flags::NOBODY, &[])?,
            Ok(()) if self.size() > 1 => {
                self.leave()?;
                None
            }
            Ok(()) => None,
            Err(error) => self.end_failing(error)?,
        };
        self.close();
        // Those who got it from a step and went on have not undone it.
        other.or(self.failed.take()).map_or(returned, Err)
    }

    /// Ends the group for this processor: the rest go on without it.
    pub(crate) fn end(&self) -> Result {
        let outcome = if self.size() > 1 { self.leave() } else { Ok(()) };
        self.close();
        outcome
    }

    /// Ends the group with an error, which its next meeting tells. Returns the error of another member, if that counts.
    fn end_failing(&self, error: &Error) -> Result<Option<Error>> {
        if !self.can_fail_alone() {
            return Err(self.give_up(error));
        }
        let other =
            if self.size() > 1 { self.meet_last(flags::GAVE_UP | flags::FAILED, &error.report())? } else { None };
        self.close();
        Ok(other)
    }

    /// Whether nobody can wait for this processor anywhere but at the group's next meeting.
    fn can_fail_alone(&self) -> bool {
        matches!(self.phase(), Phase::Between | Phase::Step)
            && !self.wire.has_channels()
            && self.wire.circle().alarm().raised().is_none()
    }

    /// An error that the body has returned, with this member's rank.
    #[cold]
    fn returned(&self, source: BoxError, site: &Location<'_>) -> Error {
        Error::of_program(source, self.processor, &self.causes, |source| {
            let what = format!("rank {} returned an error: {} ({})", self.rank(), in_one_line(source), place(site));
            self.in_step(what)
        })
    }

    /// Recalls what has gone of a step whose body unwound: it must not count.
    fn recall(&self) -> Result {
        let mut outbox = self.wire.outbox.borrow_mut();
        let recalled = outbox.recall();
        let outcome = outbox.post(&mut **self.wire.circle_mut(), &[]);
        drop(outbox);
        panics::discard(recalled);
        outcome
    }

    fn leave(&self) -> Result {
        self.wire.look_aside(self, None)?;
        self.recall()?;
        let mine = self.last_words(flags::NOBODY, &[]);
        Ok(self.wire.circle_mut().leave(&mine, &mut without_operators())?)
    }

    /// The same, and waits for what comes of the meeting: the error that somebody has ended with.
    fn meet_last(&self, flags: u32, report: &[u8]) -> Result<Option<Error>> {
        self.wire.look_aside(self, None)?;
        self.recall()?;
        let (mine, mut melded) = (self.last_words(flags, report), Melded::default());
        self.wire.circle_mut().meet(&mine, &mut without_operators(), &mut melded)?;
        let total = Contribution::of(&melded.total)?;
        let failure = || Failure::GaveUp { rank: self.processor, report: total.body.into() };
        Ok(total.has(flags::GAVE_UP).then(|| self.causes.complete(Error::from(failure()))))
    }

    fn last_words(&self, flags: u32, report: &[u8]) -> Vec<u8> {
        let mut mine = Vec::new();
        contribution::open(0, flags, &(self.rank() as u32).to_le_bytes(), &mut mine);
        mine.extend_from_slice(report);
        mine
    }
}

/// So many causes of an error are said: an error may be its own.
const CAUSES: usize = 32;

/// What an error of the program says, with its causes. That is code of the program, which may panic.
#[cold]
fn in_one_line(source: &(dyn std::error::Error + 'static)) -> String {
    let say = || {
        let mut text = String::new();
        for error in successors(Some(source), |error| error.source()).take(1 + CAUSES) {
            let words = error.to_string().lines().collect::<Vec<_>>().join("; ");
            // Some errors repeat their causes.
            if text.is_empty() {
                text = words;
            } else if !text.contains(&words) {
                text = format!("{text}: {words}");
            }
        }
        Ok(text)
    };
    panics::guard("its text", say).unwrap_or_else(|error| error.to_string())
}

/// A member that leaves takes no part in the step, so it has no operators for it.
fn without_operators() -> Melder<'static> {
    Melder { operators: None, is_bare: false, fingerprint: None }
}

/// A value that comes out unless somebody failed.
struct Agree<T>(Option<T>);

impl<T: 'static> Item for Agree<T> {
    fn describe(&self) -> String {
        format!("agree on {}", type_name::<T>())
    }

    fn outcome(&mut self) -> &mut dyn Any {
        &mut self.0
    }
}

impl Step {
    /// Makes the failure of one processor everybody's: if `result` is an error on any of them, the step fails on all,
    /// with the error of the lowest rank that has one, and nothing of it takes effect. Else the value comes out.
    /// Collective.
    ///
    /// ```
    /// use superstep::Config;
    ///
    /// let read = |texts: [&'static str; 2]| Config::new().procs(2).run_all(move |g| {
    ///     // What one of them cannot do, none of them goes on with.
    ///     g.try_step(|s| s.agree(texts[s.rank()].parse::<u8>()))
    /// });
    /// assert_eq!(read(["3", "4"]).unwrap(), [3, 4]);
    /// let error = read(["3", "many"]).unwrap_err();
    /// assert!(error.to_string().contains("rank 1 brought an error: invalid digit found in string"));
    /// ```
    ///
    /// # Cost
    ///
    /// Nothing beyond the boundary.
    #[track_caller]
    pub fn agree<T: 'static, E: Into<BoxError>>(&self, result: Result<T, E>) -> Pending<T> {
        let (core, site) = (&*self.core, Location::caller());
        let value = result.map_err(|error| {
            let error = Error::of_program(error.into(), core.processor, &core.causes, |source| {
                let text = in_one_line(source);
                core.in_step(format!("rank {} brought an error: {text} ({})", core.rank(), place(site)))
            });
            core.fail_with(error);
        });
        core.place(Agree(value.ok()), 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Config, Fabric};
    use std::{
        fmt,
        rc::Rc,
        sync::{
            Arc,
            atomic::{AtomicBool, Ordering},
        },
        thread,
    };

    /// Says that the group is over.
    struct AtEnd(Arc<AtomicBool>);

    impl Drop for AtEnd {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Release);
        }
    }

    #[test]
    fn where_nobody_can_fail_nobody_waits_at_the_end_of_a_run() {
        let is_over = Arc::new(AtomicBool::new(false));
        let outcome = Config::new().procs(2).fabric(Fabric::Threads).run(|g| {
            if g.rank() == 0 {
                g.core().keep_state(Rc::new(AtEnd(Arc::clone(&is_over))));
            } else {
                // For ever, if rank 0 waits for this one.
                while !is_over.load(Ordering::Acquire) {
                    thread::yield_now();
                }
            }
        });
        assert_eq!(outcome, Ok(()));
    }

    #[test]
    fn where_somebody_may_fail_all_hear_of_it_at_the_end_of_a_run() {
        let outcome = Config::new().procs(2).fabric(Fabric::Threads).run_all(|g| {
            let returned = if g.rank() == 1 { Err(BoxError::from("too bad")) } else { Ok(()) };
            let error = g.core().end_run(returned, true, Location::caller()).unwrap_err();
            error.to_string()
        });
        for text in outcome.unwrap() {
            assert!(text.contains("rank 1 returned an error: too bad"), "{text}");
        }
    }

    #[test]
    fn who_may_be_waited_for_elsewhere_cannot_fail_alone() {
        let outcome = Config::new().procs(1).run(|g| {
            let core = g.core();
            assert!(core.can_fail_alone());
            core.set_phase(Phase::Epoch);
            assert!(!core.can_fail_alone());
            core.set_phase(Phase::Between);
        });
        assert_eq!(outcome, Ok(()));
    }

    /// An error with so many causes.
    #[derive(Debug)]
    struct Nested(usize, Option<Box<Nested>>);

    impl Nested {
        fn new(causes: usize) -> Self {
            Self(causes, (causes > 0).then(|| Box::new(Self::new(causes - 1))))
        }
    }

    impl fmt::Display for Nested {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            write!(f, "<{}>", self.0)
        }
    }

    impl std::error::Error for Nested {
        fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
            let cause = self.1.as_deref()?;
            Some(cause)
        }
    }

    #[test]
    fn of_very_many_causes_the_first_are_said() {
        let said = |causes: usize| in_one_line(&Nested::new(causes)).matches('<').count();
        assert_eq!([said(0), said(CAUSES), said(CAUSES + 8)], [1, 1 + CAUSES, 1 + CAUSES]);
    }
}
