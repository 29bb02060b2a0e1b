//! A sparse matrix times a vector.

use super::{Sizes, count};
use crate::{
    contenders::{raw, rayon, sprs, superstep},
    contest::{Contest, Stage, Unit},
    digest,
    failure::Failure,
};
use superstep_bench::raw::Sparse;

pub(super) fn hold(stage: &mut Stage, sizes: &Sizes) -> Result<(), Failure> {
    let matrix = &Sparse::random(sizes.rows, sizes.per_row);
    let of_sprs = &sprs::matrix(matrix);
    let title = format!("{} rows of {} entries, f64", count(sizes.rows), sizes.per_row);
    let unit = Unit::millions("million entries/s");
    let contest = Contest::new("spmv", title, unit, matrix.entries(), digest(0, matrix.product().iter().copied()))
        .raw("by rows", || raw::by_rows(matrix))
        .rayon("by chunks of rows", || rayon::spmv::by_rows(matrix))
        .peer("sprs", "by parts of the rows", || sprs::by_rows(of_sprs, matrix))
        .superstep("`Sparse::spmv`", || superstep::spmv::planned(matrix))
        .superstep("`mirror`, then by rows", || superstep::spmv::mirrored(matrix));
    stage.hold(contest)
}
