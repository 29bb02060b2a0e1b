//! A method that is under way, and what its panic means to its object and to the epoch.

use super::{object::Representative, state::Epoch};
use crate::{
    error::{Error, ErrorKind},
    panics,
};
use std::{
    any::Any,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
};

/// A method that is under way on `object`. If it panics, nobody may use the object any more, and the epoch has failed
/// even if the program catches the panic.
pub(super) struct Running<'a, T: 'static> {
    epoch: &'a Epoch,
    object: &'a Representative<T>,
    /// Who has sent the request.
    from: usize,
    /// How many methods it runs inside, and which is the innermost of them.
    depth: usize,
    outer: &'static str,
}

impl<'a, T: 'static> Running<'a, T> {
    #[inline]
    pub(super) fn begin(epoch: &'a Epoch, object: &'a Representative<T>, from: usize, method: &'static str) -> Self {
        let activity = &epoch.activity;
        // Taken back when the method has ended well.
        object.is_poisoned.set(true);
        let depth = activity.depth.get();
        activity.depth.set(depth + 1);
        Self { epoch, object, from, depth, outer: activity.method.replace(method) }
    }

    /// Runs it. A panic goes on when it was noted what it means to others.
    #[inline]
    pub(super) fn run<R>(&self, method: impl FnOnce() -> R) -> R {
        catch_unwind(AssertUnwindSafe(method)).unwrap_or_else(|payload| self.unwind(payload))
    }

    #[cold]
    fn unwind(&self, payload: Box<dyn Any + Send>) -> ! {
        let error = self.epoch.method_error(self.from, &*payload);
        self.spoil(&error);
        resume_unwind(payload)
    }

    #[inline]
    pub(super) fn end(self) {
        self.object.is_poisoned.set(false);
        self.leave();
    }

    /// It has not begun or not ended, because of something that is no panic.
    #[cold]
    pub(super) fn fail(self, error: &Error) {
        self.spoil(error);
    }

    #[inline]
    fn leave(&self) {
        let activity = &self.epoch.activity;
        activity.depth.set(self.depth);
        // Outside of all methods it stays: the fence wants to know what began last.
        if self.depth > 0 {
            activity.method.set(self.outer);
        }
    }

    #[cold]
    fn spoil(&self, error: &Error) {
        self.object.spoil(&self.epoch.core, error);
        self.epoch.trouble.note(error);
        self.leave();
    }
}

impl Epoch {
    /// What a panic in the method that is under way is to everybody.
    #[cold]
    fn method_error(&self, from: usize, payload: &(dyn Any + Send)) -> Error {
        let (error, is_ours) = panics::cause(payload);
        if is_ours {
            // It says where it happened.
            return error;
        }
        let (processor, method) = (self.core.processor, self.activity.method.get());
        let what = format!("processor {processor} panicked in the method {method}, sent by rank {from}: {error}");
        Error::new(ErrorKind::RemotePanic, what)
    }
}
