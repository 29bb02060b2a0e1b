//! The [contract](crate::circle) as tests that every fabric is handed.
//!
//! A fabric is right when [`uphold`] returns. Each numbered claim is a function of its own, which starts a run, lets
//! the processors do what the claim is about, and asserts. What the processors should find is worked out by each of
//! them alone: contributions are functions of rank and meeting, and [`tree`] says how they meld.
//!
//! The claims count where all processors see it: in memory, or in a folder of files if they run in several processes
//! ([`uphold_across`]). A claim that does not hold may also show as a run that never ends; the caller sets the time.

mod circles;
mod counter;
mod failing;
mod letters;
mod meeting;
mod trays;

use crate::{
    circle::{Alarm, Circle, Meld, Melded},
    failure::Failure,
    nest::Name,
    tray::Tray,
    tree::{self, Scratch},
};
use counter::Counter;
use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

/// Starts a run: calls the body on as many processors as the number says, each with its end of the circle of all, and
/// returns when all of them have; panics if one of them did.
pub type Launch<'a> = &'a (dyn Fn(usize, &(dyn Fn(Box<dyn Circle>) + Sync)) + Sync);

/// Where a claim is tried.
struct Stage<'a> {
    launch: Launch<'a>,
    size: usize,
    /// Where several processes see it.
    folder: Option<&'a Path>,
    counters: AtomicUsize,
}

/// The sizes of run at which the contract is tried: powers of two, their neighbours, and both sides of every border at
/// which a fabric changes its ways.
pub const SIZES: [usize; 9] = [1, 2, 3, 4, 7, 8, 9, 16, 17];

/// Asserts every claim of the contract, at all [`SIZES`].
///
/// # Panics
///
/// If a claim does not hold.
pub fn uphold(launch: Launch) {
    for size in SIZES {
        uphold_at(launch, size);
    }
}

/// Asserts every claim of the contract in runs of `size` processors.
///
/// # Panics
///
/// If a claim does not hold.
pub fn uphold_at(launch: Launch, size: usize) {
    Stage { launch, size, folder: None, counters: AtomicUsize::new(0) }.uphold();
}

/// Asserts every claim of the contract in runs of `size` processors that are spread over several processes. Each of
/// them calls this, with a folder that was empty and that all of them see.
///
/// # Panics
///
/// If a claim does not hold.
pub fn uphold_across(launch: Launch, size: usize, folder: &Path) {
    Stage { launch, size, folder: Some(folder), counters: AtomicUsize::new(0) }.uphold();
}

impl Stage<'_> {
    fn uphold(&self) {
        meeting::uphold(self);
        trays::uphold(self);
        circles::uphold(self);
        letters::uphold(self);
        failing::uphold(self);
    }

    /// A counter at zero; all processes make the same ones in the same order.
    fn counter(&self) -> Counter {
        let number = self.counters.fetch_add(1, Ordering::Relaxed);
        Counter::new(self.folder.map(|folder| folder.join(number.to_string())))
    }

    /// Runs `body` on every processor. One that panics takes the others with it, so that a broken claim does not hang.
    fn run(&self, body: impl Fn(&mut dyn Circle) + Sync) {
        (self.launch)(self.size, &|mut circle| {
            let _cord = RaiseOnPanic { alarm: circle.alarm(), rank: circle.rank() };
            assert_eq!(circle.size(), self.size);
            body(&mut *circle);
        });
    }
}

struct RaiseOnPanic {
    alarm: Arc<dyn Alarm>,
    rank: usize,
}

impl Drop for RaiseOnPanic {
    fn drop(&mut self) {
        if thread::panicking() {
            self.alarm.raise(gave_up(self.rank, "an assertion failed"));
        }
    }
}

fn gave_up(rank: usize, report: &str) -> Failure {
    Failure::GaveUp { rank, report: report.as_bytes().into() }
}

/// Writes the brackets it makes, so that neither order nor grouping can be mistaken.
struct Brackets {
    wants_before: bool,
}

impl Meld for Brackets {
    fn meld(&mut self, left: &[u8], right: &[u8], out: &mut Vec<u8>) {
        for part in [b"(", left, b" ", right, b")"] {
            out.extend_from_slice(part);
        }
    }

    fn wants_before(&self) -> bool {
        self.wants_before
    }
}

/// Melds equal contributions into one and brackets others.
struct Alike {
    wants_before: bool,
}

impl Meld for Alike {
    fn meld(&mut self, left: &[u8], right: &[u8], out: &mut Vec<u8>) {
        if left == right {
            out.extend_from_slice(left);
        } else {
            Brackets { wants_before: false }.meld(left, right, out);
        }
    }

    fn alike(&self) -> bool {
        true
    }

    fn wants_before(&self) -> bool {
        self.wants_before
    }
}

/// Meets with what `says` gives for my rank, and asserts that the outcome is what all ranks' contributions meld into.
fn meet_and_check(circle: &mut dyn Circle, how: &mut dyn Meld, outcome: &mut Melded, says: impl Fn(usize) -> Vec<u8>) {
    let (rank, size) = (circle.rank(), circle.size());
    circle.meet(&says(rank), how, outcome).expect("nobody raised the alarm");
    let all: Vec<Vec<u8>> = (0..size).map(says).collect();
    let leaf = |rank: usize| all[rank].as_slice();
    let (mut expected, mut scratch) = (Vec::new(), Scratch::default());
    tree::fold(0, size, &leaf, how, &mut scratch, &mut expected);
    assert!(outcome.total == expected, "rank {rank} of {size} got another total");
    expected.clear();
    if how.wants_before() {
        tree::fold_before(rank, size, &leaf, how, &mut scratch, &mut expected);
    }
    assert!(outcome.before == expected, "rank {rank} of {size} got another `before`");
}

/// A short contribution that names its rank and meeting.
fn word(rank: usize, meeting: usize) -> Vec<u8> {
    format!("{rank}@{meeting}").into_bytes()
}

/// A circle of my own, in which I can let time pass: where processors take turns, each pass gives the turn away.
struct Alone(Box<dyn Circle>);

impl Alone {
    /// Keys from here on belong to circles of one; the claims use lower ones.
    const KEYS: u64 = 1 << 32;

    fn beside(circle: &dyn Circle) -> Self {
        Self(circle.join(Name::new(Self::KEYS + circle.rank() as u64), &[circle.rank()], 0))
    }

    /// Lets the others run, for as long as nobody raised the alarm.
    fn pass(&mut self) -> Result<(), Failure> {
        let mut tray = Tray { bytes: vec![1], moved: Vec::new() };
        self.0.post(0, &mut tray)?;
        self.0.wait()?;
        thread::yield_now();
        Ok(())
    }

    fn pass_until(&mut self, done: impl Fn() -> bool) -> Result<(), Failure> {
        while !done() {
            self.pass()?;
        }
        Ok(())
    }
}
