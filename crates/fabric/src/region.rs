//! Memory that one processor owns and peers may read at agreed times.
//!
//! Arrays and areas live in a [`Region`]. Its owner works on it as a slice; a peer that shares the address space holds
//! a [`Reach`] and reads a range of it while the owner has it open. Every access by a peer, and every transfer into an
//! open region, first takes a claim on its range, so two of them that would race cannot both be granted: the layers
//! above keep the phases of a boundary apart, and a mistake there is an error here and never a data race.
//!
//! # Invariants
//!
//! - **M1** is that of [`memory`](crate::memory): all elements are there, and every pattern of bytes is a value.
//! - **M2** Only the owner writes, and only through `&mut Region`: either by the slice of `as_mut_slice`, after which
//!   the region is closed, or by `pull`, under a write claim.
//! - **M3** A peer reads only under a read claim. Read claims are granted only while the region is open and never
//!   overlap a write claim; a region is closed, and a write claim granted, only where no claim stands in the way.
//! - **M4** The memory under a region changes only in `swap`, through `&mut Region` and while the region is closed, so
//!   no claim stands and no slice is lent; a claim is granted on what opening the region has published.

use crate::memory::{Buffer, Common, Memory};
use std::{
    cell::UnsafeCell,
    fmt,
    ops::{Deref, Range},
    ptr::NonNull,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};

/// What arrays and areas hold: plain data, every byte pattern of which is a value.
///
/// Derive it for structs through [`bytemuck`]'s `Pod` and `Zeroable`.
pub trait Plain: bytemuck::Pod + Send + Sync {}
impl<T: bytemuck::Pod + Send + Sync> Plain for T {}

#[derive(Default)]
struct Claims {
    reads: Vec<Range<usize>>,
    writes: Vec<Range<usize>>,
}

/// Set in `Core::state` while the region is open.
const OPEN: usize = 1;
/// Added to `Core::state` by each claim that stands.
const CLAIM: usize = 2;

struct Core<T> {
    /// M4.
    memory: UnsafeCell<Memory<T>>,
    len: usize,
    /// Whether it is open, and how many claims stand: what the owner changes in every step takes no lock.
    state: AtomicUsize,
    claims: Mutex<Claims>,
}

// SAFETY: who touches the memory when is ruled by M2, M3 and M4.
unsafe impl<T: Plain> Sync for Core<T> {}

impl<T> Core<T> {
    /// The memory's first element.
    #[inline]
    fn start(&self) -> NonNull<T> {
        // SAFETY: M4: whoever asks holds the region or a claim, and `swap` needs the region to itself.
        unsafe { (*self.memory.get()).start }
    }

    /// Counts one more claim, if the region is open.
    fn enter(&self) -> Result<(), Refused> {
        // The acquire pairs with the owner's release when it opened the region: what it wrote is visible.
        let count = |state: usize| (state & OPEN != 0).then_some(state + CLAIM);
        self.state.fetch_update(Ordering::Acquire, Ordering::Relaxed, count).map(drop).map_err(|_| Refused::Closed)
    }

    /// Counts a claim less; whatever was read under it has been read.
    fn exit(&self) {
        self.state.fetch_sub(CLAIM, Ordering::Release);
    }

    /// The claims are consistent whatever panicked while they were held: each change to them is one push or remove.
    fn claims(&self) -> std::sync::MutexGuard<'_, Claims> {
        self.claims.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Why a range could not be read or written now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refused {
    /// The range ends behind the region.
    Bounds {
        /// The region's length.
        len: usize,
    },
    /// The owner is writing to the region.
    Closed,
    /// Another claim overlaps the range.
    Claimed,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bounds { len } => write!(f, "the range ends behind the region's {len} elements"),
            Self::Closed => write!(f, "the region is closed to peers"),
            Self::Claimed => write!(f, "the range is in use"),
        }
    }
}

impl std::error::Error for Refused {}

