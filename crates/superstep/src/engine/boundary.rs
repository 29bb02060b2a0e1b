//! The boundary: where a step's effects happen, in the order of rule S2.

use super::{
    checks::mix,
    contribution::{self, Body, HEADER, Melder, Part, Parts, flags},
    core::{Core, Joint, Phase, Wave},
    exchange::{self, Address, Inbox, Payload},
    items::Needs,
    registry::departed,
};
use crate::{
    error::{Error, ErrorKind, Result, place},
    panics,
};
use fabric::{Failure, Melded};
use std::borrow::Cow;

/// What a boundary ends or begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The end of a step.
    Step,
    /// The way into subgroups.
    Split,
    /// The way back from them.
    Rejoin,
    /// The making of an area.
    Make,
    /// The making of an array.
    Array,
    /// The making of a paged array.
    Paged,
    /// The way of parts of an array into subgroups.
    Import,
    /// The beginning of an epoch.
    Epoch,
}

impl Kind {
    pub(crate) fn in_words(self) -> &'static str {
        match self {
            Self::Step => "step",
            Self::Split => "split",
            Self::Rejoin => "end of the split",
            Self::Make => "making of an area",
            Self::Array => "making of an array",
            Self::Paged => "making of a paged array",
            Self::Import => "import of an array",
            Self::Epoch => "epoch",
        }
    }
}

/// The beginning of a sentence about members, of whom the first few are named.
fn have(ranks: &[usize]) -> String {
    let list = |ranks: &[usize]| ranks.iter().map(usize::to_string).collect::<Vec<_>>().join(", ");
    match ranks {
        [one] => format!("rank {one} has"),
        [first @ .., last] if first.len() < 8 => format!("ranks {} and {last} have", list(first)),
        _ => format!("ranks {} and {} others have", list(&ranks[..8]), ranks.len() - 8),
    }
}

impl Core {
    /// Holds the boundary of the step that was begun.
    ///
    /// An error is every member's, and then nothing of the step has taken effect; or it is fatal to the run, and then
    /// the alarm has been raised.
    #[inline]
    pub(crate) fn boundary(&self, kind: Kind) -> Result {
        if self.has_post.get() && self.size.get() > 1 {
            self.gather_at_post(Some(kind))?;
        }
        if self.is_stirred.get() { self.full_boundary(kind) } else { self.empty_boundary(kind) }
    }

    /// The boundary of a step in which this processor had nothing to say.
    #[inline]
    fn empty_boundary(&self, kind: Kind) -> Result {
        let mut wave = self.wave.borrow_mut();
        let Wave { mine, melded } = &mut *wave;
        mine.clear();
        contribution::open(self.fingerprint(kind), 0, &[], mine);
        self.meet(mine, melded)?;
        // Usually the others had nothing to say either: the fingerprints agree, and that was all.
        let outcome = if melded.total == *mine { Ok(()) } else { self.hand_over(kind, &wave) };
        self.count_step();
        self.phase.set(Phase::Between);
        outcome
    }

    #[inline]
    fn meet(&self, mine: &[u8], melded: &mut Melded) -> Result {
        let (items, registry) = (self.items.borrow(), self.registry.borrow());
        let mut melder = Melder {
            operators: Some((&items, &registry)),
            is_bare: mine.len() == HEADER,
            fingerprint: mine.first_chunk().map(|&bytes| u64::from_le_bytes(bytes)),
        };
        self.circle.borrow_mut().meet(mine, &mut melder, melded)?;
        for part in [&mut melded.total, &mut melded.before] {
            if let Cow::Owned(resolved) = melder.resolve(part) {
                *part = resolved;
            }
        }
        Ok(())
    }

    fn full_boundary(&self, kind: Kind) -> Result {
        let mut wave = self.wave.borrow_mut();
        let Wave { mine, melded } = &mut *wave;
        mine.clear();
        let fingerprint = self.fingerprint(kind);
        // What the program does to encode a value may panic.
        if let Err(error) = panics::guard("encoding a value", || self.contribute(fingerprint, mine)) {
            self.outbox.borrow_mut().close();
            contribution::fail(&error, (fingerprint, 0, &[]), mine);
        }
        self.meet(mine, melded)?;
        let outcome = self.hand_over(kind, &wave);
        let mut registry = self.registry.borrow_mut();
        self.keep_declared(&mut registry);
        if outcome.is_ok() {
            registry.settle_variables();
            registry.turn_queues();
            registry.touched.clear();
            registry.dropped.clear();
        } else {
            registry.abandon();
        }
        // Queues turn at every boundary, so a group that has some never skips this; nor does one with a borrow that has
        // made a boundary fail and may still be alive.
        self.is_stirred
            .set(!registry.queues.is_empty() || !registry.touched.is_empty() || !registry.dropped.is_empty());
        self.count_step();
        self.phase.set(Phase::Between);
        let buried = registry.take_buried();
        drop(registry);
        // An object may hold an area or another object, which is dropped with it.
        drop(buried);
        outcome
    }

