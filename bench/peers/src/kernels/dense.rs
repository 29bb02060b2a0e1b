//! A dense square matrix: the input of `transpose`.

use crate::mix;

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
