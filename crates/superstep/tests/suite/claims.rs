//! Runs a claim as [`superstep::testing`] does, and writes down whether it ran.
//!
//! A launcher has decided how many processors there are, and a claim that asks for other numbers does not run there. It
//! passes all the same, so whoever starts the claims on another fabric asks for the record ([`crate::elsewhere`]).

use std::{
    env, fs,
    io::Write,
    panic::Location,
    sync::atomic::{AtomicBool, Ordering},
    thread,
};
use superstep::{Error, Group, Outcome, testing};

/// Names the file of the record: a line for each call, with its claim, its place, and whether it ran.
pub(crate) const RECORD: &str = "SUPERSTEP_TEST_RECORD";

/// Whether the body of a claim has run.
#[derive(Default)]
struct Ran(AtomicBool);

impl Ran {
    /// Processor 0 is in the process that starts the run, on every fabric, and speaks for all.
    fn note(&self, g: &Group) {
        self.0.fetch_or(g.rank() == 0, Ordering::Relaxed);
    }

    #[track_caller]
    fn record(self) {
        let Some(record) = env::var_os(RECORD) else { return };
        let (this, place) = (thread::current(), Location::caller());
        let claim = this.name().expect("a test runs in a thread of its name");
        let line = format!("{claim} {}:{} {}\n", place.file(), place.line(), self.0.into_inner());
        let mut file = fs::File::options().append(true).open(record).expect("whoever names a record has made it");
        file.write_all(line.as_bytes()).expect("the record can be written");
    }
}

/// As [`testing::everywhere`].
#[track_caller]
pub(crate) fn everywhere<R: Outcome<T>, T: Send>(claim: impl Fn(&mut Group) -> R + Sync) {
    on_sizes(&testing::SIZES, claim);
}

/// As [`testing::on_sizes`].
#[track_caller]
pub(crate) fn on_sizes<R: Outcome<T>, T: Send>(sizes: &[usize], claim: impl Fn(&mut Group) -> R + Sync) {
    let ran = Ran::default();
    testing::on_sizes(sizes, |g| {
        ran.note(g);
        claim(g)
    });
    ran.record();
}

/// As [`testing::failing`].
#[track_caller]
pub(crate) fn failing<R: Outcome<T>, T: Send>(
    sizes: &[usize],
    claim: impl Fn(&mut Group) -> R + Sync,
    check: impl Fn(&str, Error),
) {
    let ran = Ran::default();
    let noting = |g: &mut Group| {
        ran.note(g);
        claim(g)
    };
    testing::failing(sizes, noting, check);
    ran.record();
}
