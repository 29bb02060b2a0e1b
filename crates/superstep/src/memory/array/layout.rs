//! How an array lies over a group: which processor owns an element, and where it keeps it.
//!
//! The leading dimensions of an array are linearised, row by row, into *units*; each unit, with whatever dimensions are
//! left inside of it, belongs to one processor. A distribution says which. All of this is arithmetic that every
//! processor does for itself.

use crate::error::ErrorKind;

/// How an array is spread over the processors of its group; part of the array's type.
///
/// `K` is how many leading dimensions are distributed, 1 to 3; the rest stay together with their owner.
pub trait Distribution: Clone + 'static {
    /// How many leading dimensions are distributed.
    #[doc(hidden)]
    const DISTRIBUTED: usize;

    /// Finds out who owns what.
    #[doc(hidden)]
    type Map: Map;

    /// Lays `shape`, the distributed dimensions, over `size` processors.
    #[doc(hidden)]
    fn lay(&self, shape: &[usize], size: usize) -> Result<Self::Map, (ErrorKind, String)>;

    /// What must agree on all members, besides the type.
    #[doc(hidden)]
    fn terms(&self) -> Vec<u64> {
        Vec::new()
    }
}

/// Where units are. Units are numbered from 0, those of each processor again from 0.
#[doc(hidden)]
pub trait Map: Clone + 'static {
    /// Who owns a unit, and its number there. The unit must exist.
    fn locate(&self, unit: usize) -> (usize, usize);

    /// Which unit a processor's number stands for.
    fn unit(&self, rank: usize, local: usize) -> usize;

    /// How many units a processor owns.
    fn count(&self, rank: usize) -> usize;

    /// How many units follow `unit` at the same owner, at places that follow each other, `unit` included.
    fn run(&self, unit: usize) -> usize;
}

/// Divides by a number that is known beforehand: by a shift or a multiplication where that gives the same.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Divisor {
    by: usize,
    /// 2^64 / by, rounded up; 0 where the division has to be done.
    reciprocal: u64,
}

impl Divisor {
    /// For dividing numbers up to `most`.
    pub(crate) fn new(by: usize, most: usize) -> Self {
        let by = by.max(1);
        // The rounding adds less than by / 2^64 for each unit of the number; below 2^32 that never reaches the next
        // whole.
        let is_exact = by > 1 && most <= u32::MAX as usize && by <= u32::MAX as usize;
        Self { by, reciprocal: if is_exact { (u64::MAX / by as u64).wrapping_add(1) } else { 0 } }
    }

    /// The quotient and the remainder.
    #[inline]
    pub(crate) fn divide(&self, number: usize) -> (usize, usize) {
        if self.reciprocal != 0 {
            let quotient = ((number as u128 * u128::from(self.reciprocal)) >> 64) as usize;
            (quotient, number - quotient * self.by)
        } else if self.by == 1 {
            (number, 0)
        } else {
            (number / self.by, number % self.by)
        }
    }
}

/// The product of the distributed dimensions.
fn units(shape: &[usize]) -> Result<usize, (ErrorKind, String)> {
    shape.iter().try_fold(1usize, |product, &extent| product.checked_mul(extent)).ok_or_else(|| {
        (ErrorKind::Overflow, format!("an array of shape {shape:?} has more elements than a usize can count"))
    })
}

/// Contiguous blocks of ⌈n/p⌉; the last processors may have less, or nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Block<const K: usize = 1>;

/// One unit after another, dealt round.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cyclic<const K: usize = 1>;

/// Blocks of the given number of units, dealt round.
#[derive(Clone, Copy, Debug)]
pub struct BlockCyclic<const K: usize = 1>(pub usize);

/// As many elements for each processor as the list says; it must say the same on all members and add up to the length.
#[derive(Clone, Debug)]
pub struct Irregular(pub Vec<usize>);

/// Rectangular tiles of the given extents in every dimension, numbered row by row and dealt round.
///
/// An owner keeps its tiles one after another, each row-major and padded to its full extents.
#[derive(Clone, Copy, Debug)]
pub struct Tiles<const N: usize>(pub [usize; N]);

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

    fn lay(&self, shape: &[usize], size: usize) -> Result<BlockMap, (ErrorKind, String)> {
        let units = units(shape)?;
        let block = units.div_ceil(size).max(1);
        Ok(BlockMap { units, block, divisor: Divisor::new(block, units) })
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

    fn run(&self, unit: usize) -> usize {
        (self.block - self.locate(unit).1).min(self.units - unit)
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
        Self { units, size, block, by_block: Divisor::new(block, units), by_size: Divisor::new(size, units) }
    }
}

impl<const K: usize> Distribution for Cyclic<K> {
    const DISTRIBUTED: usize = K;
    type Map = CyclicMap;

