//! Kernels of the NAS benchmarks on bare threads, or on one: the loops of `superstep_programs`, with what threads have
//! for each other in place of supersteps.

pub(crate) mod cg;
pub(crate) mod ft;
pub(crate) mod is;
pub(crate) mod mg;

use crate::Sample;
use std::{
    cell::Cell,
    ops::Range,
    sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard},
    thread,
    time::Instant,
};
use superstep_bench::raw::{Barrier, Gate};

/// One of several threads that work as one.
pub(crate) struct Member<'a> {
    pub(crate) rank: usize,
    pub(crate) size: usize,
    gate: &'a Gate,
    meetings: Cell<u64>,
    /// What each has to say: two of them, used by turns, so that nobody overwrites what others still read.
    said: &'a [[RwLock<Vec<f64>>; 2]],
}

impl Member<'_> {
    /// Waits for all others.
    pub(crate) fn meet(&self) {
        self.meetings.set(self.meetings.get() + 1);
        self.gate.wait(self.rank, self.meetings.get());
    }

    /// Says something to everybody, who say something themselves.
    pub(crate) fn say(&self, fill: impl FnOnce(&mut Vec<f64>)) {
        let mut said = write(&self.said[self.rank][self.meetings.get() as usize % 2]);
        said.clear();
        fill(&mut said);
        drop(said);
        self.meet();
    }

    /// What somebody has just said. It is read before the next meeting.
    pub(crate) fn said_by(&self, rank: usize) -> RwLockReadGuard<'_, Vec<f64>> {
        read(&self.said[rank][(self.meetings.get() as usize + 1) % 2])
    }

    /// The sum of what all have.
    pub(crate) fn sum(&self, mine: f64) -> f64 {
        self.say(|said| said.push(mine));
        (0..self.size).map(|rank| self.said_by(rank)[0]).sum()
    }

    /// Which of so many things are this thread's.
    pub(crate) fn share(&self, count: usize) -> Range<usize> {
        share(count, self.rank, self.size)
    }

    /// Does `work` at the same time as all others, and says how long it took, and whether its answer is right.
    pub(crate) fn timed<R>(&self, work: impl FnOnce() -> R) -> (f64, R) {
        self.meet();
        let start = Instant::now();
        let result = work();
        self.meet();
        (start.elapsed().as_secs_f64(), result)
    }
}

/// Which of so many things belong to a thread.
pub(crate) fn share(count: usize, rank: usize, size: usize) -> Range<usize> {
    count * rank / size..count * (rank + 1) / size
}

/// Runs `member` on so many threads. Each says how long it took, and whether its answer was right.
fn team(size: usize, member: impl Fn(&Member<'_>) -> (f64, bool) + Sync) -> Sample {
    let (gate, said) = (Gate::for_team(size), (0..size).map(|_| Default::default()).collect::<Vec<_>>());
    let (gate, said, member) = (&gate, &said[..], &member);
    thread::scope(|scope| {
        let start = |rank| scope.spawn(move || member(&Member { rank, size, gate, meetings: Cell::new(0), said }));
        let threads: Vec<_> = (0..size).map(start).collect();
        let samples: Vec<(f64, bool)> =
            threads.into_iter().map(|thread| thread.join().expect("nobody panics")).collect();
        let seconds = samples.iter().fold(0.0, |most, sample| f64::max(most, sample.0));
        Sample::of_answer(seconds, u64::from(samples.iter().all(|sample| sample.1)))
    })
}

/// Nobody else holds these locks when they are taken, or all only read: meetings see to that. They are what makes it
/// safe Rust.
fn write<T>(lock: &RwLock<T>) -> RwLockWriteGuard<'_, T> {
    lock.write().unwrap_or_else(PoisonError::into_inner)
}

fn read<T>(lock: &RwLock<T>) -> RwLockReadGuard<'_, T> {
    lock.read().unwrap_or_else(PoisonError::into_inner)
}
