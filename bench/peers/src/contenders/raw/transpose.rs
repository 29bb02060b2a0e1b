//! Each thread fills its rows of the transposed matrix, tile by tile.

use super::team::team_of;
use crate::{
    PROCS,
    contenders::huge,
    Sample,
    digest,
    kernels::dense::{Dense, transpose_tiles},
};

pub(crate) fn tiles(matrix: &Dense) -> Sample {
    let side = matrix.side;
    let source = huge::copied(&matrix.entries);
    let mut target = huge::zeroed::<f64>(source.len());
    let rows = side.div_ceil(PROCS);
    team_of(target.chunks_mut(rows * side), |member, part| {
        let first = member.rank * rows;
        let (seconds, ()) =
            member.timed(|| transpose_tiles(&source, side, first..first + part.len() / side, part, side));
        Sample::of_answer(seconds, digest(first * side, part.iter().copied()))
    })
}
