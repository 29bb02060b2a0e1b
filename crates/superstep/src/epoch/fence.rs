//! The end of an epoch: counting letters until none is under way. See `README.md` beside this file.

use super::{
    state::{Epoch, State},
    verdict::{CROWDED, Counting, FAILED, LEFT, STATE, Verdict, WAITS, verdict},
};
use crate::error::{Error, ErrorKind, Result, place};
use fabric::{Counts, Meld, Melded};
use std::{
    collections::HashMap,
    time::{Duration, Instant},
};

impl Epoch {
    /// Takes the count a step further. This processor has nothing to do; `why` says what it waits for, unless it has
    /// ended its body. Says whether the epoch is over.
    pub(super) fn count(&self, why: Option<&dyn Fn() -> String>) -> Result<bool> {
        let (state, mut circle) = (&*self.state, self.core.wire.circle_mut());
        let counting = self.counting.get();
        if !counting.is_entered {
            let came = state.incoming.came.get();
            circle.enter_count(self.contribution(why.is_some()))?;
            self.counting.set(Counting { is_entered: true, came, ..counting });
        }
        let Some(sum) = circle.counted()? else { return Ok(false) };
        drop(circle);
        let Counting { last, came, loosened_at, .. } = self.counting.get();
        let restart = |loosened_at| self.counting.set(Counting { loosened_at, ..Counting::default() });
        self.counting.set(Counting { is_entered: false, last: Some(sum), came: 0, loosened_at });
        // Who could not use it must not use it later.
        state.incoming.is_loose.set(false);
        match verdict(last, sum) {
            Verdict::Open => Ok(false),
            Verdict::Quiet if sum[STATE] < LEFT => Ok(true),
            Verdict::Quiet => {
                // Who has failed has told everybody, and nobody notes a second error.
                self.note_missed();
                Err(self.agree()?)
            }
            Verdict::Crowded => {
                state.outgoing.allow_more();
                restart(loosened_at);
                Ok(false)
            }
            // In order nobody can go on. Once it is tried whether somebody can out of order.
            Verdict::Stuck if loosened_at != Some(sum) => {
                // Others may have seen the sum sooner: who has heard from them can go on in order.
                state.incoming.is_loose.set(came == state.incoming.came.get());
                restart(Some(sum));
                Ok(false)
            }
            Verdict::Stuck => {
                // What has failed may be what the others wait for.
                let error = if sum[STATE] < FAILED { self.explain(why)? } else { self.agree()? };
                self.trouble.end_with(&error);
                Err(error)
            }
        }
    }

    fn contribution(&self, waits: bool) -> Counts {
        let State { incoming, outgoing, .. } = &*self.state;
        let when = |it: bool, number: u64| if it { number } else { 0 };
        let held = incoming.held.get();
        let crowded = when(held > 0 && outgoing.is_crowded(), CROWDED);
        let left = when(!waits && self.notes.missed().is_some(), LEFT);
        let state = when(waits, WAITS) + left + when(self.trouble.is_known(), FAILED);
        let turns = self.activity.done.get() + self.activity.begun.get();
        [outgoing.sent.get(), incoming.came.get(), held + crowded, state, turns]
    }

    /// Waits for a letter or for the sum of a count, if one has been entered.
    pub(super) fn rest_in_count(&self) -> Result {
        if self.counting.get().is_entered {
            self.core.wire.circle_mut().rest()?;
        }
        Ok(())
    }

    /// Serves others until nothing is under way anywhere.
    pub(super) fn fence(&self) -> Result {
        let (mut watch, mut waiting) = (Watch::default(), self.core.pen.waiting());
        loop {
            self.trouble.check_stuck()?;
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
        if let Some(from) = self.notes.missed() {
            let what =
                format!("rank {from} is in a collective of this epoch that rank {} did not come to", self.rank());
            self.trouble.note(&self.error(ErrorKind::StepMismatch, &what));
        }
    }

    /// The error of the first member whose epoch has failed.
    fn agree(&self) -> Result<Error> {
        let mine = self.trouble.check().err().map(|error| error.report().to_vec()).unwrap_or_default();
        let mut all = Melded::default();
        self.core.wire.circle_mut().meet(&mine, &mut First, &mut all)?;
        Ok(Error::read(self.core.processor, &all.total))
    }

    /// The error of everybody, where everybody waits.
    fn explain(&self, why: Option<&dyn Fn() -> String>) -> Result<Error> {
        let state = &*self.state;
        let is_deep = self.is_deep() && state.incoming.held.get() > 0;
        let mut mine = Vec::new();
        if let Some(why) = why {
            let deep = if is_deep { format!(", {} methods deep", self.activity.depth.get()) } else { String::new() };
            mine = format!("{}rank {} waits {}{deep}; ", if is_deep { "\u{1}" } else { "" }, state.rank, why()).into();
        }
        let mut all = Melded::default();
        self.core.wire.circle_mut().meet(&mine, &mut Listing, &mut all)?;
        let text = String::from_utf8_lossy(&all.total);
        let (is_deep, text) = (text.contains('\u{1}'), text.replace('\u{1}', ""));
        let text = text.trim_end_matches([';', ' ']);
        let (kind, what) = if is_deep {
            let bound = self.tuning.nesting;
            (ErrorKind::TooDeep, format!("remote methods wait inside each other, and no more than {bound} may: {text}"))
        } else {
            (ErrorKind::Deadlock, format!("nobody can go on in this epoch: {text}"))
        };
        Ok(self.core.error(kind, what, self.core.site()))
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
        *self.methods.entry(epoch.activity.method.get()).or_default() += 1;
        if self.since.get_or_insert_with(Instant::now).elapsed() < Self::LONG {
            return;
        }
        self.has_spoken = true;
        let busiest = self.methods.iter().max_by_key(|(_, turns)| **turns).map_or("", |(method, _)| method);
        let (rank, site) = (epoch.rank(), epoch.core.site());
        eprintln!(
            "superstep: the epoch at {} has not become quiet for {} s after rank {rank} ended its body; the method \
             that runs most is {busiest}",
            place(site),
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

struct Listing;

impl Meld for Listing {
    fn meld(&mut self, left: &[u8], right: &[u8], out: &mut Vec<u8>) {
        out.extend_from_slice(left);
        out.extend_from_slice(right);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_cause_is_told_and_what_it_led_to_only_alone() {
        let report = |kind| Error::new(kind, "words").report().to_vec();
        let (none, panic, full) = (Vec::new(), report(ErrorKind::Panicked), report(ErrorKind::OutOfMemory));
        let poisoned = report(ErrorKind::Poisoned);
        for (left, right, told) in [
            (&none, &none, &none),
            (&none, &panic, &panic),
            (&panic, &none, &panic),
            (&panic, &full, &panic),
            (&full, &panic, &full),
            (&poisoned, &panic, &panic),
            (&panic, &poisoned, &panic),
            (&none, &poisoned, &poisoned),
            (&poisoned, &none, &poisoned),
        ] {
            let mut out = Vec::new();
            First.meld(left, right, &mut out);
            assert_eq!(&out, told);
        }
    }
}
