//! The same exchange by hand, on bare threads.
//!
//! A source is shared for reading, so its content cannot change between rounds; what arrived is checked after the last.

use super::{
    WORDS,
    pattern::{is_complete, is_from, offset, others, source},
};
use crate::{
    contest::Sample,
    raw::{
        barrier::{Barrier, EpochFlags},
        team::{team, timed},
    },
};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Two rounds before the clock starts, so that every page is there.
const WARM_UP: u64 = 2;

/// Runs `round` often enough, numbered from 1, on one member's thread, with a clock around all but the first few.
fn clocked(rounds: u64, mut round: impl FnMut(u64)) -> f64 {
    (1..=WARM_UP).for_each(&mut round);
    timed(rounds, |number| round(WARM_UP + number))
}

/// Nobody else holds these locks when they are taken: barriers see to that. They are what makes it safe Rust.
fn lock<T>(slot: &Mutex<T>) -> MutexGuard<'_, T> {
    slot.lock().unwrap_or_else(PoisonError::into_inner)
}

fn sources(procs: usize) -> Vec<Vec<u64>> {
    (0..procs).map(source).collect()
}

/// Each copies out of the others' sources into a target that it has.
pub(super) fn memcpy(procs: usize, rounds: u64) -> Sample {
    let (sources, barrier) = (sources(procs), EpochFlags::for_team(procs));
    team(procs, |rank| {
        let mut target = vec![0; (procs - 1) * WORDS];
        let seconds = clocked(rounds, |round| {
            for from in others(rank, procs) {
                target[offset(from, rank, procs)..][..WORDS].copy_from_slice(&sources[from]);
            }
            barrier.wait(rank, round);
        });
        Sample { seconds, verified: is_complete(&target, rank, procs, None) }
    })
}

/// What one thread hands another by moving it; two by turns, so that one barrier per round is enough.
type Slot = [Mutex<Option<Vec<u64>>>; 2];

/// Each copies its source into new buffers and gives them away.
pub(super) fn owned(procs: usize, rounds: u64) -> Sample {
    let (sources, barrier) = (sources(procs), EpochFlags::for_team(procs));
    let slots: Vec<Slot> = (0..procs * procs).map(|_| Slot::default()).collect();
    team(procs, |rank| {
        let mut received = Vec::new();
        let seconds = clocked(rounds, |round| {
            let turn = (round % 2) as usize;
            // Freed before the next are made, as in a loop whose body keeps nothing.
            received.clear();
            for to in others(rank, procs) {
                *lock(&slots[rank * procs + to][turn]) = Some(sources[rank].clone());
            }
            barrier.wait(rank, round);
            received.extend(others(rank, procs).map(|from| (from, lock(&slots[from * procs + rank][turn]).take())));
        });
        let is_right =
            |(from, part): &(usize, Option<Vec<u64>>)| part.as_ref().is_some_and(|p| is_from(p, *from, None));
        Sample { seconds, verified: received.len() == procs - 1 && received.iter().all(is_right) }
    })
}

/// Each copies its source into buffers in between; after a barrier those they are for copy them out.
pub(super) fn buffered(procs: usize, rounds: u64) -> Sample {
    let (sources, barrier) = (sources(procs), EpochFlags::for_team(procs));
    let between: Vec<_> = (0..procs * procs).map(|_| Mutex::new(Vec::new())).collect();
    team(procs, |rank| {
        let mut target = vec![0; (procs - 1) * WORDS];
        for to in others(rank, procs) {
            lock(&between[rank * procs + to]).resize(WORDS, 0);
        }
        let seconds = clocked(rounds, |round| {
            for to in others(rank, procs) {
                lock(&between[rank * procs + to]).copy_from_slice(&sources[rank]);
            }
            barrier.wait(rank, 2 * round - 1);
            for from in others(rank, procs) {
                let part = &mut target[offset(from, rank, procs)..][..WORDS];
                part.copy_from_slice(&lock(&between[from * procs + rank]));
            }
            barrier.wait(rank, 2 * round);
        });
        Sample { seconds, verified: is_complete(&target, rank, procs, None) }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_limit_moves_what_it_should() {
        for limit in [memcpy, owned, buffered] {
            assert!(limit(2, 1).verified && limit(2, 2).verified);
        }
    }
}
