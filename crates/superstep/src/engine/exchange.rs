//! The trays that go from member to member at a boundary, and the records in them.

use super::record::{self, Address, LONG, Payload, Record, Tag, damaged};
use crate::error::Result;
use fabric::{Circle, Tray};
use std::any::Any;

/// From so many bytes on it pays to look after the memory they go to.
const MANY: usize = 1 << 20;

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
        tag: Tag,
        write: impl FnOnce(&mut Vec<u8>) -> R,
    ) -> R {
        self.push_sized(to, address, tag, 0, write)
    }

    /// The same, of which about `expected` bytes are expected.
    #[inline]
    pub(crate) fn push_sized<R>(
        &mut self,
        to: usize,
        address: Address,
        tag: Tag,
        expected: usize,
        write: impl FnOnce(&mut Vec<u8>) -> R,
    ) -> R {
        let tray = self.tray(to);
        if expected >= MANY {
            tray.make_room(expected + LONG);
        }
        record::append(&mut tray.bytes, (address, tag), expected, write)
    }

    /// Appends a record for `to` that stands for `value`; the two must share memory.
    pub(crate) fn push_moved(&mut self, to: usize, address: Address, value: Box<dyn Any + Send>) {
        self.push(to, address, Tag::Moved, |_| ());
        self.tray(to).moved.push(value);
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
    #[must_use = "what was to be moved are values of the program; dropping them may unwind"]
    pub(crate) fn recall(&mut self) -> Vec<Box<dyn Any + Send>> {
        (self.carries, self.doubts) = (false, false);
        let mut moved = Vec::new();
        for to in self.filled.drain(..) {
            moved.append(&mut self.trays[to].moved);
            self.trays[to].clear();
        }
        for to in std::mem::take(&mut self.early) {
            self.push(to, Address::Tenant(0), Tag::Recall, |_| ());
            // Until the meeting it may have to be said again.
            self.early.push(to);
        }
        moved
    }

    /// Forgets which trays have gone, and drops the others: their meeting is at hand, or it fails.
    #[inline]
    pub(crate) fn close(&mut self) {
        (self.carries, self.doubts) = (false, false);
        self.early.clear();
        self.filled.iter().for_each(|&to| self.trays[to].clear());
        self.filled.clear();
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
                moving += usize::from(record.tag == Tag::Moved);
            }
            // They are the last: whoever was refused had the step to itself.
            bytes.truncate(at);
            moved.truncate(moving);
            at > 0
        });
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

    /// Hands every record with one of these tags to `take`, by source rank and then by order of issue.
    #[inline]
    pub(crate) fn visit(&mut self, tags: &[Tag], take: impl FnMut(usize, Address, Payload<'_>) -> Result) -> Result {
        self.visit_those(tags, |_| true, take)
    }

    /// The same with those records alone that are for somebody whom `is_for` names.
    pub(crate) fn visit_those(
        &mut self,
        tags: &[Tag],
        mut is_for: impl FnMut(Address) -> bool,
        mut take: impl FnMut(usize, Address, Payload<'_>) -> Result,
    ) -> Result {
        for (from, tray) in &mut self.trays[..self.used] {
            let mut bytes = &tray.bytes[..];
            let mut moved = tray.moved.iter_mut();
            while let Some((Record { address, tag, len }, payload)) = Record::read(bytes)? {
                bytes = &bytes[len..];
                let value = if tag == Tag::Moved { Some(moved.next().ok_or_else(damaged)?) } else { None };
                if !tags.contains(&tag) || !is_for(address) {
                    continue;
                }
                match value {
                    // What is left in its place is never looked at again.
                    Some(value) => take(*from, address, Payload::Moved(std::mem::replace(value, Box::new(()))))?,
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
    matches!(Record::read(&tray.bytes), Ok(Some((Record { tag: Tag::Recall, .. }, _))))
}

#[cfg(test)]
mod tests {
    use super::{super::record::SHORT, *};
    use crate::error::ErrorKind;

    fn inbox(bytes: Vec<u8>) -> Inbox {
        Inbox { trays: vec![(3, Tray { bytes, moved: Vec::new() })], used: 1 }
    }

    fn record(address: Address, tag: Tag, payload: &[u8]) -> Vec<u8> {
        let mut outbox = Outbox::default();
        outbox.push(0, address, tag, |out| out.extend_from_slice(payload));
        outbox.trays.remove(0).bytes
    }

    #[test]
    fn records_come_out_as_they_went_in_and_by_kind() {
        let bytes = [
            record(Address::Item(4), Tag::Data, b"abc"),
            record(Address::Tenant(2), Tag::ReadBefore, b""),
            record(Address::Tenant(9), Tag::Data, b"d"),
        ]
        .concat();
        let mut seen = Vec::new();
        inbox(bytes)
            .visit(&[Tag::Data], |from, address, payload| {
                seen.push((from, address, payload.bytes()?.to_vec()));
                Ok(())
            })
            .unwrap();
        assert_eq!(seen, [(3, Address::Item(4), b"abc".to_vec()), (3, Address::Tenant(9), b"d".to_vec())]);
    }

    #[test]
    fn what_a_refused_call_has_moved_is_taken_back_and_no_more() {
        let mut outbox = Outbox::default();
        for item in 0..4 {
            outbox.push_moved(1, Address::Item(item), Box::new(item));
            outbox.push(2, Address::Item(item + 2), Tag::Data, |out| out.push(7));
        }
        outbox.push(0, Address::Item(3), Tag::Data, |_| ());
        outbox.take_back(2);
        let left: Vec<u32> = outbox.trays[1].moved.iter().map(|moved| *moved.downcast_ref().unwrap()).collect();
        assert_eq!(left, [0, 1]);
        assert_eq!([0, 1, 2].map(|to| outbox.trays[to].is_empty()), [true, false, true]);
        assert_eq!(outbox.filled, [1]);
    }

    #[test]
    fn every_damaged_record_is_an_error_and_none_is_read_past_its_end() {
        let whole = record(Address::Item(4), Tag::Data, b"abc");
        for cut in 1..whole.len() {
            let read = inbox(whole[..cut].to_vec()).visit(&[Tag::Data], |_, _, _| Ok(()));
            assert_eq!(read.unwrap_err().kind(), ErrorKind::Damaged, "cut at {cut}");
        }
        for at in 4..SHORT {
            let mut flipped = whole.clone();
            flipped[at] ^= 0xFF;
            let read = inbox(flipped).visit(&[Tag::Data, Tag::Moved], |_, _, _| Ok(()));
            assert_eq!(read.unwrap_err().kind(), ErrorKind::Damaged, "flipped at {at}");
        }
    }

    #[test]
    fn an_outbox_that_is_closed_has_nothing_and_has_sent_nothing() {
        let mut outbox = Outbox::default();
        assert!(outbox.is_empty() && !outbox.has_posted());
        outbox.push(1, Address::Tenant(2), Tag::Data, |out| out.push(7));
        outbox.early.push(1);
        (outbox.carries, outbox.doubts) = (true, true);
        assert!(!outbox.is_empty() && outbox.has_posted());
        outbox.close();
        assert!(outbox.is_empty() && !outbox.has_posted() && outbox.trays[1].is_empty());
        assert!(!outbox.carries && !outbox.doubts);
    }

    #[test]
    fn a_buffer_goes_to_where_it_came_from_unless_a_larger_one_is_there() {
        let mut outbox = Outbox::default();
        outbox.trays.resize_with(4, Tray::default);
        for room in [64, 8] {
            let mut inbox = inbox(Vec::with_capacity(room));
            inbox.recycle(&mut outbox);
            assert_eq!(inbox.used, 0);
            assert!(outbox.trays[3].bytes.capacity() >= 64, "after one of {room} bytes");
        }
    }

    #[test]
    fn an_inbox_that_is_cleared_has_nothing() {
        let mut inbox = inbox(record(Address::Item(4), Tag::Data, b"abc"));
        inbox.clear();
        assert!(inbox.used == 0 && inbox.trays[0].1.is_empty());
    }
}
