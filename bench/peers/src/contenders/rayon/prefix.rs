//! Two sweeps over chunks: their sums, then the sums before them added.

use super::timed;
use crate::{
    PROCS, Sample,
    contenders::{huge, single::add_up},
    digest,
};
use ::rayon::prelude::*;

/// How many chunks a thread has, so that one who is late can be helped.
const CHUNKS_PER_PROC: usize = 4;

pub(crate) fn two_sweeps(terms: &[i64]) -> Sample {
    let mut sums = huge::copied(terms);
    let chunk = terms.len().div_ceil(PROCS * CHUNKS_PER_PROC);
    let seconds = timed(|| {
        let mut before: Vec<i64> = sums.par_chunks(chunk).map(|part| part.iter().sum()).collect();
        let mut sum = 0;
        for part in &mut before {
            sum += std::mem::replace(part, sum);
        }
        sums.par_chunks_mut(chunk).zip(before).for_each(|(part, sum)| add_up(part, sum));
    });
    Sample::of_answer(seconds, digest(0, sums))
}
