//! Sorts what arrives: a processor waits for one packet at a time, and others may come first.
//!
//! Between two processors packets arrive in order, but a third one's may come at any time, and so may those of a circle
//! that the sender has gone on to. Each packet is stamped with its circle, meeting and tag; what is not wanted yet is
//! kept until it is.

use super::packet::{Link, Packet, Stamp};
use crate::{failure::Failure, sight::Pen, tray::Tray};
use std::collections::VecDeque;

/// What came before it was wanted, by its stamp. Nobody is far ahead of the others, so there are few stamps at a time,
/// and a search costs less than a table.
#[derive(Default)]
pub(super) struct Kept {
    queues: Vec<(Stamp, VecDeque<(usize, Tray)>)>,
    /// A queue that has become empty, for its room.
    spare: VecDeque<(usize, Tray)>,
}

impl Kept {
    fn has(&self, stamp: Stamp) -> bool {
        self.queues.iter().any(|(kept, _)| *kept == stamp)
    }

    fn add(&mut self, source: usize, packet: Packet) {
        let Packet { stamp, tray } = packet;
        if let Some((_, queue)) = self.queues.iter_mut().find(|(kept, _)| *kept == stamp) {
            queue.push_back((source, tray));
        } else {
            let mut queue = std::mem::take(&mut self.spare);
            queue.push_back((source, tray));
            self.queues.push((stamp, queue));
        }
    }

    /// Takes the first with this stamp, from `from` if that is said.
    #[inline]
    pub(super) fn take(&mut self, stamp: Stamp, from: Option<usize>) -> Option<(usize, Tray)> {
        let place = self.queues.iter().position(|(kept, _)| *kept == stamp)?;
        let queue = &mut self.queues[place].1;
        let at = queue.iter().position(|&(source, _)| from.is_none_or(|from| from == source))?;
        let found = queue.remove(at);
        if queue.is_empty() {
            self.spare = self.queues.swap_remove(place).1;
        }
        found
    }
}

pub(super) struct Mailroom<L> {
    pub(super) link: L,
    pub(super) kept: Kept,
    pub(super) pen: Pen,
}

impl<L: Link> Mailroom<L> {
    pub(super) fn new(link: L) -> Self {
        let pen = link.pen();
        Self { link, kept: Kept::default(), pen }
    }

    /// Waits for a few bytes with this stamp.
    pub(super) fn receive_short(&mut self, stamp: Stamp, from: usize, into: &mut Vec<u8>) -> Result<(), Failure> {
        into.clear();
        if let Some((_, tray)) = self.kept.take(stamp, Some(from)) {
            into.extend_from_slice(&tray.bytes);
            return Ok(());
        }
        self.waiting(Some(from), |room| {
            while let Some((source, packet)) = room.link.receive_short(stamp, from, into)? {
                if packet.stamp == stamp && source == from {
                    into.extend_from_slice(&packet.tray.bytes);
                    return Ok(());
                }
                room.kept.add(source, packet);
            }
            Ok(())
        })
    }

    /// Writes down for whom this processor waits while it does.
    #[inline]
    fn waiting<R>(
        &mut self,
        whom: Option<usize>,
        wait: impl FnOnce(&mut Self) -> Result<R, Failure>,
    ) -> Result<R, Failure> {
        let is_mine = self.pen.wait(|| whom);
        let outcome = wait(self);
        if is_mine {
            self.pen.go_on();
        }
        outcome
    }

    /// Waits for the next packet with this stamp, from `from` if that is said.
    pub(super) fn receive(&mut self, stamp: Stamp, from: Option<usize>) -> Result<(usize, Tray), Failure> {
        if let Some(found) = self.kept.take(stamp, from) {
            return Ok(found);
        }
        self.waiting(from, |room| {
            loop {
                let (source, packet) = room.link.receive()?;
                if packet.stamp == stamp && from.is_none_or(|from| from == source) {
                    return Ok((source, packet.tray));
                }
                room.kept.add(source, packet);
            }
        })
    }

    /// The next packet with this stamp, if one has come.
    pub(super) fn try_receive(&mut self, stamp: Stamp) -> Result<Option<(usize, Tray)>, Failure> {
        if let Some(found) = self.kept.take(stamp, None) {
            return Ok(Some(found));
        }
        while let Some((source, packet)) = self.link.try_receive()? {
            if packet.stamp == stamp {
                return Ok(Some((source, packet.tray)));
            }
            self.kept.add(source, packet);
        }
        Ok(None)
    }

    /// Waits until a packet with one of these stamps may have come, or for a while.
    pub(super) fn rest(&mut self, stamps: &[Stamp]) -> Result<(), Failure> {
        if stamps.iter().any(|&stamp| self.kept.has(stamp)) {
            return Ok(());
        }
        self.waiting(None, |room| room.link.rest())
    }

    /// Moves memory, in packets with this stamp where the link has no better way.
    pub(super) fn carry(
        &mut self,
        stamp: Stamp,
        out: &[(usize, &[u8])],
        into: &mut [(usize, &mut [u8])],
    ) -> Result<(), Failure> {
        let whom = into.first().map(|(from, _)| *from);
        if let Some(outcome) = self.waiting(whom, |room| room.link.carry(out, into).transpose())? {
            return Ok(outcome);
        }
        for &(to, bytes) in out {
            self.link.send(to, Packet { stamp, tray: Tray::from(bytes.to_vec()) })?;
        }
        for (from, place) in into {
            let (_, tray) = self.receive(stamp, Some(*from))?;
            if tray.bytes.len() != place.len() {
                return Err(Failure::Damaged { rank: *from });
            }
            place.copy_from_slice(&tray.bytes);
        }
        Ok(())
    }
}
