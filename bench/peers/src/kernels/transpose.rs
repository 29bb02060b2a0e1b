//! A dense matrix is transposed into another.

use super::{
    Sizes,
    dense::{Dense, entry},
};
use crate::{
    contenders::{raw, rayon, superstep},
    contest::{Contest, Stage, Unit},
    digest,
    failure::Failure,
};

pub(super) fn hold(stage: &mut Stage, sizes: &Sizes) -> Result<(), Failure> {
    let side = sizes.side;
    let matrix = &Dense::new(side);
    let bytes = 2 * size_of_val(matrix.entries.as_slice());
    let contest = Contest::new("transpose", format!("{side} × {side} f64"), Unit::GIGABYTES, bytes, expected(side))
        .raw("in tiles", || raw::tiles(matrix))
        .rayon("in tiles", || rayon::transpose::tiles(matrix))
        .superstep("tiles and `update`", || superstep::transpose::tiles(matrix));
    stage.hold(contest)
}

fn expected(side: usize) -> u64 {
    digest(0, (0..side * side).map(|at| entry(at % side * side + at / side)))
}
