//! Sorts what arrives: a processor waits for one packet at a time, and others may come first.
//!
//! Between two processors packets arrive in order, but a third one's may come at any time, and so may those of a circle
//! that the sender has gone on to. Each packet is stamped with its circle, meeting and kind; what is not wanted yet is
//! kept until it is.

use crate::{circle::Alarm, failure::Failure, sight::Pen, tray::Tray};
use std::{collections::VecDeque, sync::Arc};

/// What a packet is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    /// A subtree's contribution, on its way to the root.
    Up,
    /// A meeting's outcome, on its way from the root.
    Down,
    /// A tray that was posted.
    Tray,
    /// A piece of memory that is carried.
    Piece,
    /// A letter.
    Letter,
    /// A part of a count, on its way to where it is summed.
    Count,
    /// The sum of a count, on its way back.
    Sum,
}

impl Kind {
    /// The kind with this number.
    #[inline]
    pub(crate) fn read(number: u64) -> Option<Self> {
        let all = [Self::Up, Self::Down, Self::Tray, Self::Piece, Self::Letter, Self::Count, Self::Sum];
        all.get(usize::try_from(number).ok()?).copied()
    }
}

/// Which meeting of which circle a packet belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Stamp {
    pub(crate) circle: u64,
    pub(crate) meeting: u64,
    pub(crate) kind: Kind,
}

pub(crate) struct Packet {
    pub(crate) stamp: Stamp,
    pub(crate) tray: Tray,
}

/// One processor's end of whatever carries packets. Processors are named by their numbers in the whole run.
pub(crate) trait Link {
    /// Sends; packets from one processor to another arrive whole and in order.
    fn send(&mut self, to: usize, packet: Packet) -> Result<(), Failure>;

    /// Waits for the next packet from anybody.
    fn receive(&mut self) -> Result<(usize, Packet), Failure>;

    /// The next packet from anybody, if one has come.
    fn try_receive(&mut self) -> Result<Option<(usize, Packet)>, Failure>;

    /// Waits until a packet has come, or for a while; the caller looks for one then.
    fn rest(&mut self) -> Result<(), Failure>;

    /// Sends a few bytes.
    fn send_short(&mut self, to: usize, stamp: Stamp, bytes: &[u8]) -> Result<(), Failure> {
        self.send(to, Packet { stamp, tray: Tray { bytes: bytes.to_vec(), moved: Vec::new() } })
    }

    /// Waits for the next packet from anybody, and takes the bytes of one with this stamp and sender without a detour;
    /// then there is no packet to return.
    fn receive_short(
        &mut self,
        _stamp: Stamp,
        _from: usize,
        _into: &mut Vec<u8>,
    ) -> Result<Option<(usize, Packet)>, Failure> {
        self.receive().map(Some)
    }

    /// Moves memory without a copy, as [`Circle::carry`](crate::Circle::carry) says; `None` if it has no way to.
    fn carry(&mut self, _out: &[(usize, &[u8])], _into: &mut [(usize, &mut [u8])]) -> Option<Result<(), Failure>> {
        None
    }

    /// Lets others go first, where processors take turns; fails once the alarm was raised.
    fn pause(&mut self) -> Result<(), Failure>;

    /// With what this processor writes down where it is.
    fn pen(&self) -> Pen;

    /// Whether objects can move between `other` and this processor.
    fn shares(&self, other: usize) -> bool;

    fn alarm(&self) -> Arc<dyn Alarm>;
}

/// What came before it was wanted, by its stamp. There are few different ones at a time, because nobody is far ahead of
/// the others: looking through them costs less than any table.
#[derive(Default)]
struct Kept {
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
    fn take(&mut self, stamp: Stamp, from: Option<usize>) -> Option<(usize, Tray)> {
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

pub(crate) struct Mailroom<L> {
    link: L,
    kept: Kept,
    pen: Pen,
}

impl<L: Link> Mailroom<L> {
    pub(crate) fn new(link: L) -> Self {
        let pen = link.pen();
        Self { link, kept: Kept::default(), pen }
    }

    pub(crate) fn send(&mut self, to: usize, packet: Packet) -> Result<(), Failure> {
        self.link.send(to, packet)
    }

    pub(crate) fn send_short(&mut self, to: usize, stamp: Stamp, bytes: &[u8]) -> Result<(), Failure> {
        self.link.send_short(to, stamp, bytes)
    }

    /// Waits for a few bytes with this stamp.
    pub(crate) fn receive_short(&mut self, stamp: Stamp, from: usize, into: &mut Vec<u8>) -> Result<(), Failure> {
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
    pub(crate) fn receive(&mut self, stamp: Stamp, from: Option<usize>) -> Result<(usize, Tray), Failure> {
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

    /// The next packet with this stamp, from `from` if that is said, if one has come.
    pub(crate) fn try_receive(&mut self, stamp: Stamp, from: Option<usize>) -> Result<Option<(usize, Tray)>, Failure> {
        if let Some(found) = self.kept.take(stamp, from) {
            return Ok(Some(found));
        }
        while let Some((source, packet)) = self.link.try_receive()? {
            if packet.stamp == stamp && from.is_none_or(|from| from == source) {
                return Ok(Some((source, packet.tray)));
            }
            self.kept.add(source, packet);
        }
        Ok(None)
    }

    /// Waits until a packet with one of these stamps may have come, or for a while.
    pub(crate) fn rest(&mut self, stamps: &[Stamp]) -> Result<(), Failure> {
        if stamps.iter().any(|&stamp| self.kept.has(stamp)) {
            return Ok(());
        }
        self.waiting(None, |room| room.link.rest())
    }

    /// What has come with this stamp and was kept.
    pub(crate) fn take_kept(&mut self, stamp: Stamp) -> Option<(usize, Tray)> {
        self.kept.take(stamp, None)
    }

    /// Moves memory, in packets with this stamp where the link has no better way.
    pub(crate) fn carry(
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
            self.send(to, Packet { stamp, tray: Tray { bytes: bytes.to_vec(), moved: Vec::new() } })?;
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

    pub(crate) fn pause(&mut self) -> Result<(), Failure> {
        self.link.pause()
    }

    pub(crate) fn shares(&self, other: usize) -> bool {
        self.link.shares(other)
    }

    pub(crate) fn pen(&self) -> Pen {
        self.pen.clone()
    }

    pub(crate) fn alarm(&self) -> Arc<dyn Alarm> {
        self.link.alarm()
    }
}
