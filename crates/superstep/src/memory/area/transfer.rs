//! Transfers straight from area to area, with no copy in between (`hp_put` of a section, `hp_get`).
//!
//! Where both sides share memory, the owner of the target pulls the data out of the source at the boundary. The source
//! counts as it is before any transfer or put of the step, so that nothing depends on who is faster. That needs care in
//! one case: where a transfer reads what another one writes, the owner of the source sets it aside first and sends it
//! on.
//!
//! In the boundary: everybody hears of the transfers it has a part in; sets aside what is read and written; one wait;
//! everybody pulls, its own `hp_get`s first, then what others put, by rank and order of issue; one more wait. Puts are
//! committed after that.
//!
//! Where the two do not share memory, short data travels as if it had been set aside. Where nobody shares any, long
//! data is carried: it goes from the memory of one processor straight into that of another, between the two waits.

use super::{
    Area, Source,
    access::{Part, STAGED},
    put_get::is_nothing,
};
use crate::{
    engine::{
        Address, Awaited, CARRIED, Carrying, Element, Outbox, Record, Registry, Sent, Step, damaged, departed, flags,
        push_words, read_words,
    },
    error::{Error, ErrorKind, Result},
    memory::section::Section,
};
use fabric::{Circle, Reach, Region};
use std::{any::Any, cell::RefMut, ops::Range, panic::Location};

/// Data on its way into this processor's part.
struct Pull<T> {
    from: usize,
    /// The area it comes out of.
    source: u32,
    range: Range<usize>,
    at: usize,
    reach: Option<Reach<T>>,
    /// The data itself, where it was set aside.
    staged: Option<Vec<T>>,
    /// Whether it is carried here.
    is_carried: bool,
    /// Of an `hp_put`: its source and its number among that one's. None of an `hp_get`, which comes first.
    order: Option<(usize, u64)>,
}

impl<T> Pull<T> {
    /// Where it goes.
    fn target(&self) -> Range<usize> {
        self.at..self.at.saturating_add(self.range.len())
    }
}

/// A section of this processor's part that somebody pulls into the area `target`.
struct Lent<T> {
    /// Its number among all `hp_put`s of sections, whatever areas they are from.
    issue: u64,
    to: usize,
    target: u32,
    range: Range<usize>,
    at: usize,
    /// Whether it is carried there, and a copy if something else is pulled over it.
    is_carried: bool,
    aside: Option<Vec<T>>,
}

/// What transfers do with one part in this step.
pub(super) struct Transfers<T> {
    pulls: Vec<Pull<T>>,
    lent: Vec<Lent<T>>,
}

impl<T> Default for Transfers<T> {
    fn default() -> Self {
        Self { pulls: Vec::new(), lent: Vec::new() }
    }
}

/// What a notice says.
mod word {
    /// "I put a section of mine to you": source area, start, length, offset, number among my puts.
    pub(super) const PUT: u64 = 0;
    /// The same, with the data behind it.
    pub(super) const PUT_DATA: u64 = 1;
    /// "I pull a section of yours": target area, start, length.
    pub(super) const LEND: u64 = 2;
    /// Like PUT, and the data is carried.
    pub(super) const PUT_CARRIED: u64 = 3;
}

/// A request's reply goes to an item, or to the pull of an area: then its highest bit is set, and below it stand the
/// numbers of the area and of the pull.
const TO_PULL: u64 = 1 << 63;

/// Whom a reply is for, and what stands in front of its data.
pub(super) fn reply_address(reply_to: u64) -> (Address, Vec<u8>) {
    if reply_to & TO_PULL == 0 {
        return (Address::Item(reply_to as u32), Vec::new());
    }
    let mut prefix = Vec::new();
    push_words(&mut prefix, &[STAGED, (reply_to & !TO_PULL) >> 32, reply_to & 0xFFFF_FFFF]);
    (Address::Object(((reply_to & !TO_PULL) >> 32) as u32), prefix)
}

