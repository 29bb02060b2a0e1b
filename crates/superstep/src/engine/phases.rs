//! What follows a meeting at which all agreed, phase by phase, in the order of rule S2.

use super::{
    contribution::{Body, Contribution, Portion, flags},
    core::Core,
    exchange::Inbox,
    items::Needs,
    record::{Address, Payload, Tag, damaged},
    tenant::{Answers, Hooks, Round, departed},
};
use crate::error::{Error, Result};
use std::rc::Rc;

/// What came of a meeting.
pub(super) struct Met<'a> {
    /// What all contributed.
    pub(super) total: Contribution<'a>,
    /// What the ranks below contributed, as it came.
    pub(super) before: &'a [u8],
    /// The ranks that left in this boundary.
    pub(super) left: &'a [usize],
    /// The old ranks of those who stay; empty if nobody left.
    pub(super) stayed: &'a [usize],
}

impl Met<'_> {
    #[inline]
    pub(super) fn has(&self, flag: u32) -> bool {
        self.total.has(flag)
    }
}

impl Core {
    /// Lets the step take effect (S2). (a) All have arrived.
    pub(super) fn commit(&self, met: &Met<'_>) -> Result {
        let mut inbox = self.wire.inbox.borrow_mut();
        // (b) Gets read their sources, and transfers move, before anything is committed.
        if met.has(flags::READS) {
            self.read_before(&mut inbox, met)?;
        }
        if met.has(flags::DIRECT) {
            self.transfer(&mut inbox, met)?;
        }
        // (c) Puts, updates and combines are committed.
        self.conclude(met)?;
        if met.has(flags::POSTED) {
            self.hand_out(&mut inbox, met.has(flags::DOUBTS | flags::WATCHED))?;
            if met.has(flags::CARRIES) {
                self.carry(Round::Commit, met.stayed)?;
            }
            self.commit_changed()?;
        }
        if met.has(flags::FORWARDS) {
            self.forward(met)?;
        }
        // (d) Mirrors and gathers read what is committed.
        if met.has(flags::MIRRORS) {
            self.read_after(&mut inbox, met)?;
        }
        if met.has(flags::POSTED) {
            inbox.recycle(&mut self.wire.outbox.borrow_mut());
        }
        // (e) Pending values settle, and what everybody has dropped is gone.
        for item in self.log.items.borrow_mut().all_mut() {
            item.finish(met.left)?;
        }
        if met.has(flags::DROPPED) {
            self.registry.borrow_mut().forget();
        }
        Ok(())
    }

    /// Answers questions and reads directly, while nobody has committed anything yet.
    fn read_before(&self, inbox: &mut Inbox, met: &Met<'_>) -> Result {
        self.answer(inbox, Tag::ReadBefore, |hooks| hooks.read_before.as_ref())?;
        for item in self.log.items.borrow_mut().all_mut() {
            item.read_before(met.left)?;
        }
        self.exchange_and_deliver(met.stayed)
    }

    /// Answers questions and reads directly, when everybody has committed everything.
    fn read_after(&self, inbox: &mut Inbox, met: &Met<'_>) -> Result {
        self.answer(inbox, Tag::ReadAfter, |hooks| hooks.read_after.as_ref())?;
        self.exchange_and_deliver(met.stayed)?;
        for item in self.log.items.borrow_mut().all_mut() {
            item.read_after(met.left)?;
        }
        self.await_readers()
    }

    /// Waits until all have read out of each other's memory, so that nobody writes there before. Where no two share
    /// any, nobody does.
    fn await_readers(&self) -> Result {
        let mut circle = self.wire.circle_mut();
        if circle.carries() && !circle.is_mixed() { Ok(()) } else { Ok(circle.wait()?) }
    }

    /// Lets tenants answer the questions that have come.
    fn answer(&self, inbox: &mut Inbox, tag: Tag, phase: impl Fn(&Hooks) -> Option<&Rc<dyn Answers>>) -> Result {
        let registry = self.registry.borrow();
        inbox.visit(&[tag], |from, address, payload| {
            let tenant = registry.hooks(address.tenant()?).and_then(&phase).ok_or_else(damaged)?;
            tenant.answer(from, payload.bytes()?, &mut self.wire.outbox.borrow_mut())
        })
    }

