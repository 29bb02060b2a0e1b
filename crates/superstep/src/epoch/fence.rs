//! The end of an epoch: counting letters until none is under way. See `README.md` beside this file.

use super::{Epoch, state::Counting};
use crate::error::{Error, ErrorKind, Result};
use fabric::{Counts, Meld, Melded};
use std::{
    collections::HashMap,
    time::{Duration, Instant},
};

/// Where a count has what it sums: letters sent, letters taken in, runs held, who waits or has failed, and runs that
/// have been worked off (at 4).
const SENT: usize = 0;
const CAME: usize = 1;
const HELD: usize = 2;
const STATE: usize = 3;
/// Added to `HELD` by each member whose requests wait because too much is under way to somebody.
const CROWDED: u64 = 1 << 40;
/// Added to `STATE` by each member that waits for an answer.
const WAITS: u64 = 1;
/// Added to `STATE` by each member that was told something in a collective which it did not come to.
const LEFT: u64 = 1 << 20;
/// Added to `STATE` by each member whose epoch has failed.
const FAILED: u64 = 1 << 40;

/// What two sums say, of which the second was begun when everybody had seen the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Something may be under way.
    Open,
    /// Nothing is, and everybody has ended.
    Quiet,
    /// Nothing is, and requests wait for somebody to catch up who cannot: more has to be allowed.
    Crowded,
    /// Nothing is, and somebody waits: it will wait for good.
    Stuck,
}

/// The rule of two equal waves.
pub(super) fn verdict(last: Option<Counts>, now: Counts) -> Verdict {
    // Where nobody has sent anything, nobody can be woken: one wave says it all.
    let is_settled = now[SENT] == now[CAME] && (last == Some(now) || now[SENT] == 0);
    match now {
        _ if !is_settled => Verdict::Open,
        [_, _, 0, state, _] if state % LEFT == 0 => Verdict::Quiet,
        _ if now[HELD] >= CROWDED => Verdict::Crowded,
        _ => Verdict::Stuck,
    }
}

impl Epoch {
    /// Takes the count a step further. This processor has nothing to do; `why` says what it waits for, unless it has
    /// ended its body. Says whether the epoch is over.
    pub(super) fn count(&self, why: Option<&dyn Fn() -> String>) -> Result<bool> {
        let state = &*self.state;
        let Counting { is_entered, last, .. } = state.counting.get();
        let mut circle = self.core.circle.borrow_mut();
        if !is_entered {
            let has_failed = if state.failure.borrow().is_some() { FAILED } else { 0 };
            let waits = if why.is_some() { WAITS } else { 0 };
            let left = if why.is_none() && !state.notes.borrow().is_empty() { LEFT } else { 0 };
            let crowded = if state.held.get() > 0 && self.is_crowded() { CROWDED } else { 0 };
            let (sent, came, held) = (state.sent.get(), state.came.get(), state.held.get() + crowded);
            circle.enter_count([sent, came, held, waits + left + has_failed, state.runs.get()])?;
            state.counting.set(Counting { is_entered: true, last, came });
        }
        let Some(sum) = circle.counted()? else { return Ok(false) };
        drop(circle);
        let is_unmoved = state.counting.get().came == state.came.get();
        state.counting.set(Counting { is_entered: false, last: Some(sum), came: 0 });
        // Who could not use it must not use it later.
        state.is_loose.set(false);
        match verdict(last, sum) {
            Verdict::Open => Ok(false),
            Verdict::Quiet if sum[STATE] < LEFT => Ok(true),
            Verdict::Quiet if sum[STATE] < FAILED => {
                self.note_missed();
                Err(self.agree()?)
            }
            Verdict::Quiet => Err(self.agree()?),
            Verdict::Crowded => {
                self.allow_more();
                state.counting.set(Counting::default());
                Ok(false)
            }
            // In order nobody can go on. Once it is tried whether somebody can out of order.
            Verdict::Stuck if state.loosened_at.get() != Some(sum) => {
                state.loosened_at.set(Some(sum));
                // Others may have seen the sum sooner: who has heard from them can go on in order.
                state.is_loose.set(is_unmoved);
                state.counting.set(Counting::default());
                Ok(false)
            }
            Verdict::Stuck => {
                // What has failed may be what the others wait for.
                let error = if sum[STATE] < FAILED { self.explain(why)? } else { self.agree()? };
                state.is_stuck.set(true);
                *state.failure.borrow_mut() = Some(error.clone());
                Err(error)
            }
        }
    }

