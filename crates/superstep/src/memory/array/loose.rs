//! Writes that are collected before the step that issues them has begun.

use super::{Array, Distribution, lanes::Lanes, layout::Locator, operator::Operator};
use crate::engine::{Combine, Element, Step};
use std::panic::Location;

/// Contributions to one array, sorted by owner. Dropped, they have never been.
pub(crate) struct Loose<T: Element>(Lanes<T>);

/// Finds elements for a loop that collects. Each loop has its own, so that it stays in registers.
pub(crate) struct Finder<D: Distribution>(Locator<D::Map>);

impl<T: Element> Loose<T> {
    /// Adds a contribution of the one value for all; false if there is no such element.
    #[inline]
    pub(crate) fn push<D: Distribution>(&mut self, finder: &Finder<D>, index: usize) -> bool {
        self.0.push_one(&finder.0, index)
    }
}

impl<T: Element, D: Distribution, const N: usize> Array<T, D, N> {
    pub(crate) fn finder(&self) -> Finder<D> {
        Finder(self.part.locator())
    }

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

impl Step {
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
