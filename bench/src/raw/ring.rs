//! Rings of words between two threads: what requests are held against.
//!
//! One thread writes and one reads. Each message is told to the other side at once, and each side remembers how far it
//! last saw the other, so that it looks again only when it has to.

use super::team::Padded;
use std::sync::atomic::{AtomicU64, Ordering};

/// How many messages fit.
const ROOM: u64 = 1024;

/// A ring for messages of `WORDS` words.
pub(crate) struct Ring<const WORDS: usize> {
    slots: Vec<[AtomicU64; WORDS]>,
    written: Padded<AtomicU64>,
    read: Padded<AtomicU64>,
}

/// The side that writes.
pub(crate) struct Writer<'a, const WORDS: usize> {
    ring: &'a Ring<WORDS>,
    at: u64,
    seen: u64,
}

/// The side that reads.
pub(crate) struct Reader<'a, const WORDS: usize> {
    ring: &'a Ring<WORDS>,
    at: u64,
    seen: u64,
}

impl<const WORDS: usize> Ring<WORDS> {
    pub(crate) fn new() -> Self {
        let slots = (0..ROOM).map(|_| [const { AtomicU64::new(0) }; WORDS]).collect();
        Self { slots, written: Padded::default(), read: Padded::default() }
    }

    /// The side that writes; there must be one at a time.
    pub(crate) fn writer(&self) -> Writer<'_, WORDS> {
        let at = self.written.0.load(Ordering::Acquire);
        Writer { ring: self, at, seen: self.read.0.load(Ordering::Acquire) }
    }

    /// The side that reads; there must be one at a time.
    pub(crate) fn reader(&self) -> Reader<'_, WORDS> {
        let at = self.read.0.load(Ordering::Acquire);
        Reader { ring: self, at, seen: at }
    }

    fn slot(&self, at: u64) -> &[AtomicU64; WORDS] {
        &self.slots[(at % ROOM) as usize]
    }
}

impl<const WORDS: usize> Writer<'_, WORDS> {
    /// Writes a message, if there is room.
    #[inline]
    pub(crate) fn push(&mut self, message: [u64; WORDS]) -> bool {
        if self.at - self.seen == ROOM {
            self.seen = self.ring.read.0.load(Ordering::Acquire);
            if self.at - self.seen == ROOM {
                return false;
            }
        }
        for (slot, word) in self.ring.slot(self.at).iter().zip(message) {
            slot.store(word, Ordering::Relaxed);
        }
        self.at += 1;
        self.ring.written.0.store(self.at, Ordering::Release);
        true
    }
}

impl<const WORDS: usize> Reader<'_, WORDS> {
    /// Reads the next message, if there is one.
    #[inline]
    pub(crate) fn pop(&mut self) -> Option<[u64; WORDS]> {
        if self.at == self.seen {
            self.seen = self.ring.written.0.load(Ordering::Acquire);
            if self.at == self.seen {
                return None;
            }
        }
        let message = self.ring.slot(self.at).each_ref().map(|slot| slot.load(Ordering::Relaxed));
        self.at += 1;
        self.ring.read.0.store(self.at, Ordering::Release);
        Some(message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_come_in_order_and_none_fits_into_a_full_ring() {
        let ring = Ring::<2>::new();
        let (mut writer, mut reader) = (ring.writer(), ring.reader());
        assert_eq!(reader.pop(), None);
        for round in 0..3 {
            assert!((0..ROOM).all(|at| writer.push([round, at])));
            assert!(!writer.push([9, 9]));
            assert!((0..ROOM).all(|at| reader.pop() == Some([round, at])));
            assert_eq!(reader.pop(), None);
        }
    }
}
