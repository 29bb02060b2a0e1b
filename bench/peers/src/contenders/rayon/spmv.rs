//! Chunks of rows.

use super::timed;
use crate::{Sample, contenders::huge, digest};
use ::rayon::prelude::*;
use superstep_bench::raw::Sparse;

/// How many rows a chunk has.
const CHUNK: usize = 4096;

pub(crate) fn by_rows(matrix: &Sparse) -> Sample {
    let vector = huge::copied(matrix.vector());
    let mut product = huge::zeroed::<f64>(matrix.rows());
    let seconds = timed(|| {
        product.par_chunks_mut(CHUNK).enumerate().for_each(|(chunk, part)| {
            let first = chunk * CHUNK;
            matrix.multiply(first..first + part.len(), &vector, part);
        });
    });
    Sample::of_answer(seconds, digest(0, product))
}