    /// Writes this processor's contribution and posts its trays.
    fn contribute(&self, fingerprint: u64, mine: &mut Vec<u8>) -> Result {
        if let Some(error) = self.failing.take() {
            return Err(error);
        }
        self.check_borrows()?;
        self.flush()?;
        let registry = self.registry.borrow();
        // Empty, and then without an allocation, where no variable was written.
        let mut written: Vec<u32> = Vec::new();
        written.extend(
            registry.written.iter().filter(|&&number| {
                registry.variable(number).is_some_and(|variable| variable.takes_part(self.rank.get()))
            }),
        );
        written.sort_unstable();
        let mut flags = self.flags.get();
        let (carries, has_posted, doubts) = {
            let outbox = self.outbox.borrow();
            (outbox.carries, outbox.has_posted(), outbox.doubts)
        };
        for (flag, is_set) in [
            (flags::WRITTEN, !written.is_empty()),
            (flags::DROPPED, !registry.dropped.is_empty()),
            (flags::POSTED, has_posted || !self.outbox.borrow().is_empty()),
            (flags::CARRIES, carries),
            (flags::DOUBTS, doubts),
        ] {
            flags |= if is_set { flag } else { 0 };
        }
        contribution::open(fingerprint, flags, &[], mine);
        for placed in self.items.borrow().collective() {
            if placed.speaks {
                contribution::push_part(mine, |out| placed.item.contribute(out))?;
            }
        }
        if !written.is_empty() {
            mine.extend_from_slice(&(written.len() as u32).to_le_bytes());
            for number in written {
                let variable = registry.variable(number).expect("only those that are there were kept");
                mine.extend_from_slice(&number.to_le_bytes());
                contribution::push_part(mine, |out| variable.contribute(out)).map_err(|error| {
                    let what = format!("{}: {error}", variable.describe());
                    self.error(ErrorKind::Encode, what, self.site.get())
                })?;
            }
        }
        let is_dropped = !registry.dropped.is_empty();
        drop(registry);
        if is_dropped {
            let mut dropped = self.registry.borrow().dropped.clone();
            dropped.sort_unstable();
            mine.extend_from_slice(&(dropped.len() as u32).to_le_bytes());
            for number in &dropped {
                mine.extend_from_slice(&number.to_le_bytes());
                contribution::push_part(mine, |out| out.extend_from_slice(&(self.rank.get() as u32).to_le_bytes()));
            }
        }
        let mut outbox = self.outbox.borrow_mut();
        if !outbox.is_empty() {
            outbox.post(&mut **self.circle.borrow_mut(), &[])?;
        }
        outbox.close();
        Ok(())
    }

    /// Refuses to hold a boundary while a borrow of something that it may change is alive.
    fn check_borrows(&self) -> Result {
        let registry = self.registry.borrow();
        let objects = registry.touched.iter().filter_map(|&number| registry.object(number));
        for object in objects {
            if object.is_borrowed() {
                return Err(self.still_borrowed(&object.describe()));
            }
            object.open();
        }
        let variables = registry.written.iter().filter_map(|&number| registry.variable(number));
        for variable in variables {
            if variable.is_borrowed() {
                return Err(self.still_borrowed(&variable.describe()));
            }
        }
        Ok(())
    }

    fn still_borrowed(&self, what: &str) -> Error {
        let what = format!(
            "rank {} still holds a borrow of the {what} at the boundary; drop it before the step ends",
            self.rank.get()
        );
        self.error(ErrorKind::StillBorrowed, what, self.site.get())
    }

    fn flush(&self) -> Result {
        if self.registry.borrow().outgoing.is_empty() {
            return Ok(());
        }
        let outgoing = std::mem::take(&mut self.registry.borrow_mut().outgoing);
        let registry = self.registry.borrow();
        for &number in &outgoing {
            if let Some(object) = registry.object(number) {
                object.flush(number, &mut self.outbox.borrow_mut(), &**self.circle.borrow())?;
            }
        }
        drop(registry);
        // Only to keep its room.
        let mut registry = self.registry.borrow_mut();
        registry.outgoing = outgoing;
        registry.outgoing.clear();
        Ok(())
    }

