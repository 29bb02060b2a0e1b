//! Hand-written barriers: what an empty step is held against.
//!
//! A member counts its waits from 1 and passes the number as `epoch`, so that no barrier keeps state per thread.

use super::team::{Arrivals, Padded, team};
use crate::{clock::timed, contest::Sample};
use std::{
    hint::spin_loop,
    marker::PhantomData,
    sync::atomic::{AtomicU64, AtomicUsize, Ordering},
    thread::yield_now,
};

/// A place where threads wait for each other.
pub trait Barrier: Sync {
    /// A barrier for so many threads.
    fn for_team(size: usize) -> Self;

    /// Returns when every member has entered its wait number `epoch`.
    fn wait(&self, rank: usize, epoch: u64);
}

/// What to do between two looks.
pub trait Patience: Sync {
    /// Passes the time before look number `look`.
    fn pause(look: u32);
}

/// Looks again at once: best while everybody has a core to itself and nothing else to do.
pub(crate) struct Busy;

impl Patience for Busy {
    #[inline]
    fn pause(_: u32) {}
}

/// Spins for ever, and tells the core so: best where two threads share one.
pub(crate) struct Spin;

impl Patience for Spin {
    #[inline]
    fn pause(_: u32) {
        spin_loop();
    }
}

/// Gives the core away after `SPINS` looks: best where threads share cores.
pub struct Yield<const SPINS: u32>;

impl<const SPINS: u32> Patience for Yield<SPINS> {
    #[inline]
    fn pause(look: u32) {
        if look < SPINS { spin_loop() } else { yield_now() }
    }
}

#[inline]
fn wait_until<P: Patience>(is_there: impl Fn() -> bool) {
    let mut look = 0;
    while !is_there() {
        P::pause(look);
        look = look.saturating_add(1);
    }
}

/// Each member stores its epoch in a flag of its own and polls those of the others.
pub struct EpochFlags<P> {
    flags: Vec<Padded<AtomicU64>>,
    patience: PhantomData<P>,
}

impl<P: Patience> Barrier for EpochFlags<P> {
    fn for_team(size: usize) -> Self {
        Self { flags: (0..size).map(|_| Padded::default()).collect(), patience: PhantomData }
    }

    #[inline]
    fn wait(&self, rank: usize, epoch: u64) {
        self.flags[rank].0.store(epoch, Ordering::Release);
        for other in &self.flags {
            wait_until::<P>(|| other.0.load(Ordering::Acquire) >= epoch);
        }
    }
}

/// What threads meet at between long rounds: nothing beside those. It yields in the end, because two threads that
/// happen to share a core would else spend more time on waiting for their turn than on working.
pub type Gate = EpochFlags<Yield<2_000>>;

/// The last to count itself in a central counter turns the sense, for which the others wait.
pub(crate) struct Central<P> {
    size: usize,
    arrived: Padded<AtomicUsize>,
    /// The last epoch that all have reached; where there is a number, one bit would do for the sense.
    sense: Padded<AtomicU64>,
    patience: PhantomData<P>,
}

impl<P: Patience> Barrier for Central<P> {
    fn for_team(size: usize) -> Self {
        Self { size, arrived: Padded::default(), sense: Padded::default(), patience: PhantomData }
    }

    #[inline]
    fn wait(&self, _: usize, epoch: u64) {
        if self.arrived.0.fetch_add(1, Ordering::AcqRel) + 1 == self.size {
            self.arrived.0.store(0, Ordering::Relaxed);
            self.sense.0.store(epoch, Ordering::Release);
        } else {
            wait_until::<P>(|| self.sense.0.load(Ordering::Acquire) >= epoch);
        }
    }
}

/// The barrier of the standard library: a mutex and a condition variable, where waiting is sleeping.
impl Barrier for std::sync::Barrier {
    fn for_team(size: usize) -> Self {
        Self::new(size)
    }

    fn wait(&self, _: usize, _: u64) {
        std::sync::Barrier::wait(self);
    }
}

/// Lets a fresh team wait `waits` times, after a check that it waits at all.
pub(crate) fn measure<B: Barrier>(size: usize, waits: u64) -> Sample {
    let (barrier, arrivals) = (B::for_team(size), Arrivals::new(size));
    team(size, |rank| {
        let mut epoch = 0;
        let mut wait = || {
            epoch += 1;
            barrier.wait(rank, epoch);
        };
        let verified = arrivals.check(rank, 0..size, &mut wait);
        Sample::by_hand(timed(waits, |_| wait()), verified)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_barrier_holds_everybody_back() {
        for size in [1, 2, 3] {
            assert!(measure::<Central<Yield<0>>>(size, 10).verified);
            assert!(measure::<Central<Yield<50>>>(size, 10).verified);
            assert!(measure::<std::sync::Barrier>(size, 10).verified);
        }
    }
}
