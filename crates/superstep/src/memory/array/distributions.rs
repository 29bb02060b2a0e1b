//! The distributions of lists of units: blocks, dealt round, and of given sizes.

use super::{
    divisor::Divisor,
    layout::{Distribution, Map, Unlaid, units},
};
use crate::error::ErrorKind;
use std::rc::Rc;

/// Contiguous blocks of ⌈n/p⌉; the last processors may have less, or nothing.
///
/// ```
/// let lens = superstep::Config::new().procs(4).run_all(|g| {
///     let a = g.array::<f64, superstep::Block>(7);
///     a.local().len()
/// });
/// assert_eq!(lens.unwrap(), [2, 2, 2, 1]);
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Block<const K: usize = 1>;

impl Block {
    /// Blocks of the first dimension, where nothing else says how many dimensions are meant. Blocks of the first two
    /// are `Block::<2>`.
    ///
    /// ```
    /// use superstep::{Block, Config};
    ///
    /// let owners = Config::new().procs(2).run(|g| {
    ///     let a = g.array_with::<f64, _, 2>([4, 3], Block::new());      // rows in blocks
    ///     [a.owner([1, 2]), a.owner([2, 0])]
    /// });
    /// assert_eq!(owners.unwrap(), [0, 1]);
    /// ```
    pub const fn new() -> Self {
        Self
    }
}

/// One unit after another, dealt round.
///
/// `A[4][5]<%>[7]` of the `NestStep` papers is `Array<i32, Cyclic<2>, 3>`:
///
/// ```
/// use superstep::{Array, Config, Cyclic};
///
/// let (owner, here) = Config::new()
///     .procs(3)
///     .run(|g| {
///         let a: Array<i32, Cyclic<2>, 3> = g.array_with([4, 5, 7], Cyclic);
///         (a.owner([1, 2, 6]), a.local().len())
///     })
///     .unwrap();
/// assert_eq!((owner, here), ((5 + 2) % 3, 7 * 7));
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Cyclic<const K: usize = 1>;

impl Cyclic {
    /// The first dimension dealt round, where nothing else says how many dimensions are meant.
    ///
    /// ```
    /// use superstep::{Config, Cyclic};
    ///
    /// let owners = Config::new().procs(2).run(|g| {
    ///     let a = g.array_with::<f64, _, 2>([4, 3], Cyclic::new());     // row by row
    ///     [a.owner([1, 2]), a.owner([2, 0])]
    /// });
    /// assert_eq!(owners.unwrap(), [1, 0]);
    /// ```
    pub const fn new() -> Self {
        Self
    }
}

/// Blocks of the given number of units, dealt round.
///
/// ```
/// use superstep::{Array, BlockCyclic, Config};
///
/// let owners = Config::new().procs(2).run(|g| {
///     let a: Array<u8, BlockCyclic> = g.array_with([7], BlockCyclic(2));
///     (0..7).map(|i| a.owner(i)).collect::<Vec<_>>()
/// });
/// assert_eq!(owners.unwrap(), [0, 0, 1, 1, 0, 0, 1]);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct BlockCyclic<const K: usize = 1>(pub usize);

impl BlockCyclic {
    /// Blocks of so many lines of the first dimension, where nothing else says how many dimensions are meant.
    ///
    /// ```
    /// use superstep::{BlockCyclic, Config};
    ///
    /// let owners = Config::new().procs(2).run(|g| {
    ///     let a = g.array_with::<f64, _, 2>([5, 3], BlockCyclic::new(2));
    ///     [a.owner([1, 2]), a.owner([2, 0]), a.owner([4, 0])]
    /// });
    /// assert_eq!(owners.unwrap(), [0, 1, 0]);
    /// ```
    pub const fn new(block: usize) -> Self {
        Self(block)
    }
}

/// As many elements for each processor as the list says; it must say the same on all members and add up to the length.
///
/// ```
/// use superstep::{Array, Config, Irregular};
///
/// let lens = Config::new().procs(3).run_all(|g| {
///     let a: Array<u8, Irregular> = g.array_with([9], Irregular(vec![2, 0, 7]));
///     a.local().len()
/// });
/// assert_eq!(lens.unwrap(), [2, 0, 7]);
/// ```
#[derive(Clone, Debug)]
pub struct Irregular(pub Vec<usize>);

