//! Replicated variables.

use super::state::Copied;
use crate::{
    engine::{Combine, Group, Pending, Step, Value},
    memory::Shared,
};
use std::{
    fmt,
    ops::{Deref, DerefMut},
};

/// A replicated variable: this processor's copy, and the variable of the group that it is a copy of.
pub struct Var<T: Value> {
    shared: Shared<T>,
    mine: T,
    copied: Copied,
}

impl<T: Value> Var<T> {
    /// Declares it. Collective.
    #[track_caller]
    pub fn new<C: Combine<T>>(group: &mut Group, init: T, op: C, name: &'static str) -> Self {
        Self { shared: group.shared(init.clone(), op), mine: init, copied: Copied::new(group, name) }
    }

    /// Contributes the copy to the step's boundary, if it was written.
    #[track_caller]
    pub fn send(&self, s: &Step) {
        if self.copied.is_of(s.core.depth) {
            self.send_up();
        }
    }

    /// The same with another operator.
    #[track_caller]
    pub fn send_with<C: Combine<T>>(&self, s: &Step, op: C) {
        self.send_up();
        s.combine(&self.shared, op);
    }

    /// The same, and what the ranks below contribute.
    #[track_caller]
    pub fn send_prefix<C: Combine<T>>(&self, s: &Step, op: C) -> Pending<T>
    where
        T: Default,
    {
        self.send_up();
        s.combine_prefix(&self.shared, op)
    }

    /// Contributes the copy to the end of the split in whose body this is.
    #[track_caller]
    pub fn send_up(&self) {
        if self.copied.is_written {
            self.shared.set(self.mine.clone());
        }
    }

    /// Begins a step. Nothing is left of a step that has not ended (X6).
    #[track_caller]
    pub fn begin(&mut self, group: &Group) {
        if self.copied.is_left(group) {
            self.settle(group);
        }
    }

    /// The copy, for the body of a step.
    #[inline]
    pub fn lend(&self) -> Mine<T> {
        Mine { value: self.mine.clone(), is_written: false }
    }

    /// Takes it back when the body has ended.
    #[inline]
    pub fn take_back(&mut self, mine: Mine<T>) {
        if mine.is_written {
            (self.mine, self.copied.is_written) = (mine.value, true);
        }
    }

    /// Refuses a write that the translator has not seen.
    #[track_caller]
    pub fn check(&self, group: &Group) {
        self.copied.check(group);
    }

    /// Takes what the copies have been combined to. In a subgroup they have not been yet.
    #[track_caller]
    pub fn settle(&mut self, group: &Group) {
        if self.copied.is_of(group.depth()) {
            self.mine = self.shared.get();
            self.copied.is_written = false;
        }
    }
}

/// The copy of a number while the body of a step runs: a variable of the step, so that a loop keeps it in a register.
pub struct Mine<T> {
    value: T,
    is_written: bool,
}

impl<T> Deref for Mine<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T> DerefMut for Mine<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        self.is_written = true;
        &mut self.value
    }
}

impl<T: fmt::Display> fmt::Display for Mine<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.value.fmt(f)
    }
}

impl<T: fmt::Debug> fmt::Debug for Mine<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.value.fmt(f)
    }
}

impl<T: Value> Deref for Var<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        &self.mine
    }
}

impl<T: Value> DerefMut for Var<T> {
    #[inline]
    #[track_caller]
    fn deref_mut(&mut self) -> &mut T {
        self.copied.write();
        &mut self.mine
    }
}

impl<T: Value + fmt::Display> fmt::Display for Var<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.mine.fmt(f)
    }
}

impl<T: Value + fmt::Debug> fmt::Debug for Var<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.mine.fmt(f)
    }
}
