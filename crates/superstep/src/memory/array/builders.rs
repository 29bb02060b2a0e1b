//! What loops over single elements have in common with other collections: they can be extended, and shown.

use super::{
    gather::Gatherer,
    layout::Distribution,
    scatter::{OneScatterer, Scatterer},
};
use crate::engine::Element;
use std::fmt::{Debug, Formatter, Result};

/// Reads the elements with these indices, too.
///
/// ```
/// use superstep::{Block, Config};
///
/// let values = Config::new().procs(2).run(|g| {
///     let a = g.array::<usize, Block>(6);
///     a.forall_mut(|i, x| *x = 10 * i);
///     g.step(|s| {
///         let mut reads = s.gatherer(&a);
///         reads.extend((0..6).filter(|i| i % 2 == 1));
///         reads.finish()
///     })
/// });
/// assert_eq!(values.unwrap(), [10, 30, 50]);
/// ```
impl<T: Element, D: Distribution, const N: usize> Extend<usize> for Gatherer<'_, T, D, N> {
    #[track_caller]
    fn extend<I: IntoIterator<Item = usize>>(&mut self, indices: I) {
        for at in indices {
            self.push(at);
        }
    }
}

/// Writes these values to the elements with these indices, too.
///
/// ```
/// use superstep::{Block, Config, Sum};
///
/// let values = Config::new().procs(2).run(|g| {
///     let a = g.array::<usize, Block>(3);
///     g.step(|s| s.scatterer(&a, Sum).extend([(0, 1), (2, 5)]));
///     g.step(|s| s.mirror(&a, ..))
/// });
/// assert_eq!(values.unwrap(), [2, 0, 10]);
/// ```
impl<T: Element, D: Distribution, const N: usize> Extend<(usize, T)> for Scatterer<'_, T, D, N> {
    #[track_caller]
    fn extend<I: IntoIterator<Item = (usize, T)>>(&mut self, writes: I) {
        for (at, value) in writes {
            self.push(at, value);
        }
    }
}

/// Writes the value to the elements with these indices, too.
///
/// ```
/// use superstep::{Block, Config, Sum};
///
/// let counts = Config::new().procs(2).run(|g| {
///     let counts = g.array::<u32, Block>(3);
///     g.step(|s| s.scatterer_one(&counts, 1, Sum).extend([0, 2, 2]));
///     g.step(|s| s.mirror(&counts, ..))
/// });
/// assert_eq!(counts.unwrap(), [2, 0, 4]);
/// ```
impl<T: Element, D: Distribution, const N: usize> Extend<usize> for OneScatterer<'_, T, D, N> {
    #[track_caller]
    fn extend<I: IntoIterator<Item = usize>>(&mut self, indices: I) {
        for at in indices {
            self.push(at);
        }
    }
}

impl<T: Element, D: Distribution, const N: usize> Debug for Gatherer<'_, T, D, N> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "Gatherer of {:?}", self.array)
    }
}

impl<T: Element, D: Distribution, const N: usize> Debug for Scatterer<'_, T, D, N> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "Scatterer of {:?}", self.array)
    }
}

impl<T: Element, D: Distribution, const N: usize> Debug for OneScatterer<'_, T, D, N> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "OneScatterer of {:?}", self.0.array)
    }
}
