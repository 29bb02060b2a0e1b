//! What is lent of pages: slices to the processor that has them, runs to its peers.
//!
//! The invariants are those of the [pages](super).

use super::{EXCLUSIVE, Entry};
use crate::{memory::Memory, region::Plain};
use std::{
    cell::Cell,
    fmt,
    ops::{Deref, DerefMut},
    ptr::NonNull,
    sync::Arc,
};

/// Elements that follow each other, lent to the processor that has them, for reading.
pub struct Slice<'a, T> {
    pub(super) entries: &'a [Entry<T>],
    pub(super) count: &'a Cell<usize>,
    pub(super) start: NonNull<T>,
    pub(super) len: usize,
}

impl<T> Deref for Slice<'_, T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        // SAFETY: G1, M1: the pages lie one behind the other and have room for it; G2: nothing writes to them now.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }
}

impl<T> Drop for Slice<'_, T> {
    #[inline]
    fn drop(&mut self) {
        for entry in self.entries {
            let slices = entry.slices.get();
            entry.slices.set(if slices == EXCLUSIVE { 0 } else { slices - 1 });
            entry.refresh();
        }
        self.count.set(self.count.get() - 1);
    }
}

impl<T> fmt::Debug for Slice<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Slice({} elements)", self.len)
    }
}

/// Elements that follow each other, lent to the processor that has them, for writing.
pub struct SliceMut<'a, T>(pub(super) Slice<'a, T>);

impl<T> Deref for SliceMut<'_, T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<T> DerefMut for SliceMut<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: G1, M1 as for a slice that reads; G2, G3: nothing else reads or writes these pages meanwhile.
        unsafe { std::slice::from_raw_parts_mut(self.0.start.as_ptr(), self.0.len) }
    }
}

impl<T> fmt::Debug for SliceMut<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SliceMut({} elements)", self.0.len)
    }
}

/// Runs of elements that another processor has lent to this one, readable until it is dropped.
pub struct Lent<T> {
    pub(super) runs: Vec<(NonNull<T>, usize)>,
    /// G3.
    pub(super) _memory: Arc<Memory<T>>,
}

// SAFETY: G3: it only reads plain data, which stays where it is and as it is.
unsafe impl<T: Plain> Send for Lent<T> {}

impl<T: Plain> Lent<T> {
    /// All runs, in the order in which they were named.
    pub fn runs(&self) -> impl Iterator<Item = &[T]> {
        // SAFETY: G1, M1: each was checked when it was lent; G3: the memory is kept and nobody writes to it.
        self.runs.iter().map(|&(start, len)| unsafe { std::slice::from_raw_parts(start.as_ptr(), len) })
    }
}

impl<T> fmt::Debug for Lent<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Lent({} runs)", self.runs.len())
    }
}
