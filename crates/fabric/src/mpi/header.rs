//! What stands before a packet's bytes between processes of MPI.

use crate::{
    messages::Stamp,
    wire::{Damaged, Reader, Writer as _},
};

/// What stands before a packet's bytes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) run: u64,
    pub(super) stamp: Stamp,
    pub(super) len: usize,
    pub(super) from: u32,
    pub(super) to: u32,
}

impl Header {
    pub(super) const BYTES: usize = 41;

    #[inline]
    pub(super) fn write(&self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        let mut out = &mut bytes[..];
        out.put(self.run);
        out.put(self.stamp);
        out.put(self.len);
        out.put([self.from, self.to]);
        bytes
    }

    #[inline]
    pub(super) fn read(bytes: &[u8]) -> Result<Self, Damaged> {
        let mut reader = Reader::new(bytes);
        let (run, stamp, len, [from, to]) = (reader.get()?, reader.get()?, reader.get()?, reader.get()?);
        Ok(Self { run, stamp, len, from, to })
    }
}

/// A door for fuzzing: what makes sense is written as it was read.
#[cfg(fuzzing)]
pub(crate) fn fuzz(bytes: &[u8]) {
    if let Ok(header) = Header::read(bytes) {
        assert_eq!(header.write(), bytes[..Header::BYTES]);
    }
}
