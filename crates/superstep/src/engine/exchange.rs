//! Records: what travels between two members besides the wave.
//!
//! ```text
//! address u32 | kind u8 | length u24 | the length again, u64, where 24 bits are too few | that many bytes
//! ```
//!
//! Short, so that a put of 8 bytes travels in the cache line that its target waits for anyway.
//!
//! A record is addressed to an item of the step or to an object of the group. Where two members share memory, a record
//! may stand for an object that moves along with the bytes; its length is 0 then.

use crate::error::{Error, ErrorKind, Result};
use fabric::{Circle, Tray};
use std::any::Any;

/// Whom a record is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Address {
    /// An item of the step, by number.
    Item(u32),
    /// An object of the group, by number.
    Object(u32),
}

/// What a record brings.
pub(crate) enum Payload<'a> {
    /// Bytes.
    Bytes(&'a [u8]),
    /// An object that has moved here.
    Moved(Box<dyn Any + Send>),
}

impl<'a> Payload<'a> {
    /// The bytes; a moved object is not expected.
    pub(crate) fn bytes(self) -> Result<&'a [u8]> {
        match self {
            Self::Bytes(bytes) => Ok(bytes),
            Self::Moved(_) => Err(damaged()),
        }
    }
}

/// What to do with a record, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Commit its bytes.
    Data = 0,
    /// Commit the object that moves with it.
    Moved = 1,
    /// Answer it before anything is committed.
    Request = 2,
    /// A transfer from area to area.
    Notice = 3,
    /// Answer it after everything is committed.
    Mirror = 4,
    /// Forget what its sender has posted before it for this boundary: the step that posted it never closed.
    Recall = 5,
}

impl Kind {
    fn read(header: u64) -> Result<Self> {
        Ok(match (header >> 32) as u8 {
            0 => Self::Data,
            1 => Self::Moved,
            2 => Self::Request,
            3 => Self::Notice,
            4 => Self::Mirror,
            5 => Self::Recall,
            _ => return Err(damaged()),
        })
    }
}

/// The length of a record's header, and of that of a long one.
const SHORT: usize = 8;
const LONG: usize = 16;
/// From so many bytes on it pays to look after the memory they go to.
const MANY: usize = 1 << 20;
/// A length that says: look behind the header.
const TOO_LONG: usize = (1 << 24) - 1;
const ITEM: u32 = 1 << 31;

/// What this processor has for each of the others, in the order of issue.
#[derive(Default)]
pub(crate) struct Outbox {
    trays: Vec<Tray>,
    /// The targets with something in their tray.
    filled: Vec<usize>,
    /// Whether data of records is carried beside the trays.
    pub(crate) carries: bool,
    /// The targets to which trays have gone since the last boundary, while the step still computes.
    early: Vec<usize>,
    /// Whether an operator on array elements may refuse.
    pub(crate) doubts: bool,
}

/// From how many bytes on a tray need not wait for the end of the step.
const FULL: usize = 64 << 10;

impl Outbox {
    /// Appends a record for `to` whose bytes `write` appends.
    #[inline]
    pub(crate) fn push<R>(
        &mut self,
        to: usize,
        address: Address,
        kind: Kind,
        write: impl FnOnce(&mut Vec<u8>) -> R,
    ) -> R {
        self.push_sized(to, address, kind, 0, write)
    }

