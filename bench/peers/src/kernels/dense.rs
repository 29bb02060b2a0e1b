//! A dense square matrix, and how a part of it is transposed: the input of `transpose`.

use crate::mix;
use std::ops::Range;

/// The side of a tile: two tiles fit the first cache.
const TILE: usize = 16;

/// What the matrix has at a place, row by row.
pub(crate) fn entry(at: usize) -> f64 {
    (mix(at as u64) >> 11) as f64
}

/// A matrix of so many rows and columns, row by row.
pub(crate) struct Dense {
    pub(crate) side: usize,
    pub(crate) entries: Vec<f64>,
}

impl Dense {
    pub(crate) fn new(side: usize) -> Self {
        Self { side, entries: (0..side * side).map(entry).collect() }
    }
}

/// Transposes the given columns of `source`, which has so many rows, each `stride` long: column by column, each as long
/// as there are rows, they are laid into `target`.
pub(crate) fn transpose_tiles(source: &[f64], stride: usize, columns: Range<usize>, target: &mut [f64], rows: usize) {
    for band in (0..rows).step_by(TILE).map(|row| row..rows.min(row + TILE)) {
        for first in columns.clone().step_by(TILE) {
            for column in first..columns.end.min(first + TILE) {
                let start = (column - columns.start) * rows;
                let line = &mut target[start + band.start..start + band.end];
                for (to, row) in line.iter_mut().zip(band.clone()) {
                    *to = source[row * stride + column];
                }
            }
        }
    }
}
