//! A sparse matrix times a vector.

use super::{Sizes, count};
use crate::{
    contenders::{raw, rayon, superstep},
    contest::{Contest, Stage, Unit},
    digest,
    failure::Failure,
};
use superstep_bench::raw::Sparse;

pub(super) fn hold(stage: &mut Stage, sizes: &Sizes) -> Result<(), Failure> {
    let matrix = &Sparse::random(sizes.rows, sizes.per_row);
    let title = format!("{} rows of {} entries, f64", count(sizes.rows), sizes.per_row);
    let unit = Unit::millions("million entries/s");
    let contest = Contest::new("spmv", title, unit, matrix.entries(), digest(0, matrix.product().iter().copied()))
        .raw("by rows", || raw::by_rows(matrix))
        .rayon("by chunks of rows", || rayon::spmv::by_rows(matrix))
        .superstep("`mirror`, then by rows", || superstep::spmv::mirrored(matrix));
    stage.hold(contest)
}
