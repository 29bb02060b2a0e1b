//! The wave of a meeting: contributions and counts go up the tree, the outcome comes down.
//!
//! The members of one process are a *station*, and one of them speaks for it. Station `s` hears from `s + 1`, `s + 2`,
//! `s + 4` and so on, as long as `s` divides by twice that distance, and then reports to `s` less the first distance
//! that does not. With one member a station that is just the grouping of [`tree`](crate::tree); with several, what
//! goes up is a [`Stretch`].
//!
//! At the top nobody has to wait for an answer: the first station and the last that reports to it tell each other what
//! they stand for, both at once, and both know the outcome.
//!
//! # Packets
//!
//! Up: the counts, then a stretch. Down: the counts, the stretch of all ranks before the station's, the total. Counts
//! are a number of entries, 0 or one per member, and the entries; all numbers are 32 or 64 bits, little-endian.

use super::{Kind, Link, MessageCircle, stretch::Stretch};
use crate::{
    circle::{Meld, Melded},
    failure::Failure,
    tray::Tray,
};

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

impl<L: Link> MessageCircle<L> {
    /// Speaks for my station in the meeting that was just entered. `mine` is what its members contributed, and `counts`
    /// how many trays they have posted.
    pub(super) fn wave(
        &mut self,
        mut mine: Stretch,
        mut counts: Vec<u32>,
        how: &mut dyn Meld,
    ) -> Result<Outcome, Failure> {
        let (me, size) = (self.station, self.members.len());
        let wants_before = how.wants_before();
        let mut children = Vec::new();
        let mut distance = 1;
        while distance < self.stations.len() && me.is_multiple_of(2 * distance) {
            if me + distance < self.stations.len() {
                let station = me + distance;
                let is_top = me == 0 && 2 * distance >= self.stations.len();
                if is_top {
                    self.report(station, &counts, &mine)?;
                }
                let packet = self.receive_from(station, Kind::Up)?;
                let mut reader = Reader { bytes: &packet, rank: self.stations[station].speaker };
                add(&mut counts, &reader.counts(size)?);
                let first = self.stations[station].first;
                let end = self.stations.get(station + distance).map_or(size, |behind| behind.first);
                let theirs = Stretch::read(&mut reader, size, first, end)?;
                if !is_top {
                    children.push(Child { station, left: wants_before.then(|| mine.clone()) });
                }
                mine.append(theirs, how);
            }
            distance *= 2;
        }
        let mut outcome;
        if me == 0 {
            outcome = Outcome { counts, before: Stretch::new(size), total: mine.into_total() };
        } else {
            let parent = me - distance;
            self.report(parent, &counts, &mine)?;
            let is_top = parent == 0 && 2 * distance >= self.stations.len();
            let packet = self.receive_from(parent, if is_top { Kind::Up } else { Kind::Down })?;
            let mut reader = Reader { bytes: &packet, rank: self.stations[parent].speaker };
            let first = self.stations[me].first;
            if is_top {
                add(&mut counts, &reader.counts(size)?);
                let mut total = Stretch::read(&mut reader, size, 0, first)?;
                let before = if wants_before { total.clone() } else { Stretch::new(size) };
                total.append(mine, how);
                outcome = Outcome { counts, before, total: total.into_total() };
            } else {
                outcome = Outcome::read(&mut reader, size, first)?;
            }
        }
        for Child { station, left } in children.into_iter().rev() {
            let mut before = Stretch::new(size);
            if let Some(left) = left.filter(|_| me == 0 || !outcome.before.is_empty()) {
                before = outcome.before.clone();
                before.append(left, how);
            }
            std::mem::swap(&mut outcome.before, &mut before);
            let down = outcome.write();
            std::mem::swap(&mut outcome.before, &mut before);
            self.send_to(station, Kind::Down, down)?;
        }
        Ok(outcome)
    }
}

impl<L: Link> MessageCircle<L> {
    /// Tells another station what mine stands for.
    fn report(&self, station: usize, counts: &[u32], mine: &Stretch) -> Result<(), Failure> {
        let mut up = write_counts(counts);
        mine.write(&mut up);
        self.send_to(station, Kind::Up, up)
    }

