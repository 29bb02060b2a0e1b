//! How a processor waits, for whatever it waits: it spins while there are cores to spin on, then yields, then sleeps.
//!
//! [`wait`] is the one loop. What is waited for is a closure, which also looks at the alarm, and so is how to sleep. A
//! [`Habit`] says how long the stages last. When a wait comes to its last stage, it says so to whoever looks who waits
//! for whom.
//!
//! Spinning is fastest while every processor has a core of its own. With more processors than cores the one that is
//! waited for may need this very core, so the core is given away at once; and after a while of either the processor
//! sleeps, so that a long computation elsewhere does not keep this core hot. [`Habit::is_crowded`] tells the two apart:
//! it counts the processors of all runs of this process.

use super::sync::thread;
use crate::sight::Pen;
use std::{
    cell::Cell,
    convert::Infallible,
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
/// What yields may cost before sleep, with the pauses between them: this lasts for some tenths of a millisecond, longer
/// than it takes to wake a thread that sleeps.
const YIELDS: u32 = 2048;
/// What a yield costs that gave the core to somebody. In a tight loop of steps a few of them are enough, however many
/// processors share a core.
const DEAR: u32 = YIELDS / 64;
/// Polls between two yields while nobody else wants the core. A yield is a call of the system, which takes more from a
/// thread on the other half of the same core than polls do.
const PAUSES: u32 = 256;
/// What such a pause costs, in yields: it lasts as long as these.
const PAUSE_PRICE: u32 = PAUSES / 8;
/// Yields of who has nothing to do before it sleeps, in case something comes at once: a few hundred microseconds.
const IDLE_YIELDS: u32 = 1_000;
/// Whoever had the core for longer than this has used it.
const SHORT: Duration = Duration::from_micros(2);

/// Processors that are running now, over all runs of this process.
static RUNNING: AtomicUsize = AtomicUsize::new(0);

/// How many cores this process may use: its affinity and its cgroup's share, whichever is less.
pub fn cores() -> usize {
    static CORES: OnceLock<usize> = OnceLock::new();
    *CORES.get_or_init(|| std::thread::available_parallelism().map_or(1, usize::from))
}

/// Those who have nothing to do and do not sleep yet, over all runs of this process.
static IDLERS: AtomicUsize = AtomicUsize::new(0);
/// More of them for each core do not yield to each other: thousands would keep all cores busy with that for seconds.
const IDLERS_PER_CORE: usize = 4;

/// Counts one who has nothing to do and does not sleep, while it lives.
struct Idler(());

impl Idler {
    fn enter() -> Self {
        IDLERS.fetch_add(1, Ordering::Relaxed);
        Self(())
    }
}

impl Drop for Idler {
    fn drop(&mut self) {
        IDLERS.fetch_sub(1, Ordering::Relaxed);
    }
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
/// time, and spinning is right, as it is where nobody else wants the core. How long the core was away tells which it
/// was. A wait that ended after another processor had the core makes the seat spin half as long next time, and any
/// other one twice as long, up to the usual. And where two go on sharing a core, one of them moves to another.
#[derive(Debug)]
pub(crate) struct Habit {
    spins: Cell<u32>,
    /// How many waits in a row have ended only after the core was given away for a short while.
    in_vain: Cell<u32>,
    /// After how many of them the thread moves to another core. It differs from seat to seat, so that not both of two
    /// that share a core move away at once.
    enough: u32,
    /// What one look costs, in spins.
    look: u32,
    /// What yields may cost before sleep, and what one costs that gave the core to somebody.
    yields: u32,
    dear: u32,
    /// Whether it is known that more processors run than there are cores, in other processes.
    is_crowded: bool,
}

impl Habit {
    pub(crate) fn of_rank(rank: usize) -> Self {
        let (spins, in_vain) = (Cell::new(SPINS), Cell::new(0));
        let enough = 500 * (1 + rank as u32 % 8);
        Self { spins, in_vain, enough, look: 1, yields: YIELDS, dear: DEAR, is_crowded: false }
    }

    /// The habit of a processor that nobody can wake, and to which a look costs as much as `look` spins.
    pub(crate) fn of_poller(rank: usize, look: u32, is_crowded: bool) -> Self {
        Self { look, yields: u32::MAX, dear: 1, is_crowded, ..Self::of_rank(rank) }
    }

    /// The habit of a thread that has nothing to do, and leaves the cores to others.
    fn of_idler() -> Self {
        Self { yields: IDLE_YIELDS, dear: 1, is_crowded: true, ..Self::of_rank(0) }
    }

    /// Whether more processors run than there are cores.
    #[inline]
    pub(crate) fn is_crowded(&self) -> bool {
        self.is_crowded || RUNNING.load(Ordering::Relaxed) > cores()
    }

    /// Two processors share a core, and there are enough: one of them goes elsewhere.
    #[cold]
    fn step_aside(&self) {
        self.in_vain.set(0);
        self.spins.set(SPINS);
        #[cfg(not(any(loom, shuttle)))]
        crate::system::step_aside();
    }
}

/// A longer absence means that a foreign process used the core: longer than another processor spins there, shorter than
/// a slice of time.
const FOREIGN: Duration = Duration::from_millis(1);
/// A shorter one means that nobody wanted the core: too short for two changes of threads.
const NOBODY: Duration = Duration::from_nanos(600);

/// The least that a seat spins where cores are to be had: enough for a processor on another core to answer.
const SPINS_MIN: u32 = 16;

/// Waits until `look` finds something. It fails once the alarm was raised. `sleep` returns when there may be something
/// new, and `whom` says for whom this is. Both may change what they are about, which is `on`.
#[inline]
pub(crate) fn wait<S: ?Sized, R, E>(
    habit: &Habit,
    pen: &Pen,
    on: &mut S,
    mut look: impl FnMut(&mut S) -> Result<Option<R>, E>,
    whom: impl Fn(&S) -> Option<usize>,
    mut sleep: impl FnMut(&mut S) -> Result<(), E>,
) -> Result<R, E> {
    if let Some(found) = look(on)? {
        return Ok(found);
    }
    let mut patience = Patience::new(habit);
    let mut watched = pen.waiting();
    loop {
        match patience.next() {
            Turn::Spin => std::hint::spin_loop(),
            Turn::Yield => patience.give_way(),
            Turn::Sleep => {
                watched.begin(|| whom(on));
                sleep(on)?;
            }
        }
        if let Some(found) = look(on)? {
            patience.learn();
            return Ok(found);
        }
    }
}

/// Waits without a core of its own until `is_ready`: yields for a while, and then sleeps.
pub(crate) fn idle(is_ready: impl Fn() -> bool, sleep: impl Fn()) {
    let idler = Cell::new(Some(Idler::enter()));
    if IDLERS.load(Ordering::Relaxed) > IDLERS_PER_CORE * cores() {
        drop(idler);
        while !is_ready() {
            sleep();
        }
        return;
    }
    let look = |(): &mut ()| Ok::<_, Infallible>(is_ready().then_some(()));
    let Ok(()) = wait(
        &Habit::of_idler(),
        &Pen::default(),
        &mut (),
        look,
        |()| None,
        |()| {
            drop(idler.take());
            sleep();
            Ok(())
        },
    );
}

/// Sleeps for short whiles until `is_ready`: for what comes seldom, and wakes nobody.
pub(crate) fn nap_until(is_ready: impl Fn() -> bool) {
    while !is_ready() {
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// What to do next while waiting.
enum Turn {
    Spin,
    Yield,
    Sleep,
}

/// One wait's way from spinning to sleep.
struct Patience<'a> {
    habit: &'a Habit,
    spins: u32,
    /// Polls before the next yield.
    pause: u32,
    yields: u32,
    longest_absence: Duration,
    is_crowded: bool,
}

impl<'a> Patience<'a> {
    #[inline]
    fn new(habit: &'a Habit) -> Self {
        // Under loom every poll is a branch of the search, so a wait goes to sleep at once.
        if cfg!(loom) {
            return Self { habit, spins: 0, pause: 0, yields: 0, longest_absence: Duration::ZERO, is_crowded: true };
        }
        let is_crowded = habit.is_crowded();
        let mut spins = if is_crowded { 0 } else { habit.spins.get() };
        let mut yields = habit.yields;
        // Miri interprets every look.
        if cfg!(miri) {
            (spins, yields) = (spins.min(4), yields.min(2 * habit.dear));
        }
        Self { habit, spins, pause: 0, yields, longest_absence: Duration::ZERO, is_crowded }
    }

    #[inline]
    fn next(&mut self) -> Turn {
        if self.spins > 0 {
            self.spins = self.spins.saturating_sub(self.habit.look);
            Turn::Spin
        } else if self.pause > 0 {
            self.pause = self.pause.saturating_sub(self.habit.look);
            Turn::Spin
        } else if self.yields > 0 {
            Turn::Yield
        } else {
            Turn::Sleep
        }
    }

    /// Gives the core away and notes how long it was gone.
    fn give_way(&mut self) {
        let left = Instant::now();
        thread::yield_now();
        let absence = left.elapsed();
        let price = if self.is_crowded || absence > SHORT {
            self.habit.dear
        } else if absence < NOBODY {
            self.pause = PAUSES;
            PAUSE_PRICE
        } else {
            1
        };
        self.yields = self.yields.saturating_sub(price);
        self.longest_absence = self.longest_absence.max(absence);
    }

    /// Learns from a wait that has ended. One that led to sleep says nothing: somebody was busy.
    #[inline]
    fn learn(self) {
        let Habit { spins: usual, in_vain, enough, .. } = self.habit;
        // Nor does one that ended at its first look.
        if self.is_crowded || self.yields == 0 || self.spins == usual.get() {
            return;
        }
        let is_shared = self.spins == 0 && (NOBODY..FOREIGN).contains(&self.longest_absence);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_naps_looks_until_it_is_ready() {
        let looks = Cell::new(0);
        nap_until(|| looks.replace(looks.get() + 1) == 2);
        assert_eq!(looks.get(), 3);
    }
}
