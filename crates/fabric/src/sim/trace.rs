//! What happened in a simulated run, for people and for programs.

use super::clock::Bill;
use crate::{lock::lock, sight::Sighting};
use std::{
    fmt,
    fmt::Write as _,
    sync::{Arc, Mutex},
};

/// Keeps what happens in a simulated run: hand a clone of it to the run, and look at it afterwards.
///
/// ```
/// # use fabric::sim::Trace;
/// let trace = Trace::new();
/// assert!(trace.text().is_empty() && trace.predicted().is_empty());
/// assert_eq!(trace.seconds(), 0.0);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Trace(Arc<Mutex<Kept>>);

#[derive(Debug, Default)]
struct Kept {
    text: String,
    predicted: Vec<Predicted>,
    nanoseconds: f64,
}

/// How long a superstep takes by the model: the work and the communication before a meeting, and the meeting.
///
/// ```
/// # use fabric::sim::Predicted;
/// fn longest(all: &[Predicted]) -> Option<&Predicted> {
///     all.iter().max_by(|a, b| a.seconds.total_cmp(&b.seconds))
/// }
/// assert!(longest(&[]).is_none());
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Predicted {
    /// Where in the program it is.
    pub place: String,
    /// How many processors met.
    pub members: usize,
    /// The most operations that one of them was charged with.
    pub work: u64,
    /// The most words of 8 bytes that one of them sent or received.
    pub words: u64,
    /// w/r + g·h + l.
    pub seconds: f64,
}

impl Trace {
    /// Nothing yet.
    ///
    /// ```
    /// # use fabric::sim::Trace;
    /// assert_eq!(Trace::new().text(), "");
    /// ```
    pub fn new() -> Self {
        Self::default()
    }

    /// A line for each event of the last run: the virtual time, the processor, and what it did where.
    ///
    /// ```
    /// # use fabric::sim::Trace;
    /// assert_eq!(Trace::new().text().lines().count(), 0);
    /// ```
    pub fn text(&self) -> String {
        lock(&self.0).text.clone()
    }

    /// How long each superstep of the last run takes by the model, in the order in which they ended. A step that reads
    /// what others have is several, because its members meet several times; so do they where an array is made, and when
    /// the run ends.
    ///
    /// ```
    /// # use fabric::sim::Trace;
    /// assert!(Trace::new().predicted().is_empty());
    /// ```
    pub fn predicted(&self) -> Vec<Predicted> {
        lock(&self.0).predicted.clone()
    }

    /// The virtual time at which the last run ended, in seconds.
    ///
    /// ```
    /// # use fabric::sim::Trace;
    /// assert_eq!(Trace::new().seconds(), 0.0);
    /// ```
    pub fn seconds(&self) -> f64 {
        lock(&self.0).nanoseconds / 1e9
    }
}

/// Writes down what happens in a run, where somebody has asked for it.
pub(super) struct Journal {
    trace: Option<Trace>,
    /// Whether each line also goes to standard error.
    prints: bool,
    sightings: Arc<[Sighting]>,
}

impl Journal {
    pub(super) fn new(trace: Option<Trace>, prints: bool, sightings: Arc<[Sighting]>) -> Self {
        if let Some(trace) = &trace {
            *lock(&trace.0) = Kept::default();
        }
        Self { trace, prints, sightings }
    }

    /// Notes that at this time a processor did something.
    pub(super) fn note(&self, time: f64, rank: usize, what: impl fmt::Display) {
        if self.is_kept() {
            self.write(format_args!("{:>14.3} us  processor {rank} {what}", time / 1e3));
        }
    }

    /// The same, with the place where it is.
    pub(super) fn note_place(&self, time: f64, rank: usize, what: impl fmt::Display) {
        if self.is_kept() {
            self.note(time, rank, format_args!("{what} {}", self.sightings[rank].whereabouts()));
        }
    }

    fn is_kept(&self) -> bool {
        self.prints || self.trace.is_some()
    }

    fn write(&self, line: fmt::Arguments<'_>) {
        if self.prints {
            eprintln!("{line}");
        }
        if let Some(trace) = &self.trace {
            writeln!(lock(&trace.0).text, "{line}").expect("a text takes everything");
        }
    }

    /// Notes what a superstep took, of which `rank` is a member.
    pub(super) fn bill(&self, time: f64, rank: usize, bill: &Bill) {
        if !self.is_kept() {
            return;
        }
        let Bill { members, work, words, nanoseconds } = *bill;
        let place = self.sightings[rank].whereabouts();
        self.write(format_args!(
            "{:>14.3} us  {members} processors have met {place}: w = {work}, h = {words}, {:.3} us",
            time / 1e3,
            nanoseconds / 1e3
        ));
        if let Some(trace) = &self.trace {
            let superstep = Predicted { place, members, work, words, seconds: nanoseconds / 1e9 };
            lock(&trace.0).predicted.push(superstep);
        }
    }

    /// Notes when a processor has ended.
    pub(super) fn end(&self, latest: f64) {
        if let Some(trace) = &self.trace {
            lock(&trace.0).nanoseconds = latest;
        }
    }
}