    /// Does what the melded contributions say.
    fn hand_over(&self, kind: Kind, wave: &Wave) -> Result {
        let total = Parts::of(&wave.melded.total)?;
        let left = total.left();
        if total.has(flags::FAILED) {
            let report = total.body.into();
            self.renumber(&self.regroup(&left));
            let error = self.sources.complete(Error::from(Failure::GaveUp { rank: self.processor, report }));
            if total.has(flags::GAVE_UP) {
                *self.failed.borrow_mut() = Some(error.clone());
            }
            return Err(self.placed(error));
        }
        if total.has(flags::DIVERGED) {
            self.renumber(&self.regroup(&left));
            return Err(self.explain(kind)?);
        }
        if !left.is_empty() && self.parent.is_none() {
            let what = format!("{} ended while the others went on to the {} here", have(&left), kind.in_words());
            let error = self.error(ErrorKind::Departed, what, self.site.get());
            self.renumber(&self.regroup(&left));
            return Err(error);
        }
        if total.has(flags::REFUSED)
            && let Some(error) = Body::of(&total).refusal(&total, &self.items.borrow())?
        {
            self.renumber(&self.regroup(&left));
            return Err(self.placed(error));
        }
        if total.has(flags::POSTED) {
            self.inbox.borrow_mut().fill(&mut **self.circle.borrow_mut(), &[]);
        }
        // Those who left hold no further meeting, so the rest of this boundary is held without them already.
        let stayed = self.regroup(&left);
        let outcome = panics::guard("what a boundary calls", || {
            let agreed = self.resolve_doubts(&total, wave, &stayed)?;
            if agreed.is_ok() {
                self.commit(&total, wave, &left, &stayed)?;
            }
            Ok(agreed)
        });
        if let Err(error) = &outcome {
            // Others may have committed what I could not: nobody can go on.
            let failure = Failure::GaveUp { rank: self.processor, report: error.report() };
            self.circle.borrow().alarm().raise(failure);
        }
        let outcome = outcome.and_then(|agreed| agreed);
        if outcome.is_err() {
            // Nothing of it must be found later.
            self.inbox.borrow_mut().clear();
        }
        self.renumber(&stayed);
        outcome
    }

    /// The error with its place. What failed while it was combined knows the operator, and not where that was; all
    /// members are here.
    pub(super) fn placed(&self, error: Error) -> Error {
        if error.is_placed() { error } else { self.error(error.kind(), &error, self.site.get()) }
    }

    fn commit(&self, total: &Parts<'_>, wave: &Wave, left: &[usize], stayed: &[usize]) -> Result {
        let mut inbox = self.inbox.borrow_mut();
        if total.has(flags::READS) {
            self.read(&mut inbox, left, stayed)?;
        }
        if total.has(flags::DIRECT) {
            self.transfer(&mut inbox, left, stayed)?;
        }
        self.conclude(total, wave)?;
        if total.has(flags::POSTED) {
            self.hand_out(&mut inbox, total.has(flags::DOUBTS))?;
            if total.has(flags::CARRIES) {
                self.carry(stayed)?;
            }
            self.commit_changed()?;
        }
        if total.has(flags::FORWARDS) {
            for (number, placed) in self.items.borrow_mut().collective_mut().iter_mut().enumerate() {
                placed.item.forward(number as u32, &mut self.outbox.borrow_mut(), &**self.circle.borrow(), left);
            }
            // The questions that came with the first trays are still to be answered.
            let mut forwarded = Inbox::default();
            self.round(&mut forwarded, stayed)?;
            self.deliver(&mut forwarded)?;
            forwarded.recycle(&mut self.outbox.borrow_mut());
        }
        if total.has(flags::MIRRORS) {
            self.mirror(&mut inbox, left, stayed)?;
        }
        if total.has(flags::POSTED) {
            inbox.recycle(&mut self.outbox.borrow_mut());
        }
        for item in self.items.borrow_mut().all_mut() {
            item.finish(left)?;
        }
        if total.has(flags::DROPPED) {
            self.registry.borrow_mut().forget();
        }
        Ok(())
    }

