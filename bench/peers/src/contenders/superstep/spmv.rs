//! Random columns touch all of the vector: everybody mirrors all of it and multiplies its rows, or a matrix of the
//! library's has planned that.

use super::{on_all, timed};
use crate::{PROCS, Sample, digest};
use ::superstep::{Block, Result, Sum};
use superstep_bench::raw::Sparse;

pub(crate) fn mirrored(matrix: &Sparse) -> Result<Sample> {
    on_all(|g| {
        let (vector, product) = (g.array::<f64, Block>(matrix.rows()), g.array::<f64, Block>(matrix.rows()));
        let first = g.rank() * matrix.rows().div_ceil(PROCS);
        let rows = first..first + vector.local().len();
        vector.local_mut().copy_from_slice(&matrix.vector()[rows.clone()]);
        let mut round = || {
            timed(g, |g| {
                let vector = g.step(|s| s.mirror(&vector, ..));
                matrix.multiply(rows.clone(), &vector, &mut product.local_mut());
            })
        };
        round();
        let (seconds, ()) = round();
        Sample::of_answer(seconds, digest(first, product.local().iter().copied()))
    })
}

pub(crate) fn planned(of: &Sparse) -> Result<Sample> {
    on_all(|g| {
        let (vector, product) = (g.array::<f64, Block>(of.rows()), g.array::<f64, Block>(of.rows()));
        let matrix = g.sparse_rows(&product, &vector, |row| of.row(row), Sum);
        vector.forall_mut(|row, value| *value = of.vector()[row]);
        matrix.spmv(g, &vector, &product);
        let (seconds, ()) = timed(g, |g| matrix.spmv(g, &vector, &product));
        Sample::of_answer(seconds, digest(product.global(0).unwrap_or(0), product.local().iter().copied()))
    })
}