    /// The same, of which about `expected` bytes are expected.
    #[inline]
    pub(crate) fn push_sized<R>(
        &mut self,
        to: usize,
        address: Address,
        kind: Kind,
        expected: usize,
        write: impl FnOnce(&mut Vec<u8>) -> R,
    ) -> R {
        let tray = self.tray(to);
        if expected >= MANY {
            tray.make_room(expected + LONG);
        }
        let bytes = &mut tray.bytes;
        let at = bytes.len();
        let mut header = if expected < TOO_LONG { SHORT } else { LONG };
        // The padding is a constant, so that this is one store and no call.
        bytes.extend_from_slice(&[0; SHORT]);
        if header == LONG {
            bytes.extend_from_slice(&[0; LONG - SHORT]);
        }
        // A value's own code may unwind, and the program may catch that: half a record must not stay.
        let mut unwinding = TakeBack { bytes, at };
        let result = write(unwinding.bytes);
        unwinding.at = usize::MAX;
        drop(unwinding);
        let bytes = &mut self.trays[to].bytes;
        let len = bytes.len() - at - header;
        if header == SHORT && len >= TOO_LONG {
            // Longer than expected: everything moves up once.
            bytes.splice(at + SHORT..at + SHORT, [0; LONG - SHORT]);
            header = LONG;
        }
        let address = match address {
            Address::Item(number) => number | ITEM,
            Address::Object(number) => number,
        };
        let short = if header == SHORT { len } else { TOO_LONG };
        let word = u64::from(address) | (kind as u64) << 32 | (short as u64) << 40;
        bytes[at..at + SHORT].copy_from_slice(&word.to_le_bytes());
        if header == LONG {
            bytes[at + SHORT..at + LONG].copy_from_slice(&(len as u64).to_le_bytes());
        }
        result
    }

    /// Appends a record for `to` that stands for `object`; the two must share memory.
    pub(crate) fn push_moved(&mut self, to: usize, address: Address, object: Box<dyn Any + Send>) {
        self.push(to, address, Kind::Moved, |_| ());
        self.tray(to).moved.push(object);
    }

    fn tray(&mut self, to: usize) -> &mut Tray {
        if self.trays.len() <= to {
            self.trays.resize_with(to + 1, Tray::default);
        }
        if self.trays[to].is_empty() {
            self.filled.push(to);
        }
        &mut self.trays[to]
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.filled.is_empty()
    }

    /// Whether trays were posted before the boundary.
    pub(crate) fn has_posted(&self) -> bool {
        !self.early.is_empty()
    }

    /// Posts every tray that has something in it. If the circle is already one of those who stayed, `stayed` has their
    /// old ranks, by which trays are addressed; what is for others is dropped.
    pub(crate) fn post(&mut self, circle: &mut dyn Circle, stayed: &[usize]) -> Result {
        for to in self.filled.drain(..) {
            let rank = if stayed.is_empty() { Some(to) } else { stayed.iter().position(|&old| old == to) };
            match rank {
                // A call that was taken back may have left it empty.
                Some(rank) if !self.trays[to].is_empty() => circle.post(rank, &mut self.trays[to])?,
                _ => self.trays[to].clear(),
            }
        }
        Ok(())
    }

    /// Posts the trays that are full and have to travel, while the step still computes (S4).
    pub(crate) fn post_full(&mut self, circle: &mut dyn Circle) {
        let (trays, early) = (&mut self.trays, &mut self.early);
        self.filled.retain(|&to| {
            let is_full = trays[to].bytes.len() >= FULL && to != circle.rank() && !circle.shares(to);
            // A run that has failed is noticed at the boundary.
            let goes = is_full && circle.post(to, &mut trays[to]).is_ok();
            if goes && !early.contains(&to) {
                early.push(to);
            }
            !goes
        });
    }

    /// Drops what a step has left that will not close, and recalls what of it has gone already (X6).
    ///
    /// The recall stays in the tray, before whatever comes next, so it reaches whom it is for in the next meeting.
    pub(crate) fn recall(&mut self) {
        (self.carries, self.doubts) = (false, false);
        for to in self.filled.drain(..) {
            self.trays[to].clear();
        }
        for to in std::mem::take(&mut self.early) {
            self.push(to, Address::Object(0), Kind::Recall, |_| ());
            // Until the meeting it may have to be said again.
            self.early.push(to);
        }
    }

    /// Forgets which trays have gone, and drops the others: the meeting that all of them were for is at hand, or it
    /// fails and nobody takes them.
    pub(crate) fn close(&mut self) {
        (self.carries, self.doubts) = (false, false);
        self.early.clear();
        for to in self.filled.drain(..) {
            self.trays[to].clear();
        }
    }

