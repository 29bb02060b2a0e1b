//! Bands of the transposed matrix, tile by tile.

use super::timed;
use crate::{Sample, contenders::huge, digest, kernels::dense::Dense};
use ::rayon::prelude::*;
use superstep_bench::raw::turn;

/// How many rows a band has.
const BAND: usize = 256;

pub(crate) fn tiles(matrix: &Dense) -> Sample {
    let side = matrix.side;
    let source = huge::copied(&matrix.entries);
    let mut target = huge::zeroed::<f64>(source.len());
    let seconds = timed(|| {
        target.par_chunks_mut(BAND * side).enumerate().for_each(|(band, part)| {
            let first = band * BAND;
            turn(&source, side, first..first + part.len() / side, part, side);
        });
    });
    Sample::of_answer(seconds, digest(0, target))
}
