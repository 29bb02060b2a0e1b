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

use crate::{
    engine::{
        Address, Awaited, Carrying, Element, Outbox, Sent, Tag, damaged, decode_plain, departed, long_bytes, read_words,
    },
    error::{Error, ErrorKind, Result},
};
use fabric::{Circle, Reach, Region, wire::Writer as _};
use std::{cell::RefMut, ops::Range};

/// The first word of a record to an area is where a put goes, or this: data that a transfer waits for.
pub(super) const STAGED: u64 = u64::MAX;

/// Behind that word: whether it is a section that was set aside, for whoever pulls it, or what one pull asked for.
const STAGED_SECTION: u64 = 1;
const STAGED_REPLY: u64 = 0;

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
    is_carried: bool,
    /// Of an `hp_put`: its source and its number among that one's. None of an `hp_get`, which comes first.
    order: Option<(usize, u64)>,
}

impl<T> Pull<T> {
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
pub(super) struct Transit<T> {
    pulls: Vec<Pull<T>>,
    lent: Vec<Lent<T>>,
    /// Whether the boundary has been told of it.
    pub(super) is_announced: bool,
}

impl<T> Default for Transit<T> {
    fn default() -> Self {
        Self { pulls: Vec::new(), lent: Vec::new(), is_announced: false }
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

/// Set in the address of a reply to a pull; below it are the numbers of the area and of the pull.
const TO_PULL: u64 = 1 << 63;

/// Where the reply to a pull goes: the numbers of the area that it is for, and of the pull there.
pub(super) fn reply_to(area: u32, pull: usize) -> u64 {
    TO_PULL | u64::from(area) << 32 | pull as u64
}

/// Whom a reply is for, and what stands in front of its data.
pub(super) fn reply_address(reply_to: u64) -> (Address, Vec<u8>) {
    if reply_to & TO_PULL == 0 {
        return (Address::Item(reply_to as u32), Vec::new());
    }
    let mut prefix = Vec::new();
    prefix.put([STAGED, STAGED_REPLY, reply_to & 0xFFFF_FFFF]);
    (Address::Tenant(((reply_to & !TO_PULL) >> 32) as u32), prefix)
}

impl<T: Element> Transit<T> {
    /// Notes a section that member `to` pulls into the area `target`, from `at` on, with its number of issue.
    pub(super) fn lend(&mut self, issue: u64, to: usize, target: u32, range: Range<usize>, at: usize) {
        self.lent.push(Lent { issue, to, target, range, at, is_carried: false, aside: None });
    }

    /// Notes a section of member `from`'s part of the area `source` that comes here, and returns the pull's number.
    pub(super) fn pull(
        &mut self,
        (from, source): (usize, u32),
        range: Range<usize>,
        at: usize,
        reach: Option<Reach<T>>,
    ) -> usize {
        self.pulls.push(Pull { from, source, range, at, reach, staged: None, is_carried: false, order: None });
        self.pulls.len() - 1
    }

    /// Tells the owner of a section that it is pulled into the area `into`.
    pub(super) fn write_lend(out: &mut Vec<u8>, into: u32, range: &Range<usize>) {
        out.put([word::LEND, u64::from(into), range.start as u64, range.len() as u64]);
    }

    /// Tells the targets of `hp_put`s, and hands them the data where they cannot reach it.
    pub(super) fn send(&mut self, number: u32, region: &Region<T>, outbox: &mut Outbox, circle: &dyn Circle) {
        self.is_announced = false;
        let carries = circle.carries();
        self.lent.retain_mut(|lent| {
            let shares = circle.shares(lent.to) || lent.to == circle.rank();
            let size = lent.range.len() * size_of::<T>();
            lent.is_carried = !shares && carries && size >= long_bytes();
            outbox.carries |= lent.is_carried;
            let (what, length) = match (shares, lent.is_carried) {
                (true, _) => (word::PUT, 0),
                (false, true) => (word::PUT_CARRIED, 0),
                (false, false) => (word::PUT_DATA, size),
            };
            outbox.push_sized(lent.to, Address::Tenant(lent.target), Tag::Notice, 48 + length, |out| {
                let (start, len) = (lent.range.start as u64, lent.range.len() as u64);
                out.put([what, u64::from(number), start, len, lent.at as u64, lent.issue]);
                if what == word::PUT_DATA {
                    out.extend_from_slice(bytemuck::cast_slice(&region.as_slice()[lent.range.clone()]));
                }
            });
            what != word::PUT_DATA
        });
    }

    /// Hears of a transfer. `find` says how to read member `from`'s part of an area directly, if that can be done.
    pub(super) fn notice(
        &mut self,
        from: usize,
        mut notice: &[u8],
        find: impl FnOnce(u32) -> Result<Option<Reach<T>>>,
    ) -> Result {
        let [what, other, start, len] = read_words(&mut notice)?;
        let end = start.checked_add(len).ok_or_else(damaged)?;
        let range = start as usize..end as usize;
        if what == word::LEND {
            self.lend(0, from, other as u32, range, 0);
            return Ok(());
        }
        let [at, issue] = read_words(&mut notice)?;
        let (mut reach, mut staged) = (None, None);
        if what == word::PUT {
            reach = find(other as u32)?;
        } else if what == word::PUT_DATA {
            staged = Some(decode_plain(notice)?);
        }
        let (source, at, order) = (other as u32, at as usize, Some((from, issue)));
        let pull = Pull { from, source, range, at, reach, staged, is_carried: what == word::PUT_CARRIED, order };
        self.pulls.push(pull);
        Ok(())
    }

    /// Sets aside, and sends on, what is pulled from here while something else is pulled over it.
    pub(super) fn stage(&self, number: u32, region: &Region<T>, outbox: &mut Outbox) {
        for lent in self.lent.iter().filter(|lent| !lent.is_carried) {
            let is_written = |pull: &Pull<T>| pull.at < lent.range.end && lent.range.start < pull.at + pull.range.len();
            if self.pulls.iter().any(is_written) {
                outbox.push(lent.to, Address::Tenant(lent.target), Tag::Data, |out| {
                    out.put([STAGED, STAGED_SECTION, u64::from(number), lent.range.start as u64]);
                    out.extend_from_slice(bytemuck::cast_slice(&region.as_slice()[lent.range.clone()]));
                });
            }
        }
    }

    /// Whether something is carried out of this part or into it.
    pub(super) fn is_carried(&self) -> bool {
        self.lent.iter().any(|lent| lent.is_carried) || self.pulls.iter().any(|pull| pull.is_carried)
    }

    /// Takes data that was set aside for pulls of this part, or that one of them asked for.
    pub(super) fn take_staged(&mut self, from: usize, mut bytes: &[u8]) -> Result {
        let [what, number] = read_words(&mut bytes)?;
        if what != STAGED_SECTION {
            let pull = self.pulls.get_mut(number as usize).ok_or_else(damaged)?;
            pull.staged = Some(decode_plain(bytes)?);
            return Ok(());
        }
        let [start] = read_words(&mut bytes)?;
        let values = decode_plain::<T>(bytes)?;
        for pull in &mut self.pulls {
            let section = (pull.from, u64::from(pull.source), pull.range.start as u64, pull.range.len());
            if section == (from, number, start, values.len()) {
                pull.staged = Some(values.clone());
            }
        }
        Ok(())
    }

    pub(super) fn take_in(&mut self, region: &mut Region<T>, left: &[usize]) -> Result {
        self.lent.clear();
        // Those of one source come area by area.
        self.pulls.sort_by_key(|pull| pull.order);
        for pull in self.pulls.drain(..) {
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
pub(super) struct Moving<'a, T> {
    pub(super) transit: RefMut<'a, Transit<T>>,
    pub(super) region: RefMut<'a, Region<T>>,
}

impl<T: Element> Carrying for Moving<'_, T> {
    /// What comes goes straight to its place, unless something else comes there as well: then it is set aside until it
    /// is its turn. What goes is set aside if something comes over it.
    fn pieces<'a>(&'a mut self, out: &mut Vec<Sent<'a>>, into: &mut Vec<Awaited<'a>>) -> Result {
        let Transit { pulls, lent, .. } = &mut *self.transit;
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
        self.transit.pulls.retain(|pull| !pull.is_carried || pull.staged.is_some());
        self.region.open();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a notice says of `len` elements that go to the third place.
    fn notice(what: u64, len: u64, data: &[u16]) -> Vec<u8> {
        let mut notice = Vec::new();
        notice.put([what, 0, 0, len, 2, 0]);
        notice.extend_from_slice(bytemuck::cast_slice(data));
        notice
    }

    #[test]
    fn a_reply_to_a_pull_finds_its_area() {
        let (address, prefix) = reply_address(reply_to(5, 7));
        assert_eq!(
            (address, read_words::<3>(&mut &prefix[..]).unwrap()),
            (Address::Tenant(5), [STAGED, STAGED_REPLY, 7])
        );
        assert_eq!(reply_address(9), (Address::Item(9), Vec::new()));
    }

    /// X5.
    #[test]
    fn data_of_another_length_than_was_announced_is_refused() {
        for (len, expected) in [(2, Some([0u16, 0, 7, 8])), (1, None), (3, None)] {
            let (mut transit, mut region) = (Transit::<u16>::default(), Region::new(4));
            region.open();
            transit.notice(1, &notice(word::PUT_DATA, len, &[7, 8]), |_| Ok(None)).unwrap();
            assert_eq!(transit.take_in(&mut region, &[]).is_ok(), expected.is_some());
            assert_eq!(region.as_slice(), expected.unwrap_or_default());
        }
    }

    #[test]
    fn what_is_read_is_set_aside_only_where_something_is_pulled_over_it() {
        let region = Region::new(8);
        for (at, is_over) in [(1, false), (2, true), (4, true), (5, false)] {
            let (mut transit, mut outbox) = (Transit::<u16>::default(), Outbox::default());
            transit.lend(0, 1, 0, 3..5, 0);
            transit.pull((1, 0), 0..2, at, None);
            transit.stage(0, &region, &mut outbox);
            assert_eq!(!outbox.is_empty(), is_over, "from {at} on");
        }
    }

    #[test]
    fn a_part_is_in_a_round_if_something_is_carried_out_of_it_or_into_it() {
        let mut transit = Transit::<u16>::default();
        transit.lend(0, 1, 0, 0..2, 0);
        transit.pull((1, 0), 0..2, 4, None);
        assert!(!transit.is_carried());
        transit.lent[0].is_carried = true;
        assert!(transit.is_carried());
        transit.lent.clear();
        assert!(!transit.is_carried());
        transit.notice(1, &notice(word::PUT_CARRIED, 2, &[]), |_| Ok(None)).unwrap();
        assert!(transit.is_carried());
    }
}
