//! A sample sort: the threads cut the keys in two at the middle of a sample, and each sorts one part.

use super::team::{Handover, team};
use crate::{PROCS, contenders::huge, Sample, digest, kernels::keys::Key};
use std::cmp::Ordering;

const _: () = assert!(PROCS == 2, "keys are cut in two");

/// How many keys are looked at to find the middle: off by a hundredth at most.
const SAMPLE: usize = 16_384;

/// One thread's keys below the middle and those above, and how many there are of each.
struct Halves<K> {
    keys: [Vec<K>; 2],
    lens: [usize; 2],
}

pub(crate) fn sample_sort<K: Key>(keys: &[K]) -> Sample {
    let share = keys.len().div_ceil(PROCS);
    let handover = Handover::new();
    team(|member| {
        let mine = &keys[member.rank * share..keys.len().min((member.rank + 1) * share)];
        let mut halves = Halves { keys: [huge::copied(mine), huge::copied(mine)], lens: [0; 2] };
        let mut part = huge::copied(keys);
        let (seconds, ()) = member.timed(|| {
            halves.lens = cut(mine, &middle(keys), &mut halves.keys);
            handover.give(member.rank, halves);
            member.meet();
            part.clear();
            for from in 0..PROCS {
                let halves = handover.seen(from);
                part.extend_from_slice(&halves.keys[member.rank][..halves.lens[member.rank]]);
            }
            part.sort_unstable_by(K::order);
        });
        let lower: usize = (0..PROCS).map(|from| handover.seen(from).lens[0]).sum();
        Sample::of_answer(seconds, digest(member.rank * lower, part))
    })
}

fn middle<K: Key>(keys: &[K]) -> K {
    let step = keys.len().div_ceil(SAMPLE);
    let mut sample: Vec<K> = keys.iter().step_by(step).copied().collect();
    let half = sample.len() / 2;
    *sample.select_nth_unstable_by(half, K::order).1
}

/// Writes each key to both halves, of which only one grows: no branch to mispredict.
fn cut<K: Key>(keys: &[K], middle: &K, halves: &mut [Vec<K>; 2]) -> [usize; 2] {
    let [low, high] = halves;
    assert!(low.len() >= keys.len() && high.len() >= keys.len(), "there is room");
    let mut lens = [0; 2];
    for key in keys {
        let is_high = usize::from(key.order(middle) != Ordering::Less);
        // SAFETY: a half never has more keys than were gone through.
        unsafe { *low.get_unchecked_mut(lens[0]) = *key };
        // SAFETY: as above.
        unsafe { *high.get_unchecked_mut(lens[1]) = *key };
        lens[0] += 1 - is_high;
        lens[1] += is_high;
    }
    lens
}
