//! A sparse matrix times a vector.

use super::{Sizes, count, sparse::Sparse};
use crate::{
    contenders::{raw, rayon, superstep},
    contest::{Contest, Stage, Unit},
    digest,
    failure::Failure,
};

pub(super) fn hold(stage: &mut Stage, sizes: &Sizes) -> Result<(), Failure> {
    let matrix = &Sparse::random(sizes.rows, sizes.per_row);
    let title = format!("{} rows of {} entries, f64", count(sizes.rows), sizes.per_row);
    let unit = Unit::millions("million entries/s");
    let contest = Contest::new("spmv", title, unit, matrix.entries(), expected(matrix))
        .raw("by rows", || raw::spmv::by_rows(matrix))
        .rayon("by chunks of rows", || rayon::spmv::by_rows(matrix))
        .superstep("`mirror`, then by rows", || superstep::spmv::mirrored(matrix));
    stage.hold(contest)
}

fn expected(matrix: &Sparse) -> u64 {
    let mut product = vec![0.0; matrix.rows()];
    matrix.multiply(0..matrix.rows(), matrix.vector(), &mut product);
    digest(0, product)
}
