//! How a processor waits: it spins while there are cores to spin on, then yields, then sleeps.
//!
//! Spinning is fastest while every processor has a core of its own. With more processors than cores the one that is
//! waited for may need this very core, so the core is given away at once; and after a while of either the processor
//! sleeps, so that a long computation elsewhere does not keep this core hot. [`crowded`] tells the two apart by itself:
//! it counts the processors of all runs of this process.

use std::{
    cell::Cell,
    sync::{
        OnceLock,
        atomic::{AtomicUsize, Ordering},
    },
};

/// Polls before the first yield where cores are to be had: about a tenth of a millisecond.
pub(crate) const SPINS: u32 = 2_000;
/// Yields before sleep. In a tight loop of steps a few are enough, however many processors share a core.
pub(crate) const YIELDS: u32 = 64;

/// Processors that are running now, over all runs of this process.
static RUNNING: AtomicUsize = AtomicUsize::new(0);

/// How many cores this process may use: its affinity and its cgroup's share, whichever is less.
pub fn cores() -> usize {
    static CORES: OnceLock<usize> = OnceLock::new();
    *CORES.get_or_init(|| std::thread::available_parallelism().map_or(1, usize::from))
}

/// Whether more processors run than there are cores.
#[inline]
pub(crate) fn crowded() -> bool {
    RUNNING.load(Ordering::Relaxed) > cores()
}

/// Counts processors as running while it lives.
pub(crate) struct Crowd(usize);

impl Crowd {
    pub(crate) fn enter(processors: usize) -> Self {
        RUNNING.fetch_add(processors, Ordering::Relaxed);
        Self(processors)
    }
}

impl Drop for Crowd {
    fn drop(&mut self) {
        RUNNING.fetch_sub(self.0, Ordering::Relaxed);
    }
}

/// How long one seat spins, learned from how its waits end.
///
/// Two processors may share a core although there are enough for both, for instance while a foreign process has one.
/// Then every spin is in vain, and giving the core away at once is forty times faster. A seat notices: a wait that
/// ended only after the core was given away makes it spin half as long next time, and one that ended while it span
/// twice as long.
#[derive(Debug)]
pub(crate) struct Habit {
    spins: Cell<u32>,
}

/// The least that a seat spins where cores are to be had: enough for a processor on another core to answer.
const SPINS_MIN: u32 = 16;

impl Default for Habit {
    fn default() -> Self {
        Self { spins: Cell::new(SPINS) }
    }
}

/// What to do next while waiting.
pub(crate) enum Turn {
    Spin,
    Yield,
    Sleep,
}

/// One wait's way from spinning to sleep.
pub(crate) struct Patience<'a> {
    habit: &'a Habit,
    spins: u32,
    yields: u32,
}

impl<'a> Patience<'a> {
    #[inline]
    pub(crate) fn new(habit: &'a Habit) -> Self {
        // Under loom every poll is a branch of the search, so a wait goes to sleep at once.
        if cfg!(loom) {
            return Self { habit, spins: 0, yields: 0 };
        }
        let spins = if crowded() { 0 } else { habit.spins.get() };
        Self { habit, spins, yields: YIELDS }
    }

    #[inline]
    pub(crate) fn next(&mut self) -> Turn {
        if self.spins > 0 {
            self.spins -= 1;
            Turn::Spin
        } else if self.yields > 0 {
            self.yields -= 1;
            Turn::Yield
        } else {
            Turn::Sleep
        }
    }

    /// Learns from a wait that has ended. One that led to sleep says nothing: somebody was busy.
    #[inline]
    pub(crate) fn learn(self) {
        let usual = &self.habit.spins;
        if self.spins > 0 {
            if usual.get() < SPINS {
                usual.set(2 * usual.get());
            }
        } else if self.yields > 0 {
            usual.set((usual.get() / 2).max(SPINS_MIN));
        }
    }
}
