//! What stands before a packet's bytes, as bytes.

use super::{HEADER, SHORT};
use crate::messages::{Kind, Stamp};

/// What stands before a packet's bytes.
#[derive(Clone, Copy)]
pub(super) struct Header {
    pub(super) run: u64,
    pub(super) circle: u64,
    pub(super) meeting: u64,
    pub(super) len: u64,
    pub(super) kind: u32,
    pub(super) from: u32,
    pub(super) to: u32,
}

impl Header {
    pub(super) fn write(&self) -> [u8; HEADER] {
        let mut bytes = [0; HEADER];
        for (at, word) in [self.run, self.circle, self.meeting, self.len].iter().enumerate() {
            bytes[8 * at..8 * at + 8].copy_from_slice(&word.to_le_bytes());
        }
        for (at, word) in [self.kind, self.from, self.to].iter().enumerate() {
            bytes[32 + 4 * at..36 + 4 * at].copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }

    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let bytes: &[u8; HEADER] = bytes.first_chunk()?;
        let long = |at: usize| u64::from_le_bytes(bytes[8 * at..8 * at + 8].try_into().unwrap_or_default());
        let word = |at: usize| u32::from_le_bytes(bytes[32 + 4 * at..36 + 4 * at].try_into().unwrap_or_default());
        Some(Self {
            run: long(0),
            circle: long(1),
            meeting: long(2),
            len: long(3),
            kind: word(0),
            from: word(1),
            to: word(2),
        })
    }

    /// Whether another says the same about everything but the length.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        let all = |header: &Self| {
            (header.run, header.circle, header.meeting, header.kind, header.from, header.to, header.len <= SHORT as u64)
        };
        all(self) == all(other)
    }

    pub(super) fn stamp(&self) -> Option<Stamp> {
        let kind = Kind::read(u64::from(self.kind))?;
        Some(Stamp { circle: self.circle, meeting: self.meeting, kind })
    }
}
