//! A method that is under way, and what its panic means to its object and to the epoch.

use super::{Epoch, object::Representative};
use crate::{
    error::{Error, ErrorKind},
    panics::{self, Cause},
};

/// A method that is under way on `object`. If it is dropped and has not ended, the method has panicked: nobody may use
/// the object any more, and the epoch has failed even if the program catches the panic.
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
        let state = &*epoch.state;
        // Taken back when the method has ended well.
        object.is_poisoned.set(true);
        let depth = state.depth.get();
        state.depth.set(depth + 1);
        Self { epoch, object, from, depth, outer: state.method.replace(method) }
    }

    /// The method has ended well.
    #[inline]
    pub(super) fn end(self) {
        self.object.is_poisoned.set(false);
        self.leave();
        std::mem::forget(self);
    }

    /// It has not begun or not ended, because of something that is no panic.
    #[cold]
    pub(super) fn fail(self, error: &Error) {
        self.spoil(error);
        std::mem::forget(self);
    }

    #[inline]
    fn leave(&self) {
        let state = &*self.epoch.state;
        state.depth.set(self.depth);
        // Outside of all methods it stays: the fence wants to know what began last.
        if self.depth > 0 {
            state.method.set(self.outer);
        }
    }

    #[cold]
    fn spoil(&self, error: &Error) {
        self.object.spoil(&self.epoch.core, error);
        self.epoch.note_failure(error);
        self.leave();
    }
}

impl<T: 'static> Drop for Running<'_, T> {
    fn drop(&mut self) {
        let error = self.epoch.method_error(self.from, panics::last());
        self.spoil(&error);
    }
}

impl Epoch {
    /// What a panic in the method that is under way is to everybody.
    #[cold]
    fn method_error(&self, from: usize, cause: Cause) -> Error {
        match cause {
            // It says where it happened.
            Cause::Error(error) => error,
            Cause::Panic(error) => {
                let (processor, method) = (self.core.processor, self.state.method.get());
                let what =
                    format!("processor {processor} panicked in the method {method}, sent by rank {from}: {error}");
                Error::new(ErrorKind::RemotePanic, what)
            }
        }
    }
}
