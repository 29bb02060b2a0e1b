//! A stream of bytes that one member fills for another.
//!
//! # Invariants
//!
//! - **T1** `start` is the beginning of `room` bytes that this stream alone writes to, of which the first `len` have
//!   been written; `start` lies on a multiple of 16.
//! - **T2** Of its own memory, `start` and `room` are those of a vector of [`Line`]s; of lent memory, somebody else
//!   keeps it, longer than the stream lives.

use std::{
    mem::{ManuallyDrop, MaybeUninit},
    ptr::NonNull,
};

/// Bytes for somebody else, in the order in which they were appended.
#[derive(Debug)]
pub(crate) struct Stream {
    start: NonNull<u8>,
    len: usize,
    room: usize,
    is_own: bool,
}

/// The unit of a stream's memory: aligned so that any value may lie there.
#[derive(Clone, Copy)]
#[repr(C, align(16))]
struct Line([u8; 16]);

// SAFETY: a stream is the only one that uses its memory (T1).
unsafe impl Send for Stream {}

impl Default for Stream {
    fn default() -> Self {
        Self { start: NonNull::<Line>::dangling().cast(), len: 0, room: 0, is_own: true }
    }
}

impl Stream {
    /// A stream in memory that somebody lends.
    ///
    /// # Safety
    ///
    /// The `room` bytes from `start` on are the stream's alone while it lives, and `start` is a multiple of 16.
    pub(super) unsafe fn lent(start: NonNull<u8>, room: usize) -> Self {
        Self { start, len: 0, room, is_own: false }
    }

    /// How many bytes are in it.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Whether nothing is in it.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Forgets what is in it.
    pub(crate) fn clear(&mut self) {
        self.len = 0;
    }

    /// Everything that is in it.
    pub(crate) fn as_slice(&self) -> &[u8] {
        // SAFETY: T1.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }

    /// Everything that is in it, to be written again.
    pub(crate) fn as_mut_slice(&mut self) -> &mut [u8] {
        // SAFETY: T1, and the stream is borrowed.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.len) }
    }

    /// Makes room for `more` bytes; false if there is none to be had.
    #[inline]
    pub(crate) fn make_room(&mut self, more: usize) -> bool {
        self.room - self.len >= more || self.grow(more)
    }

    #[cold]
    fn grow(&mut self, more: usize) -> bool {
        let Some(wanted) = self.len.checked_add(more) else { return false };
        if !self.is_own {
            return false;
        }
        let lines = self.room / size_of::<Line>();
        let used = self.len.div_ceil(size_of::<Line>());
        // SAFETY: T2; lines that may not have been written are no trouble, because nobody looks at them.
        let vector = unsafe { Vec::from_raw_parts(self.start.cast::<MaybeUninit<Line>>().as_ptr(), used, lines) };
        let mut vector = ManuallyDrop::new(vector);
        let wanted = wanted.max(2 * self.room).div_ceil(size_of::<Line>());
        let has_room = vector.try_reserve_exact(wanted - used).is_ok();
        self.start = NonNull::new(vector.as_mut_ptr().cast()).unwrap_or(self.start);
        self.room = vector.capacity() * size_of::<Line>();
        has_room
    }

    /// Appends bytes; false if there is no room to be had.
    #[inline]
    #[must_use = "what was not appended is lost"]
    pub(crate) fn push(&mut self, bytes: &[u8]) -> bool {
        if !self.make_room(bytes.len()) {
            return false;
        }
        // SAFETY: T1: there is room behind what was written.
        let end = unsafe { self.start.add(self.len) };
        // SAFETY: T1: nobody else writes there, and nobody can have a reference to it.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), end.as_ptr(), bytes.len()) };
        self.len += bytes.len();
        true
    }

    /// Appends words and then bytes, with up to 7 zeros behind them so that what follows lies on a multiple of 8.
    /// Everything before must have ended on one.
    #[inline]
    #[must_use = "what was not appended is lost"]
    pub(crate) fn push_record<const N: usize>(&mut self, words: [u64; N], bytes: &[u8]) -> bool {
        let head = size_of::<[u64; N]>();
        let Some(whole) = bytes.len().checked_next_multiple_of(8).and_then(|whole| whole.checked_add(head)) else {
            return false;
        };
        if !self.make_room(whole) {
            return false;
        }
        // SAFETY: T1: there is room behind what was written.
        let place = unsafe { self.start.add(self.len) };
        // SAFETY: T1: nobody else writes there.
        unsafe { place.cast::<[u64; N]>().write_unaligned(words.map(u64::to_le)) };
        // SAFETY: there is room for the words.
        let place = unsafe { place.add(head) };
        if let Ok(&word) = <&[u8; 8]>::try_from(bytes) {
            // SAFETY: T1, and eight bytes are what there is room for behind the words.
            unsafe { place.cast::<[u8; 8]>().write_unaligned(word) };
        } else if !bytes.is_empty() {
            // SAFETY: there is room for eight bytes that end where the record does.
            let last = unsafe { place.add(whole - head - 8) };
            // SAFETY: T1. The bytes come on top of these zeros.
            unsafe { last.cast::<u64>().write_unaligned(0) };
            // Not past the caches: whoever reads it mostly finds it there.
            // SAFETY: T1: nobody else writes there, and nobody can have a reference to it.
            unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), place.as_ptr(), bytes.len()) };
        }
        self.len += whole;
        true
    }

    /// Lets it begin anew in other memory.
    ///
    /// # Safety
    ///
    /// As [`lent`](Self::lent).
    pub(super) unsafe fn move_to(&mut self, start: NonNull<u8>, room: usize) {
        // SAFETY: the caller's promise is the same.
        *self = unsafe { Self::lent(start, room) };
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        if self.is_own {
            let lines = self.room / size_of::<Line>();
            // SAFETY: T2, and it is not used again. Lines need no care when they are dropped.
            drop(unsafe { Vec::from_raw_parts(self.start.cast::<Line>().as_ptr(), 0, lines) });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_keeps_what_was_appended_while_it_grows() {
        let mut stream = Stream::default();
        let mut expected = Vec::new();
        for round in 0..2000_u32 {
            let bytes = round.to_le_bytes();
            let count = round as usize % 5;
            assert!(stream.push_record([u64::from(round)], &bytes[..count.min(4)]));
            expected.extend_from_slice(&u64::from(round).to_le_bytes());
            expected.extend_from_slice(&bytes[..count.min(4)]);
            expected.resize(expected.len().next_multiple_of(8), 0);
        }
        assert_eq!(stream.as_slice(), expected);
        assert!(stream.as_slice().as_ptr().addr().is_multiple_of(16));
        stream.clear();
        assert!(stream.is_empty());
    }

    #[test]
    fn lent_memory_does_not_grow() {
        let mut memory = [Line([0; 16]); 2];
        // SAFETY: the memory is used by nobody else until the stream is dropped.
        let mut stream = unsafe { Stream::lent(NonNull::from(&mut memory).cast(), 32) };
        assert!(stream.push(&[1; 32]));
        assert!(!stream.push(&[2]));
        assert_eq!(stream.len(), 32);
    }
}