impl Step {
    /// Moves `source` into member `to`'s part of `area`, from `offset` on, at the boundary and with one copy only.
    ///
    /// `source` is a vector that is given away, or a section of an area of this processor, as `(&area, range)`, which
    /// counts as it is at the boundary. Transfers come before puts, and read everything before any of them writes.
    ///
    /// ```
    /// let values = superstep::Config::new().procs(2).run_all(|g| {
    ///     let area = g.area::<u8>(2);
    ///     area.local_mut().fill(g.rank() as u8);
    ///     g.step(|s| s.hp_put(1 - s.rank(), (&area, 0..2), &area, 0));    // a swap
    ///     area.local()[0]
    /// });
    /// assert_eq!(values.unwrap(), [1, 0]);
    /// ```
    ///
    /// # Cost
    ///
    /// n g for n words, and for a section two more waits in the boundary.
    ///
    /// # Panics
    ///
    /// As [`put`](Self::put). [`try_hp_put`](Self::try_hp_put) returns the error.
    #[track_caller]
    pub fn hp_put<'a, T: Element>(&self, to: usize, source: impl Into<Source<'a, T>>, area: &Area<T>, offset: usize) {
        self.try_hp_put(to, source, area, offset).unwrap_or_else(|error| error.raise());
    }

    /// Moves like [`hp_put`](Self::hp_put), or returns why that cannot be done.
    ///
    /// ```
    /// use superstep::{Config, ErrorKind, Local};
    ///
    /// let kind = Config::new().procs(2).run(|g| {
    ///     let area = g.area::<u8>(2);
    ///     g.step(|s| Local(s.try_hp_put(1, vec![1, 2], &area, 1).unwrap_err().kind()))
    /// });
    /// assert_eq!(kind.unwrap(), ErrorKind::OutOfBounds);
    /// ```
    #[track_caller]
    pub fn try_hp_put<'a, T: Element>(
        &self,
        to: usize,
        source: impl Into<Source<'a, T>>,
        area: &Area<T>,
        offset: usize,
    ) -> Result {
        let site = Location::caller();
        self.core.check_member(&area.core, "area", site)?;
        match source.into() {
            Source::Given(values) if values.is_empty() => {}
            Source::Given(values) => {
                self.core.check_rank(to, site)?;
                area.check_place(to, offset, values.len(), site)?;
                self.give(to, values, area, offset);
            }
            Source::Section(source, range) => {
                self.core.check_member(&source.core, "area", site)?;
                if range.is_empty() {
                    return Ok(());
                }
                self.core.check_rank(to, site)?;
                let range = source.check_section(self.rank(), &range, site)?.hull();
                area.check_place(to, offset, range.len(), site)?;
                let mut registry = self.core.registry();
                registry.issued += 1;
                let (issue, target) = (registry.issued, area.number);
                let lent = Lent { issue, to, target, range, at: offset, is_carried: false, aside: None };
                drop(registry);
                source.part.transfers.borrow_mut().lent.push(lent);
                self.announce(source);
            }
        }
        Ok(())
    }

    /// Moves a section of member `from`'s part of `area` into this processor's part of `into`, from `offset` on, at the
    /// boundary and with one copy only. Transfers come before puts, and read everything before any of them writes.
    ///
    /// ```
    /// let values = superstep::Config::new().procs(3).run_all(|g| {
    ///     let area = g.area::<usize>(2);
    ///     area.local_mut()[0] = g.rank();
    ///     g.step(|s| s.hp_get((s.rank() + 1) % s.size(), &area, ..1, &area, 1));
    ///     area.local().to_vec()
    /// });
    /// assert_eq!(values.unwrap(), [[0, 1], [1, 2], [2, 0]]);
    /// ```
    ///
    /// # Cost
    ///
    /// n g for n words, and two more waits in the boundary.
    ///
    /// # Panics
    ///
    /// As [`get`](Self::get), and if the section does not fit. [`try_hp_get`](Self::try_hp_get) returns the error.
    #[track_caller]
    pub fn hp_get<T: Element>(&self, from: usize, area: &Area<T>, at: impl Section<1>, into: &Area<T>, offset: usize) {
        self.try_hp_get(from, area, at, into, offset).unwrap_or_else(|error| error.raise());
    }

    /// Moves like [`hp_get`](Self::hp_get), or returns why that cannot be done.
    ///
    /// ```
    /// use superstep::{Config, ErrorKind, Local, strided};
    ///
    /// let kind = Config::new().procs(2).run(|g| {
    ///     let area = g.area::<u8>(4);
    ///     g.step(|s| Local(s.try_hp_get(1, &area, strided(.., 2), &area, 0).unwrap_err().kind()))
    /// });
    /// assert_eq!(kind.unwrap(), ErrorKind::BadSection);
    /// ```
    #[track_caller]
    pub fn try_hp_get<T: Element>(
        &self,
        from: usize,
        area: &Area<T>,
        at: impl Section<1>,
        into: &Area<T>,
        offset: usize,
    ) -> Result {
        let site = Location::caller();
        self.core.check_member(&area.core, "area", site)?;
        self.core.check_member(&into.core, "area", site)?;
        if is_nothing(&at) {
            return Ok(());
        }
        self.core.check_rank(from, site)?;
        let span = area.check_section(from, &at, site)?;
        if !span.is_range() {
            let what = "a transfer from area to area takes a section without stride; use get for one with";
            return Err(self.core.error(ErrorKind::BadSection, what, site));
        }
        let range = span.hull();
        into.check_place(self.rank(), offset, range.len(), site)?;
        if range.is_empty() {
            return Ok(());
        }
        let reach = area.part.owned.reaches.borrow()[from].clone();
        let is_reached = reach.is_some();
        let mut transfers = into.part.transfers.borrow_mut();
        let pull = Pull {
            from,
            source: area.number,
            range: range.clone(),
            at: offset,
            reach,
            staged: None,
            is_carried: false,
            order: None,
        };
        transfers.pulls.push(pull);
        let pull = (transfers.pulls.len() - 1) as u64;
        drop(transfers);
        let (start, len) = (range.start as u64, range.len() as u64);
        let address = Address::Object(area.number);
        if is_reached {
            self.outbox().push(from, address, Record::Notice, |out| {
                push_words(out, &[word::LEND, u64::from(into.number), start, len]);
            });
        } else {
            let reply_to = TO_PULL | u64::from(into.number) << 32 | pull;
            self.outbox().push(from, address, Record::Request, |out| push_words(out, &[reply_to, start, len, 1]));
            self.core.raise_flag(flags::READS);
        }
        self.announce(into);
        Ok(())
    }

    fn announce<T: Element>(&self, area: &Area<T>) {
        self.core.raise_flag(flags::DIRECT);
        let mut registry = self.core.registry();
        if !registry.outgoing.contains(&area.number) {
            registry.outgoing.push(area.number);
        }
    }
}

