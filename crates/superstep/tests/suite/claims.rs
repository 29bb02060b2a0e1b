//! Runs a claim as [`superstep::testing`] does, and writes down how often it ran, and on how many processors.
//!
//! A launcher has decided how many processors there are, and a claim that asks for other numbers does not run there. It
//! passes all the same, so whoever starts the claims on another fabric asks for the record ([`crate::elsewhere`]).

use std::{collections::BTreeMap, env, fs, io::Write, panic::Location, sync::Mutex, thread};
use superstep::{Check, Error, Group, Outcome, testing};

/// Names the file of the record: a line for each call, with its claim, its place, and each number of
/// processors on which it ran, with how often.
pub(crate) const RECORD: &str = "SUPERSTEP_TEST_RECORD";

/// How often the body of a claim has run, by the number of processors.
#[derive(Default)]
struct Ran(Mutex<BTreeMap<usize, u64>>);

impl Ran {
    /// Processor 0 is in the process that starts the run, on every fabric, and speaks for all.
    fn note(&self, g: &Group) {
        if g.rank() == 0 {
            *self.0.lock().expect("nobody panics here").entry(g.size()).or_default() += 1;
        }
    }

    #[track_caller]
    fn record(self) {
        let Some(record) = env::var_os(RECORD) else { return };
        let (this, place) = (thread::current(), Location::caller());
        let claim = this.name().expect("a test runs in a thread of its name");
        let ran = self.0.into_inner().expect("nobody panics here");
        let sizes: Vec<String> = ran.iter().map(|(size, times)| format!(" {size}:{times}")).collect();
        let line = format!("{claim} {}:{}{}\n", place.file(), place.line(), sizes.concat());
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

/// Runs a claim as [`on_sizes`] does, and looks for conflicts.
#[track_caller]
pub(crate) fn checked<R: Outcome<T>, T: Send>(sizes: &[usize], claim: impl Fn(&mut Group) -> R + Sync) {
    let ran = Ran::default();
    testing::for_each(sizes, |config, context| {
        let outcome = config.clone().check(Check::Conflicts).run(|g| {
            ran.note(g);
            claim(g)
        });
        if let Err(error) = outcome {
            panic!("{context}: {error}");
        }
    });
    ran.record();
}
