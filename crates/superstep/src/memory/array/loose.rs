//! Writes that are collected before the step that issues them has begun.

use super::{Array, Distribution, lanes::Lanes, operator::Operator};
use crate::{
    engine::{Combine, Element, Step},
    memory::section::Span,
};
use std::panic::Location;

/// Contributions to one array, sorted by owner. Dropped, they have never been.
pub(crate) struct Loose<T: Element>(Lanes<T>);

impl<T: Element> Loose<T> {
    /// Makes room for about so many more that spread evenly.
    pub(crate) fn make_room(&mut self, count: usize) {
        self.0.make_room(count);
    }
}

impl<T: Element, D: Distribution, const N: usize> Array<T, D, N> {
    /// Begins to collect, for one value or for one each.
    pub(crate) fn loose(&self, op: impl Combine<T>, one: Option<T>) -> Loose<T> {
        Loose(self.open(Operator::new(op), one, 0))
    }

    /// Adds contributions to elements that exist. Where there is one value, `values` are not looked at.
    pub(crate) fn collect_loose(&self, loose: &mut Loose<T>, at: impl Iterator<Item = usize>, values: &[T]) {
        let (lanes, locator) = (&mut loose.0, self.part.locator());
        if lanes.one.is_some() {
            for index in at {
                let exists = lanes.push_one(&locator, index);
                debug_assert!(exists, "whoever collects has looked");
            }
        } else {
            for (index, &value) in at.zip(values) {
                let exists = lanes.push(&locator, index, value);
                debug_assert!(exists, "whoever collects has looked");
            }
        }
    }
}

impl<T: Element, D: Distribution, const N: usize> Array<T, D, N> {
    /// An empty vector with room for values that [`update_giving`](Step::update_giving) gives away.
    pub(crate) fn room(&self, count: usize) -> Vec<T> {
        let mut room = self.part.pool.spares().values.take(count);
        fabric::make_room(&mut room, count);
        room
    }
}

impl Step {
    /// Updates a section that exists, as [`update_with`](Self::update_with) does, with values that are given away.
    #[track_caller]
    pub(crate) fn update_giving<T: Element, D: Distribution>(
        &self,
        a: &Array<T, D>,
        at: Span,
        values: Vec<T>,
        op: impl Combine<T>,
    ) {
        let (operator, site) = (Operator::new(op), Location::caller());
        a.check_whole(&self.core, site).unwrap_or_else(|error| error.raise());
        a.update_giving(at, values, operator, a.note(operator, site));
        a.agree_on(operator);
    }

    /// Issues what was collected, as [`scatter`](Self::scatter) does.
    #[track_caller]
    pub(crate) fn scatter_loose<T: Element, D: Distribution, const N: usize>(
        &self,
        a: &Array<T, D, N>,
        loose: Loose<T>,
    ) {
        a.check_whole(&self.core, Location::caller()).unwrap_or_else(|error| error.raise());
        let operator = loose.0.operator;
        a.close(loose.0);
        a.agree_on(operator);
    }
}
