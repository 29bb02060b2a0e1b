//! Two sweeps over an array in parts: threads add up their own, tell each other, and write.

use super::{
    barrier::{Barrier, Gate},
    memory::with_buffers,
    team::{Padded, team_of},
};
use crate::{clock::watched, sample::Sample};
use std::{
    cell::Cell,
    sync::atomic::{AtomicI64, Ordering},
};
use superstep::Result;

/// What is done to each part; `S` is what a thread keeps from the first sweep for the second.
pub struct Sweeps<F, A, W> {
    /// Fills a part, which begins at this index, before the clock starts.
    pub fill: F,
    /// Adds up a part.
    pub add: A,
    /// Writes a part, given the sum of all parts before.
    pub write: W,
}

impl<F, A, W> Sweeps<F, A, W> {
    /// Lets `procs` threads sweep over `len` elements. Parts are judged with the index that they begin at.
    pub fn measure<S: Default>(
        &self,
        (procs, len): (usize, usize),
        rounds: u64,
        judge: impl Fn(f64, usize, &[i64]) -> Sample + Sync,
    ) -> Result<Sample>
    where
        F: Fn(usize, &mut [i64]) + Sync,
        A: Fn(&[i64], &mut S) -> i64 + Sync,
        W: Fn(&mut [i64], &S, i64) + Sync,
    {
        with_buffers(1, len, |mut arrays| {
            let part_len = len.div_ceil(procs);
            let mut parts: Vec<&mut [i64]> = arrays.remove(0).chunks_mut(part_len).collect();
            parts.resize_with(procs, Default::default);
            let gate = Gate::for_team(procs);
            let sums: Vec<Padded<AtomicI64>> = (0..procs).map(|_| Padded::default()).collect();
            team_of(parts, |rank, part| {
                let (first, mut kept, waits) = (rank * part_len, S::default(), Cell::new(0));
                let wait = || {
                    waits.set(waits.get() + 1);
                    gate.wait(rank, waits.get());
                };
                let seconds = watched(rounds, |watch| {
                    (self.fill)(first, part);
                    wait();
                    watch.time(|| {
                        sums[rank].0.store((self.add)(part, &mut kept), Ordering::Relaxed);
                        wait();
                        let before = sums[..rank].iter().map(|sum| sum.0.load(Ordering::Relaxed)).sum();
                        (self.write)(part, &kept, before);
                    });
                    // Nobody starts the next round before all have read the sums.
                    wait();
                });
                judge(seconds, first, part)
            })
        })
    }
}
