//! The programs of `superstep_programs`, by the calls that do their work.

use super::{WARM_UPS, on_all, timed};
use crate::{
    PROCS, Sample, digest,
    kernels::{
        access::Shape,
        k_means::{self, DIMENSIONS, Points, ROUNDS},
        words,
    },
};
use ::superstep::{Block, Result};
use std::time::Instant;
use superstep_programs::{
    data::{kmeans::lloyd, words::counted},
    hpcc::update,
};

/// The table is zero again after an even number of times, and so before the one that counts.
pub(crate) fn random_access(shape: Shape, ahead: usize) -> Result<Sample> {
    on_all(|g| {
        let table = g.array::<u64, Block>(shape.table());
        for _ in 0..WARM_UPS {
            timed(g, |g| update(g, &table, shape.accesses(), ahead));
        }
        let (seconds, ()) = timed(g, |g| update(g, &table, shape.accesses(), ahead));
        Sample::of_answer(seconds, digest(g.rank() * shape.block, table.local().iter().copied()))
    })
}

pub(crate) fn words(text: &[u8]) -> Result<Sample> {
    on_all(|g| {
        let mine = &text[words::begin(text, g.rank())..words::begin(text, g.rank() + 1)];
        g.step(|_| ());
        let start = Instant::now();
        counted(g, mine, |counts| {
            let seconds = start.elapsed().as_secs_f64();
            let mut answer = 0u64;
            counts.for_each(|word, count| answer = answer.wrapping_add(words::answer([(word, count)].into_iter())));
            Sample::of_answer(seconds, answer)
        })
    })
}

pub(crate) fn k_means(points: &Points) -> Result<Sample> {
    on_all(|g| {
        let len = (points.all.len() / DIMENSIONS).div_ceil(PROCS) * DIMENSIONS;
        let mine = &points.all[(g.rank() * len).min(points.all.len())..((g.rank() + 1) * len).min(points.all.len())];
        let (seconds, found) = timed(g, |g| lloyd(g, mine, DIMENSIONS, points.centres.clone(), ROUNDS));
        Sample::of_answer(seconds, if g.is_leader() { k_means::answer(&found.centres) } else { 0 })
    })
}