/// The owner's hold on a piece of plain memory.
///
/// ```
/// let mut mine = fabric::Region::<u32>::new(4);
/// mine.as_mut_slice()[1] = 7;
/// let peer = mine.reach();
/// assert!(peer.read(0..2).is_err());          // I may still be writing
/// mine.open();
/// assert_eq!(*peer.read(0..2).unwrap(), [0, 7]);
/// ```
pub struct Region<T> {
    core: Arc<Core<T>>,
    /// The owner's own copy of whether it is open, so that a slice costs nothing while it is not.
    open: bool,
}

impl<T: Plain> Region<T> {
    /// Makes a region of `len` zeros, aligned to cache lines and as its elements ask for, on huge pages where it is
    /// large and the system has them.
    ///
    /// # Panics
    ///
    /// If the system has no such memory; [`try_new`](Self::try_new) says so.
    pub fn new(len: usize) -> Self {
        let none = || panic!("the system has no memory for {len} elements of {} bytes", size_of::<T>());
        Self::try_new(len).unwrap_or_else(none)
    }

    /// Makes a region like [`new`](Self::new); `None` where the system has no such memory.
    pub fn try_new(len: usize) -> Option<Self> {
        let memory = UnsafeCell::new(Memory::zeroed(len)?);
        let core = Core { memory, len, state: AtomicUsize::new(0), claims: Mutex::default() };
        Some(Self { core: Arc::new(core), open: false })
    }

    /// Makes a region of part number `number` of what several owners have in common; `None` where there is no such
    /// part, it is not as long, or it was taken before.
    pub fn part_of(common: &Arc<Common<T>>, number: usize, len: usize) -> Option<Self> {
        let memory = UnsafeCell::new(Memory::part(common, number, len)?);
        let core = Core { memory, len, state: AtomicUsize::new(0), claims: Mutex::default() };
        Some(Self { core: Arc::new(core), open: false })
    }

    /// Puts `buffer`, which has to be as long, in the place of the region's memory, and that into `buffer`. Closes the
    /// region to peers; those that reach it see the new memory when it is open again.
    ///
    /// # Panics
    ///
    /// If the lengths differ, or if a peer holds a claim. The phases of a boundary exclude that.
    pub fn swap(&mut self, buffer: &mut Buffer<T>) {
        assert_eq!(self.len(), buffer.as_slice().len(), "memory of another length was to take a region's place");
        if self.open {
            self.close();
        }
        // SAFETY: M4: the region is closed, no claim stands, and `self` is borrowed exclusively, so is nothing of it.
        let memory = unsafe { &mut *self.core.memory.get() };
        std::mem::swap(memory, &mut buffer.0);
    }

    /// How many elements it has.
    pub fn len(&self) -> usize {
        self.core.len
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The whole region, for reading.
    #[inline]
    pub fn as_slice(&self) -> &[T] {
        // SAFETY: M1; by M2 nobody writes while `self` is borrowed.
        unsafe { std::slice::from_raw_parts(self.core.start().as_ptr(), self.core.len) }
    }

    /// The whole region, for writing. Closes it to peers.
    ///
    /// # Panics
    ///
    /// If a peer holds a claim. The phases of a boundary exclude that.
    #[inline]
    pub fn as_mut_slice(&mut self) -> &mut [T] {
        if self.open {
            self.close();
        }
        // SAFETY: M1; by M3 no peer reads while the region is closed, and `self` is borrowed for the slice's lifetime.
        unsafe { std::slice::from_raw_parts_mut(self.core.start().as_ptr(), self.core.len) }
    }

    #[cold]
    fn close(&mut self) {
        let closed = self.core.state.compare_exchange(OPEN, 0, Ordering::Acquire, Ordering::Relaxed);
        assert!(closed.is_ok(), "a region was closed while a peer was reading it");
        self.open = false;
    }

    /// Lets peers read, until the next `as_mut_slice`.
    #[inline]
    pub fn open(&mut self) {
        if !self.open {
            self.core.state.store(OPEN, Ordering::Release);
            self.open = true;
        }
    }

    /// What a peer needs to read this region.
    pub fn reach(&self) -> Reach<T> {
        Reach { core: Arc::clone(&self.core) }
    }

    /// Copies `range` of a peer's region, or of this one, to the place that starts at `at`, with no stop in between.
    ///
    /// Both regions stay open: peers may read other ranges of them meanwhile.
    pub fn pull(&mut self, at: usize, source: &Reach<T>, range: Range<usize>) -> Result<(), Refused> {
        let len = self.len();
        let end = at.checked_add(range.len()).filter(|&end| end <= len).ok_or(Refused::Bounds { len })?;
        let data = source.read(range)?;
        self.write_to(at..end, &data)
    }

    /// Copies `values` to the place that starts at `at`, like [`pull`](Self::pull).
    pub fn write(&mut self, at: usize, values: &[T]) -> Result<(), Refused> {
        let len = self.len();
        let end = at.checked_add(values.len()).filter(|&end| end <= len).ok_or(Refused::Bounds { len })?;
        self.write_to(at..end, values)
    }

    /// Copies `data` to `range`, which lies in the region and is as long.
    fn write_to(&mut self, range: Range<usize>, data: &[T]) -> Result<(), Refused> {
        let claim = WriteClaim::take(&self.core, range)?;
        // SAFETY: the range lies in the region.
        let target = unsafe { self.core.start().add(claim.range.start) };
        // SAFETY: `data` is readable, by a borrow or by its claim; `target` is writable by its own (M2, M3); and
        // nothing readable overlaps a write claim.
        unsafe { std::ptr::copy_nonoverlapping(data.as_ptr(), target.as_ptr(), data.len()) };
        drop(claim);
        Ok(())
    }
}

impl<T> fmt::Debug for Region<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Region({} elements)", self.core.len)
    }
}

