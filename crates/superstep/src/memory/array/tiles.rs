//! Rectangular tiles.

use super::{
    divisor::Divisor,
    layout::{Distribution, Map, Unlaid, units},
};
use crate::error::ErrorKind;
use std::rc::Rc;

/// Rectangular tiles of the given extents in every distributed dimension, numbered row by row and dealt round.
///
/// An owner keeps its tiles one after another, each row-major and padded to its full extents.
///
/// ```
/// use superstep::{Array, Config, Tiles};
///
/// let owners = Config::new().procs(2).run(|g| {
///     let a: Array<u8, Tiles<2>, 2> = g.array_with([4, 4], Tiles([2, 2]));
///     (a.owner([0, 0]), a.owner([1, 3]), a.owner([2, 0]))
/// });
/// assert_eq!(owners.unwrap(), (0, 1, 0));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Tiles<const K: usize>(pub [usize; K]);

#[doc(hidden)]
#[derive(Clone, Debug)]
pub struct TilesMap {
    /// Per dimension: its extent, a tile's extent, and how many tiles there are.
    dimensions: Rc<[Dimension]>,
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

impl<const K: usize> Distribution for Tiles<K> {
    const DISTRIBUTED: usize = K;
    type Map = TilesMap;

    fn lay(&self, shape: &[usize], size: usize) -> Result<TilesMap, Unlaid> {
        if self.0.contains(&0) {
            let what = format!("tiles of {:?}; every extent must be at least 1", self.0);
            return Err((ErrorKind::BadLength, what));
        }
        units(shape)?;
        // A tile beyond the array would be padding only.
        let dimensions: Rc<[Dimension]> = shape
            .iter()
            .zip(self.0.iter().zip(shape).map(|(&tile, &extent)| tile.min(extent.max(1))))
            .map(|(&extent, tile)| Dimension {
                extent,
                tile,
                tiles: extent.div_ceil(tile),
                by_extent: Divisor::new(extent),
                by_tile: Divisor::new(tile),
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
        tiles.checked_mul(tile).ok_or_else(too_many)?;
        Ok(TilesMap { size, tile, tiles, by_tile: Divisor::new(tile), by_size: Divisor::new(size), dimensions })
    }

    fn terms(&self) -> Vec<u64> {
        self.0.iter().map(|&extent| extent as u64).collect()
    }
}

impl Map for TilesMap {
    const RISES: bool = false;

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

    /// Padding stands for no unit.
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

    fn stretch(&self, unit: usize) -> usize {
        let last = self.dimensions.last().expect("at least one dimension is distributed");
        let index = last.by_extent.divide(unit).1;
        (last.tile - last.by_tile.divide(index).1).min(last.extent - index)
    }

    fn before(&self, unit: usize) -> usize {
        let last = self.dimensions.last().expect("at least one dimension is distributed");
        last.by_tile.divide(last.by_extent.divide(unit).1).1
    }
}
