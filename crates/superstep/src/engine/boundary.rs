//! The boundary: where a step's effects happen.
//!
//! Each member brings one contribution, all meet, and everybody does what the melded contributions say. What follows a
//! meeting at which all agreed is in [`super::phases`], in the order of rule S2.

use super::{
    contribution::{self, Contribution, HEADER, flags},
    core::Core,
    fingerprint::Occasion,
    meld::{self, Melder},
    phases::Met,
    wire::Meeting,
};
use crate::{
    error::{Error, ErrorKind, Result},
    panics,
};
use fabric::{Failure, Melded};
use std::borrow::Cow;

/// The beginning of a sentence about members, of whom the first few are named.
fn have(ranks: &[usize]) -> String {
    let list = |ranks: &[usize]| ranks.iter().map(usize::to_string).collect::<Vec<_>>().join(", ");
    match ranks {
        [one] => format!("rank {one} has"),
        [first @ .., last] if first.len() <= 8 => format!("ranks {} and {last} have", list(first)),
        _ => format!("ranks {} and {} others have", list(&ranks[..8]), ranks.len() - 8),
    }
}

impl Core {
    /// Holds the boundary of the step that was begun.
    ///
    /// An error is every member's, and then nothing of the step has taken effect; or it is fatal to the run, and then
    /// the alarm has been raised.
    #[inline]
    pub(crate) fn boundary(&self, occasion: &'static Occasion) -> Result {
        if self.wire.has_channels() && self.size() > 1 {
            self.wire.look_aside(self, Some(occasion))?;
        }
        if self.log.is_stirred.get() { self.full_boundary(occasion) } else { self.empty_boundary(occasion) }
    }

    /// The boundary of a step in which this processor had nothing to say.
    #[inline]
    fn empty_boundary(&self, occasion: &Occasion) -> Result {
        let mut meeting = self.wire.meeting.borrow_mut();
        let Meeting { mine, melded } = &mut *meeting;
        mine.clear();
        contribution::open(self.fingerprint(occasion), 0, &[], mine);
        self.meet(mine, melded)?;
        // Usually the others had nothing to say either: the fingerprints agree, and that was all.
        let outcome = if melded.total == *mine { Ok(()) } else { self.hand_over(occasion, melded) };
        if outcome.is_err() {
            let mut buried = Vec::new();
            self.revert_outer(&mut buried);
            panics::discard(buried);
        }
        self.count_step();
        outcome
    }

    fn full_boundary(&self, occasion: &Occasion) -> Result {
        let mut meeting = self.wire.meeting.borrow_mut();
        let Meeting { mine, melded } = &mut *meeting;
        mine.clear();
        let mut recalled = Vec::new();
        self.registry.borrow_mut().drop_tenants(&mut self.let_go.borrow_mut());
        let fingerprint = self.fingerprint(occasion);
        // What the program does to encode a value may panic.
        if let Err(error) = panics::guard("encoding a value", || self.contribute(fingerprint, mine)) {
            let mut outbox = self.wire.outbox.borrow_mut();
            recalled = outbox.recall();
            outbox.close();
            contribution::fail(&error, (fingerprint, 0, &[]), mine);
        }
        self.meet(mine, melded)?;
        let outcome = self.hand_over(occasion, melded);
        self.log.watch.clear();
        let mut registry = self.registry.borrow_mut();
        registry.keep_fresh();
        if outcome.is_ok() {
            registry.settle(occasion.is_step);
        } else {
            registry.abandon();
        }
        let mut buried = registry.take_buried();
        let is_stirred = registry.is_stirred();
        drop(registry);
        self.log.is_stirred.set(is_stirred || !self.let_go.borrow().is_empty());
        if outcome.is_err() {
            self.revert_outer(&mut buried);
        }
        self.count_step();
        // The step is over, so it does no harm if one of these unwinds; but an error goes before that.
        match outcome {
            Ok(()) => drop(buried),
            Err(_) => panics::discard((buried, recalled)),
        }
        outcome
    }