#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct BlockMap {
    units: usize,
    block: usize,
    divisor: Divisor,
}

impl<const K: usize> Distribution for Block<K> {
    const DISTRIBUTED: usize = K;
    type Map = BlockMap;

    fn lay(&self, shape: &[usize], size: usize) -> Result<BlockMap, Unlaid> {
        let units = units(shape)?;
        let block = units.div_ceil(size).max(1);
        Ok(BlockMap { units, block, divisor: Divisor::new(block) })
    }
}

impl Map for BlockMap {
    #[inline]
    fn locate(&self, unit: usize) -> (usize, usize) {
        self.divisor.divide(unit)
    }

    #[inline]
    fn unit(&self, rank: usize, local: usize) -> usize {
        rank * self.block + local
    }

    fn count(&self, rank: usize) -> usize {
        let start = rank.saturating_mul(self.block).min(self.units);
        self.block.min(self.units - start)
    }

    fn stretch(&self, unit: usize) -> usize {
        (self.block - self.locate(unit).1).min(self.units - unit)
    }

    fn before(&self, unit: usize) -> usize {
        self.locate(unit).1
    }
}

#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct CyclicMap {
    units: usize,
    size: usize,
    block: usize,
    by_block: Divisor,
    by_size: Divisor,
}

impl CyclicMap {
    fn new(units: usize, size: usize, block: usize) -> Self {
        Self { units, size, block, by_block: Divisor::new(block), by_size: Divisor::new(size) }
    }
}

impl<const K: usize> Distribution for Cyclic<K> {
    const DISTRIBUTED: usize = K;
    type Map = CyclicMap;

    fn lay(&self, shape: &[usize], size: usize) -> Result<CyclicMap, Unlaid> {
        Ok(CyclicMap::new(units(shape)?, size, 1))
    }
}

impl<const K: usize> Distribution for BlockCyclic<K> {
    const DISTRIBUTED: usize = K;
    type Map = CyclicMap;

    fn lay(&self, shape: &[usize], size: usize) -> Result<CyclicMap, Unlaid> {
        if self.0 == 0 {
            return Err((ErrorKind::BadLength, "a block-cyclic array with blocks of 0; give it at least 1".to_owned()));
        }
        let units = units(shape)?;
        // A block beyond the array is the array; so no number below can overflow.
        Ok(CyclicMap::new(units, size, self.0.min(units.max(1))))
    }

    fn terms(&self) -> Vec<u64> {
        vec![self.0 as u64]
    }
}

impl Map for CyclicMap {
    #[inline]
    fn locate(&self, unit: usize) -> (usize, usize) {
        let (block, within) = self.by_block.divide(unit);
        let (round, rank) = self.by_size.divide(block);
        (rank, round * self.block + within)
    }

    #[inline]
    fn unit(&self, rank: usize, local: usize) -> usize {
        let (round, within) = self.by_block.divide(local);
        (round * self.size + rank) * self.block + within
    }

    fn count(&self, rank: usize) -> usize {
        let (blocks, rest) = (self.units / self.block, self.units % self.block);
        let whole = blocks / self.size + usize::from(rank < blocks % self.size);
        whole * self.block + if rank == blocks % self.size { rest } else { 0 }
    }

    fn stretch(&self, unit: usize) -> usize {
        if self.size == 1 {
            return self.units - unit;
        }
        (self.block - self.by_block.divide(unit).1).min(self.units - unit)
    }

    fn before(&self, unit: usize) -> usize {
        if self.size == 1 { unit } else { self.by_block.divide(unit).1 }
    }
}

#[doc(hidden)]
#[derive(Clone, Debug)]
pub struct IrregularMap {
    /// Where each processor's part begins, and the end.
    starts: Rc<[usize]>,
}

impl Distribution for Irregular {
    const DISTRIBUTED: usize = 1;
    type Map = IrregularMap;

