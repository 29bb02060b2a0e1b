//! The wave of a meeting: contributions and counts go up the tree, the outcome comes down.
//!
//! The members of one process are a *station*, and one of them speaks for it. Stations report to each other as
//! [`tree`] says. With one member a station that is just its grouping; with several, what goes up is a
//! [`Stretch`].
//!
//! At the top nobody has to wait for an answer: the first station and the last that reports to it tell each other what
//! they stand for, both at once, and both know the outcome.
//!
//! # Packets
//!
//! Up: the counts, then a stretch. Down: the counts, the stretch of all ranks before the station's, the total. Counts
//! are a number of entries, 0 or one per member, and the entries of 32 bits.

use super::{
    packet::{Link, Tag},
    route::Route,
    stretch::Stretch,
};
use crate::{
    circle::Meld,
    failure::Failure,
    tree,
    wire::{Damaged, Reader, Writer as _},
};
use std::ops::Range;

/// A station that reports to mine: its number, and what I stood for before I heard from it.
struct Child {
    station: usize,
    left: Option<Stretch>,
}

/// What a meeting found out.
pub(super) struct Outcome {
    /// How many trays are on their way to each member; empty if to none.
    pub(super) counts: Vec<u32>,
    /// What the ranks before my station's contributed.
    pub(super) before: Stretch,
    pub(super) total: Vec<u8>,
}

impl<L: Link> Route<L> {
    /// Speaks for my station in a meeting. `mine` is what its members contributed; `counts` says how many trays they
    /// have posted.
    pub(super) fn wave(
        &self,
        meeting: u64,
        mut mine: Stretch,
        mut counts: Vec<u32>,
        how: &mut dyn Meld,
    ) -> Result<Outcome, Failure> {
        let (me, size, stations) = (self.station, self.members.len(), self.stations.len());
        let wants_before = how.wants_before();
        // The last that reports to the first station, and it alone, hears what the first stands for.
        let top = tree::children(0, stations).next_back();
        let mut children = Vec::new();
        for station in tree::children(me, stations) {
            let is_top = me == 0 && top == Some(station);
            if is_top {
                self.report(station, meeting, &counts, &mine)?;
            }
            let packet = self.receive_from(station, Tag::Up, meeting)?;
            let ranks = self.ranks(&tree::range(station, stations));
            let theirs = self.believed(station, read_report(&packet, &mut counts, size, ranks))?;
            if !is_top {
                children.push(Child { station, left: wants_before.then(|| mine.clone()) });
            }
            mine.append(theirs, how);
        }
        let mut outcome = if let Some(parent) = tree::parent(me) {
            self.report(parent, meeting, &counts, &mine)?;
            let is_top = top == Some(me);
            let packet = self.receive_from(parent, if is_top { Tag::Up } else { Tag::Down }, meeting)?;
            let first = self.stations[me].first;
            if is_top {
                let mut total = self.believed(parent, read_report(&packet, &mut counts, size, 0..first))?;
                let before = if wants_before { total.clone() } else { Stretch::new(size) };
                total.append(mine, how);
                Outcome { counts, before, total: total.into_total() }
            } else {
                self.believed(parent, Outcome::read(&packet, size, first))?
            }
        } else {
            Outcome { counts, before: Stretch::new(size), total: mine.into_total() }
        };
        for Child { station, left } in children.into_iter().rev() {
            let mut before = Stretch::new(size);
            if let Some(left) = left.filter(|_| me == 0 || !outcome.before.is_empty()) {
                before = outcome.before.clone();
                before.append(left, how);
            }
            std::mem::swap(&mut outcome.before, &mut before);
            let down = outcome.write();
            std::mem::swap(&mut outcome.before, &mut before);
            self.send(self.stations[station].speaker, Tag::Down, meeting, down.into())?;
        }
        Ok(outcome)
    }

    /// The next packet with this tag in a meeting from the speaker of a station.
    fn receive_from(&self, station: usize, tag: Tag, meeting: u64) -> Result<Vec<u8>, Failure> {
        let (_, tray) = self.mailroom().receive(self.stamp(tag, meeting), Some(self.stations[station].speaker))?;
        Ok(tray.bytes)
    }

    /// What was read of a packet from another station; what makes no sense is a failure.
    fn believed<T>(&self, station: usize, read: Result<T, Damaged>) -> Result<T, Failure> {
        read.map_err(Failure::damaged_by(self.stations[station].speaker))
    }

    /// Tells another station what mine stands for.
    fn report(&self, station: usize, meeting: u64, counts: &[u32], mine: &Stretch) -> Result<(), Failure> {
        let mut up = Vec::with_capacity(64 + 4 * counts.len());
        write_counts(counts, &mut up);
        mine.write(&mut up);
        self.send(self.stations[station].speaker, Tag::Up, meeting, up.into())
    }
}

