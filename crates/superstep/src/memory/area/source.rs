//! Where an `hp_put` takes its data from.

use super::Area;
use crate::engine::Element;
use std::ops::Range;

/// Where an `hp_put` takes its data from without a copy: a vector that is given away, or a section of an area of this
/// processor, whose content counts as it is at the boundary.
pub enum Source<'a, T: Element> {
    /// A vector that is given away.
    Given(Vec<T>),
    /// A section of an area of this processor.
    Section(&'a Area<T>, Range<usize>),
}

impl<T: Element> From<Vec<T>> for Source<'_, T> {
    fn from(values: Vec<T>) -> Self {
        Self::Given(values)
    }
}

impl<'a, T: Element> From<(&'a Area<T>, Range<usize>)> for Source<'a, T> {
    fn from((area, range): (&'a Area<T>, Range<usize>)) -> Self {
        Self::Section(area, range)
    }
}
