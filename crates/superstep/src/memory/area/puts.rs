//! Long puts between members that share no memory: what a put has copied goes straight into the part it is for.
//!
//! A short put is in the tray, and is written when its record is read. A long one leaves a record there that only says
//! where it goes; its values stay with the source until all have met, and are then carried to their place. Writes take
//! effect by source rank and order of issue, which is the order of the records. So whatever meets a long put that came
//! before it is kept, and written when everything has been carried.

use crate::{
    engine::{Awaited, Carrying, Element, Sent, damaged, read_words},
    error::Result,
};
use fabric::{Region, Spares, wire::Writer as _};
use std::{cell::RefMut, collections::BTreeMap, ops::Range};

/// The first word of a record to an area whose values are carried; no put goes to this place.
pub(super) const CARRIED_PUT: u64 = u64::MAX - 1;

/// A put that has been issued here.
struct Leaving<T> {
    to: usize,
    issue: u64,
    values: Vec<T>,
}

/// A put that comes straight to its place.
struct Arriving {
    from: usize,
    issue: u64,
    place: Range<usize>,
}

/// What is written when all has been carried.
struct Late<T> {
    at: usize,
    values: Vec<T>,
    /// Where the values come from, and their number of issue, if they are carried as well.
    carried: Option<(usize, u64)>,
}

/// The long puts of this step that leave a part or come for it.
pub(super) struct Puts<T> {
    leaving: Vec<Leaving<T>>,
    arriving: Vec<Arriving>,
    late: Vec<Late<T>>,
    /// The places of `arriving` and `late`.
    taken: Taken,
    spares: Spares<T>,
}

impl<T> Default for Puts<T> {
    fn default() -> Self {
        let (leaving, arriving, late) = (Vec::new(), Vec::new(), Vec::new());
        Self { leaving, arriving, late, taken: Taken::default(), spares: Spares::default() }
    }
}

impl<T: Element> Puts<T> {
    /// Notes a put that copies its values, with its number of issue.
    pub(super) fn copy(&mut self, to: usize, issue: u64, values: &[T]) {
        let mut copy = self.spares.take(values.len());
        fabric::make_room(&mut copy, values.len());
        copy.extend_from_slice(values);
        self.give(to, issue, copy);
    }

    /// Notes a put that gives its values away.
    pub(super) fn give(&mut self, to: usize, issue: u64, values: Vec<T>) {
        self.leaving.push(Leaving { to, issue, values });
    }

    /// Writes the record of such a put of `len` values.
    pub(super) fn write_record(out: &mut Vec<u8>, at: usize, len: usize, issue: u64) {
        out.put([CARRIED_PUT, at as u64, len as u64, issue]);
    }

    /// Hears of a put that member `from` carries to this part, of `len` elements.
    pub(super) fn hear(&mut self, from: usize, mut record: &[u8], len: usize) -> Result {
        let [at, count, issue] = read_words(&mut record)?;
        let end = at.checked_add(count).filter(|&end| end <= len as u64).ok_or_else(damaged)?;
        let place = at as usize..end as usize;
        if self.taken.meets(&place) {
            let mut values = self.spares.take(place.len());
            values.resize(place.len(), T::zeroed());
            self.late.push(Late { at: place.start, values, carried: Some((from, issue)) });
        } else {
            self.arriving.push(Arriving { from, issue, place: place.clone() });
        }
        self.taken.add(place);
        Ok(())
    }

    /// Keeps a short put that meets a long one that came before it; false if there is none.
    pub(super) fn keep(&mut self, at: usize, bytes: &[u8]) -> Result<bool> {
        let len = bytes.len() / size_of::<T>().max(1);
        let place = at..at.checked_add(len).ok_or_else(damaged)?;
        if !self.taken.meets(&place) {
            return Ok(false);
        }
        let mut values = self.spares.take(len);
        values.resize(len, T::zeroed());
        let room = bytemuck::cast_slice_mut::<T, u8>(&mut values);
        if room.len() != bytes.len() {
            return Err(damaged());
        }
        room.copy_from_slice(bytes);
        self.late.push(Late { at, values, carried: None });
        self.taken.add(place);
        Ok(true)
    }