    fn lay(&self, shape: &[usize], size: usize) -> Result<IrregularMap, Unlaid> {
        let (given, units) = (self.0.len(), units(shape)?);
        if given != size {
            let what = format!("an irregular array with {given} sizes in a group of {size}; give one per rank");
            return Err((ErrorKind::BadLength, what));
        }
        let (mut starts, mut sum) = (Vec::new(), Some(0usize));
        for &part in &self.0 {
            starts.push(sum.unwrap_or_default());
            sum = sum.and_then(|sum| sum.checked_add(part));
        }
        starts.push(sum.unwrap_or_default());
        if sum != Some(units) {
            let sum = sum.map_or_else(|| "more than a usize can count".to_owned(), |sum| sum.to_string());
            let what = format!("the sizes of an irregular array of {units} elements add up to {sum}");
            return Err((ErrorKind::BadLength, what));
        }
        Ok(IrregularMap { starts: starts.into() })
    }

    /// Nobody has said what the sizes should be there, so they are as even as they can be.
    fn resized(&self, len: usize, size: usize) -> Self {
        Self((0..size).map(|rank| len / size + usize::from(rank < len % size)).collect())
    }

    fn terms(&self) -> Vec<u64> {
        self.0.iter().map(|&size| size as u64).collect()
    }
}

impl Map for IrregularMap {
    #[inline]
    fn locate(&self, unit: usize) -> (usize, usize) {
        // Parts may be empty: the owner is the last one that begins at or before the unit. The end is behind all units.
        let rank = self.starts.partition_point(|&start| start <= unit) - 1;
        (rank, unit - self.starts[rank])
    }

    #[inline]
    fn unit(&self, rank: usize, local: usize) -> usize {
        self.starts[rank] + local
    }

    fn count(&self, rank: usize) -> usize {
        self.starts[rank + 1] - self.starts[rank]
    }

    fn stretch(&self, unit: usize) -> usize {
        self.starts[self.locate(unit).0 + 1] - unit
    }

    fn before(&self, unit: usize) -> usize {
        self.locate(unit).1
    }
}

#[cfg(test)]
mod tests {
    use super::{super::tiles::Tiles, *};

    /// Checks a map against what it says itself, unit by unit.
    fn check(map: &impl Map, units: usize, size: usize, words: &str) {
        let mut seen = vec![false; units];
        for rank in 0..size {
            for local in 0..map.count(rank) {
                let unit = map.unit(rank, local);
                if unit != usize::MAX {
                    assert_eq!(map.locate(unit), (rank, local), "{words}");
                    assert!(!std::mem::replace(&mut seen[unit], true), "{words}: unit {unit} twice");
                }
            }
        }
        assert!(seen.iter().all(|&seen| seen), "{words}: every unit has a place");
        for unit in 0..units {
            let (rank, local) = map.locate(unit);
            for more in 0..map.stretch(unit) {
                assert_eq!(map.locate(unit + more), (rank, local + more), "{words}: stretch of {unit}");
            }
            for less in 0..=map.before(unit) {
                assert_eq!(map.locate(unit - less), (rank, local - less), "{words}: what comes before {unit}");
            }
            assert!(map.stretch(unit) > 0, "{words}: {unit} is in its own stretch");
        }
    }

    /// Checks that stretches are as long as they can be, both ways.
    fn check_longest(map: &impl Map, units: usize, words: &str) {
        for unit in 0..units {
            let (rank, local) = map.locate(unit);
            let follows = |more: &usize| map.locate(unit + more) == (rank, local + more);
            let leads = |less: &usize| *less <= local && map.locate(unit - less) == (rank, local - less);
            assert_eq!(map.stretch(unit), (0..units - unit).take_while(follows).count(), "{words}: from {unit}");
            assert_eq!(map.before(unit) + 1, (0..=unit).take_while(leads).count(), "{words}: up to {unit}");
        }
    }

