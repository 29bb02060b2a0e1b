//! How a processor waits: it spins while there are cores to spin on, then yields, then sleeps.
//!
//! Spinning is fastest while every processor has a core of its own. With more processors than cores the one that is
//! waited for may need this very core, so the core is given away at once; and after a while of either the processor
//! sleeps, so that a long computation elsewhere does not keep this core hot. [`crowded`] tells the two apart by itself:
//! it counts the processors of all runs of this process.

use super::sync::thread;
use std::{
    cell::Cell,
    sync::{
        OnceLock,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

/// Polls before the first yield where cores are to be had: some microseconds. Who runs answers within that; who does
/// not may need this very core, and then every further poll is in vain. That is how a foreign process that takes cores
/// away now and then made a step a thousand times as long.
const SPINS: u32 = 400;
/// What yields may cost before sleep. One that gives the core to nobody costs 1, so that this lasts for a few tenths of
/// a millisecond, longer than it takes to wake a thread that sleeps.
const YIELDS: u32 = 2048;
/// What a yield costs that gave the core to somebody. In a tight loop of steps a few of them are enough, however many
/// processors share a core.
const DEAR: u32 = YIELDS / 64;
/// Who had the core for longer than this did something with it.
const SHORT: Duration = Duration::from_micros(2);

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

    /// Counts these alone, in a process that was forked: what else was running runs elsewhere.
    pub(crate) fn enter_alone(processors: usize) -> Self {
        RUNNING.store(processors, Ordering::Relaxed);
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
/// Then every spin is in vain, and giving the core away at once is a hundred times faster: the other one runs and
/// answers. Or a processor shares its core with the foreign process: then giving the core away costs a whole slice of
/// time, and spinning on is right, as it is where nobody else wants the core. How long the core was away tells which it
/// was. A wait that ended after another processor had the core makes the seat spin half as long next time, one that
/// ended after a foreign process had it changes nothing, and any other lets it spin twice as long. And where two go on
/// sharing a core, one of them moves to another.
#[derive(Debug)]
pub(crate) struct Habit {
    spins: Cell<u32>,
    /// How many waits in a row have ended only after the core was given away for a short while.
    in_vain: Cell<u32>,
    /// After how many of them the thread moves to another core. It differs from seat to seat, so that not both of two
    /// that share a core move away at once.
    enough: u32,
}

impl Habit {
    pub(crate) fn of_rank(rank: usize) -> Self {
        Self { spins: Cell::new(SPINS), in_vain: Cell::new(0), enough: 500 * (1 + rank as u32 % 8) }
    }

    /// Two processors share a core, and there are enough: one of them goes elsewhere.
    #[cold]
    fn step_aside(&self) {
        self.in_vain.set(0);
        self.spins.set(SPINS);
        #[cfg(not(loom))]
        super::affinity::step_aside();
    }
}

/// A longer absence means that a foreign process used the core: longer than another processor spins there, shorter than
/// a slice of time.
const FOREIGN: Duration = Duration::from_millis(1);
/// A shorter one means that nobody wanted the core: too short for two changes of threads.
const NOBODY: Duration = Duration::from_nanos(600);

/// The least that a seat spins where cores are to be had: enough for a processor on another core to answer.
const SPINS_MIN: u32 = 16;

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
    longest_absence: Duration,
    is_crowded: bool,
}

impl<'a> Patience<'a> {
    #[inline]
    pub(crate) fn new(habit: &'a Habit) -> Self {
        // Under loom every poll is a branch of the search, so a wait goes to sleep at once.
        if cfg!(loom) {
            return Self { habit, spins: 0, yields: 0, longest_absence: Duration::ZERO, is_crowded: true };
        }
        let is_crowded = crowded();
        let spins = if is_crowded { 0 } else { habit.spins.get() };
        Self { habit, spins, yields: YIELDS, longest_absence: Duration::ZERO, is_crowded }
    }

    #[inline]
    pub(crate) fn next(&mut self) -> Turn {
        if self.spins > 0 {
            self.spins -= 1;
            Turn::Spin
        } else if self.yields > 0 {
            Turn::Yield
        } else {
            Turn::Sleep
        }
    }

    /// Gives the core away and notes how long it was gone.
    pub(crate) fn give_way(&mut self) {
        let left = Instant::now();
        thread::yield_now();
        let absence = left.elapsed();
        let price = if self.is_crowded || absence > SHORT { DEAR } else { 1 };
        self.yields = self.yields.saturating_sub(price);
        self.longest_absence = self.longest_absence.max(absence);
    }

    /// Learns from a wait that has ended. One that led to sleep says nothing: somebody was busy.
    #[inline]
    pub(crate) fn learn(self) {
        let Habit { spins: usual, in_vain, enough } = self.habit;
        // Nor does one that found at once what it was for: it may have been put there while this one gave way.
        if self.is_crowded || self.yields == 0 || self.spins == usual.get() {
            return;
        }
        let is_in_vain = self.spins == 0;
        if is_in_vain && self.longest_absence >= FOREIGN {
            // Nobody knows what a longer look would have found.
            return;
        }
        let is_shared = is_in_vain && self.longest_absence >= NOBODY;
        if is_shared {
            usual.set((usual.get() / 2).max(SPINS_MIN));
            in_vain.set(in_vain.get() + 1);
            if in_vain.get() >= *enough {
                self.habit.step_aside();
            }
        } else {
            in_vain.set(0);
            if usual.get() < SPINS {
                usual.set(2 * usual.get());
            }
        }
    }
}
