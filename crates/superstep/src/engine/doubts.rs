//! What may be refused on some members alone, after they have met.
//!
//! What all contributed is the same on all members, and an operator that refuses it refuses it everywhere. Two things
//! are not: what the ranks below a member contributed, which is another value on each; and what is written to the
//! elements of a tenant, where the owner alone calls the operator. Where an operator may refuse or panic there, members
//! try it before they commit anything and meet once more to say how that went: either all of them commit, or none does
//! and all have the same error. Steps with operators that cannot fail, such as the library's on numbers, go without.
//!
//! A conflict is seen by one owner as well, so where these are looked for ([`super::conflicts`]) it is said at the same
//! meeting.

use super::{
    contribution::{Body, Contribution, Portion, flags},
    core::Core,
    fold::guard,
    items::Placed,
    phases::Met,
    tenant::Round,
};
use crate::error::{Error, Result};
use fabric::{Meld, Melded};

/// What a report is about, in its first byte.
const REFUSED: u8 = 0;
const CONFLICT: u8 = 1;

/// The first report that is not empty.
struct FirstReport;

impl Meld for FirstReport {
    fn meld(&mut self, left: &[u8], right: &[u8], out: &mut Vec<u8>) {
        out.extend_from_slice(if left.is_empty() { right } else { left });
    }
}

/// The report of an error.
fn refused(error: &Error) -> Vec<u8> {
    [&[REFUSED], &*error.report()].concat()
}

impl Core {
    /// Tries what may be refused on some members alone. The inner error is everybody's, and undoes the step.
    #[inline]
    pub(super) fn resolve_doubts(&self, met: &Met<'_>) -> Result<Result> {
        let on_tenants = met.has(flags::DOUBTS | flags::WATCHED);
        if on_tenants || self.log.items.borrow().has_doubts() { self.try_doubtful(met, on_tenants) } else { Ok(Ok(())) }
    }

    fn try_doubtful(&self, met: &Met<'_>, on_tenants: bool) -> Result<Result> {
        if on_tenants {
            self.hand_out_kept()?;
            if met.has(flags::CARRIES) {
                self.carry(Round::Attempt, met.stayed)?;
            }
        }
        let clash = if met.has(flags::WATCHED) { self.look_for_conflicts()? } else { Ok(None) };
        let report = match clash {
            Ok(Some(clash)) => clash.report(CONFLICT),
            Ok(None) => self.attempt_all(met).map_or_else(|error| refused(&self.placed(error)), |()| Vec::new()),
            Err(error) => refused(&self.placed(error)),
        };
        let mut reports = Melded::default();
        self.wire.circle_mut().meet(&report, &mut FirstReport, &mut reports)?;
        let error = match reports.total.split_first() {
            None if on_tenants => return self.commit_changed().map(Ok),
            None => return Ok(Ok(())),
            Some((&CONFLICT, clash)) => self.conflict(clash)?,
            Some((_, report)) => Error::read(self.processor, report),
        };
        if on_tenants {
            let registry = self.registry.borrow();
            let changed = registry.changed.borrow();
            let tenants = changed.iter().filter_map(|&number| registry.hooks(number)?.abandons.as_ref());
            // These keep no values that could unwind.
            tenants.for_each(|tenant| tenant.abandon(&mut Vec::new()));
        }
        Ok(Err(error))
    }

    /// Tries everything that may be refused.
    fn attempt_all(&self, met: &Met<'_>) -> Result {
        guard(|| self.conclude_doubtful(met))?;
        if met.has(flags::DOUBTS) { self.attempt_changed() } else { Ok(()) }
    }

    /// Gives those prefixes their values that may be refused.
    fn conclude_doubtful(&self, met: &Met<'_>) -> Result {
        let before = Contribution::below(met.before)?;
        let mut items = self.log.items.borrow_mut();
        let mut befores = before.as_ref().map(Body::of);
        for Placed { item, speaks, is_doubtful, .. } in items.collective_mut() {
            if !*speaks {
                continue;
            }
            let below = befores.as_mut().map(Body::item).transpose()?;
            if *is_doubtful {
                item.conclude(below.map(Portion::get).transpose()?)?;
            }
        }
        if met.has(flags::WRITTEN) {
            let written = befores.as_mut().zip(before.as_ref());
            let written = written.map(|(body, before)| body.numbered(before, flags::WRITTEN)).transpose()?;
            items.conclude_following(written, true)?;
        }
        Ok(())
    }

    /// Lets the tenants commit for the time being.
    fn attempt_changed(&self) -> Result {
        let registry = self.registry.borrow();
        let changed = registry.changed.borrow();
        let mut tenants = changed.iter().filter_map(|&number| registry.hooks(number)?.attempts.as_ref());
        tenants.try_for_each(|tenant| tenant.attempt())
    }
}
