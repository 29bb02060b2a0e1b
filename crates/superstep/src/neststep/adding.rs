//! Contributions of a step that does not read what it contributes to.

use super::{
    added::is_same,
    port::{Port, line},
};
use crate::{
    engine::{Combine, Element},
    memory::{Array, Distribution, Finder, Loose, Place},
};
use std::{cell::Cell, fmt, panic::Location};

/// How a step contributes to elements: a variable of the step, so that a loop keeps in registers how many there are.
pub struct Adding<'a, T: Element, D: Distribution> {
    port: &'a Port<T>,
    finder: Finder<D>,
    at: &'a [Cell<usize>],
    filled: usize,
    one: Option<T>,
    /// Where they go at once, as soon as there are many of one value, and how many have gone there.
    open: Option<Loose<T>>,
    sorted: usize,
}

impl<T: Element, D: Distribution> fmt::Debug for Adding<'_, T, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Adding({:?})", self.port)
    }
}

impl<'a, T: Element, D: Distribution> Adding<'a, T, D> {
    /// How a loop contributes to elements that the step does not read.
    pub fn new<const N: usize>(port: &'a Port<T>, a: &Array<T, D, N>) -> Self {
        let added = port.added();
        let (at, filled) = added.at.room();
        Self { port, finder: a.finder(), at, filled, one: added.one.get(), open: None, sorted: 0 }
    }

    /// Contributes to an element, by the array's own operator.
    #[inline]
    #[track_caller]
    pub fn add<const N: usize>(&mut self, a: &Array<T, D, N>, at: impl Place<N>, value: T, op: impl Combine<T>) {
        let index = line(a, at);
        if is_same(self.one, value) {
            if let Some(open) = &mut self.open {
                if open.push(&self.finder, index) {
                    self.sorted += 1;
                    return;
                }
            } else if let (Some(place), true) = (self.at.get(self.filled), index < self.port.len()) {
                place.set(index);
                self.filled += 1;
                return;
            }
        }
        self.add_other(a, index, value, op, Location::caller());
    }

    /// Takes what is not the next of many, and finds out how the next ones go.
    #[inline(never)]
    fn add_other<const N: usize>(
        &mut self,
        a: &Array<T, D, N>,
        index: usize,
        value: T,
        op: impl Combine<T>,
        site: &'static Location<'static>,
    ) {
        self.hand_back();
        self.port.add_at(a, index, value, op, site);
        let added = self.port.added();
        self.open = added.open(a, op);
        (self.filled, self.one) = (added.at.len(), added.one.get());
    }

    fn hand_back(&mut self) {
        let added = self.port.added();
        added.at.fill(self.filled);
        if let Some(open) = self.open.take() {
            added.close(open, std::mem::take(&mut self.sorted));
        }
    }

    /// Hands everything back to the port.
    #[inline]
    pub fn end(mut self) {
        self.hand_back();
    }
}
