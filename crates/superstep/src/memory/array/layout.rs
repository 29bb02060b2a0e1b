//! How an array lies over a group: which processor owns an element, and where it keeps it.
//!
//! The leading dimensions of an array are linearised, row by row, into *units*; each unit, with whatever dimensions are
//! left inside of it, belongs to one processor. A distribution says which. All of this is arithmetic that every
//! processor does for itself.

use super::divisor::Divisor;
use crate::error::ErrorKind;
use std::fmt::Debug;

/// Why an array cannot be laid out so.
pub(super) type Unlaid = (ErrorKind, String);

/// How an array is spread over the processors of its group; part of the array's type.
///
/// `K` is how many leading dimensions are distributed, 1 to 3; the rest stay together with their owner.
///
/// ```
/// use superstep::{Array, Config, Distribution};
///
/// /// The sum of what this processor has, whatever the distribution.
/// fn here<D: Distribution>(a: &Array<u64, D>) -> u64 { a.local().iter().sum() }
/// let sums = Config::new().procs(2).run_all(|g| {
///     let a = g.array::<u64, superstep::Cyclic>(5);
///     a.forall_mut(|i, x| *x = i as u64);
///     here(&a)
/// });
/// assert_eq!(sums.unwrap(), [0 + 2 + 4, 1 + 3]);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no distribution of an array",
    note = "there are `Block`, `Cyclic`, `BlockCyclic`, `Irregular` and `Tiles`"
)]
pub trait Distribution: Clone + Debug + 'static {
    /// How many leading dimensions are distributed.
    #[doc(hidden)]
    const DISTRIBUTED: usize;

    /// Finds out who owns what.
    #[doc(hidden)]
    type Map: Map;

    /// Lays `shape`, the distributed dimensions, over `size` processors.
    #[doc(hidden)]
    fn lay(&self, shape: &[usize], size: usize) -> Result<Self::Map, Unlaid>;

    /// The same sort of distribution, for an array of so many units on so many processors.
    #[doc(hidden)]
    #[must_use]
    fn resized(&self, _len: usize, _size: usize) -> Self {
        self.clone()
    }

    /// What must agree on all members, besides the type.
    #[doc(hidden)]
    fn terms(&self) -> Vec<u64> {
        Vec::new()
    }
}

/// Where units are. Units are numbered from 0, those of each processor again from 0.
#[doc(hidden)]
#[allow(unreachable_pub, reason = "it is seen as `Distribution::Map`, which Rust 1.88 does not know")]
pub trait Map: Clone + 'static {
    /// Whether a processor's units lie in its part by rising number.
    const RISES: bool = true;

    /// Who owns a unit, and its number there. The unit must exist.
    fn locate(&self, unit: usize) -> (usize, usize);

    /// Which unit a processor's number stands for; `usize::MAX` if for none.
    fn unit(&self, rank: usize, local: usize) -> usize;

    /// How many units a processor owns.
    fn count(&self, rank: usize) -> usize;

    /// How many units follow `unit` at the same owner, at places that follow each other, `unit` included.
    fn stretch(&self, unit: usize) -> usize;

    /// How many come before `unit` in the same way, `unit` not included.
    fn before(&self, unit: usize) -> usize;
}

/// Calls `take` with each stretch of consecutive units of `rank`, upwards: its place, its first unit, its length.
pub(super) fn stretches(map: &impl Map, rank: usize, mut take: impl FnMut(usize, usize, usize)) {
    let mut local = 0;
    while local < map.count(rank) {
        let unit = map.unit(rank, local);
        if unit == usize::MAX {
            // Padding.
            local += 1;
            continue;
        }
        let count = map.stretch(unit);
        take(local, unit, count);
        local += count;
    }
}

/// The product of the distributed dimensions.
pub(super) fn units(shape: &[usize]) -> Result<usize, Unlaid> {
    shape.iter().try_fold(1usize, |product, &extent| product.checked_mul(extent)).ok_or_else(|| {
        (ErrorKind::Overflow, format!("an array of shape {shape:?} has more elements than a usize can count"))
    })
}

/// Finds elements. Each loop has its own, so that it stays in registers whatever the loop writes to.
#[derive(Clone)]
pub(super) struct Locator<M> {
    pub(super) map: M,
    pub(super) inner: usize,
    pub(super) by_inner: Divisor,
    pub(super) len: usize,
    pub(super) windows: usize,
}

impl<M: Map> Locator<M> {
    /// Who owns an element, and where in its part. The element must exist.
    #[inline]
    pub(super) fn locate(&self, index: usize) -> (usize, usize) {
        locate(&self.map, self.inner, self.by_inner, index)
    }

    /// The number of an element's lane, and its place there; `None` if there is no such element.
    #[inline]
    pub(super) fn lane(&self, index: usize) -> Option<(usize, u32)> {
        if index >= self.len {
            return None;
        }
        let (owner, at) = self.locate(index);
        Some((if self.windows == 1 { owner } else { owner * self.windows + (at >> 32) }, at as u32))
    }
}

/// Who owns an element, and where in its part, where `inner` elements are a unit.
#[inline]
pub(super) fn locate(map: &impl Map, inner: usize, by_inner: Divisor, index: usize) -> (usize, usize) {
    if inner == 1 {
        return map.locate(index);
    }
    let (unit, within) = by_inner.divide(index);
    let (owner, local) = map.locate(unit);
    (owner, local * inner + within)
}

#[cfg(test)]
mod tests {
    use super::{super::distributions::Block, *};

    /// A7: a part may be longer than 32 bits can count.
    #[test]
    fn a_long_part_has_a_lane_for_each_stretch_of_places() {
        let locator = |len: usize, windows: usize| {
            let map = Block::new().lay(&[len], 4).unwrap();
            Locator { map, inner: 1, by_inner: Divisor::new(1), len, windows }
        };
        let (short, long) = (locator(40, 1), locator(1 << 35, 2));
        assert_eq!([short.lane(39), short.lane(40)], [Some((3, 9)), None]);
        assert_eq!(long.lane((3 << 33) + 5), Some((6, 5)));
        assert_eq!(long.lane((3 << 33) + (1 << 32) + 7), Some((7, 7)));
        assert_eq!(long.lane(1 << 35), None);
    }
}