    /// One more exchange of trays inside the boundary.
    fn round(&self, inbox: &mut Inbox, stayed: &[usize]) -> Result {
        let mut circle = self.circle.borrow_mut();
        self.outbox.borrow_mut().post(&mut **circle, stayed)?;
        circle.wait()?;
        inbox.fill(&mut **circle, stayed);
        Ok(())
    }

    /// S2 (b): answers requests and reads directly, while nobody has committed anything yet.
    fn read(&self, inbox: &mut Inbox, left: &[usize], stayed: &[usize]) -> Result {
        let registry = self.registry.borrow();
        inbox.visit(&[exchange::Kind::Request], |from, address, payload| match address {
            Address::Object(number) => {
                let object = registry.object(number).ok_or_else(exchange::damaged)?;
                object.serve(from, payload.bytes()?, &mut self.outbox.borrow_mut())
            }
            Address::Item(_) => Err(exchange::damaged()),
        })?;
        drop(registry);
        for item in self.items.borrow_mut().all_mut() {
            item.read(left)?;
        }
        let mut answers = Inbox::default();
        self.round(&mut answers, stayed)?;
        self.deliver(&mut answers)?;
        answers.recycle(&mut self.outbox.borrow_mut());
        Ok(())
    }

    /// S2 (d): answers requests and reads directly, when everybody has committed everything.
    fn mirror(&self, inbox: &mut Inbox, left: &[usize], stayed: &[usize]) -> Result {
        let registry = self.registry.borrow();
        inbox.visit(&[exchange::Kind::Mirror], |from, address, payload| match address {
            Address::Object(number) => {
                let object = registry.object(number).ok_or_else(exchange::damaged)?;
                object.mirror(from, payload.bytes()?, &mut self.outbox.borrow_mut())
            }
            Address::Item(_) => Err(exchange::damaged()),
        })?;
        drop(registry);
        let mut answers = Inbox::default();
        self.round(&mut answers, stayed)?;
        self.deliver(&mut answers)?;
        answers.recycle(&mut self.outbox.borrow_mut());
        for item in self.items.borrow_mut().all_mut() {
            item.mirror(left)?;
        }
        // Nobody writes to its part again before all have read.
        self.circle.borrow_mut().wait()?;
        Ok(())
    }

    /// Moves data straight from area to area: everybody sets aside what would be written before it is read, and then
    /// everybody pulls.
    fn transfer(&self, inbox: &mut Inbox, left: &[usize], stayed: &[usize]) -> Result {
        let registry = self.registry.borrow();
        inbox.visit(&[exchange::Kind::Notice], |from, address, payload| match address {
            Address::Object(number) => {
                let object = registry.object(number).ok_or_else(exchange::damaged)?;
                object.notice(from, payload.bytes()?, &registry)
            }
            Address::Item(_) => Err(exchange::damaged()),
        })?;
        for (number, object) in registry.objects() {
            object.stage(number, &mut self.outbox.borrow_mut());
        }
        drop(registry);
        let mut staged = Inbox::default();
        self.round(&mut staged, stayed)?;
        self.deliver(&mut staged)?;
        staged.recycle(&mut self.outbox.borrow_mut());
        self.carry(stayed)?;
        let registry = self.registry.borrow();
        for (_, object) in registry.objects() {
            object.pull(left)?;
        }
        drop(registry);
        self.circle.borrow_mut().wait()?;
        Ok(())
    }

    /// Moves what goes straight from memory to memory between members that share none.
    pub(super) fn carry(&self, stayed: &[usize]) -> Result {
        let registry = self.registry.borrow();
        let mut moving: Vec<_> = registry.objects().filter_map(|(number, object)| object.carry(number)).collect();
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
        self.circle.borrow_mut().carry(&out, &mut into)?;
        moving.iter_mut().try_for_each(|memory| memory.done())
    }

    /// Gives items and variables what the wave found.
    fn conclude(&self, total: &Parts<'_>, wave: &Wave) -> Result {
        let before = Parts::below(&wave.melded.before)?;
        if let Some(failed) = before.filter(|before| before.has(flags::FAILED)) {
            return Err(Error::read(self.processor, failed.body));
        }
        let (mut totals, mut befores) = (Body::of(total), before.as_ref().map(Body::of));
        let mut items = self.items.borrow_mut();
        for placed in items.collective_mut().iter_mut().filter(|placed| placed.speaks) {
            let (all, below) = (totals.item()?, befores.as_mut().map(Body::item).transpose()?);
            if !placed.is_doubtful {
                let found = if placed.needs == Needs::Total { Some(all) } else { below };
                placed.item.conclude(found.map(Part::get).transpose()?)?;
            }
        }
        drop(items);
        if total.has(flags::WRITTEN | flags::DROPPED) {
            self.conclude_declared(total, totals, before.as_ref().zip(befores))?;
        }
        Ok(())
    }