impl<T: Element> Part<T> {
    /// Tells the targets of `hp_put`s, and hands them the data where they cannot reach it.
    pub(super) fn flush_transfers(&self, number: u32, outbox: &mut Outbox, circle: &dyn Circle) {
        let region = self.owned.region.borrow();
        let carries = circle.carries();
        self.transfers.borrow_mut().lent.retain_mut(|lent| {
            let shares = circle.shares(lent.to) || lent.to == circle.rank();
            let size = lent.range.len() * size_of::<T>();
            lent.is_carried = !shares && carries && size >= CARRIED;
            let what = match (shares, lent.is_carried) {
                (true, _) => word::PUT,
                (false, true) => word::PUT_CARRIED,
                (false, false) => word::PUT_DATA,
            };
            let length = if what == word::PUT_DATA { size } else { 0 };
            outbox.push_sized(lent.to, Address::Object(lent.target), Record::Notice, 48 + length, |out| {
                let (start, len) = (lent.range.start as u64, lent.range.len() as u64);
                push_words(out, &[what, u64::from(number), start, len, lent.at as u64, lent.issue]);
                if what == word::PUT_DATA {
                    out.extend_from_slice(bytemuck::cast_slice(&region.as_slice()[lent.range.clone()]));
                }
            });
            what != word::PUT_DATA
        });
    }