    #[inline]
    fn meet(&self, mine: &[u8], melded: &mut Melded) -> Result {
        let (items, registry) = (self.log.items.borrow(), self.registry.borrow());
        let mut melder = Melder {
            operators: Some((&items, &registry)),
            is_bare: mine.len() == HEADER,
            fingerprint: mine.first_chunk().map(|&bytes| u64::from_le_bytes(bytes)),
        };
        self.wire.circle_mut().meet(mine, &mut melder, melded)?;
        for part in [&mut melded.total, &mut melded.before] {
            if let Cow::Owned(resolved) = melder.resolve(part) {
                *part = resolved;
            }
        }
        Ok(())
    }

    /// Writes this processor's contribution and posts its trays.
    fn contribute(&self, fingerprint: u64, mine: &mut Vec<u8>) -> Result {
        if let Some(error) = self.log.failing.take() {
            return Err(error);
        }
        self.take_back_borrows()?;
        self.send_collected()?;
        let (registry, mut outbox) = (self.registry.borrow(), self.wire.outbox.borrow_mut());
        let (written, dropped) = (registry.contributors(self.rank()), &registry.dropped);
        let mut flags = self.log.flags.get();
        for (flag, is_set) in [
            (flags::WRITTEN, !written.is_empty()),
            (flags::DROPPED, !dropped.is_empty()),
            (flags::POSTED, outbox.has_posted() || !outbox.is_empty()),
            (flags::CARRIES, outbox.carries),
            (flags::DOUBTS, outbox.doubts),
        ] {
            flags |= if is_set { flag } else { 0 };
        }
        contribution::open(fingerprint, flags, &[], mine);
        for placed in self.log.items.borrow().collective() {
            if placed.speaks {
                contribution::push_portion(mine, |out| placed.item.contribute(out))?;
            }
        }
        contribution::push_numbered(mine, &written, |number, out| {
            let tenant = registry.contributor(number).expect("only those that are there were kept");
            tenant.contribute(out).map_err(|error| {
                let name = registry.tenant(number).map(|tenant| tenant.describe()).unwrap_or_default();
                self.error(ErrorKind::Encode, format!("{name}: {error}"), self.site())
            })
        })?;
        if !dropped.is_empty() {
            let (mut dropped, me) = (dropped.clone(), (self.rank() as u32).to_le_bytes());
            dropped.sort_unstable();
            contribution::push_numbered(mine, &dropped, |_, out| {
                out.extend_from_slice(&me);
                Ok(())
            })?;
        }
        if !outbox.is_empty() {
            outbox.post(&mut **self.wire.circle_mut(), &[])?;
        }
        outbox.close();
        Ok(())
    }

    /// Refuses to hold a boundary while a borrow of something that it may change is alive.
    fn take_back_borrows(&self) -> Result {
        let borrowed = self.registry.borrow().take_back();
        borrowed.map_err(|what| {
            let rank = self.rank();
            let what =
                format!("rank {rank} still holds a borrow of the {what} at the boundary; drop it before the step ends");
            self.error(ErrorKind::StillBorrowed, what, self.site())
        })
    }

    /// Lets tenants hand over what they have collected for others.
    fn send_collected(&self) -> Result {
        let registry = self.registry.borrow();
        let mut outgoing = registry.outgoing.borrow_mut();
        for &number in outgoing.iter() {
            if let Some(tenant) = registry.hooks(number).and_then(|hooks| hooks.sends.as_ref()) {
                tenant.send(number, &mut self.wire.outbox.borrow_mut(), &**self.wire.circle())?;
            }
        }
        outgoing.clear();
        Ok(())
    }

