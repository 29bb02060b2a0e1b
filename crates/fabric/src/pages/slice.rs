//! Slices of pages, lent to the processor that has them. The invariants are those of the [pages](super).

use super::{
    entry::{EXCLUSIVE, Entry},
    table::Pages,
};
use crate::plain::Plain;
use std::{
    cell::Cell,
    fmt,
    ops::{Deref, DerefMut, Range},
    ptr::NonNull,
};

/// Elements that follow each other, lent to the processor that has them, for reading.
pub struct Slice<'a, T> {
    entries: &'a [Entry<T>],
    count: &'a Cell<usize>,
    start: NonNull<T>,
    len: usize,
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
pub struct SliceMut<'a, T>(Slice<'a, T>);

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

impl<T: Plain> Pages<T> {
    /// Whether any slice of any page is lent to this processor.
    pub fn has_slices(&self) -> bool {
        self.store.slices.get() > 0
    }

    /// Whether a slice of this page is.
    pub fn has_slice(&self, page: usize) -> bool {
        self.table.get(page).is_some_and(|entry| entry.slices.get() > 0)
    }

    /// The pages that `len` elements from an offset of `page` on lie in, if these follow each other in memory.
    #[inline]
    fn run(&self, page: usize, offset: usize, len: usize) -> Option<(Range<usize>, *mut T)> {
        let (_, start) = self.place(page, &(offset..offset))?;
        if len <= self.room(page) - offset { Some((page..page + 1, start)) } else { self.long_run(page, offset, len) }
    }

    /// The same through several pages.
    fn long_run(&self, page: usize, offset: usize, len: usize) -> Option<(Range<usize>, *mut T)> {
        let (_, start) = self.place(page, &(offset..offset))?;
        let (mut last, mut left) = (page, len.saturating_sub(self.room(page) - offset));
        while left > 0 {
            let (_, behind) = self.place(last, &(self.room(last)..self.room(last)))?;
            let line_ends = (last + 1).is_multiple_of(self.store.lines.numbers) || self.room(last + 1) == 0;
            last = if line_ends { (last / self.store.lines.numbers + 1) * self.store.lines.numbers } else { last + 1 };
            let (_, next) = self.place(last, &(0..0))?;
            // Pages that have memory of their own may touch others by chance.
            let added = self.store.added.borrow();
            if next != behind || added.contains_key(&page) || added.contains_key(&last) {
                return None;
            }
            left = left.saturating_sub(self.room(last));
        }
        Some((page..last + 1, start))
    }

    /// Lends this processor `len` elements for reading, from an offset of a page on and through the pages of its line
    /// and those behind it; `None` where they do not follow each other in memory or are lent for writing.
    #[inline]
    pub fn slice(&self, page: usize, offset: usize, len: usize) -> Option<Slice<'_, T>> {
        let (pages, start) = self.run(page, offset, len)?;
        let entries = &self.table[pages];
        if entries.iter().any(|entry| entry.slices.get() >= EXCLUSIVE - 1) {
            return None;
        }
        for entry in entries {
            entry.slices.set(entry.slices.get() + 1);
            entry.close_to_writes();
        }
        self.store.slices.set(self.store.slices.get() + 1);
        Some(Slice { entries, count: &self.store.slices, start: NonNull::new(start)?, len })
    }

    /// Lends this processor `len` elements for writing, like [`slice`](Self::slice); `None` while any of these pages is
    /// lent. They are not noted.
    #[inline]
    pub fn slice_mut(&self, page: usize, offset: usize, len: usize) -> Option<SliceMut<'_, T>> {
        let (pages, start) = self.run(page, offset, len)?;
        let entries = &self.table[pages];
        if entries.iter().any(|entry| entry.slices.get() > 0 || entry.lent.get() > 0) {
            return None;
        }
        for entry in entries {
            entry.slices.set(EXCLUSIVE);
            entry.close_to_writes();
            entry.close_to_reads();
        }
        self.store.slices.set(self.store.slices.get() + 1);
        Some(SliceMut(Slice { entries, count: &self.store.slices, start: NonNull::new(start)?, len }))
    }
}
