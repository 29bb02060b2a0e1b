//! A region as its peers see it. The invariants are those of the [region](super).

use super::borrows::{Core, Refused, overlap, remove};
use crate::plain::Plain;
use std::{
    fmt,
    ops::{Deref, Range},
    ptr::NonNull,
    sync::Arc,
};

/// A peer's way to read a [`Region`](super::Region) that somebody else owns.
pub struct Reach<T> {
    pub(super) core: Arc<Core<T>>,
}

impl<T: Plain> Reach<T> {
    /// How many elements the region has.
    pub fn len(&self) -> usize {
        self.core.len
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Lends `range` for reading, if the owner has the region open.
    pub fn read(&self, range: Range<usize>) -> Result<Loan<'_, T>, Refused> {
        let len = self.len();
        if range.start > range.end || range.end > len {
            return Err(Refused::Bounds { len });
        }
        self.core.enter()?;
        let mut borrows = self.core.borrows();
        if borrows.writes.iter().any(|other| overlap(other, &range)) {
            drop(borrows);
            self.core.exit();
            return Err(Refused::Borrowed);
        }
        borrows.reads.push(range.clone());
        drop(borrows);
        Ok(Loan { core: &self.core, range })
    }
}

/// So many borrows need no list.
const FEW: usize = 8;

/// All parts of what several owners have in common, readable as one until this is dropped.
pub struct Flat<'a, T> {
    /// The borrows on the first parts, for which nothing is allocated, and on the others.
    _loans: ([Option<Loan<'a, T>>; FEW], Vec<Loan<'a, T>>),
    start: NonNull<T>,
    len: usize,
}

impl<'a, T: Plain> Flat<'a, T> {
    /// Lends all parts, if these are all of them in their order, and all are still where they were made.
    ///
    /// # Errors
    ///
    /// If one of them is not to be had now.
    pub fn of(reaches: &'a [Option<Reach<T>>]) -> Result<Option<Self>, Refused> {
        let Some(Some(first)) = reaches.first() else { return Ok(None) };
        let mut loans = ([const { None }; FEW], Vec::new());
        for (number, reach) in reaches.iter().enumerate() {
            let Some(reach) = reach else { return Ok(None) };
            let loan = reach.read(0..reach.len())?;
            match loans.0.get_mut(number) {
                Some(first) => *first = Some(loan),
                None => loans.1.push(loan),
            }
        }
        // SAFETY: M4: the borrow on the first part stands, so its memory is what it is.
        let memory = unsafe { &*first.core.memory.get() };
        let Some(common) = memory.common() else { return Ok(None) };
        let (start, len, stride) = (common.memory.start, common.memory.len, common.stride());
        let is_there = |(number, reach): (usize, &Option<Reach<T>>)| {
            let place = start.as_ptr().wrapping_add(number * stride);
            reach.as_ref().is_some_and(|reach| std::ptr::eq(reach.core.start().as_ptr(), place))
        };
        let is_whole = reaches.len() * stride == len && reaches.iter().enumerate().all(is_there);
        Ok(is_whole.then_some(Self { _loans: loans, start, len }))
    }
}

impl<T: Plain> Deref for Flat<'_, T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        // SAFETY: M1. By M3 nobody writes to any part while the borrows on all of them stand, and nobody ever writes to
        // what lies between them.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }
}

impl<T> Clone for Reach<T> {
    fn clone(&self) -> Self {
        Self { core: Arc::clone(&self.core) }
    }
}

impl<T> fmt::Debug for Reach<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Reach({} elements)", self.core.len)
    }
}

/// A range of a peer's region, readable until this is dropped.
pub struct Loan<'a, T> {
    core: &'a Core<T>,
    range: Range<usize>,
}

impl<T: Plain> Deref for Loan<'_, T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        // SAFETY: the borrow was granted for a range inside the region.
        let start = unsafe { self.core.start().add(self.range.start) };
        // SAFETY: M1, and by M3 nobody writes to the range while the borrow stands.
        unsafe { std::slice::from_raw_parts(start.as_ptr(), self.range.len()) }
    }
}

impl<T> Drop for Loan<'_, T> {
    fn drop(&mut self) {
        remove(&mut self.core.borrows().reads, &self.range);
        self.core.exit();
    }
}