    fn hand_over(&self, occasion: &Occasion, melded: &Melded) -> Result {
        let read = Contribution::of(&melded.total).and_then(|total| Ok((total, total.left(self.size(), self.rank())?)));
        // What others make of it nobody knows: nobody can go on.
        let (total, left) = read.map_err(|error| self.give_up(&error))?;
        if let Some(error) = self.refusal(occasion, &total, &left)? {
            self.renumber(&self.regroup(&left));
            return Err(error);
        }
        if total.has(flags::DIVERGED) {
            self.renumber(&self.regroup(&left));
            return Err(self.explain(occasion)?);
        }
        if total.has(flags::POSTED) {
            self.wire.inbox.borrow_mut().fill(&mut **self.wire.circle_mut(), &[]);
        }
        // Those who left hold no further meeting, so the rest of this boundary is held without them already.
        let stayed = self.regroup(&left);
        let met = Met { total, before: &melded.before, left: &left, stayed: &stayed };
        let outcome = panics::guard("what a boundary calls", || {
            let agreed = self.resolve_doubts(&met)?;
            if agreed.is_ok() {
                self.commit(&met)?;
            }
            Ok(agreed)
        });
        if let Err(error) = &outcome {
            // Others may have committed what I could not: nobody can go on.
            self.give_up(error);
        }
        let outcome = outcome.and_then(|agreed| agreed);
        if outcome.is_err() {
            // Nothing of it must be found later.
            for inbox in [&self.wire.inbox, &self.wire.further] {
                panics::quietly(|| inbox.borrow_mut().clear());
            }
        }
        self.renumber(&stayed);
        outcome
    }

    /// Why the step fails on all members, if it does and they have not diverged.
    fn refusal(&self, occasion: &Occasion, total: &Contribution<'_>, left: &[usize]) -> Result<Option<Error>> {
        if total.has(flags::FAILED) {
            let failure = Failure::GaveUp { rank: self.processor, report: total.body.into() };
            let error = self.causes.complete(Error::from(failure));
            if total.has(flags::GAVE_UP) {
                *self.failed.borrow_mut() = Some(error.clone());
            }
            return Ok(Some(self.placed(error)));
        }
        if total.has(flags::DIVERGED) {
            return Ok(None);
        }
        if !left.is_empty() && self.parent.is_none() {
            let what = format!("{} ended while the others went on to the {} here", have(left), occasion.words);
            return Ok(Some(self.error(ErrorKind::Departed, what, self.site())));
        }
        if total.has(flags::REFUSED) {
            let refusal = meld::refusal(total, &self.log.items.borrow())?;
            return Ok(refusal.map(|error| self.placed(error)));
        }
        Ok(None)
    }

    /// Makes a circle of those who stay, if somebody left (G6), and lists them by their old ranks.
    fn regroup(&self, left: &[usize]) -> Vec<usize> {
        if left.is_empty() {
            return Vec::new();
        }
        let stayed: Vec<usize> = (0..self.size()).filter(|rank| !left.contains(rank)).collect();
        let rank = stayed.iter().position(|&rank| rank == self.rank()).expect("those who left hold no boundary");
        self.wire.regroup(self, &stayed, rank);
        stayed
    }

    /// Gives those who stay their new ranks; an empty list means that nobody left.
    fn renumber(&self, stayed: &[usize]) {
        if !stayed.is_empty() {
            let rank = self.wire.circle().rank();
            self.member.renumber(rank, stayed.len());
            self.registry.borrow_mut().renumber(stayed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_few_are_named_and_the_others_counted() {
        assert_eq!(have(&[3]), "rank 3 has");
        assert_eq!(have(&[3, 5]), "ranks 3 and 5 have");
        assert_eq!(have(&(0..9).collect::<Vec<_>>()), "ranks 0, 1, 2, 3, 4, 5, 6, 7 and 8 have");
        assert_eq!(have(&(0..10).collect::<Vec<_>>()), "ranks 0, 1, 2, 3, 4, 5, 6, 7 and 2 others have");
    }
}
