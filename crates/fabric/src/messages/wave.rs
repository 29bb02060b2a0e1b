//! The wave of a meeting: contributions and counts go up the tree, the outcome comes down.
//!
//! The members of one process are a *station*, and one of them speaks for it. Station `s` hears from `s + 1`, `s + 2`,
//! `s + 4` and so on, as long as `s` divides by twice that distance, and then reports to `s` less the first distance
//! that does not. With one member a station that is just the grouping of [`tree`](crate::tree); with several, what
//! goes up is a [`Stretch`].
//!
//! # Packets
//!
//! Up: the counts, then a stretch. Down: the counts, the stretch of all ranks before the station's, the total. Counts
//! are a number of entries, 0 or one per member, and the entries; all numbers are 32 or 64 bits, little-endian.

use super::{Kind, Link, MessageCircle, stretch::Stretch};
use crate::{circle::Meld, failure::Failure, tray::Tray};

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
                let packet = self.receive_from(station, Kind::Up)?;
                let mut reader = Reader { bytes: &packet, rank: self.stations[station].speaker };
                add(&mut counts, &reader.counts(size)?);
                let first = self.stations[station].first;
                let end = self.stations.get(station + distance).map_or(size, |behind| behind.first);
                let theirs = Stretch::read(&mut reader, size, first, end)?;
                children.push(Child { station, left: wants_before.then(|| mine.clone()) });
                mine.append(theirs, how);
            }
            distance *= 2;
        }
        let mut outcome;
        if me == 0 {
            outcome = Outcome { counts, before: Stretch::new(size), total: mine.into_total() };
        } else {
            let parent = me - distance;
            let mut up = write_counts(&counts);
            mine.write(&mut up);
            self.send_to(parent, Kind::Up, up)?;
            let down = self.receive_from(parent, Kind::Down)?;
            let mut reader = Reader { bytes: &down, rank: self.stations[parent].speaker };
            outcome = Outcome::read(&mut reader, size, self.stations[me].first)?;
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
    bytes.extend_from_slice(&(counts.len() as u32).to_le_bytes());
    for count in counts {
        bytes.extend_from_slice(&count.to_le_bytes());
    }
    bytes
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
        let entries = self.number()? as usize;
        if entries != 0 && entries != members {
            return Err(self.damaged());
        }
        let bytes = self.split(4 * entries)?;
        Ok(bytes.chunks_exact(4).map(|c| u32::from_le_bytes([c[0], c[1], c[2], c[3]])).collect())
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