    #[test]
    fn stretches_are_as_long_as_they_can_be() {
        for size in [1, 2, 3, 5] {
            for units in [1, 2, 7, 12, 40] {
                check_longest(&Block::new().lay(&[units], size).unwrap(), units, "block");
                check_longest(&Cyclic::new().lay(&[units], size).unwrap(), units, "cyclic");
                for block in [1, 3, 100] {
                    check_longest(&BlockCyclic::new(block).lay(&[units], size).unwrap(), units, "block-cyclic");
                }
                let mut sizes = vec![0; size];
                (sizes[units % size], sizes[size - 1]) = (0, units - units / 2);
                sizes[0] += units - sizes.iter().sum::<usize>();
                check_longest(&Irregular(sizes).lay(&[units], size).unwrap(), units, "irregular");
            }
            // Two tiles in a row are apart by what else a tile has.
            check_longest(&Tiles([2, 3]).lay(&[7, 5], size).unwrap(), 35, "tiles");
        }
    }

    #[test]
    fn what_tells_two_distributions_of_one_type_apart_must_agree() {
        assert_eq!(BlockCyclic::<1>::new(7).terms(), [7]);
        assert_eq!(Irregular(vec![3, 0, 1]).terms(), [3, 0, 1]);
        assert_eq!(Tiles([2, 5]).terms(), [2, 5]);
        assert!(Block::<1>::new().terms().is_empty() && Cyclic::<1>::new().terms().is_empty());
        // The sizes of another group, or of another length, are as even as they can be.
        assert_eq!(Irregular(vec![9, 1]).resized(8, 3).terms(), [3, 3, 2]);
        assert_eq!(BlockCyclic::<1>::new(7).resized(8, 3).terms(), [7]);
    }

    #[test]
    fn every_unit_has_one_place_and_is_found_there() {
        for size in [1, 2, 3, 5, 8] {
            for units in [0, 1, 2, 7, 8, 9, 40] {
                check(&Block::new().lay(&[units], size).unwrap(), units, size, "block");
                check(&Cyclic::new().lay(&[units], size).unwrap(), units, size, "cyclic");
                for block in [1, 3, 100, usize::MAX] {
                    check(&BlockCyclic::new(block).lay(&[units], size).unwrap(), units, size, "block-cyclic");
                }
                let mut sizes = vec![0; size];
                sizes[units % size] = units / 2;
                sizes[size - 1] += units - units / 2;
                let irregular = Irregular(sizes);
                check(&irregular.lay(&[units], size).unwrap(), units, size, "irregular");
                check(&irregular.resized(9, 4).lay(&[9], 4).unwrap(), 9, 4, "irregular again");
            }
            for (shape, tile) in [([7, 5], [2, 3]), ([4, 4], [4, 4]), ([3, 8], [5, 1]), ([0, 4], [1, 1])] {
                check(&Tiles(tile).lay(&shape, size).unwrap(), shape[0] * shape[1], size, "tiles");
            }
            check(&Tiles([2, 2, 2]).lay(&[3, 4, 5], size).unwrap(), 60, size, "tiles");
        }
    }

    #[test]
    fn blocks_are_as_the_paper_draws_them() {
        let block = Block::new().lay(&[7], 4).unwrap();
        assert_eq!((0..4).map(|rank| block.count(rank)).collect::<Vec<_>>(), [2, 2, 2, 1]);
        let cyclic = Cyclic::new().lay(&[7], 4).unwrap();
        assert_eq!((0..7).map(|unit| cyclic.locate(unit).0).collect::<Vec<_>>(), [0, 1, 2, 3, 0, 1, 2]);
    }

    #[test]
    fn what_cannot_be_laid_is_named() {
        let refused = Irregular(vec![1, 2]).lay(&[4], 2).unwrap_err().1;
        assert_eq!(refused, "the sizes of an irregular array of 4 elements add up to 3");
        assert!(Irregular(vec![1]).lay(&[1], 2).unwrap_err().1.contains("1 sizes in a group of 2"));
        assert!(Block::<2>.lay(&[usize::MAX, 2], 2).unwrap_err().1.contains("more elements than a usize can count"));
        assert!(BlockCyclic::new(0).lay(&[1], 2).is_err() && Tiles([0]).lay(&[1], 2).is_err());
    }
}