    /// Gives variables what was written to them, and notes what was dropped. `totals` and `befores` have
    /// been read up to there.
    fn conclude_declared(
        &self,
        total: &Parts<'_>,
        mut totals: Body<'_>,
        befores: Option<(&Parts<'_>, Body<'_>)>,
    ) -> Result {
        let mut written = totals.entries(total, flags::WRITTEN)?;
        let written_below = match befores {
            Some((before, mut body)) => Some(body.entries(before, flags::WRITTEN)?),
            None => None,
        };
        self.items.borrow_mut().conclude_following(written_below, false)?;
        let mut registry = self.registry.borrow_mut();
        while let Some((number, part)) = written.next()? {
            registry.variable(number).ok_or_else(exchange::damaged)?.commit(part.get()?)?;
        }
        let mut dropped = totals.entries(total, flags::DROPPED)?;
        while let Some((number, ranks)) = dropped.next()? {
            let ranks = ranks.get()?.as_chunks().0.iter().map(|&rank| u32::from_le_bytes(rank) as usize);
            registry.drop_by(number, ranks, self.size.get());
        }
        Ok(())
    }

    /// Gives every record to whom it is for, and commits them.
    fn deliver(&self, inbox: &mut Inbox) -> Result {
        self.hand_out(inbox, false)?;
        self.commit_changed()
    }

    fn hand_out(&self, inbox: &mut Inbox, has_doubts: bool) -> Result {
        let registry = self.registry.borrow();
        let mut items = self.items.borrow_mut();
        let kinds = [exchange::Kind::Data, exchange::Kind::Moved];
        let mut changed = self.changed.borrow_mut();
        changed.clear();
        // Who keeps records has had those of a step with doubts before.
        let is_for = |address| !matches!(address, Address::Object(number) if has_doubts && registry.keeps(number));
        inbox.visit_those(&kinds, is_for, |from, address, payload: Payload<'_>| match address {
            Address::Item(number) => {
                let item = items.get_mut(number).ok_or_else(exchange::damaged)?;
                item.deliver(from, payload)
            }
            Address::Object(number) => {
                if changed.last() != Some(&number) {
                    changed.push(number);
                }
                registry.object(number).ok_or_else(exchange::damaged)?.deliver(from, payload)
            }
        })
    }

    pub(super) fn commit_changed(&self) -> Result {
        let (registry, changed) = (self.registry.borrow(), self.changed.borrow());
        for object in changed.iter().filter_map(|&number| registry.object(number)) {
            object.commit()?;
            object.open();
        }
        Ok(())
    }

    /// Makes a circle of those who stay, if somebody left (G6), and lists them by their old ranks.
    fn regroup(&self, left: &[usize]) -> Vec<usize> {
        if left.is_empty() {
            return Vec::new();
        }
        let stayed: Vec<usize> = (0..self.size.get()).filter(|rank| !left.contains(rank)).collect();
        let rank = stayed.iter().position(|&rank| rank == self.rank.get()).expect("those who left hold no boundary");
        let name = self.name(Joint::Rest, 0);
        let circle = self.circle.borrow().join(name, &stayed, rank);
        *self.circle.borrow_mut() = circle;
        self.move_post(&stayed, rank);
        stayed
    }

    /// Gives those who stay their new ranks; an empty list means that nobody left.
    fn renumber(&self, stayed: &[usize]) {
        if !stayed.is_empty() {
            self.rank.set(self.circle.borrow().rank());
            self.size.set(stayed.len());
            self.registry.borrow_mut().renumber(stayed);
        }
    }

    /// An error about the step that has just closed.
    pub(crate) fn closed_error(&self, kind: ErrorKind, what: impl std::fmt::Display) -> Error {
        let step = self.steps.get().wrapping_sub(1);
        Error::placed(kind, format!("step {step} of group {}: {what} ({})", self.path(), place(self.site.get())))
    }

    /// A fingerprint of a list of numbers.
    pub(crate) fn hash_numbers(numbers: impl IntoIterator<Item = u64>) -> u64 {
        numbers.into_iter().fold(0, mix)
    }
}