    fn lay(&self, shape: &[usize], size: usize) -> Result<CyclicMap, (ErrorKind, String)> {
        Ok(CyclicMap::new(units(shape)?, size, 1))
    }
}

impl<const K: usize> Distribution for BlockCyclic<K> {
    const DISTRIBUTED: usize = K;
    type Map = CyclicMap;

    fn lay(&self, shape: &[usize], size: usize) -> Result<CyclicMap, (ErrorKind, String)> {
        if self.0 == 0 {
            return Err((ErrorKind::BadLength, "a block-cyclic array with blocks of 0; give it at least 1".to_owned()));
        }
        Ok(CyclicMap::new(units(shape)?, size, self.0))
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

    fn run(&self, unit: usize) -> usize {
        if self.size == 1 {
            return self.units - unit;
        }
        (self.block - self.by_block.divide(unit).1).min(self.units - unit)
    }
}

#[doc(hidden)]
#[derive(Clone, Debug)]
pub struct IrregularMap {
    /// Where each processor's part begins, and the end.
    starts: Vec<usize>,
}

impl Distribution for Irregular {
    const DISTRIBUTED: usize = 1;
    type Map = IrregularMap;

    fn lay(&self, shape: &[usize], size: usize) -> Result<IrregularMap, (ErrorKind, String)> {
        let (given, units) = (self.0.len(), units(shape)?);
        if given != size {
            let what = format!("an irregular array with {given} sizes in a group of {size}; give one per rank");
            return Err((ErrorKind::BadLength, what));
        }
        let mut starts = Vec::with_capacity(size + 1);
        let mut sum = Some(0usize);
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
        Ok(IrregularMap { starts })
    }

    fn terms(&self) -> Vec<u64> {
        self.0.iter().map(|&size| size as u64).collect()
    }
}

impl Map for IrregularMap {
    #[inline]
    fn locate(&self, unit: usize) -> (usize, usize) {
        // Parts may be empty: the owner is the last one that begins at or before the unit.
        let rank = self.starts[..self.starts.len() - 1].partition_point(|&start| start <= unit) - 1;
        (rank, unit - self.starts[rank])
    }

    #[inline]
    fn unit(&self, rank: usize, local: usize) -> usize {
        self.starts[rank] + local
    }

    fn count(&self, rank: usize) -> usize {
        self.starts[rank + 1] - self.starts[rank]
    }

    fn run(&self, unit: usize) -> usize {
        self.starts[self.locate(unit).0 + 1] - unit
    }
}

#[doc(hidden)]
#[derive(Clone, Debug)]
pub struct TilesMap {
    /// Per dimension: its extent, a tile's extent, and how many tiles there are.
    dimensions: Vec<Dimension>,
    size: usize,
    tile: usize,
    tiles: usize,
    by_tile: Divisor,
    by_size: Divisor,
}

#[derive(Clone, Copy, Debug)]
struct Dimension {
    extent: usize,
    tile: usize,
    tiles: usize,
    by_extent: Divisor,
    by_tile: Divisor,
}

impl<const N: usize> Distribution for Tiles<N> {
    const DISTRIBUTED: usize = N;
    type Map = TilesMap;

    fn lay(&self, shape: &[usize], size: usize) -> Result<TilesMap, (ErrorKind, String)> {
        if self.0.contains(&0) {
            let what = format!("tiles of {:?}; every extent must be at least 1", self.0);
            return Err((ErrorKind::BadLength, what));
        }
        let all = units(shape)?;
        let dimensions: Vec<Dimension> = shape
            .iter()
            .zip(self.0)
            .map(|(&extent, tile)| Dimension {
                extent,
                tile,
                tiles: extent.div_ceil(tile),
                by_extent: Divisor::new(extent, all),
                by_tile: Divisor::new(tile, extent),
            })
            .collect();
        let too_many = || {
            let tiles = &self.0;
            (ErrorKind::Overflow, format!("tiles of {tiles:?} over {shape:?} are more than a usize can count"))
        };
        let product = |of: fn(&Dimension) -> usize| {
            dimensions.iter().try_fold(1usize, |product, d| product.checked_mul(of(d))).ok_or_else(too_many)
        };
        let (tile, tiles) = (product(|d| d.tile)?, product(|d| d.tiles)?);
        let padded = tiles.checked_mul(tile).ok_or_else(too_many)?;
        Ok(TilesMap {
            size,
            tile,
            tiles,
            by_tile: Divisor::new(tile, padded),
            by_size: Divisor::new(size, tiles),
            dimensions,
        })
    }