struct WriteClaim<'a, T> {
    core: &'a Core<T>,
    range: Range<usize>,
}

impl<'a, T> WriteClaim<'a, T> {
    /// It is not counted: only the owner closes the region, and it holds that exclusively while it writes.
    fn take(core: &'a Core<T>, range: Range<usize>) -> Result<Self, Refused> {
        let mut claims = core.claims();
        if claims.reads.iter().chain(&claims.writes).any(|other| overlap(other, &range)) {
            return Err(Refused::Claimed);
        }
        claims.writes.push(range.clone());
        drop(claims);
        Ok(Self { core, range })
    }
}

impl<T> Drop for WriteClaim<'_, T> {
    fn drop(&mut self) {
        remove(&mut self.core.claims().writes, &self.range);
    }
}

/// Whether an element lies in both; none lies in an empty range, wherever that is.
fn overlap(a: &Range<usize>, b: &Range<usize>) -> bool {
    a.start.max(b.start) < a.end.min(b.end)
}

fn remove(claims: &mut Vec<Range<usize>>, range: &Range<usize>) {
    let at = claims.iter().position(|other| other == range).expect("a claim is given back once");
    claims.swap_remove(at);
}

/// A peer's way to read a [`Region`] that somebody else owns.
pub struct Reach<T> {
    core: Arc<Core<T>>,
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
        let mut claims = self.core.claims();
        if claims.writes.iter().any(|other| overlap(other, &range)) {
            drop(claims);
            self.core.exit();
            return Err(Refused::Claimed);
        }
        claims.reads.push(range.clone());
        drop(claims);
        Ok(Loan { core: &self.core, range })
    }
}

/// All parts of what several owners have in common, readable as one until this is dropped.
pub struct Flat<'a, T> {
    /// The claims on all parts.
    _loans: Vec<Loan<'a, T>>,
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
        let mut loans = Vec::with_capacity(reaches.len());
        for reach in reaches {
            let Some(reach) = reach else { return Ok(None) };
            loans.push(reach.read(0..reach.len())?);
        }
        // SAFETY: M4: the claim on the first part stands, so its memory is what it is.
        let memory = unsafe { &*first.core.memory.get() };
        let Some((start, len, stride)) = memory.common().map(|common| common.layout()) else { return Ok(None) };
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
        // SAFETY: M1. By M3 nobody writes to any part while the claims on all of them stand, and nobody ever writes to
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
        // SAFETY: the claim was granted for a range inside the region.
        let start = unsafe { self.core.start().add(self.range.start) };
        // SAFETY: M1, and by M3 nobody writes to the range while the claim stands.
        unsafe { std::slice::from_raw_parts(start.as_ptr(), self.range.len()) }
    }
}

