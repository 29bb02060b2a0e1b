//! Contributions of a step that does not read what it contributes to.

use super::{
    added::is_same,
    port::{Port, line},
};
use crate::{
    engine::{Combine, Element},
    memory::{Array, Distribution, Place},
};
use std::{cell::Cell, panic::Location};

/// How a step contributes to elements: a variable of the step, so that a loop keeps in registers how many there are.
#[derive(Debug)]
pub struct Adding<'a, T: Element> {
    port: &'a Port<T>,
    len: usize,
    at: &'a [Cell<usize>],
    filled: usize,
    one: Option<T>,
}

impl<'a, T: Element> Adding<'a, T> {
    /// How a loop contributes to elements that the step does not read.
    pub fn new(port: &'a Port<T>) -> Self {
        let added = port.added();
        let (at, filled) = added.at.room();
        Self { port, len: port.len(), at, filled, one: added.one.get() }
    }

    /// Contributes to an element, by the array's own operator.
    #[inline]
    #[track_caller]
    pub fn add<D: Distribution, const N: usize>(
        &mut self,
        a: &Array<T, D, N>,
        at: impl Place<N>,
        value: T,
        op: impl Combine<T>,
    ) {
        let index = line(a, at);
        if let (Some(place), true) = (self.at.get(self.filled), index < self.len)
            && is_same(self.one, value)
        {
            place.set(index);
            self.filled += 1;
        } else {
            let added = self.port.added();
            added.at.fill(self.filled);
            self.port.add_at(a, index, value, op, Location::caller());
            (self.filled, self.one) = (added.at.len(), added.one.get());
        }
    }

    /// Hands its count back to the port.
    #[inline]
    pub fn end(self) {
        self.port.added().at.fill(self.filled);
    }
}
