//! A sample sort by hand: threads cut their keys at pivots of a sample, and each sorts one slice of all keys.

use super::{
    barrier::{Barrier, Gate},
    huge::zeroed,
    memory::with_buffers,
    team::team_of,
};
use crate::{
    array::quicksort::{keys::Key, local::cut},
    clock::watched,
    sample::Sample,
};
use std::{
    cell::Cell,
    sync::{PoisonError, RwLock, RwLockReadGuard},
};
use superstep::Result;

/// How many keys are looked at for each pivot: slices differ by a hundredth at most.
const SAMPLE: usize = 16_384;

/// One thread's keys, slice by slice, and how long each slice is.
type Cut<K> = RwLock<(Vec<K>, Vec<usize>)>;

/// The keys that a thread has cut for everybody. No thread that writes ever panics.
fn read<K>(cut: &Cut<K>) -> RwLockReadGuard<'_, (Vec<K>, Vec<usize>)> {
    cut.read().unwrap_or_else(PoisonError::into_inner)
}

/// Lets `procs` threads sort `keys`. Slices are judged with the place of their first key among all.
pub fn sample_sort<K: Key>(
    procs: usize,
    keys: &[K],
    rounds: u64,
    judge: impl Fn(f64, usize, &[K]) -> Sample + Sync,
) -> Result<Sample> {
    let (share, gate) = (keys.len().div_ceil(procs), Gate::for_team(procs));
    let cuts: Vec<Cut<K>> = (0..procs).map(|_| RwLock::new((zeroed(share), Vec::new()))).collect();
    with_buffers(procs, keys.len(), |buffers| {
        team_of(buffers, |rank, slice| {
            let mine = &keys[(rank * share).min(keys.len())..((rank + 1) * share).min(keys.len())];
            let (mut len, waits) = (0, Cell::new(0));
            let wait = || {
                waits.set(waits.get() + 1);
                gate.wait(rank, waits.get());
            };
            let seconds = watched(rounds, |watch| {
                wait();
                watch.time(|| {
                    let mut out = cuts[rank].write().unwrap_or_else(PoisonError::into_inner);
                    out.1 = cut(mine, &pivots(procs, keys), &mut out.0);
                    drop(out);
                    wait();
                    len = 0;
                    for from in &cuts {
                        let from = read(from);
                        let first = from.1[..rank].iter().sum();
                        let keys = &from.0[first..][..from.1[rank]];
                        slice[len..][..keys.len()].copy_from_slice(keys);
                        len += keys.len();
                    }
                    K::sort(&mut slice[..len]);
                    wait();
                });
            });
            let before = cuts.iter().map(|cut| read(cut).1[..rank].iter().sum::<usize>()).sum();
            judge(seconds, before, &slice[..len])
        })
    })
}

/// One key fewer than there are slices, evenly spaced in a sample.
fn pivots<K: Key>(procs: usize, keys: &[K]) -> Vec<K> {
    let step = keys.len().div_ceil(SAMPLE * (procs - 1).max(1)).max(1);
    let mut sample: Vec<K> = keys.iter().step_by(step).copied().collect();
    K::sort(&mut sample);
    (1..procs).map(|rank| sample.get(rank * sample.len() / procs).copied().unwrap_or_default()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::array::quicksort::keys::{Input, any, below_a_million};

    fn check<K: Key>(keys: Vec<K>) {
        let input = Input::new(keys);
        for procs in [1, 2, 3] {
            let is_right = |first: usize, slice: &[K]| input.sorted[first..first + slice.len()] == *slice;
            let judge = |seconds, first, slice: &[K]| Sample {
                digest: slice.len() as u64,
                ..Sample::by_hand(seconds, is_right(first, slice))
            };
            let sample = sample_sort(procs, &input.keys, 2, judge).expect("the run succeeds");
            assert!(sample.verified && sample.digest == input.keys.len() as u64);
        }
    }

    #[test]
    fn all_keys_are_sorted_wherever_they_are_cut() {
        for len in [0, 1, 5, 1000] {
            check(any(len));
            check(below_a_million(len));
            check(vec![7u64; len]);
        }
    }
}