    fn terms(&self) -> Vec<u64> {
        self.0.iter().map(|&extent| extent as u64).collect()
    }
}

impl Map for TilesMap {
    #[inline]
    fn locate(&self, unit: usize) -> (usize, usize) {
        let (mut rest, mut tile, mut within) = (unit, 0, 0);
        let (mut tiles, mut elements) = (1, 1);
        for dimension in self.dimensions.iter().rev() {
            let (above, index) = dimension.by_extent.divide(rest);
            let (at, inside) = dimension.by_tile.divide(index);
            tile += at * tiles;
            within += inside * elements;
            tiles *= dimension.tiles;
            elements *= dimension.tile;
            rest = above;
        }
        let (round, rank) = self.by_size.divide(tile);
        (rank, round * self.tile + within)
    }

    /// Padding stands for no unit: `usize::MAX`.
    fn unit(&self, rank: usize, local: usize) -> usize {
        let (round, mut within) = self.by_tile.divide(local);
        let mut tile = round * self.size + rank;
        let (mut unit, mut stride) = (0, 1);
        for dimension in self.dimensions.iter().rev() {
            let index = tile % dimension.tiles * dimension.tile + within % dimension.tile;
            tile /= dimension.tiles;
            within /= dimension.tile;
            if index >= dimension.extent {
                return usize::MAX;
            }
            unit += index * stride;
            stride *= dimension.extent;
        }
        unit
    }

    fn count(&self, rank: usize) -> usize {
        (self.tiles / self.size + usize::from(rank < self.tiles % self.size)) * self.tile
    }

    fn run(&self, unit: usize) -> usize {
        let Some(last) = self.dimensions.last() else { return 1 };
        let index = last.by_extent.divide(unit).1;
        (last.tile - last.by_tile.divide(index).1).min(last.extent - index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
            for more in 0..map.run(unit) {
                assert_eq!(map.locate(unit + more), (rank, local + more), "{words}: run of {unit}");
            }
        }
    }

    #[test]
    fn every_unit_has_one_place_and_is_found_there() {
        for size in [1, 2, 3, 5, 8] {
            for units in [0, 1, 2, 7, 8, 9, 40] {
                check(&Block::<1>.lay(&[units], size).unwrap(), units, size, "block");
                check(&Cyclic::<1>.lay(&[units], size).unwrap(), units, size, "cyclic");
                for block in [1, 3, 100] {
                    check(&BlockCyclic::<1>(block).lay(&[units], size).unwrap(), units, size, "block-cyclic");
                }
                let mut sizes = vec![0; size];
                sizes[units % size] = units / 2;
                sizes[size - 1] += units - units / 2;
                check(&Irregular(sizes).lay(&[units], size).unwrap(), units, size, "irregular");
            }
            for (shape, tile) in [([7, 5], [2, 3]), ([4, 4], [4, 4]), ([3, 8], [5, 1]), ([0, 4], [1, 1])] {
                check(&Tiles(tile).lay(&shape, size).unwrap(), shape[0] * shape[1], size, "tiles");
            }
            check(&Tiles([2, 2, 2]).lay(&[3, 4, 5], size).unwrap(), 60, size, "tiles");
        }
    }

    #[test]
    fn blocks_are_as_the_paper_draws_them() {
        let block = Block::<1>.lay(&[7], 4).unwrap();
        assert_eq!((0..4).map(|rank| block.count(rank)).collect::<Vec<_>>(), [2, 2, 2, 1]);
        let cyclic = Cyclic::<1>.lay(&[7], 4).unwrap();
        assert_eq!((0..7).map(|unit| cyclic.locate(unit).0).collect::<Vec<_>>(), [0, 1, 2, 3, 0, 1, 2]);
    }

    #[test]
    fn division_by_multiplication_is_exact() {
        let most = u32::MAX as usize;
        for by in [1, 2, 3, 5, 7, 10, 641, 65_535, 65_537, 1 << 20, most / 2, most - 1, most] {
            let divisor = Divisor::new(by, most);
            for base in [0, by, 2 * by, most / 2, most] {
                for number in base.saturating_sub(2)..=base.saturating_add(2).min(most) {
                    assert_eq!(divisor.divide(number), (number / by, number % by), "{number} / {by}");
                }
            }
        }
        assert_eq!(Divisor::new(3, usize::MAX).divide(usize::MAX), (usize::MAX / 3, usize::MAX % 3));
    }

    #[test]
    fn what_cannot_be_laid_is_named() {
        let refused = Irregular(vec![1, 2]).lay(&[4], 2).unwrap_err().1;
        assert_eq!(refused, "the sizes of an irregular array of 4 elements add up to 3");
        assert!(Irregular(vec![1]).lay(&[1], 2).unwrap_err().1.contains("1 sizes in a group of 2"));
        assert!(Block::<2>.lay(&[usize::MAX, 2], 2).unwrap_err().1.contains("more elements than a usize can count"));
        assert!(BlockCyclic::<1>(0).lay(&[1], 2).is_err() && Tiles([0]).lay(&[1], 2).is_err());
    }
}
