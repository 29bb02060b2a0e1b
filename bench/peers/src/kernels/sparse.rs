//! A sparse matrix by rows, and a vector: the input of `spmv`.

use crate::Random;
use std::ops::Range;

/// A square matrix in compressed rows, and what it is multiplied with. All numbers are small and whole, so that sums
/// are exact in any order.
///
/// - **S1** Each column is below the number of rows; nothing but [`Sparse::random`] makes one.
pub(crate) struct Sparse {
    starts: Vec<usize>,
    columns: Vec<u32>,
    values: Vec<f64>,
    vector: Vec<f64>,
}

impl Sparse {
    /// So many rows with so many entries each, in random columns.
    pub(crate) fn random(rows: usize, per_row: usize) -> Self {
        let mut random = Random::of_rank(6, 0);
        let mut small = |bound: usize| random.below(bound) as u32;
        let columns = (0..rows * per_row).map(|_| small(rows)).collect();
        let values = (0..rows * per_row).map(|_| f64::from(small(64))).collect();
        let vector = (0..rows).map(|_| f64::from(small(64))).collect();
        Self { starts: (0..=rows).map(|row| row * per_row).collect(), columns, values, vector }
    }

    pub(crate) fn rows(&self) -> usize {
        self.vector.len()
    }

    /// How many entries it has.
    pub(crate) fn entries(&self) -> usize {
        self.values.len()
    }

    pub(crate) fn vector(&self) -> &[f64] {
        &self.vector
    }

    /// Multiplies some rows with `vector`.
    pub(crate) fn multiply(&self, rows: Range<usize>, vector: &[f64], product: &mut [f64]) {
        assert_eq!(rows.len(), product.len(), "a row each");
        for (sum, row) in product.iter_mut().zip(rows) {
            let entries = self.starts[row]..self.starts[row + 1];
            let terms = self.columns[entries.clone()].iter().zip(&self.values[entries]);
            *sum = terms.map(|(&column, value)| value * vector[column as usize]).sum();
        }
    }
}
