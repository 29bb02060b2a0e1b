//! Who may touch which range of a region now. The invariants are those of the [region](super).

use crate::{lock::lock, memory::Memory, plain::Plain};
use std::{
    cell::UnsafeCell,
    fmt,
    ops::Range,
    ptr::NonNull,
    sync::{
        Mutex, MutexGuard,
        atomic::{AtomicUsize, Ordering},
    },
};

#[derive(Default)]
pub(super) struct Borrows {
    pub(super) reads: Vec<Range<usize>>,
    pub(super) writes: Vec<Range<usize>>,
}

/// Set in `Core::state` while the region is open.
pub(super) const OPEN: usize = 1;
/// Added to `Core::state` by each borrow that stands.
const BORROW: usize = 2;

/// What owner and peers share of a region.
pub(super) struct Core<T> {
    /// M4.
    pub(super) memory: UnsafeCell<Memory<T>>,
    pub(super) len: usize,
    /// Whether it is open, and how many borrows stand: what the owner changes in every step takes no lock.
    pub(super) state: AtomicUsize,
    borrows: Mutex<Borrows>,
}

// SAFETY: who touches the memory when is ruled by M2, M3 and M4.
unsafe impl<T: Plain> Sync for Core<T> {}

impl<T> Core<T> {
    /// The core of a closed region of this memory.
    pub(super) fn new(memory: Memory<T>, len: usize) -> Self {
        Self { memory: UnsafeCell::new(memory), len, state: AtomicUsize::new(0), borrows: Mutex::default() }
    }

    #[inline]
    pub(super) fn start(&self) -> NonNull<T> {
        // SAFETY: M4: whoever asks holds the region or a borrow, and `swap` needs the region to itself.
        unsafe { (*self.memory.get()).start }
    }

    /// Counts one more borrow, if the region is open.
    pub(super) fn enter(&self) -> Result<(), Refused> {
        // The acquire pairs with the owner's release when it opened the region: what it wrote is visible.
        let count = |state: usize| (state & OPEN != 0).then_some(state + BORROW);
        self.state.fetch_update(Ordering::Acquire, Ordering::Relaxed, count).map(drop).map_err(|_| Refused::Closed)
    }

    /// Counts a borrow less; whatever was read under it has been read.
    pub(super) fn exit(&self) {
        self.state.fetch_sub(BORROW, Ordering::Release);
    }

    pub(super) fn borrows(&self) -> MutexGuard<'_, Borrows> {
        lock(&self.borrows)
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
    /// Another borrow overlaps the range.
    Borrowed,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bounds { len } => write!(f, "the range ends behind the region's {len} elements"),
            Self::Closed => write!(f, "the region is closed to peers"),
            Self::Borrowed => write!(f, "the range is in use"),
        }
    }
}

impl std::error::Error for Refused {}

/// A range that the owner writes to.
pub(super) struct WriteBorrow<'a, T> {
    core: &'a Core<T>,
    pub(super) range: Range<usize>,
}

impl<'a, T> WriteBorrow<'a, T> {
    /// It is not counted: only the owner closes the region, and it holds that exclusively while it writes.
    pub(super) fn take(core: &'a Core<T>, range: Range<usize>) -> Result<Self, Refused> {
        let mut borrows = core.borrows();
        if borrows.reads.iter().chain(&borrows.writes).any(|other| overlap(other, &range)) {
            return Err(Refused::Borrowed);
        }
        borrows.writes.push(range.clone());
        drop(borrows);
        Ok(Self { core, range })
    }
}

impl<T> Drop for WriteBorrow<'_, T> {
    fn drop(&mut self) {
        remove(&mut self.core.borrows().writes, &self.range);
    }
}

/// Whether an element lies in both; none lies in an empty range, wherever that is.
pub(super) fn overlap(a: &Range<usize>, b: &Range<usize>) -> bool {
    a.start.max(b.start) < a.end.min(b.end)
}

pub(super) fn remove(borrows: &mut Vec<Range<usize>>, range: &Range<usize>) {
    let at = borrows.iter().position(|other| other == range).expect("a borrow is given back once");
    borrows.swap_remove(at);
}
