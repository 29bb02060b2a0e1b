//! One table that all share; updates are atomic.

use super::timed;
use crate::{
    PROCS, Sample,
    contenders::huge,
    digest,
    kernels::access::{Accesses, element},
};
use ::rayon::prelude::*;
use std::sync::atomic::{AtomicU64, Ordering};

pub(crate) fn increments(accesses: &Accesses) -> Sample {
    let table: Vec<AtomicU64> = huge::zeroed(accesses.shape().table());
    let seconds = timed(|| {
        (0..PROCS).into_par_iter().flat_map(|rank| accesses.indices(rank)).for_each(|&index| {
            table[index].fetch_add(1, Ordering::Relaxed);
        });
    });
    Sample::of_answer(seconds, digest(0, table.into_iter().map(AtomicU64::into_inner)))
}

pub(crate) fn additions(accesses: &Accesses) -> Sample {
    let table: Vec<AtomicU64> = huge::zeroed(accesses.shape().table());
    let pairs = |rank| accesses.indices(rank).par_iter().zip(accesses.values(rank));
    let seconds = timed(|| {
        (0..PROCS).into_par_iter().flat_map(pairs).for_each(|(&index, &value)| {
            table[index].fetch_add(value, Ordering::Relaxed);
        });
    });
    Sample::of_answer(seconds, digest(0, table.into_iter().map(AtomicU64::into_inner)))
}

pub(crate) fn changes(accesses: &Accesses) -> Sample {
    let table: Vec<AtomicU64> = huge::zeroed(accesses.shape().table());
    let pairs = |rank| accesses.indices(rank).par_iter().zip(accesses.values(rank));
    let seconds = timed(|| {
        (0..PROCS).into_par_iter().flat_map(pairs).for_each(|(&index, &value)| {
            table[index].fetch_xor(value, Ordering::Relaxed);
        });
    });
    Sample::of_answer(seconds, digest(0, table.into_iter().map(AtomicU64::into_inner)))
}

pub(crate) fn loads(accesses: &Accesses) -> Sample {
    let table = huge::made(accesses.shape().table(), element);
    let mut found = huge::zeroed::<u64>(accesses.shape().accesses());
    let seconds = timed(|| {
        found.par_chunks_mut(accesses.shape().count).enumerate().for_each(|(rank, part)| {
            part.par_iter_mut().zip(accesses.indices(rank)).for_each(|(to, &index)| *to = table[index]);
        });
    });
    Sample::of_answer(seconds, digest(0, found))
}
