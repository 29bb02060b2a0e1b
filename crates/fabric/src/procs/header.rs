//! What stands before a packet's bytes in a ring.

use crate::{
    messages::Stamp,
    wire::{Damaged, Reader, Writer as _},
};

crate::wire::tags! {
    /// What follows a header.
    pub(super) enum Body {
        /// The bytes.
        Here,
        /// Where the bytes are, in the sender's memory.
        There,
        /// Nothing. It acknowledges the oldest packet that is still lent.
        Read,
    }
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
        let mut bytes = [0; Self::BYTES];
        let mut out = &mut bytes[..];
        out.put(self.stamp);
        out.put(self.body);
        out.put(self.len);
        bytes
    }

    #[inline]
    pub(super) fn read(bytes: &[u8; Self::BYTES]) -> Result<Self, Damaged> {
        let mut reader = Reader::new(bytes);
        Ok(Self { stamp: reader.get()?, body: reader.get()?, len: reader.get()? })
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

/// A door for fuzzing: what makes sense is written as it was read.
#[cfg(fuzzing)]
pub(crate) fn fuzz(bytes: &[u8]) {
    let Some(bytes) = bytes.first_chunk::<{ Header::BYTES }>() else { return };
    if let Ok(header) = Header::read(bytes) {
        // What is behind the length is never looked at.
        let written = header.write();
        assert_eq!(written[..26], bytes[..26]);
        assert!(header.behind() == header.len || header.body != Body::Here);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::messages::Tag;

    #[test]
    fn a_header_comes_back_as_it_was_and_one_that_makes_no_sense_does_not() {
        for (tag, body) in [(Tag::Up, Body::Here), (Tag::Tray, Body::There), (Tag::Piece, Body::Read)] {
            let header = Header { stamp: Stamp { circle: u64::MAX, meeting: 7, tag }, body, len: 1 << 40 };
            let mut bytes = header.write();
            let read = Header::read(&bytes).expect("it makes sense");
            assert!(read.stamp == header.stamp && read.body == body && read.len == header.len);
            bytes[16] = 99;
            assert!(Header::read(&bytes).is_err());
            bytes[16..18].copy_from_slice(&[0, 3]);
            assert!(Header::read(&bytes).is_err());
        }
    }
}
