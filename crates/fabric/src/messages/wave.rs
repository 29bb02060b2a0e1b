//! The wave of a meeting: contributions and counts go up the tree, the outcome comes down.
//!
//! Rank `r` stands for the segments that begin with it. It hears from `r + 1`, `r + 2`, `r + 4` and so on, as long as
//! `r` divides by twice that distance, and then reports to `r` less the first distance that does not. That is just the
//! grouping of [`tree`](crate::tree).
//!
//! # Packets
//!
//! Up: the counts, then the contribution. Down: the counts, the length of `before`, `before`, the total. Counts are a
//! number of entries, 0 or one per member, and the entries; all numbers are 32 or 64 bits, little-endian.

use super::{Kind, Link, MessageCircle};
use crate::{
    circle::{Meld, Melded},
    failure::Failure,
    tray::Tray,
    tree,
};

/// A rank that reports to me: how far it is, and what I stood for before I heard from it.
struct Child {
    distance: usize,
    left: Vec<u8>,
}

impl<L: Link> MessageCircle<L> {
    /// Takes part in the meeting that was just entered and returns how many trays are on their way to me.
    pub(super) fn wave(&mut self, mine: &[u8], how: &mut dyn Meld, outcome: &mut Melded) -> Result<u32, Failure> {
        let mut counts = std::mem::take(&mut self.posted);
        let mut total = mine.to_vec();
        let wants_before = how.wants_before();
        let mut children = Vec::new();
        let mut distance = 1;
        while distance < self.members.len() && self.rank.is_multiple_of(2 * distance) {
            if self.rank + distance < self.members.len() {
                let packet = self.receive_from(self.rank + distance, Kind::Up)?;
                let mut reader = Reader { bytes: &packet, rank: self.members[self.rank + distance] };
                add(&mut counts, &reader.counts(self.members.len())?);
                let mut melded = Vec::new();
                how.meld(&total, reader.rest(), &mut melded);
                let left = std::mem::replace(&mut total, melded);
                children.push(Child { distance, left: if wants_before { left } else { Vec::new() } });
            }
            distance *= 2;
        }
        outcome.before.clear();
        if self.rank > 0 {
            let parent = self.rank - distance;
            self.send(parent, Kind::Up, self.entered, packet(&counts, None, &total))?;
            let down = self.receive_from(parent, Kind::Down)?;
            let mut reader = Reader { bytes: &down, rank: self.members[parent] };
            counts = reader.counts(self.members.len())?;
            outcome.before.extend_from_slice(reader.part()?);
            total.clear();
            total.extend_from_slice(reader.rest());
        }
        for child in children.iter().rev() {
            let mut before = Vec::new();
            if wants_before {
                before.extend_from_slice(&outcome.before);
                tree::append(&child.left, how, &mut self.scratch, &mut before);
            }
            let down = packet(&counts, Some(&before), &total);
            self.send(self.rank + child.distance, Kind::Down, self.entered, down)?;
        }
        outcome.total = total;
        Ok(counts.get(self.rank).copied().unwrap_or(0))
    }
}

fn add(counts: &mut Vec<u32>, more: &[u32]) {
    counts.resize(counts.len().max(more.len()), 0);
    for (count, more) in counts.iter_mut().zip(more) {
        *count += more;
    }
}

fn packet(counts: &[u32], before: Option<&[u8]>, rest: &[u8]) -> Tray {
    let mut bytes = Vec::with_capacity(16 + 4 * counts.len() + before.map_or(0, <[u8]>::len) + rest.len());
    bytes.extend((counts.len() as u32).to_le_bytes());
    bytes.extend(counts.iter().flat_map(|count| count.to_le_bytes()));
    if let Some(before) = before {
        bytes.extend((before.len() as u64).to_le_bytes());
        bytes.extend_from_slice(before);
    }
    bytes.extend_from_slice(rest);
    Tray { bytes, moved: Vec::new() }
}

/// Reads a packet of which nothing is believed.
struct Reader<'a> {
    bytes: &'a [u8],
    /// Who sent it.
    rank: usize,
}

impl<'a> Reader<'a> {
    fn damaged(&self) -> Failure {
        Failure::Damaged { rank: self.rank }
    }

    fn split(&mut self, len: usize) -> Result<&'a [u8], Failure> {
        let (head, rest) = self.bytes.split_at_checked(len).ok_or_else(|| self.damaged())?;
        self.bytes = rest;
        Ok(head)
    }

    fn counts(&mut self, members: usize) -> Result<Vec<u32>, Failure> {
        let entries = u32::from_le_bytes(self.split(4)?.try_into().map_err(|_| self.damaged())?) as usize;
        if entries != 0 && entries != members {
            return Err(self.damaged());
        }
        let bytes = self.split(4 * entries)?;
        Ok(bytes.chunks_exact(4).map(|c| u32::from_le_bytes([c[0], c[1], c[2], c[3]])).collect())
    }

    fn part(&mut self) -> Result<&'a [u8], Failure> {
        let len = u64::from_le_bytes(self.split(8)?.try_into().map_err(|_| self.damaged())?);
        let len = usize::try_from(len).map_err(|_| self.damaged())?;
        self.split(len)
    }

    fn rest(&self) -> &'a [u8] {
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shortened_packet_is_damaged_and_none_reads_past_its_end() {
        let whole = packet(&[1, 2, 3], Some(b"abc"), b"").bytes;
        for cut in 0..whole.len() {
            let mut reader = Reader { bytes: &whole[..cut], rank: 5 };
            let read = reader.counts(3).and_then(|_| reader.part());
            assert_eq!(read, Err(Failure::Damaged { rank: 5 }), "cut at {cut}");
        }
    }

    #[test]
    fn a_packet_with_another_number_of_members_is_damaged() {
        let bytes = packet(&[1, 2, 3], None, b"").bytes;
        assert_eq!(Reader { bytes: &bytes, rank: 1 }.counts(4), Err(Failure::Damaged { rank: 1 }));
    }
}
