//! Where an `hp_put` takes its data from.

use super::Area;
use crate::engine::Element;
use std::ops::Range;

/// Where an `hp_put` takes its data from without a copy: a vector that is given away, or a section of an area of this
/// processor, whose content counts as it is at the boundary.
///
/// ```
/// use superstep::{Config, Source};
///
/// let values = Config::new().procs(2).run(|g| {
///     let area = g.area::<u8>(4);
///     area.local_mut().fill(9);
///     g.step(|s| if s.rank() == 1 {
///         s.hp_put(0, Source::Given(vec![1, 2]), &area, 0);
///         s.hp_put(0, Source::Section(&area, 0..1), &area, 2);
///     });
///     area.local().to_vec()
/// });
/// assert_eq!(values.unwrap(), [1, 2, 9, 9]);
/// ```
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