    /// One more exchange of trays inside the boundary, whose records are committed at once.
    fn exchange_and_deliver(&self, stayed: &[usize]) -> Result {
        let mut inbox = self.wire.exchange(stayed)?;
        self.hand_out(&mut inbox, false)?;
        self.commit_changed()?;
        inbox.recycle(&mut self.wire.outbox.borrow_mut());
        Ok(())
    }

    /// Moves data from memory to memory: all set aside what would be overwritten before it is read, then all pull.
    fn transfer(&self, inbox: &mut Inbox, met: &Met<'_>) -> Result {
        let registry = self.registry.borrow();
        inbox.visit(&[Tag::Notice], |from, address, payload| {
            let tenant = registry.hooks(address.tenant()?).and_then(|hooks| hooks.transfers.as_ref());
            tenant.ok_or_else(damaged)?.notice(from, payload.bytes()?, &|number| registry.tenant(number).cloned())
        })?;
        for (number, tenant) in registry.all(|hooks| hooks.transfers.as_ref()) {
            tenant.stage(number, &mut self.wire.outbox.borrow_mut());
        }
        drop(registry);
        self.exchange_and_deliver(met.stayed)?;
        self.carry(Round::Transfer, met.stayed)?;
        if met.has(flags::CARRIES) && self.wire.circle().is_mixed() {
            // Nobody pulls out of memory into which something is still carried.
            self.wire.circle_mut().wait()?;
        }
        for (_, tenant) in self.registry.borrow().all(|hooks| hooks.transfers.as_ref()) {
            tenant.pull(met.left)?;
        }
        self.await_readers()
    }

    /// Moves what goes straight from memory to memory between members that share none.
    pub(super) fn carry(&self, round: Round, stayed: &[usize]) -> Result {
        let registry = self.registry.borrow();
        let tenants = registry.all(|hooks| hooks.carries.as_ref());
        let mut moving: Vec<_> = tenants.filter_map(|(number, tenant)| tenant.carry(number, round)).collect();
        if moving.is_empty() {
            return Ok(());
        }
        let (mut out, mut into) = (Vec::new(), Vec::new());
        for memory in &mut moving {
            memory.pieces(&mut out, &mut into)?;
        }
        // Between two members the order of issue is what both of them know.
        out.sort_by_key(|&(issue, to, _)| (to, issue));
        into.sort_by_key(|&(issue, from, _)| (from, issue));
        let place =
            |old: usize| if stayed.is_empty() { Some(old) } else { stayed.iter().position(|&rank| rank == old) };
        let out: Vec<_> = out.into_iter().filter_map(|(_, to, bytes)| Some((place(to)?, bytes))).collect();
        let mut into = into
            .into_iter()
            .map(|(_, from, bytes)| place(from).map(|from| (from, bytes)).ok_or_else(|| departed(from)))
            .collect::<Result<Vec<_>>>()?;
        self.wire.circle_mut().carry(&out, &mut into)?;
        moving.iter_mut().try_for_each(|memory| memory.done())
    }

    /// Gives items and tenants what the meeting found.
    fn conclude(&self, met: &Met<'_>) -> Result {
        let before = Contribution::below(met.before)?;
        if let Some(failed) = before.filter(|before| before.has(flags::FAILED)) {
            return Err(Error::read(self.processor, failed.body));
        }
        let (mut totals, mut befores) = (Body::of(&met.total), before.as_ref().map(Body::of));
        let mut items = self.log.items.borrow_mut();
        for placed in items.collective_mut().iter_mut().filter(|placed| placed.speaks) {
            let (all, below) = (totals.item()?, befores.as_mut().map(Body::item).transpose()?);
            if !placed.is_doubtful {
                let found = if placed.needs == Needs::Total { Some(all) } else { below };
                placed.item.conclude(found.map(Portion::get).transpose()?)?;
            }
        }
        drop(items);
        if met.has(flags::WRITTEN | flags::DROPPED) {
            self.conclude_declared(&met.total, totals, before.as_ref().zip(befores))?;
        }
        Ok(())
    }

