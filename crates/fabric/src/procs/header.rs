//! What stands before a packet's bytes in a ring.

use super::ring::UNIT;
use crate::messages::{Kind, Stamp};

/// What follows a header.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Body {
    /// The bytes.
    Here,
    /// Where the bytes are, in the sender's memory.
    There,
    /// Nothing: the first of the packets that were there, and not known to be read, is.
    Read,
}

/// What stands before a packet's bytes.
#[derive(Clone, Copy)]
pub(super) struct Header {
    pub(super) stamp: Stamp,
    pub(super) body: Body,
    /// How long the packet is.
    pub(super) len: usize,
}

impl Header {
    pub(super) const BYTES: usize = 32;

    #[inline]
    pub(super) fn write(&self) -> [u8; Self::BYTES] {
        let Stamp { circle, meeting, kind } = self.stamp;
        let words = [circle, meeting, (self.body as u64) << 8 | kind as u64, self.len as u64];
        let mut bytes = [0; Self::BYTES];
        for (place, word) in bytes.as_chunks_mut().0.iter_mut().zip(words) {
            *place = word.to_le_bytes();
        }
        bytes
    }

    #[inline]
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let &[circle, meeting, kind, len] = bytes.as_chunks().0.first_chunk()?;
        let kind = u64::from_le_bytes(kind);
        let body = match kind >> 8 {
            0 => Body::Here,
            1 => Body::There,
            2 => Body::Read,
            _ => return None,
        };
        let kind = Kind::read(kind & 0xFF)?;
        let stamp = Stamp { circle: u64::from_le_bytes(circle), meeting: u64::from_le_bytes(meeting), kind };
        Some(Self { stamp, body, len: usize::try_from(u64::from_le_bytes(len)).ok()? })
    }

    /// How many bytes follow it.
    #[inline]
    pub(super) fn behind(&self) -> usize {
        match self.body {
            Body::Here => self.len,
            Body::There => size_of::<u64>(),
            Body::Read => 0,
        }
    }
}

/// What a packet of so many bytes takes up, with its header.
#[inline]
pub(super) fn whole(len: usize) -> usize {
    (Header::BYTES + len).next_multiple_of(UNIT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_comes_back_as_it_was_and_one_that_makes_no_sense_does_not() {
        for (kind, body) in [(Kind::Up, Body::Here), (Kind::Tray, Body::There), (Kind::Piece, Body::Read)] {
            let header = Header { stamp: Stamp { circle: u64::MAX, meeting: 7, kind }, body, len: 1 << 40 };
            let mut bytes = header.write();
            let read = Header::read(&bytes).expect("it makes sense");
            assert!(read.stamp == header.stamp && read.body == body && read.len == header.len);
            assert!(Header::read(&bytes[..Header::BYTES - 1]).is_none());
            bytes[16] = 7;
            assert!(Header::read(&bytes).is_none());
            bytes[16..18].copy_from_slice(&[0, 3]);
            assert!(Header::read(&bytes).is_none());
        }
    }
}