    /// Whether something is carried out of this part or into it.
    pub(super) fn is_any(&self) -> bool {
        !self.leaving.is_empty() || !self.arriving.is_empty()
    }

    /// Forgets the puts of a step that failed.
    pub(super) fn abandon(&mut self) {
        *self = Self { spares: std::mem::take(&mut self.spares), ..Self::default() };
    }
}

/// A part while long puts leave it and come for it.
pub(super) struct Delivering<'a, T> {
    pub(super) puts: RefMut<'a, Puts<T>>,
    pub(super) region: RefMut<'a, Region<T>>,
}

impl<T: Element> Carrying for Delivering<'_, T> {
    fn pieces<'a>(&'a mut self, out: &mut Vec<Sent<'a>>, into: &mut Vec<Awaited<'a>>) -> Result {
        let Puts { leaving, arriving, late, .. } = &mut *self.puts;
        out.extend(leaving.iter().map(|put| (put.issue, put.to, bytemuck::cast_slice(&put.values))));
        for Late { values, carried, .. } in late {
            into.extend(carried.map(|(from, issue)| (issue, from, bytemuck::cast_slice_mut(values))));
        }
        arriving.sort_by_key(|put| put.place.start);
        let (mut rest, mut first) = (self.region.as_mut_slice(), 0);
        for Arriving { from, issue, place } in arriving {
            let (_, behind) = rest.split_at_mut(place.start - first);
            let (values, behind) = behind.split_at_mut(place.len());
            into.push((*issue, *from, bytemuck::cast_slice_mut(values)));
            (rest, first) = (behind, place.end);
        }
        Ok(())
    }

    fn done(&mut self) -> Result {
        let Puts { leaving, arriving, late, taken, spares } = &mut *self.puts;
        for Late { at, values, .. } in late.drain(..) {
            let place = self.region.as_mut_slice().get_mut(at..at + values.len()).ok_or_else(damaged)?;
            place.copy_from_slice(&values);
            spares.keep(values);
        }
        leaving.drain(..).for_each(|put| spares.keep(put.values));
        arriving.clear();
        *taken = Taken::default();
        Ok(())
    }
}

/// Places that are spoken for, as ranges that do not meet: their starts and ends.
#[derive(Default)]
struct Taken(BTreeMap<usize, usize>);

impl Taken {
    /// The last of them that meets `range`.
    fn last(&self, range: &Range<usize>) -> Option<Range<usize>> {
        let (&start, &end) = self.0.range(..range.end).next_back()?;
        (end > range.start).then_some(start..end)
    }

    fn meets(&self, range: &Range<usize>) -> bool {
        self.last(range).is_some()
    }

    fn add(&mut self, mut range: Range<usize>) {
        while let Some(other) = self.last(&range) {
            self.0.remove(&other.start);
            range = range.start.min(other.start)..range.end.max(other.end);
        }
        self.0.insert(range.start, range.end);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// X6.
    #[test]
    fn what_leaves_or_comes_is_known_until_its_step_is_abandoned() {
        let mut puts = Puts::<u16>::default();
        assert!(!puts.is_any());
        puts.give(1, 0, vec![7]);
        assert!(puts.is_any());
        puts.abandon();
        assert!(!puts.is_any());
        let (mut record, short) = (Vec::new(), 3u16.to_ne_bytes());
        record.put([4u64, 2, 9]);
        puts.hear(1, &record, 6).unwrap();
        assert!(puts.is_any() && puts.keep(5, &short).unwrap());
        puts.abandon();
        assert!(!puts.is_any() && puts.late.is_empty() && !puts.keep(5, &short).unwrap());
    }

    #[test]
    fn ranges_that_meet_become_one_and_others_do_not() {
        let mut taken = Taken::default();
        for range in [4..6, 10..12, 6..8, 20..21] {
            taken.add(range);
        }
        for (range, meets) in [(0..4, false), (3..5, true), (8..10, false), (11..30, true), (0..99, true)] {
            assert_eq!(taken.meets(&range), meets, "{range:?}");
        }
        taken.add(7..11);
        assert_eq!(taken.0.into_iter().collect::<Vec<_>>(), [(4, 6), (6, 12), (20, 21)]);
    }
}
