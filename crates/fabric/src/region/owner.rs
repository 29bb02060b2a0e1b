//! A region as its owner has it. The invariants are those of the [region](super).

use super::{
    borrows::{Core, OPEN, Refused, WriteBorrow},
    reach::Reach,
};
use crate::{
    memory::{Buffer, Memory, PartedMemory},
    plain::Plain,
};
use std::{
    fmt,
    ops::Range,
    sync::{Arc, atomic::Ordering},
};

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
        Some(Self { core: Arc::new(Core::new(Memory::zeroed(len)?, len)), open: false })
    }

    /// Makes a region of part number `number` of what several owners have in common; `None` where there is no such
    /// part, it is not as long, or it was taken before.
    pub fn part_of(common: &Arc<PartedMemory<T>>, number: usize, len: usize) -> Option<Self> {
        Some(Self { core: Arc::new(Core::new(Memory::part(common, number, len)?, len)), open: false })
    }

    /// Puts `buffer`, which has to be as long, in the place of the region's memory, and that into `buffer`. Closes the
    /// region to peers; those that reach it see the new memory when it is open again.
    ///
    /// # Panics
    ///
    /// If the lengths differ, or if a peer holds a borrow. The phases of a boundary exclude that.
    pub fn swap(&mut self, buffer: &mut Buffer<T>) {
        assert_eq!(self.len(), buffer.as_slice().len(), "memory of another length was to take a region's place");
        if self.open {
            self.close();
        }
        // SAFETY: M4: the region is closed, no borrow stands, and `self` is borrowed exclusively, so is nothing of it.
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
    /// If a peer holds a borrow. The phases of a boundary exclude that.
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
        let borrow = WriteBorrow::take(&self.core, range)?;
        // SAFETY: the range lies in the region.
        let target = unsafe { self.core.start().add(borrow.range.start) };
        // SAFETY: `data` is readable, by a borrow or by its borrow; `target` is writable by its own (M2, M3); and
        // nothing readable overlaps a write borrow.
        unsafe { std::ptr::copy_nonoverlapping(data.as_ptr(), target.as_ptr(), data.len()) };
        drop(borrow);
        Ok(())
    }
}

impl<T> fmt::Debug for Region<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Region({} elements)", self.core.len)
    }
}
