//! Elements go straight to where they belong, or first to the bucket of a block that fits a cache.
//!
//! - **R1** No two elements have the same target and each target is in bounds (P1).

use super::{
    ahead::{ask, visit},
    team::{Handover, team, team_of},
};
use crate::{PROCS, contenders::huge, Sample, digest, kernels::permutation::Permutation};
use std::sync::atomic::{AtomicU64, Ordering};

/// Every thread stores its elements wherever they belong. A relaxed store is a plain one to the machine.
pub(crate) fn direct(permutation: &Permutation) -> Sample {
    let target: Vec<AtomicU64> = huge::zeroed(permutation.all().len());
    team(|member| {
        let source = huge::copied(&permutation.source(member.rank));
        let (seconds, ()) = member.timed(|| {
            let start = target.as_ptr();
            let each = |at: usize, to: usize| {
                // SAFETY: R1.
                unsafe { target.get_unchecked(to) }.store(source[at], Ordering::Relaxed);
            };
            visit(permutation.targets(member.rank), |next| ask(start, next), each);
        });
        let range = permutation.range(member.rank);
        let mine = target[range.clone()].iter().map(|value| value.load(Ordering::Relaxed));
        Sample::of_answer(seconds, digest(range.start, mine))
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
    fn new(len: usize, buckets: usize) -> Self {
        Self { offsets: huge::zeroed(len), values: huge::zeroed(len), ends: vec![0; buckets] }
    }

    /// Puts elements into their buckets: counts, then moves.
    fn fill(&mut self, source: &[u64], targets: &[usize]) {
        for to in targets {
            self.ends[to >> BUCKET_BITS] += 1;
        }
        // From here on an end is where the next element goes: at first that is the bucket's start.
        let mut start = 0;
        for end in &mut self.ends {
            start += std::mem::replace(end, start);
        }
        for (&value, &to) in source.iter().zip(targets) {
            let end = &mut self.ends[to >> BUCKET_BITS];
            self.offsets[*end] = (to % BUCKET) as u32;
            self.values[*end] = value;
            *end += 1;
        }
    }

    fn apply(&self, bucket: usize, target: &mut [u64]) {
        let start = bucket.checked_sub(1).map_or(0, |before| self.ends[before]);
        let range = start..self.ends[bucket];
        for (&offset, &value) in self.offsets[range.clone()].iter().zip(&self.values[range]) {
            target[offset as usize] = value;
        }
    }
}

/// Every thread puts its elements into buckets; then they meet, and each empties its share of all buckets.
pub(crate) fn bucketed(permutation: &Permutation) -> Sample {
    let len = permutation.all().len();
    let buckets = len.div_ceil(BUCKET);
    let share = buckets.div_ceil(PROCS);
    let mut target = huge::zeroed::<u64>(len);
    let (low, high) = target.split_at_mut(len.min(share * BUCKET));
    let handover = Handover::new();
    team_of([low, high], |member, part| {
        let rank = member.rank;
        let source = huge::copied(&permutation.source(rank));
        let mut mine = Buckets::new(source.len(), buckets);
        let (seconds, ()) = member.timed(|| {
            mine.fill(&source, permutation.targets(rank));
            handover.give(rank, mine);
            member.meet();
            for (bucket, block) in part.chunks_mut(BUCKET).enumerate() {
                for from in 0..PROCS {
                    handover.seen(from).apply(rank * share + bucket, block);
                }
            }
        });
        Sample::of_answer(seconds, digest(rank * share * BUCKET, part.iter().copied()))
    })
}