    /// Serves others until nothing is under way anywhere.
    pub(super) fn fence(&self) -> Result {
        let (mut watch, mut waiting) = (Watch::default(), self.core.pen.waiting());
        loop {
            self.check_stuck()?;
            self.post_all()?;
            if self.serve_in_bounds()? {
                waiting.go_on();
                watch.note(self);
                continue;
            }
            // Letters may have come while this processor entered the count, and they say so in the next one.
            if self.count(None)? {
                return Ok(());
            }
            waiting.begin(|| None);
            self.rest_in_count()?;
        }
    }

    /// Notes as a failure that others have told this processor something in a collective which it did not come to.
    #[cold]
    fn note_missed(&self) {
        let notes = self.state.notes.borrow();
        if let Some((_, from)) = notes.keys().min() {
            let what =
                format!("rank {from} is in a collective of this epoch that rank {} did not come to", self.rank());
            self.note_failure(&self.error(ErrorKind::StepMismatch, &what));
        }
    }

    /// The error of the first member whose epoch has failed.
    fn agree(&self) -> Result<Error> {
        let mine = self.state.failure.borrow().as_ref().map(|error| error.report().to_vec()).unwrap_or_default();
        let mut all = Melded::default();
        self.core.circle.borrow_mut().meet(&mine, &mut First, &mut all)?;
        Ok(Error::read(self.core.processor, &all.total))
    }

    /// The error of everybody, where everybody waits.
    fn explain(&self, why: Option<&dyn Fn() -> String>) -> Result<Error> {
        let state = &*self.state;
        let is_deep = state.depth.get() >= state.tuning.get().nesting && state.held.get() > 0;
        let mut mine = Vec::new();
        if let Some(why) = why {
            let deep = if is_deep { format!(", {} methods deep", state.depth.get()) } else { String::new() };
            mine = format!("{}rank {} waits {}{deep}; ", if is_deep { "\u{1}" } else { "" }, state.rank, why()).into();
        }
        let mut all = Melded::default();
        self.core.circle.borrow_mut().meet(&mine, &mut Listing, &mut all)?;
        let text = String::from_utf8_lossy(&all.total);
        let (is_deep, text) = (text.contains('\u{1}'), text.replace('\u{1}', ""));
        let text = text.trim_end_matches([';', ' ']);
        let (kind, what) = if is_deep {
            let bound = state.tuning.get().nesting;
            (ErrorKind::TooDeep, format!("remote methods wait inside each other, and no more than {bound} may: {text}"))
        } else {
            (ErrorKind::Deadlock, format!("nobody can go on in this epoch: {text}"))
        };
        Ok(self.core.error(kind, what, self.core.site.get()))
    }
}

/// Watches over methods that send each other on without end: nobody would know why the program stands still.
#[derive(Default)]
struct Watch {
    since: Option<Instant>,
    /// How often each method was the last to begin, when something had run.
    methods: HashMap<&'static str, u64>,
    turns: u64,
    has_spoken: bool,
}

impl Watch {
    /// How long the end of an epoch may take before it is spoken of.
    const LONG: Duration = Duration::from_secs(10);

    /// Something has run after the body's end.
    fn note(&mut self, epoch: &Epoch) {
        self.turns += 1;
        if self.has_spoken || !self.turns.is_multiple_of(64) {
            return;
        }
        *self.methods.entry(epoch.state.method.get()).or_default() += 1;
        if self.since.get_or_insert_with(Instant::now).elapsed() < Self::LONG {
            return;
        }
        self.has_spoken = true;
        let busiest = self.methods.iter().max_by_key(|(_, turns)| **turns).map_or("", |(method, _)| method);
        let (rank, site) = (epoch.rank(), epoch.core.site.get());
        eprintln!(
            "superstep: the epoch at {}:{} has not become quiet for {} s after rank {rank} ended its body; the method \
             that runs most is {busiest}",
            site.file(),
            site.line(),
            Self::LONG.as_secs()
        );
    }
}

/// The first contribution that is not empty, and that says more than that an object was used after a panic.
struct First;

impl Meld for First {
    fn meld(&mut self, left: &[u8], right: &[u8], out: &mut Vec<u8>) {
        // What a panic has led to does not hide the panic.
        let is_cause = |report: &[u8]| !report.is_empty() && Error::read(0, report).kind() != ErrorKind::Poisoned;
        let is_right = left.is_empty() || (is_cause(right) && !is_cause(left));
        out.extend_from_slice(if is_right { right } else { left });
    }
}

/// One contribution after the other.
struct Listing;

impl Meld for Listing {
    fn meld(&mut self, left: &[u8], right: &[u8], out: &mut Vec<u8>) {
        out.extend_from_slice(left);
        out.extend_from_slice(right);
    }
}
