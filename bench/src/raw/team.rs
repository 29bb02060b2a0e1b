//! Bare threads that work as one, and checks that they do.

use crate::contest::Sample;
use std::{
    ops::Range,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    thread,
};

/// A value that shares its cache lines with no other.
#[derive(Default)]
#[repr(align(128))]
pub(crate) struct Padded<T>(pub(crate) T);

/// Runs `member` on so many fresh threads, and says what all of them together took.
pub(crate) fn team(size: usize, member: impl Fn(usize) -> Sample + Sync) -> Sample {
    team_of(vec![(); size], |rank, ()| member(rank))
}

/// Runs `member` on a fresh thread for each of `parts`, which it gets with its number.
pub(crate) fn team_of<T: Send>(
    parts: impl IntoIterator<Item = T>,
    member: impl Fn(usize, T) -> Sample + Sync,
) -> Sample {
    let member = &member;
    thread::scope(|scope| {
        let start = |(rank, part)| scope.spawn(move || member(rank, part));
        let threads: Vec<_> = parts.into_iter().enumerate().map(start).collect();
        let join = |thread: thread::ScopedJoinHandle<'_, Sample>| match thread.join() {
            Ok(sample) => sample,
            Err(payload) => std::panic::resume_unwind(payload),
        };
        Sample::of_all(threads.into_iter().map(join))
    })
}

/// Nobody else holds these locks when they are taken: barriers see to that. They are what makes it safe Rust.
pub(crate) fn lock<T>(slot: &Mutex<T>) -> MutexGuard<'_, T> {
    slot.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Where members write down how far they have come, to check that a wait really waits.
pub(crate) struct Arrivals(Vec<Padded<AtomicU64>>);

/// Often enough that a wait that does not wait is caught, and soon done even if threads share cores.
const CHECKS: u64 = 50;

impl Arrivals {
    pub(crate) fn new(size: usize) -> Self {
        Self((0..size).map(|_| Padded::default()).collect())
    }

    /// Whether `rank` does not get past `wait` before all of `seen` have come to it.
    pub(crate) fn check(&self, rank: usize, seen: Range<usize>, mut wait: impl FnMut()) -> bool {
        (1..=CHECKS).fold(true, |is_right, round| {
            self.0[rank].0.store(round, Ordering::Relaxed);
            wait();
            is_right && self.0[seen.clone()].iter().all(|arrived| arrived.0.load(Ordering::Relaxed) >= round)
        })
    }
}
