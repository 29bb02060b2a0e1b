//! What may be refused on some members alone, after they have met.
//!
//! What all contributed is the same on all members, and an operator that refuses it refuses it everywhere. Two things
//! are not: what the ranks below a member contributed, which is another value on each; and what is written to array
//! elements, where the owner alone calls the operator. Where an operator may refuse or panic there, members try it
//! before they commit anything and meet once more to say how that went: either all of them commit, or none does and all
//! have the same error. Steps with operators that cannot fail, such as the library's own on numbers, go without.

use super::{
    contribution::{Body, Part, Parts, flags},
    core::{Core, Wave},
    exchange::{self, Address, Inbox},
    fold::guard,
    items::Placed,
};
use crate::error::{Error, Result};
use fabric::{Meld, Melded};

/// The first report that is not empty.
struct FirstReport;

impl Meld for FirstReport {
    fn meld(&mut self, left: &[u8], right: &[u8], out: &mut Vec<u8>) {
        out.extend_from_slice(if left.is_empty() { right } else { left });
    }
}

impl Core {
    /// Tries what may be refused on some members alone. The inner error is everybody's; nothing of the step has taken
    /// effect then.
    pub(super) fn resolve_doubts(&self, total: &Parts<'_>, wave: &Wave, stayed: &[usize]) -> Result<Result> {
        let on_arrays = total.has(flags::DOUBTS);
        if !on_arrays && !self.items.borrow().has_doubts() {
            return Ok(Ok(()));
        }
        if on_arrays {
            self.hand_out_kept(&mut self.inbox.borrow_mut())?;
            if total.has(flags::CARRIES) {
                self.carry(stayed)?;
            }
        }
        let mut outcome = guard(|| self.conclude_doubtful(total, wave));
        if outcome.is_ok() && on_arrays {
            outcome = self.attempt_changed();
        }
        let report = outcome.err().map(|error| self.placed(error).report());
        let mut reports = Melded::default();
        self.circle.borrow_mut().meet(report.as_deref().unwrap_or_default(), &mut FirstReport, &mut reports)?;
        if reports.total.is_empty() {
            return if on_arrays { self.commit_changed().map(Ok) } else { Ok(Ok(())) };
        }
        if on_arrays {
            let (registry, changed) = (self.registry.borrow(), self.changed.borrow());
            changed.iter().filter_map(|&number| registry.object(number)).for_each(|object| object.abandon());
        }
        Ok(Err(Error::read(self.processor, &reports.total)))
    }

    /// Gives those prefixes their values that may be refused.
    fn conclude_doubtful(&self, total: &Parts<'_>, wave: &Wave) -> Result {
        let before = Parts::below(&wave.melded.before)?;
        let mut items = self.items.borrow_mut();
        let mut befores = before.as_ref().map(Body::of);
        for Placed { item, speaks, is_doubtful, .. } in items.collective_mut() {
            if !*speaks {
                continue;
            }
            let below = befores.as_mut().map(Body::item).transpose()?;
            if *is_doubtful {
                item.conclude(below.map(Part::get).transpose()?)?;
            }
        }
        if total.has(flags::WRITTEN) {
            let written = befores.as_mut().zip(before.as_ref());
            let written = written.map(|(body, before)| body.entries(before, flags::WRITTEN)).transpose()?;
            items.conclude_following(written, true)?;
        }
        Ok(())
    }

    /// Hands records to the objects that keep them.
    fn hand_out_kept(&self, inbox: &mut Inbox) -> Result {
        let registry = self.registry.borrow();
        let mut changed = self.changed.borrow_mut();
        changed.clear();
        let is_for = |address| matches!(address, Address::Object(number) if registry.keeps(number));
        inbox.visit_those(&[exchange::Kind::Data, exchange::Kind::Moved], is_for, |from, address, payload| {
            let Address::Object(number) = address else { return Err(exchange::damaged()) };
            if changed.last() != Some(&number) {
                changed.push(number);
            }
            registry.object(number).ok_or_else(exchange::damaged)?.deliver(from, payload)
        })
    }

    /// Lets the objects commit for the time being.
    fn attempt_changed(&self) -> Result {
        let (registry, changed) = (self.registry.borrow(), self.changed.borrow());
        changed.iter().filter_map(|&number| registry.object(number)).try_for_each(|object| object.attempt())
    }
}