    /// A meeting of two processes with one member each: the two tell each other what they have to say.
    pub(super) fn meet_pair(&mut self, mine: &[u8], how: &mut dyn Meld, outcome: &mut Melded) -> Result<u32, Failure> {
        let stamp = self.stamp(Kind::Up, self.entered);
        let mut home = self.home.mailroom.borrow_mut();
        let other = self.members[1 - self.rank];
        self.said.clear();
        put_counts(&self.posted, &mut self.said);
        self.said.extend_from_slice(mine);
        home.send_short(other, stamp, &self.said)?;
        home.receive_short(stamp, other, &mut self.heard.total)?;
        drop(home);
        let mut reader = Reader { bytes: &self.heard.total, rank: other };
        let (me, mut expected) = (self.rank, self.posted.get(self.rank).copied().unwrap_or(0));
        self.posted.clear();
        reader.each_count(2, |at, count| expected += if at == me { count } else { 0 })?;
        let theirs = reader.rest();
        outcome.before.clear();
        outcome.total.clear();
        if theirs == mine && how.alike() {
            outcome.total.extend_from_slice(mine);
        } else if me == 0 {
            how.meld(mine, theirs, &mut outcome.total);
        } else {
            how.meld(theirs, mine, &mut outcome.total);
        }
        if me == 1 && how.wants_before() {
            outcome.before.extend_from_slice(theirs);
        }
        Ok(expected)
    }
}

impl Outcome {
    /// As bytes, for another station or for the other members of mine.
    pub(super) fn write(&self) -> Vec<u8> {
        let mut bytes = write_counts(&self.counts);
        self.before.write(&mut bytes);
        bytes.extend_from_slice(&self.total);
        bytes
    }

    /// Reads one of a circle of `size`, with what the ranks below `first` contributed.
    pub(super) fn read(reader: &mut Reader<'_>, size: usize, first: usize) -> Result<Self, Failure> {
        let counts = reader.counts(size)?;
        // Only who leaves may differ from the others in whether it wants what comes before, and it looks at none.
        let before = Stretch::read_or_nothing(reader, size, first)?;
        Ok(Self { counts, before, total: reader.rest().to_vec() })
    }
}

/// Adds counts to counts; none are as good as zeros.
pub(super) fn add(counts: &mut Vec<u32>, more: &[u32]) {
    counts.resize(counts.len().max(more.len()), 0);
    for (count, more) in counts.iter_mut().zip(more) {
        *count += more;
    }
}

/// A packet that begins with counts.
pub(super) fn write_counts(counts: &[u32]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(64 + 4 * counts.len());
    put_counts(counts, &mut bytes);
    bytes
}

fn put_counts(counts: &[u32], bytes: &mut Vec<u8>) {
    bytes.extend_from_slice(&(counts.len() as u32).to_le_bytes());
    for count in counts {
        bytes.extend_from_slice(&count.to_le_bytes());
    }
}

pub(super) fn tray(bytes: Vec<u8>) -> Tray {
    Tray { bytes, moved: Vec::new() }
}

/// Reads a packet of which nothing is believed.
pub(super) struct Reader<'a> {
    pub(super) bytes: &'a [u8],
    /// Who sent it.
    pub(super) rank: usize,
}

impl<'a> Reader<'a> {
    pub(super) fn damaged(&self) -> Failure {
        Failure::Damaged { rank: self.rank }
    }

    fn split(&mut self, len: usize) -> Result<&'a [u8], Failure> {
        let (head, rest) = self.bytes.split_at_checked(len).ok_or_else(|| self.damaged())?;
        self.bytes = rest;
        Ok(head)
    }

    pub(super) fn number(&mut self) -> Result<u32, Failure> {
        Ok(u32::from_le_bytes(self.split(4)?.try_into().map_err(|_| self.damaged())?))
    }

    pub(super) fn counts(&mut self, members: usize) -> Result<Vec<u32>, Failure> {
        let mut counts = Vec::new();
        self.each_count(members, |_, count| counts.push(count))?;
        Ok(counts)
    }

    /// Hands every count to `take`, with the member's rank.
    fn each_count(&mut self, members: usize, mut take: impl FnMut(usize, u32)) -> Result<(), Failure> {
        let entries = self.number()? as usize;
        if entries != 0 && entries != members {
            return Err(self.damaged());
        }
        for (at, count) in self.split(4 * entries)?.as_chunks().0.iter().enumerate() {
            take(at, u32::from_le_bytes(*count));
        }
        Ok(())
    }

    pub(super) fn part(&mut self) -> Result<&'a [u8], Failure> {
        let len = u64::from_le_bytes(self.split(8)?.try_into().map_err(|_| self.damaged())?);
        let len = usize::try_from(len).map_err(|_| self.damaged())?;
        self.split(len)
    }

    pub(super) fn rest(&self) -> &'a [u8] {
        self.bytes
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
            let read = Outcome::read(&mut Reader { bytes: &whole[..cut], rank: 5 }, 3, 0);
            assert_eq!(read.err(), Some(Failure::Damaged { rank: 5 }), "cut at {cut}");
        }
    }

    #[test]
    fn a_packet_with_another_number_of_members_is_damaged() {
        let bytes = write_counts(&[1, 2, 3]);
        assert_eq!(Reader { bytes: &bytes, rank: 1 }.counts(4), Err(Failure::Damaged { rank: 1 }));
    }
}