impl Outcome {
    /// As bytes, for another station or for the other members of mine.
    pub(super) fn write(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(64 + 4 * self.counts.len());
        write_counts(&self.counts, &mut bytes);
        self.before.write(&mut bytes);
        bytes.bytes(&self.total);
        bytes
    }

    /// Reads one of a circle of `size`, with what the ranks below `first` contributed.
    pub(super) fn read(bytes: &[u8], size: usize, first: usize) -> Result<Self, Damaged> {
        let mut reader = Reader::new(bytes);
        let counts = read_counts(&mut reader, size)?.collect();
        // Only a member that leaves may differ in whether it wants `before`, and it does not look at it.
        let before = Stretch::read_or_nothing(&mut reader, size, first)?;
        Ok(Self { counts, before, total: reader.rest().to_vec() })
    }
}

/// Reads what a station stands for, which are these ranks: adds its counts, and returns the rest.
fn read_report(bytes: &[u8], counts: &mut Vec<u32>, size: usize, ranks: Range<usize>) -> Result<Stretch, Damaged> {
    let mut reader = Reader::new(bytes);
    add(counts, read_counts(&mut reader, size)?)?;
    Stretch::read(&mut reader, size, ranks)
}

/// Adds counts to counts. No counts are zeros, and nobody has posted more than can be counted.
pub(super) fn add(counts: &mut Vec<u32>, more: impl ExactSizeIterator<Item = u32>) -> Result<(), Damaged> {
    counts.resize(counts.len().max(more.len()), 0);
    for (count, more) in counts.iter_mut().zip(more) {
        *count = count.checked_add(more).ok_or(Damaged)?;
    }
    Ok(())
}

pub(super) fn write_counts(counts: &[u32], out: &mut Vec<u8>) {
    out.put(counts.len());
    for &count in counts {
        out.put(count);
    }
}

/// The counts of so many members, or none.
pub(super) fn read_counts<'a>(
    reader: &mut Reader<'a>,
    members: usize,
) -> Result<impl ExactSizeIterator<Item = u32> + use<'a>, Damaged> {
    let entries: usize = reader.get()?;
    if entries != 0 && entries != members {
        return Err(Damaged);
    }
    Ok(reader.chunks(entries)?.iter().map(|count| u32::from_le_bytes(*count)))
}

/// A door for fuzzing: the first two bytes are the size of a circle and a rank, the rest is a packet.
#[cfg(fuzzing)]
pub(crate) fn fuzz(bytes: &[u8]) {
    struct Lengths;
    impl Meld for Lengths {
        fn meld(&mut self, left: &[u8], right: &[u8], out: &mut Vec<u8>) {
            out.put(left.len().wrapping_add(right.len()));
        }
    }
    let &[size, first, ref packet @ ..] = bytes else { return };
    let (size, first) = (usize::from(size).max(1), usize::from(first).min(usize::from(size)));
    if let Ok(outcome) = Outcome::read(packet, size, first) {
        assert_eq!(outcome.write(), packet);
        outcome.before.fold(&mut Lengths, &mut crate::spares::Spares::default(), &mut Vec::new());
    }
    let mut counts = vec![1; size];
    if let Ok(theirs) = read_report(packet, &mut counts, size, 0..first) {
        let mut all = Stretch::new(size);
        all.append(theirs, &mut Lengths);
        (first..size).for_each(|rank| all.push(rank, &[], &mut Lengths));
        all.into_total();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shortened_packet_is_damaged_and_none_reads_past_its_end() {
        let outcome = Outcome { counts: vec![1, 2, 3], before: Stretch::new(3), total: Vec::new() };
        let whole = outcome.write();
        for cut in 0..whole.len() {
            assert_eq!(Outcome::read(&whole[..cut], 3, 0).err(), Some(Damaged), "cut at {cut}");
        }
    }

    #[test]
    fn counts_that_nobody_can_have_posted_are_damaged() {
        let mut packet = Vec::new();
        write_counts(&[u32::MAX, 0], &mut packet);
        Stretch::new(2).write(&mut packet);
        let read = |mut counts: Vec<u32>| read_report(&packet, &mut counts, 2, 0..0).map(|_| counts);
        assert_eq!(read(vec![0, 1]).unwrap(), [u32::MAX, 1]);
        assert_eq!(read(vec![1, 0]).unwrap_err(), Damaged);
    }

    #[test]
    fn a_packet_with_another_number_of_members_is_damaged() {
        let mut bytes = Vec::new();
        write_counts(&[1, 2, 3], &mut bytes);
        assert_eq!(read_counts(&mut Reader::new(&bytes), 4).err(), Some(Damaged));
    }
}
