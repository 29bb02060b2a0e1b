//! A matrix is turned over, patch by patch.

use std::ops::Range;

/// How many rows and columns are turned at once: their lines fit into the first-level cache.
const PATCH: usize = 16;

/// Turns the given columns of `source`, which has so many rows, each `stride` long: column by column, each as long as
/// there are rows, they are laid into `target`.
#[inline]
pub fn turn(source: &[f64], stride: usize, columns: Range<usize>, target: &mut [f64], rows: usize) {
    for band in (0..rows).step_by(PATCH).map(|row| row..rows.min(row + PATCH)) {
        for first in columns.clone().step_by(PATCH) {
            for column in first..columns.end.min(first + PATCH) {
                let start = (column - columns.start) * rows;
                let line = &mut target[start + band.start..start + band.end];
                for (x, row) in line.iter_mut().zip(band.clone()) {
                    *x = source[row * stride + column];
                }
            }
        }
    }
}
