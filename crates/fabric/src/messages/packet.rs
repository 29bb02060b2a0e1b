//! What travels between processors that share no memory, and what carries it.

use crate::{
    alarm::Alarm,
    failure::Failure,
    sight::Pen,
    tray::Tray,
    wire::{Damaged, Field, Reader, Writer},
};
use std::sync::Arc;

crate::wire::tags! {
    /// What a packet is for.
    pub(crate) enum Tag {
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
        /// Why the run cannot go on; only links send and take it.
        Alarm,
        /// That a process has ended a run that has failed; only links send and take it.
        Ended,
    }
}

/// Which meeting of which circle a packet belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Stamp {
    pub(crate) circle: u64,
    pub(crate) meeting: u64,
    pub(crate) tag: Tag,
}

impl Field for Stamp {
    #[inline]
    fn write(self, out: &mut impl Writer) {
        out.put([self.circle, self.meeting]);
        out.put(self.tag);
    }

    #[inline]
    fn read(reader: &mut Reader<'_>) -> Result<Self, Damaged> {
        let [circle, meeting] = reader.get()?;
        Ok(Self { circle, meeting, tag: reader.get()? })
    }
}

pub(crate) struct Packet {
    pub(crate) stamp: Stamp,
    pub(crate) tray: Tray,
}

/// One processor's end of whatever carries packets. Processors are named by their numbers in the whole run.
pub(crate) trait Link {
    /// Whether it has a clock of its own, and wants to hear what takes time.
    const KEEPS_TIME: bool = false;

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
        self.send(to, Packet { stamp, tray: Tray::from(bytes.to_vec()) })
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

    /// Moves memory without a copy, as [`Meetings::carry`](crate::Meetings::carry) says; `None` if it has no way to.
    fn carry(&mut self, _out: &[(usize, &[u8])], _into: &mut [(usize, &mut [u8])]) -> Option<Result<(), Failure>> {
        None
    }

    /// Lets others go first, where processors take turns; fails once the alarm was raised.
    fn pause(&mut self) -> Result<(), Failure>;

    /// This processor enters a meeting of so many members with so many bytes.
    fn enter(&mut self, _meeting: Stamp, _members: usize, _said: usize) {}

    /// This processor comes out of a meeting, which came to so many bytes.
    fn come_out(&mut self, _meeting: Stamp, _heard: usize) {}

    /// The program charges this processor with so many operations.
    fn work(&mut self, _operations: u64) {}

    fn pen(&self) -> Pen;

    /// Whether objects can move between `other` and this processor.
    fn shares(&self, _other: usize) -> bool {
        false
    }

    fn alarm(&self) -> Arc<dyn Alarm>;
}