    /// Hears of a transfer.
    pub(super) fn notice_transfer(&self, from: usize, mut notice: &[u8], registry: &Registry) -> Result {
        let [what, other, start, len] = read_words(&mut notice)?;
        let end = start.checked_add(len).ok_or_else(damaged)?;
        let range = start as usize..end as usize;
        if what == word::LEND {
            let target = other as u32;
            let lent = Lent { issue: 0, to: from, target, range, at: 0, is_carried: false, aside: None };
            self.transfers.borrow_mut().lent.push(lent);
            return Ok(());
        }
        let [at, issue] = read_words(&mut notice)?;
        let (mut reach, mut staged) = (None, None);
        if what == word::PUT {
            let source = registry.object(other as u32).ok_or_else(damaged)?;
            let source = (&**source as &dyn Any).downcast_ref::<Self>().ok_or_else(damaged)?;
            reach = source.owned.reaches.borrow().get(from).cloned().flatten();
        } else if what == word::PUT_DATA {
            staged = Some(crate::engine::decode_plain(notice)?);
        }
        let (source, at, order) = (other as u32, at as usize, Some((from, issue)));
        let pull = Pull { from, source, range, at, reach, staged, is_carried: what == word::PUT_CARRIED, order };
        self.transfers.borrow_mut().pulls.push(pull);
        Ok(())
    }

    /// Sets aside, and sends on, what is pulled from here while something else is pulled over it.
    pub(super) fn stage_transfers(&self, number: u32, outbox: &mut Outbox) {
        let transfers = self.transfers.borrow();
        let region = self.owned.region.borrow();
        for lent in transfers.lent.iter().filter(|lent| !lent.is_carried) {
            let is_written = |pull: &Pull<T>| pull.at < lent.range.end && lent.range.start < pull.at + pull.range.len();
            if transfers.pulls.iter().any(is_written) {
                outbox.push(lent.to, Address::Object(lent.target), Record::Data, |out| {
                    push_words(out, &[STAGED, STAGED_SECTION, u64::from(number), lent.range.start as u64]);
                    out.extend_from_slice(bytemuck::cast_slice(&region.as_slice()[lent.range.clone()]));
                });
            }
        }
    }

    /// What is carried out of this part or into it.
    pub(super) fn carried(&self) -> Option<Box<dyn Carrying + '_>> {
        let transfers = self.transfers.borrow_mut();
        let is_any = transfers.lent.iter().any(|lent| lent.is_carried);
        (is_any || transfers.pulls.iter().any(|pull| pull.is_carried))
            .then(|| Box::new(Moving { transfers, region: self.owned.region.borrow_mut() }) as Box<dyn Carrying + '_>)
    }

    /// Takes data that was set aside for pulls of this part, or that one of them asked for.
    pub(super) fn take_staged(&self, from: usize, mut bytes: &[u8]) -> Result {
        let mut transfers = self.transfers.borrow_mut();
        let [kind, number] = read_words(&mut bytes)?;
        if kind != STAGED_SECTION {
            let pull = transfers.pulls.get_mut(number as usize).ok_or_else(damaged)?;
            pull.staged = Some(crate::engine::decode_plain(bytes)?);
            return Ok(());
        }
        let [start] = read_words(&mut bytes)?;
        let values = crate::engine::decode_plain::<T>(bytes)?;
        for pull in &mut transfers.pulls {
            let section = (pull.from, u64::from(pull.source), pull.range.start as u64, pull.range.len());
            if section == (from, number, start, values.len()) {
                pull.staged = Some(values.clone());
            }
        }
        Ok(())
    }

