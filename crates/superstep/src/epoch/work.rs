//! What a request comes to where it runs: an entry of the program, called with a series of arguments.
//!
//! The method of a series is found once, and then the arguments are worked off in a loop that was compiled for them.

use super::{
    deed::Deed,
    letter::Content,
    methods::{Absent, Serving},
    object,
    running::Running,
    state::Epoch,
};
use crate::{
    engine::{Value, damaged, decode_next},
    error::{ErrorKind, Result},
};
use fabric::code::{Act, Task};
use std::{any::type_name, cell::Cell, marker::PhantomData};

/// So many requests ahead memory is asked for, and so many what it leads to.
const AHEAD: usize = 16;
const NEAR: usize = 3;

impl Task for Serving {
    type Of<'a> = Work<'a>;
}

/// A series that is to be worked off.
pub(super) struct Work<'a> {
    pub(super) epoch: &'a Epoch,
    pub(super) from: usize,
    pub(super) object: u64,
    /// The number of the first question, if answers are asked for.
    pub(super) ticket: Option<u64>,
    /// How many requests there are, if their arguments are written.
    pub(super) count: u64,
    pub(super) arguments: Content,
    /// How many requests of the series have not begun.
    pub(super) left: &'a Cell<usize>,
    /// What becomes of it.
    pub(super) outcome: &'a mut Result,
}

pub(super) struct Sent<D>(PhantomData<fn() -> D>);
pub(super) struct Asked<D>(PhantomData<fn() -> D>);

impl<D: Deed<Answer = ()>> Act<Serving> for Sent<D> {
    type Pointer = D::Pointer;

    fn act(function: D::Pointer, work: Work<'_>) {
        let epoch = work.epoch;
        work.run::<D>(|object, _, arguments| {
            D::run(function, object, epoch, arguments);
        });
    }
}

impl<D: Deed<Answer: Value>> Act<Serving> for Asked<D> {
    type Pointer = D::Pointer;

    fn act(function: D::Pointer, work: Work<'_>) {
        let (epoch, from, first) = (work.epoch, work.from, work.ticket.unwrap_or_default());
        let is_alone = work.left.get() == 1;
        work.run::<D>(|object, at, arguments| {
            let answer = D::run(function, object, epoch, arguments);
            epoch.answer(from, first + at, answer, is_alone);
        });
    }
}

impl Act<Serving> for Absent {
    type Pointer = ();

    fn act((): (), work: Work<'_>) {
        let what = format!(
            "rank {} has sent a method whose code is in a library that rank {} has not loaded, or has in another \
             build; load the same libraries in every process",
            work.from,
            work.epoch.rank()
        );
        *work.outcome = Err(work.epoch.error(ErrorKind::BuildMismatch, &what));
    }
}

impl Work<'_> {
    /// Does the same for each request of the series, and asks for the memory of those to come.
    #[inline]
    fn run<D: Deed>(mut self, each: impl FnMut(&mut D::On, u64, D::Args)) {
        *self.outcome = self.work_off::<D>(each);
    }

    fn work_off<D: Deed>(&mut self, each: impl FnMut(&mut D::On, u64, D::Args)) -> Result {
        let (epoch, from, method) = (self.epoch, self.from, D::name());
        let Some(object) = object::find::<D::On>(&epoch.core, self.object) else {
            let what =
                format!("a request names an object of type {} that this processor has dropped", type_name::<D::On>());
            return Err(epoch.error(ErrorKind::HandleMismatch, &what));
        };
        let mut value = object.value.try_borrow_mut().map_err(|_| {
            let what = format!("a request came for the {} while it was lent", object.describe());
            epoch.error(ErrorKind::StillBorrowed, &what)
        })?;
        if object.is_poisoned.get() {
            return Err(object.refusal(&epoch.core, "a request came for", epoch.core.site()));
        }
        let running = Running::begin(epoch, &object, from, method);
        match running.run(|| self.for_all::<D>(&mut *value, each)) {
            Ok(()) => running.end(),
            Err(error) => {
                let what = format!("an argument of the method {method}, sent by rank {from}: {error}");
                let error = epoch.error(error.kind(), &what);
                running.fail(&error);
                return Err(error);
            }
        }
        Ok(())
    }

    fn for_all<D: Deed>(&mut self, value: &mut D::On, mut each: impl FnMut(&mut D::On, u64, D::Args)) -> Result {
        match &mut self.arguments {
            Content::Moved(moved) => {
                let arguments = moved.downcast_mut::<Vec<D::Args>>().ok_or_else(damaged)?;
                let (mut rest, mut at) = (arguments.drain(..), 0);
                while let Some(argument) = rest.next() {
                    if let Some(later) = rest.as_slice().get(AHEAD) {
                        D::ask_ahead(value, later);
                    }
                    if let Some(sooner) = rest.as_slice().get(NEAR) {
                        D::ask_nearer(value, sooner);
                    }
                    self.left.set(rest.len());
                    each(value, at, argument);
                    at += 1;
                }
                drop(rest);
                let room = arguments.capacity() * size_of::<D::Args>();
                let vector = std::mem::replace(moved, Box::new(()));
                self.epoch.state.outgoing.pool.borrow_mut().keep(room, vector);
            }
            Content::Written(excerpt) => {
                let mut rest = excerpt.bytes()?;
                for (at, left) in (0..self.count).zip((0..self.count).rev()) {
                    self.left.set(left as usize);
                    each(value, at, decode_next(&mut rest)?);
                }
                if !rest.is_empty() {
                    return Err(damaged());
                }
            }
        }
        Ok(())
    }
}