    /// Takes back the records for the items of this number and above, of a call that was refused.
    #[cold]
    pub(crate) fn take_back(&mut self, item: u32) {
        let Self { trays, filled, .. } = self;
        filled.retain(|&to| {
            let Tray { bytes, moved } = &mut trays[to];
            let (mut at, mut moving) = (0, 0);
            while let Ok(Some((record, _))) = Record::read(&bytes[at..]) {
                if matches!(record.address, Address::Item(number) if number >= item) {
                    break;
                }
                at += record.len;
                moving += usize::from(record.kind == Kind::Moved);
            }
            // They are the last: whoever was refused had the step to itself.
            bytes.truncate(at);
            moved.truncate(moving);
            at > 0
        });
    }
}

/// Cuts a record off again unless it was finished.
struct TakeBack<'a> {
    bytes: &'a mut Vec<u8>,
    at: usize,
}

impl Drop for TakeBack<'_> {
    fn drop(&mut self) {
        self.bytes.truncate(self.at);
    }
}

/// The head of a record, and how long it is as a whole.
struct Record {
    address: Address,
    kind: Kind,
    len: usize,
}

impl Record {
    /// The first record of these bytes, if there is one, with its payload.
    #[inline]
    fn read(bytes: &[u8]) -> Result<Option<(Self, &[u8])>> {
        if bytes.is_empty() {
            return Ok(None);
        }
        let (header, mut rest) = bytes.split_first_chunk().ok_or_else(damaged)?;
        let header = u64::from_le_bytes(*header);
        let mut len = (header >> 40) as usize;
        if len == TOO_LONG {
            let (long, behind) = rest.split_first_chunk().ok_or_else(damaged)?;
            len = usize::try_from(u64::from_le_bytes(*long)).map_err(|_| damaged())?;
            rest = behind;
        }
        let payload = rest.get(..len).ok_or_else(damaged)?;
        let number = header as u32;
        let address = if number & ITEM == 0 { Address::Object(number) } else { Address::Item(number & !ITEM) };
        let len = bytes.len() - rest.len() + len;
        Ok(Some((Self { address, kind: Kind::read(header)?, len }, payload)))
    }
}

/// The trays of one boundary, by source.
#[derive(Default)]
pub(crate) struct Inbox {
    trays: Vec<(usize, Tray)>,
    used: usize,
}

impl Inbox {
    /// Takes what was posted before the last meeting; `stayed` as in [`Outbox::post`].
    pub(crate) fn fill(&mut self, circle: &mut dyn Circle, stayed: &[usize]) {
        self.clear();
        for from in 0..circle.size() {
            if self.used == self.trays.len() {
                self.trays.push((from, Tray::default()));
            }
            let first = self.used;
            // One may have posted several, those that were full before the step ended.
            while circle.take(from, &mut self.trays[self.used].1) {
                self.trays[self.used].0 = stayed.get(from).copied().unwrap_or(from);
                if self.used > first && is_recall(&self.trays[self.used].1) {
                    self.trays[first..self.used].iter_mut().for_each(|(_, tray)| tray.clear());
                }
                self.used += 1;
                if self.used == self.trays.len() {
                    self.trays.push((from, Tray::default()));
                }
            }
        }
    }

    pub(crate) fn clear(&mut self) {
        for (_, tray) in &mut self.trays[..self.used] {
            tray.clear();
        }
        self.used = 0;
    }

    /// Empties it, and leaves each buffer to what this processor will send to where the buffer came from.
    ///
    /// Where two processors send to each other, as they mostly do, one buffer each way is all that is ever used, and it
    /// stays in the cache: with the three or four that would else take turns, long puts run at half their speed.
    pub(crate) fn recycle(&mut self, outbox: &mut Outbox) {
        for (from, tray) in &mut self.trays[..self.used] {
            tray.clear();
            if let Some(next) = outbox.trays.get_mut(*from)
                && next.is_empty()
                && next.bytes.capacity() < tray.bytes.capacity()
            {
                std::mem::swap(next, tray);
            }
        }
        self.used = 0;
    }

