//! Sprs: compressed rows, of which each of rayon's threads multiplies a part.

use crate::{PROCS, Sample, contenders::huge, digest};
use ::sprs::{CsMatI, prod::mul_acc_mat_vec_csr};
use rayon::prelude::*;
use std::{collections::BTreeMap, time::Instant};
use superstep_bench::raw::Sparse;

/// The same matrix; entries for one place are added up.
pub(crate) fn matrix(of: &Sparse) -> CsMatI<f64, u32> {
    let (mut starts, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
    for row in 0..of.rows() {
        let mut entries = BTreeMap::new();
        of.row(row).for_each(|(column, value)| *entries.entry(column as u32).or_insert(0.0) += value);
        columns.extend(entries.keys());
        values.extend(entries.values());
        starts.push(columns.len() as u32);
    }
    CsMatI::new((of.rows(), of.rows()), starts, columns, values)
}

pub(crate) fn by_rows(matrix: &CsMatI<f64, u32>, of: &Sparse) -> Sample {
    let (vector, rows) = (huge::copied(of.vector()), of.rows().div_ceil(PROCS));
    let mut product = huge::zeroed::<f64>(of.rows());
    let start = Instant::now();
    product.par_chunks_mut(rows).enumerate().for_each(|(part, results)| {
        let first = part * rows;
        let block = matrix.slice_outer(first..first + results.len());
        mul_acc_mat_vec_csr(block, &vector[..], results);
    });
    let seconds = start.elapsed().as_secs_f64();
    Sample::of_answer(seconds, digest(0, product))
}
