//! Two sweeps, and a prefix that comes with the boundary between them.

use super::{on_all, timed};
use crate::{PROCS, Sample, contenders::single::add_up, digest};
use ::superstep::{Block, Result, Sum, algorithms};

pub(crate) fn two_sweeps(terms: &[i64]) -> Result<Sample> {
    on_all(|g| {
        let sums = g.array::<i64, Block>(terms.len());
        let first = g.rank() * terms.len().div_ceil(PROCS);
        let mut sweep_twice = || {
            let len = sums.local().len();
            sums.local_mut().copy_from_slice(&terms[first..first + len]);
            timed(g, |g| {
                let before = g.step(|s| s.prefix(sums.local().iter().sum::<i64>(), Sum));
                add_up(&mut sums.local_mut(), before);
            })
        };
        sweep_twice();
        let (seconds, ()) = sweep_twice();
        Sample::of_answer(seconds, digest(first, sums.local().iter().copied()))
    })
}

pub(crate) fn scan(terms: &[i64]) -> Result<Sample> {
    on_all(|g| {
        let array = g.array::<i64, Block>(terms.len());
        array.forall_mut(|at, term| *term = terms[at]);
        algorithms::scan(g, &array, Sum);
        let (seconds, sums) = timed(g, |g| algorithms::scan(g, &array, Sum));
        Sample::of_answer(seconds, digest(sums.global(0).unwrap_or(0), sums.local().iter().copied()))
    })
}

pub(crate) fn scan_in_place(terms: &[i64]) -> Result<Sample> {
    on_all(|g| {
        let array = g.array::<i64, Block>(terms.len());
        let mut sweep = || {
            array.forall_mut(|at, term| *term = terms[at]);
            timed(g, |g| algorithms::scan_mut(g, &array, Sum))
        };
        sweep();
        let (seconds, ()) = sweep();
        Sample::of_answer(seconds, digest(array.global(0).unwrap_or(0), array.local().iter().copied()))
    })
}