    /// Hands every record of one of these kinds to `take`, by source rank and then by order of issue.
    #[inline]
    pub(crate) fn visit(&mut self, kinds: &[Kind], take: impl FnMut(usize, Address, Payload<'_>) -> Result) -> Result {
        self.visit_those(kinds, |_| true, take)
    }

    /// The same with those records alone that are for somebody whom `is_for` names.
    pub(crate) fn visit_those(
        &mut self,
        kinds: &[Kind],
        mut is_for: impl FnMut(Address) -> bool,
        mut take: impl FnMut(usize, Address, Payload<'_>) -> Result,
    ) -> Result {
        for (from, tray) in &mut self.trays[..self.used] {
            let mut bytes = &tray.bytes[..];
            let mut moved = tray.moved.iter_mut();
            while let Some((Record { address, kind, len }, payload)) = Record::read(bytes)? {
                bytes = &bytes[len..];
                let object = if kind == Kind::Moved { Some(moved.next().ok_or_else(damaged)?) } else { None };
                if !kinds.contains(&kind) || !is_for(address) {
                    continue;
                }
                match object {
                    // What is left in its place is never looked at again.
                    Some(object) => take(*from, address, Payload::Moved(std::mem::replace(object, Box::new(()))))?,
                    None => take(*from, address, Payload::Bytes(payload))?,
                }
            }
        }
        Ok(())
    }
}

/// Whether what was posted before this tray does not count.
#[inline]
fn is_recall(tray: &Tray) -> bool {
    matches!(Record::read(&tray.bytes), Ok(Some((Record { kind: Kind::Recall, .. }, _))))
}

/// Appends numbers to a record.
#[inline]
pub(crate) fn push_words(out: &mut Vec<u8>, words: &[u64]) {
    for word in words {
        out.extend_from_slice(&word.to_le_bytes());
    }
}

/// Takes numbers off the front of a record.
#[inline]
pub(crate) fn read_words<const N: usize>(bytes: &mut &[u8]) -> Result<[u64; N]> {
    let mut words = [0; N];
    for word in &mut words {
        let (head, rest) = bytes.split_first_chunk().ok_or_else(damaged)?;
        *word = u64::from_le_bytes(*head);
        *bytes = rest;
    }
    Ok(words)
}

pub(crate) fn damaged() -> Error {
    Error::new(ErrorKind::Damaged, "a record from another processor makes no sense")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inbox(bytes: Vec<u8>) -> Inbox {
        Inbox { trays: vec![(3, Tray { bytes, moved: Vec::new() })], used: 1 }
    }

    fn record(address: Address, kind: Kind, payload: &[u8]) -> Vec<u8> {
        let mut outbox = Outbox::default();
        outbox.push(0, address, kind, |out| out.extend_from_slice(payload));
        outbox.trays.remove(0).bytes
    }

    #[test]
    fn records_come_out_as_they_went_in_and_by_kind() {
        let bytes = [
            record(Address::Item(4), Kind::Data, b"abc"),
            record(Address::Object(2), Kind::Request, b""),
            record(Address::Object(9), Kind::Data, b"d"),
        ]
        .concat();
        let mut seen = Vec::new();
        inbox(bytes)
            .visit(&[Kind::Data], |from, address, payload| {
                seen.push((from, address, payload.bytes()?.to_vec()));
                Ok(())
            })
            .unwrap();
        assert_eq!(seen, [(3, Address::Item(4), b"abc".to_vec()), (3, Address::Object(9), b"d".to_vec())]);
    }

    #[test]
    fn every_damaged_record_is_an_error_and_none_is_read_past_its_end() {
        let whole = record(Address::Item(4), Kind::Data, b"abc");
        for cut in 1..whole.len() {
            let read = inbox(whole[..cut].to_vec()).visit(&[Kind::Data], |_, _, _| Ok(()));
            assert_eq!(read.unwrap_err().kind(), ErrorKind::Damaged, "cut at {cut}");
        }
        for at in 4..SHORT {
            let mut flipped = whole.clone();
            flipped[at] ^= 0xFF;
            let read = inbox(flipped).visit(&[Kind::Data, Kind::Moved], |_, _, _| Ok(()));
            assert_eq!(read.unwrap_err().kind(), ErrorKind::Damaged, "flipped at {at}");
        }
    }
}