impl<T> Drop for Loan<'_, T> {
    fn drop(&mut self) {
        remove(&mut self.core.claims().reads, &self.range);
        self.core.exit();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::{HUGE, LINE};

    #[test]
    fn a_region_starts_as_zeros_on_its_own_cache_lines() {
        for len in [0, 1, 1000, HUGE / 8 + 1] {
            let region = Region::<u64>::new(len);
            assert_eq!(region.len(), len);
            assert!(region.as_slice().iter().all(|&x| x == 0));
            assert!(len == 0 || region.as_slice().as_ptr().addr().is_multiple_of(LINE));
        }
    }

    #[test]
    fn a_swapped_region_shows_its_new_memory_to_those_who_reach_it() {
        let mut region = Region::<u16>::new(3);
        let peer = region.reach();
        region.open();
        assert_eq!(*peer.read(0..3).unwrap(), [0, 0, 0]);
        let mut buffer = Buffer::new(3).unwrap();
        buffer.as_mut_slice().copy_from_slice(&[1, 2, 3]);
        region.swap(&mut buffer);
        assert_eq!(peer.read(0..1).err(), Some(Refused::Closed));
        region.open();
        assert_eq!(*peer.read(0..3).unwrap(), [1, 2, 3]);
        assert_eq!(buffer.as_slice(), [0, 0, 0]);
    }

    #[test]
    #[should_panic(expected = "while a peer was reading")]
    fn a_region_cannot_be_swapped_under_a_reader() {
        let mut region = Region::<u8>::new(4);
        region.open();
        let peer = region.reach();
        let _loan = peer.read(0..1).unwrap();
        region.swap(&mut Buffer::new(4).unwrap());
    }

    #[test]
    fn memory_that_does_not_exist_is_not_given() {
        assert!(Region::<u64>::try_new(usize::MAX).is_none());
        assert!(Buffer::<u8>::new(isize::MAX as usize).is_none());
    }

    #[test]
    fn a_closed_region_lends_nothing() {
        let mut region = Region::<u8>::new(4);
        let peer = region.reach();
        region.open();
        region.as_mut_slice()[0] = 1;
        assert_eq!(peer.read(0..1).err(), Some(Refused::Closed));
        region.open();
        assert_eq!(peer.read(0..1).unwrap()[0], 1);
    }

    #[test]
    #[should_panic(expected = "while a peer was reading")]
    fn a_region_cannot_be_closed_under_a_reader() {
        let mut region = Region::<u8>::new(4);
        region.open();
        let peer = region.reach();
        let _loan = peer.read(0..1).unwrap();
        region.as_mut_slice();
    }

    #[test]
    fn a_pull_copies_between_disjoint_ranges_and_refuses_overlap() {
        let mut region = Region::<u16>::new(4);
        region.as_mut_slice().copy_from_slice(&[1, 2, 3, 4]);
        region.open();
        let peer = region.reach();
        region.pull(2, &peer, 0..2).unwrap();
        assert_eq!(region.as_slice(), [1, 2, 1, 2]);
        assert_eq!(region.pull(1, &peer, 0..2), Err(Refused::Claimed));
        assert_eq!(region.pull(3, &peer, 0..2), Err(Refused::Bounds { len: 4 }));
        assert_eq!(region.as_slice(), [1, 2, 1, 2]);
    }

    #[test]
    fn an_empty_range_is_in_nobodys_way() {
        assert!(!overlap(&(2..2), &(0..4)));
        assert!(!overlap(&(0..4), &(2..2)));
        assert!(!overlap(&(2..2), &(2..2)));
        let mut region = Region::<u16>::new(4);
        region.open();
        let peer = region.reach();
        let _loan = peer.read(0..4).unwrap();
        region.pull(2, &peer, 1..1).unwrap();
    }

    #[test]
    fn ranges_outside_are_refused_even_where_they_wrap() {
        let mut region = Region::<u16>::new(4);
        region.open();
        let peer = region.reach();
        assert_eq!(peer.read(3..5).err(), Some(Refused::Bounds { len: 4 }));
        assert_eq!(region.pull(usize::MAX, &peer, 0..2), Err(Refused::Bounds { len: 4 }));
    }
}