    /// Gives tenants what was written to them, and notes what was dropped. Items have been read off the bodies.
    fn conclude_declared(
        &self,
        total: &Contribution<'_>,
        mut totals: Body<'_>,
        befores: Option<(&Contribution<'_>, Body<'_>)>,
    ) -> Result {
        let mut written = totals.numbered(total, flags::WRITTEN)?;
        let written_below = match befores {
            Some((before, mut body)) => Some(body.numbered(before, flags::WRITTEN)?),
            None => None,
        };
        self.log.items.borrow_mut().conclude_following(written_below, false)?;
        let mut registry = self.registry.borrow_mut();
        while let Some((number, portion)) = written.next()? {
            registry.contributor(number).ok_or_else(damaged)?.conclude(portion.get()?)?;
        }
        let mut dropped = totals.numbered(total, flags::DROPPED)?;
        while let Some((number, ranks)) = dropped.next()? {
            let ranks = ranks.get()?.as_chunks().0.iter().map(|&rank| u32::from_le_bytes(rank) as usize);
            registry.drop_by(number, ranks, self.size());
        }
        Ok(())
    }

    /// Hands every record to whom it is for. In a step with doubts, who keeps records has had its records before.
    fn hand_out(&self, inbox: &mut Inbox, has_doubts: bool) -> Result {
        let mut items = self.log.items.borrow_mut();
        self.hand_out_to(inbox, has_doubts.then_some(false), |number, from, payload| {
            items.get_mut(number).ok_or_else(damaged)?.deliver(from, payload)
        })
    }

    /// Hands records to the tenants that keep them until all are here.
    pub(super) fn hand_out_kept(&self) -> Result {
        self.hand_out_to(&mut self.wire.inbox.borrow_mut(), Some(true), |_, _, _| Err(damaged()))
    }

    /// Hands records to tenants, and by `deliver` to items: to all of them, or only to those that keep their records,
    /// or only to those that do not.
    fn hand_out_to(
        &self,
        inbox: &mut Inbox,
        keeping: Option<bool>,
        mut deliver: impl FnMut(u32, usize, Payload<'_>) -> Result,
    ) -> Result {
        let registry = self.registry.borrow();
        let mut changed = registry.changed.borrow_mut();
        changed.clear();
        let keeps = |number| registry.hooks(number).is_some_and(|hooks| hooks.attempts.is_some());
        let is_kept = |address| matches!(address, Address::Tenant(number) if keeps(number));
        let is_for = |address| keeping.is_none_or(|keeping| is_kept(address) == keeping);
        inbox.visit_those(&[Tag::Data, Tag::Moved], is_for, |from, address, payload| match address {
            Address::Item(number) => deliver(number, from, payload),
            Address::Tenant(number) => {
                if changed.last() != Some(&number) {
                    changed.push(number);
                }
                let tenant = registry.hooks(number).and_then(|hooks| hooks.receives.as_ref());
                tenant.ok_or_else(damaged)?.receive(from, payload)
            }
        })
    }

    pub(super) fn commit_changed(&self) -> Result {
        let registry = self.registry.borrow();
        let changed = registry.changed.borrow();
        let mut tenants = changed.iter().filter_map(|&number| registry.hooks(number)?.commits.as_ref());
        tenants.try_for_each(|tenant| tenant.commit())
    }

    /// Passes on what came in the first round of verbs that go in two.
    fn forward(&self, met: &Met<'_>) -> Result {
        for (number, placed) in self.log.items.borrow_mut().collective_mut().iter_mut().enumerate() {
            let (mut outbox, circle) = (self.wire.outbox.borrow_mut(), self.wire.circle());
            placed.item.forward(number as u32, &mut outbox, &**circle, met.left)?;
        }
        // The questions that came with the first trays are still to be answered: these come in trays of their own.
        self.exchange_and_deliver(met.stayed)
    }
}
