//! Contributions of a step that does not read what it contributes to.

use super::{
    added::{ROOM, is_same},
    port::{Port, line},
};
use crate::{
    engine::{Combine, Element},
    memory::{Array, Distribution, Place},
};
use std::{cell::Cell, fmt, panic::Location};

/// How a step contributes to elements: a variable of the step, of which nobody else knows where it is. So a loop keeps
/// all of it in registers.
pub struct Adding<'a, T: Element> {
    port: &'a Port<T>,
    len: usize,
    /// Where the next ones go, and how many are there.
    at: &'a [Cell<usize>; ROOM],
    filled: usize,
    one: Option<T>,
}

impl<T: Element> fmt::Debug for Adding<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Adding({:?})", self.port)
    }
}

impl<'a, T: Element> Adding<'a, T> {
    /// How a loop contributes to elements that the step does not read.
    #[inline]
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
        if is_same(self.one, value)
            && index < self.len
            && let Some(place) = self.at.get(self.filled)
        {
            place.set(index);
            self.filled += 1;
        } else {
            (self.filled, self.one) = other(self.port, self.filled, a, (index, value), op, Location::caller());
        }
    }

    /// Hands everything back to the port.
    #[inline]
    pub fn end(self) {
        self.port.added().at.fill(self.filled);
    }
}

/// Asks for what comes some way behind an element, for a loop over a list that contributes.
#[inline]
pub fn ahead<T>(element: &T) {
    fabric::ask_on(element);
}

/// Takes what finds no room, or is another value, and says how many are in the room then, and of which value.
#[inline(never)]
fn other<T: Element, D: Distribution, const N: usize>(
    port: &Port<T>,
    filled: usize,
    a: &Array<T, D, N>,
    (index, value): (usize, T),
    op: impl Combine<T>,
    site: &'static Location<'static>,
) -> (usize, Option<T>) {
    let added = port.added();
    added.at.fill(filled);
    port.add_at(a, index, value, op, site);
    (added.at.len(), added.one.get())
}
