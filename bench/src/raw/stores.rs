//! Threads store what they have wherever it belongs.

use super::{
    barrier::{Barrier, Gate},
    huge::zeroed,
    parts::visit,
    team::{team, team_of},
};
use crate::{clock::clocked, sample::Sample};
use std::sync::{
    PoisonError, RwLock,
    atomic::{AtomicU64, Ordering},
};

/// Each thread stores its values at its places. A relaxed store is a plain one to the machine.
pub fn stores<I: AsRef<[usize]> + Sync, V: AsRef<[u64]> + Sync>(
    (places, values): (&[I], &[V]),
    rounds: u64,
    judge: impl Fn(f64, usize, &[u64]) -> Sample + Sync,
) -> Sample {
    let (procs, len) = (places.len(), places[0].as_ref().len());
    let (target, gate) = (zeroed::<AtomicU64>(procs * len), Gate::for_team(procs));
    team(procs, |rank| {
        let values = values[rank].as_ref();
        let seconds = clocked(rounds, |round| {
            visit(places[rank].as_ref(), &target, |at, to| target[to].store(values[at], Ordering::Relaxed));
            gate.wait(rank, round);
        });
        let part: Vec<u64> = target[rank * len..][..len].iter().map(|value| value.load(Ordering::Relaxed)).collect();
        judge(seconds, rank, &part)
    })
}

/// How many elements a bucket is for, as a power of two: a megabyte.
const BUCKET_BITS: u32 = 17;
const BUCKET: usize = 1 << BUCKET_BITS;

/// One thread's elements, bucket by bucket.
struct Buckets {
    offsets: Vec<u32>,
    values: Vec<u64>,
    /// Where each bucket ends.
    ends: Vec<usize>,
}

impl Buckets {
    /// Puts elements into their buckets: counts, then moves.
    fn fill(&mut self, places: &[usize], values: &[u64]) {
        self.ends.fill(0);
        for to in places {
            self.ends[to >> BUCKET_BITS] += 1;
        }
        // From here on an end is where the next element goes: at first that is the bucket's start.
        let mut start = 0;
        for end in &mut self.ends {
            start += std::mem::replace(end, start);
        }
        for (&to, &value) in places.iter().zip(values) {
            let end = &mut self.ends[to >> BUCKET_BITS];
            self.offsets[*end] = (to % BUCKET) as u32;
            self.values[*end] = value;
            *end += 1;
        }
    }

    fn apply(&self, bucket: usize, target: &mut [u64]) {
        let range = bucket.checked_sub(1).map_or(0, |before| self.ends[before])..self.ends[bucket];
        for (&offset, &value) in self.offsets[range.clone()].iter().zip(&self.values[range]) {
            target[offset as usize] = value;
        }
    }
}

/// Each thread puts its values into buckets of places that fit a cache; then they meet, and each empties its share of
/// all buckets. Parts are judged with the place of their first element.
pub fn bucketed<I: AsRef<[usize]> + Sync, V: AsRef<[u64]> + Sync>(
    (places, values): (&[I], &[V]),
    rounds: u64,
    judge: impl Fn(f64, usize, &[u64]) -> Sample + Sync,
) -> Sample {
    let (procs, len) = (places.len(), places[0].as_ref().len());
    let buckets = (procs * len).div_ceil(BUCKET);
    let (share, gate) = (buckets.div_ceil(procs), Gate::for_team(procs));
    let room = |_| RwLock::new(Buckets { offsets: zeroed(len), values: zeroed(len), ends: vec![0; buckets] });
    let filled: Vec<_> = (0..procs).map(room).collect();
    let mut target = zeroed::<u64>(procs * len);
    let mut parts: Vec<&mut [u64]> = target.chunks_mut(share * BUCKET).collect();
    parts.resize_with(procs, Default::default);
    team_of(parts, |rank, part| {
        let seconds = clocked(rounds, |round| {
            let mine = filled[rank].write();
            mine.unwrap_or_else(PoisonError::into_inner).fill(places[rank].as_ref(), values[rank].as_ref());
            gate.wait(rank, 2 * round - 1);
            for (bucket, block) in part.chunks_mut(BUCKET).enumerate() {
                for from in &filled {
                    from.read().unwrap_or_else(PoisonError::into_inner).apply(rank * share + bucket, block);
                }
            }
            gate.wait(rank, 2 * round);
        });
        judge(seconds, rank * share * BUCKET, part)
    })
}