    /// Takes in what transfers bring here.
    pub(super) fn pull_transfers(&self, left: &[usize]) -> Result {
        let mut transfers = self.transfers.borrow_mut();
        transfers.lent.clear();
        let mut region = self.owned.region.borrow_mut();
        // Those of one source come area by area.
        transfers.pulls.sort_by_key(|pull| pull.order);
        for pull in transfers.pulls.drain(..) {
            if left.contains(&pull.from) {
                return Err(departed(pull.from));
            }
            let outcome = match (&pull.staged, &pull.reach) {
                (Some(values), _) if values.len() == pull.range.len() => region.write(pull.at, values),
                (None, Some(reach)) => region.pull(pull.at, reach, pull.range.clone()),
                _ => return Err(damaged()),
            };
            outcome.map_err(|refused| {
                let message = format!("data of rank {} cannot be moved: {refused}", pull.from);
                Error::new(ErrorKind::Damaged, message)
            })?;
        }
        Ok(())
    }
}

/// A part while data is carried out of it and into it.
struct Moving<'a, T> {
    transfers: RefMut<'a, Transfers<T>>,
    region: RefMut<'a, Region<T>>,
}

impl<T: Element> Carrying for Moving<'_, T> {
    /// What comes goes straight to its place, unless something else comes there as well: then it is set aside until it
    /// is its turn. What goes is set aside if something comes over it.
    fn pieces<'a>(&'a mut self, out: &mut Vec<Sent<'a>>, into: &mut Vec<Awaited<'a>>) -> Result {
        let Transfers { pulls, lent } = &mut *self.transfers;
        let targets: Vec<Range<usize>> = pulls.iter().map(Pull::target).collect();
        let overlap = |a: &Range<usize>, b: &Range<usize>| a.start.max(b.start) < a.end.min(b.end);
        let len = self.region.len();
        let mut direct = Vec::new();
        for (at, pull) in pulls.iter_mut().enumerate().filter(|(_, pull)| pull.is_carried) {
            let Some((_, issue)) = pull.order.filter(|_| targets[at].end <= len) else { return Err(damaged()) };
            let is_alone =
                targets.iter().enumerate().all(|(other, range)| other == at || !overlap(range, &targets[at]));
            if is_alone {
                direct.push((targets[at].clone(), issue, pull.from));
            } else {
                let room = pull.staged.insert(vec![T::zeroed(); pull.range.len()]);
                into.push((issue, pull.from, bytemuck::cast_slice_mut(room)));
            }
        }
        for lent in lent.iter_mut().filter(|lent| lent.is_carried) {
            if targets.iter().any(|range| overlap(range, &lent.range)) {
                lent.aside = Some(self.region.as_slice()[lent.range.clone()].to_vec());
            }
        }
        direct.sort_by_key(|(range, ..)| range.start);
        let (mut rest, mut first, mut gaps) = (self.region.as_mut_slice(), 0, Vec::new());
        for (range, issue, from) in direct {
            let (gap, behind) = rest.split_at_mut(range.start - first);
            let (place, behind) = behind.split_at_mut(range.len());
            gaps.push((first, &*gap));
            into.push((issue, from, bytemuck::cast_slice_mut(place)));
            (rest, first) = (behind, range.end);
        }
        gaps.push((first, &*rest));
        for lent in lent.iter().filter(|lent| lent.is_carried) {
            let values = if let Some(aside) = &lent.aside {
                &aside[..]
            } else {
                let (first, gap) = gaps[gaps.partition_point(|&(first, _)| first <= lent.range.start) - 1];
                &gap[lent.range.start - first..lent.range.end - first]
            };
            out.push((lent.issue, lent.to, bytemuck::cast_slice(values)));
        }
        Ok(())
    }

    fn done(&mut self) -> Result {
        self.transfers.pulls.retain(|pull| !pull.is_carried || pull.staged.is_some());
        self.region.open();
        Ok(())
    }
}

/// Stands where a reply has the number of its area: no area has this one.
const STAGED_SECTION: u64 = u64::MAX;
