//! A sparse matrix in compressed rows, and its product with a vector.

use super::{huge::made, parts::fill_parts};
use crate::{random::Random, sample::Sample};
use std::ops::Range;
use superstep::Result;

/// A square matrix, what it is multiplied with, and the product. All numbers are small and whole, so that sums are
/// exact in any order.
pub struct Sparse {
    starts: Vec<usize>,
    columns: Vec<usize>,
    /// The columns again, half as wide: what a loop reads that is limited by memory.
    narrow: Vec<u32>,
    values: Vec<f64>,
    vector: Vec<f64>,
    product: Vec<f64>,
}

impl Sparse {
    /// So many rows with so many entries each, in random columns.
    pub fn random(rows: usize, per_row: usize) -> Self {
        let (mut random, entries) = (Random::new(5), rows * per_row);
        let columns: Vec<usize> = made(entries, |_| random.below(rows));
        let narrow = made(entries, |at| columns[at] as u32);
        let values = made(entries, |_| random.below(100) as f64);
        let vector: Vec<f64> = made(rows, |_| random.below(100) as f64);
        let sum = |row: usize| {
            let entries = row * per_row..(row + 1) * per_row;
            entries.map(|entry: usize| values[entry] * vector[columns[entry]]).sum()
        };
        let product = (0..rows).map(sum).collect();
        Self { starts: (0..=rows).map(|row| row * per_row).collect(), columns, narrow, values, vector, product }
    }

    /// How many rows, and columns, there are.
    pub fn rows(&self) -> usize {
        self.vector.len()
    }

    /// How many entries it has.
    pub fn entries(&self) -> usize {
        self.values.len()
    }

    /// What it is multiplied with.
    pub fn vector(&self) -> &[f64] {
        &self.vector
    }

    /// The right answer.
    pub fn product(&self) -> &[f64] {
        &self.product
    }

    /// Which rows belong to `rank`.
    pub fn block(&self, rank: usize, procs: usize) -> Range<usize> {
        let block = self.rows().div_ceil(procs);
        (rank * block).min(self.rows())..((rank + 1) * block).min(self.rows())
    }

    /// The columns of all entries of these rows.
    pub(crate) fn columns(&self, rows: Range<usize>) -> &[usize] {
        &self.columns[self.starts[rows.start]..self.starts[rows.end]]
    }

    /// The columns and values of a row's entries; a column may come more than once.
    pub fn row(&self, row: usize) -> impl Iterator<Item = (usize, f64)> {
        let entries = self.starts[row]..self.starts[row + 1];
        self.columns[entries.clone()].iter().copied().zip(self.values[entries].iter().copied())
    }

    /// Multiplies some rows with `vector`.
    pub fn multiply(&self, rows: Range<usize>, vector: &[f64], results: &mut [f64]) {
        for (result, entries) in results.iter_mut().zip(self.of(rows)) {
            let terms = self.narrow[entries.clone()].iter().zip(&self.values[entries]);
            *result = terms.map(|(&column, value)| value * vector[column as usize]).sum();
        }
    }

    /// Multiplies some rows with what stands at the columns of their entries.
    pub(crate) fn multiply_gathered(&self, rows: Range<usize>, elements: &[f64], results: &mut [f64]) {
        let first = self.starts[rows.start];
        for (result, entries) in results.iter_mut().zip(self.of(rows)) {
            let elements = &elements[entries.start - first..entries.end - first];
            *result = elements.iter().zip(&self.values[entries]).map(|(element, value)| value * element).sum();
        }
    }

    /// Where the entries of each of these rows are.
    fn of(&self, rows: Range<usize>) -> impl Iterator<Item = Range<usize>> {
        self.starts[rows.start..=rows.end].windows(2).map(|ends| ends[0]..ends[1])
    }

    /// Each of `procs` threads multiplies its rows, and loads what it needs directly. Parts are judged with
    /// their first row.
    pub fn by_rows(
        &self,
        procs: usize,
        rounds: u64,
        judge: impl Fn(f64, usize, &[f64]) -> Sample + Sync,
    ) -> Result<Sample> {
        fill_parts(
            procs,
            self.rows().div_ceil(procs),
            rounds,
            |rank, part| self.multiply(self.block(rank, procs), &self.vector, part),
            |seconds, rank, part| {
                let rows = self.block(rank, procs);
                judge(seconds, rows.start, &part[..rows.len()])
            },
        )
    }
}
