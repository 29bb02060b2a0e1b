//! Where a claim is tried, and what claims have in common.

use crate::{
    alarm::or_raise,
    circle::{Circle, Meld, Melded},
    failure::Failure,
    nest::Name,
    spares::Spares,
    tray::Tray,
    tree,
};
use std::{
    fs,
    io::Write as _,
    path::{Path, PathBuf},
    sync::atomic::{AtomicUsize, Ordering},
    thread,
};

/// Starts a run: calls the body on as many processors as the number says, each with its end of the circle of all, and
/// returns when all of them have; panics if one of them did.
pub type Launch<'a> = &'a (dyn Fn(usize, &(dyn Fn(Box<dyn Circle>) + Sync)) + Sync);

/// What a call that fails only after an alarm is expected to do.
pub(super) const ALARMLESS: &str = "nobody raised the alarm";

/// How many of something that is many. Miri, which interprets a program, has time for few.
pub(super) const fn scaled(many: usize) -> usize {
    if cfg!(miri) { many / 32 } else { many }
}

/// Where a claim is tried.
pub(super) struct Stage<'a> {
    pub(super) launch: Launch<'a>,
    pub(super) size: usize,
    /// Where several processes see it.
    pub(super) folder: Option<&'a Path>,
    counters: AtomicUsize,
}

impl<'a> Stage<'a> {
    pub(super) fn new(launch: Launch<'a>, size: usize, folder: Option<&'a Path>) -> Self {
        Self { launch, size, folder, counters: AtomicUsize::new(0) }
    }

    /// A counter at zero; all processes make the same ones in the same order.
    pub(super) fn counter(&self) -> Counter {
        let number = self.counters.fetch_add(1, Ordering::Relaxed);
        Counter::new(self.folder.map(|folder| folder.join(number.to_string())))
    }

    /// Runs `body` on every processor. One that panics takes the others with it, so that a broken claim does not hang.
    pub(super) fn run(&self, body: impl Fn(&mut dyn Circle) + Sync) {
        (self.launch)(self.size, &|mut circle| {
            let (alarm, rank) = (circle.alarm(), circle.rank());
            or_raise(&*alarm, rank, || {
                assert_eq!(circle.size(), self.size);
                body(&mut *circle);
            });
        });
    }
}

pub(super) fn gave_up(rank: usize, report: &str) -> Failure {
    Failure::GaveUp { rank, report: report.as_bytes().into() }
}

/// Writes the brackets it makes, so that neither order nor grouping can be mistaken.
pub(super) struct Brackets {
    pub(super) wants_before: bool,
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
pub(super) struct Alike {
    pub(super) wants_before: bool,
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
pub(super) fn meet_and_check(
    circle: &mut dyn Circle,
    how: &mut dyn Meld,
    outcome: &mut Melded,
    says: impl Fn(usize) -> Vec<u8>,
) {
    let (rank, size) = (circle.rank(), circle.size());
    circle.meet(&says(rank), how, outcome).expect("nobody raised the alarm");
    let all: Vec<Vec<u8>> = (0..size).map(says).collect();
    let leaf = |rank: usize| all[rank].as_slice();
    let (mut expected, mut spares) = (Vec::new(), Spares::default());
    tree::fold(0, size, &leaf, how, &mut spares, &mut expected);
    assert!(outcome.total == expected, "rank {rank} of {size} got another total");
    expected.clear();
    if how.wants_before() {
        tree::fold_before(rank, size, &leaf, how, &mut spares, &mut expected);
    }
    assert!(outcome.before == expected, "rank {rank} of {size} got another `before`");
}

/// A short contribution that names its rank and meeting.
pub(super) fn word(rank: usize, meeting: usize) -> Vec<u8> {
    format!("{rank}@{meeting}").into_bytes()
}

/// A circle of my own, in which I can let time pass: where processors take turns, each pass gives the turn away.
pub(super) struct Alone(Box<dyn Circle>);

impl Alone {
    /// Keys from here on belong to circles of one; the claims use lower ones.
    const KEYS: u64 = 1 << 32;

    pub(super) fn beside(circle: &dyn Circle) -> Self {
        Self(circle.join(Name::new(Self::KEYS + circle.rank() as u64), &[circle.rank()], 0))
    }

    /// Lets the others run, for as long as nobody raised the alarm.
    pub(super) fn pass(&mut self) -> Result<(), Failure> {
        let mut tray = Tray::from(vec![1]);
        self.0.post(0, &mut tray)?;
        self.0.wait()?;
        thread::yield_now();
        Ok(())
    }

    pub(super) fn pass_until(&mut self, done: impl Fn() -> bool) -> Result<(), Failure> {
        while !done() {
            self.pass()?;
        }
        Ok(())
    }
}

/// Counts what processors do, where all of them see it: in memory, or as the length of a file, to which appending is
/// atomic.
pub(super) enum Counter {
    Memory(AtomicUsize),
    File(PathBuf),
}

impl Counter {
    pub(super) fn new(file: Option<PathBuf>) -> Self {
        file.map_or_else(|| Self::Memory(AtomicUsize::new(0)), Self::File)
    }

    pub(super) fn add_one(&self) {
        match self {
            // The count needs no order of its own: a meeting makes what came before it visible after it.
            Self::Memory(count) => drop(count.fetch_add(1, Ordering::Relaxed)),
            Self::File(path) => {
                let file = fs::OpenOptions::new().append(true).create(true).open(path);
                file.and_then(|mut file| file.write_all(b"1")).expect("a counter can be written to");
            }
        }
    }

    pub(super) fn get(&self) -> usize {
        match self {
            Self::Memory(count) => count.load(Ordering::Relaxed),
            Self::File(path) => fs::metadata(path).map_or(0, |data| data.len() as usize),
        }
    }
}
