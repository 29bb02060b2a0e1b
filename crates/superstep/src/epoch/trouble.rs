//! Why an epoch cannot end well.

use crate::error::{Error, Result};
use std::cell::{Cell, RefCell};

/// What this processor knows of a failure.
#[derive(Default)]
pub(super) struct Trouble {
    cause: RefCell<Option<Error>>,
    /// Whether the others have yet to be told.
    is_untold: Cell<bool>,
    /// Whether the epoch is over because nobody can go on.
    is_stuck: Cell<bool>,
}

impl Trouble {
    /// Notes why the epoch cannot end well. The first reason counts, and everybody is told of it when something is sent
    /// next: a processor that polls for what a failed method should have done never comes to the fence.
    pub(super) fn note(&self, error: &Error) {
        if !self.is_known() {
            self.hear(error);
            self.is_untold.set(true);
        }
    }

    /// Notes what another processor tells everybody.
    pub(super) fn hear(&self, error: &Error) {
        self.cause.borrow_mut().get_or_insert_with(|| error.clone());
    }

    /// Ends the epoch with the error that everybody has, because nobody can go on.
    pub(super) fn end_with(&self, error: &Error) {
        self.is_stuck.set(true);
        *self.cause.borrow_mut() = Some(error.clone());
    }

    pub(super) fn is_known(&self) -> bool {
        self.cause.borrow().is_some()
    }

    /// What the others are to be told now, if anything.
    #[inline]
    pub(super) fn take_untold(&self) -> Option<Error> {
        if self.is_untold.replace(false) { self.check().err() } else { None }
    }

    /// The failure that this processor knows of, as an error.
    pub(super) fn check(&self) -> Result {
        self.cause.borrow().clone().map_or(Ok(()), Err)
    }

    /// The same if the epoch is over because nobody could go on, whatever the program does with it.
    #[inline]
    pub(super) fn check_stuck(&self) -> Result {
        if self.is_stuck.get() { self.check() } else { Ok(()) }
    }
}
