//! Memory that processes have in common: mapped before they part, and at the same address in all of them.
//!
//! # Invariants
//!
//! - **S1** `start` is the beginning of `len` mapped bytes, which stay mapped while the value lives, and nobody else
//!   unmaps them.
//! - **S2** Whatever is placed in it is made of atomics alone, for which zeros are a value: the system hands out zeros,
//!   and every access of every process is one of an atomic.

use crate::system;
use std::{io, ptr::NonNull};

/// A stretch of memory that a process shares with those that it forks later.
#[derive(Debug)]
pub struct Mapping {
    start: NonNull<u8>,
    len: usize,
}

// SAFETY: it is an address range; what can be reached through it safely are atomics (S2).
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

/// Where mappings begin, at the least.
const PAGE: usize = 4096;

/// A type of which all processes may have a reference at once, and for which zeros are a value.
///
/// # Safety
///
/// It is made of atomics alone.
pub unsafe trait Mappable {}

impl Mapping {
    /// Maps up to `most` bytes, at least `least`. Memory is taken only where it is written to.
    pub(super) fn map(least: usize, most: usize) -> io::Result<Self> {
        let mut len = most.max(least);
        loop {
            match system::map_shared(len) {
                Ok(start) => return Ok(Self { start, len }),
                Err(why) if len == least => return Err(why),
                Err(_) => len = (len / 2).max(least),
            }
        }
    }

    /// How many bytes there are.
    #[expect(clippy::len_without_is_empty, reason = "there is no empty mapping")]
    pub fn len(&self) -> usize {
        self.len
    }

    /// The value that lies `at` so many bytes from the beginning.
    ///
    /// # Panics
    ///
    /// If it would not lie wholly inside, or not as its type asks for.
    pub fn get<T: Mappable>(&self, at: usize) -> &T {
        const { assert!(align_of::<T>() <= PAGE, "a mapping begins on a page, and on nothing wider") }
        assert!(at.is_multiple_of(align_of::<T>()) && at <= self.len && size_of::<T>() <= self.len - at);
        // SAFETY: S1, and the line above keeps it inside; the mapping begins on a page.
        let place = unsafe { self.start.add(at) };
        // SAFETY: S2; the reference ends before the mapping does.
        unsafe { place.cast::<T>().as_ref() }
    }

    /// The bytes from `at` on, `len` of them.
    ///
    /// # Panics
    ///
    /// If they do not all lie inside.
    pub fn range(&self, at: usize, len: usize) -> NonNull<u8> {
        assert!(at <= self.len && len <= self.len - at);
        // SAFETY: S1, and the line above keeps it inside.
        unsafe { self.start.add(at) }
    }

    /// Whether these bytes lie inside.
    pub fn holds(&self, address: usize, len: usize) -> bool {
        let start = self.start.addr().get();
        address >= start && len <= self.len && address - start <= self.len - len
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: S1: it is ours, and all references to it have ended.
        unsafe { system::unmap_shared(self.start, self.len) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{
        panic::{AssertUnwindSafe, catch_unwind},
        sync::atomic::{AtomicU32, Ordering},
    };

    // SAFETY: an atomic alone.
    unsafe impl Mappable for AtomicU32 {}

    #[test]
    #[cfg_attr(miri, ignore = "Miri has no limit that it says")]
    fn as_much_is_mapped_as_was_asked_for_and_never_less_than_the_least() {
        assert_eq!(Mapping::map(2 * PAGE, PAGE).unwrap().len(), 2 * PAGE);
        assert_eq!(Mapping::map(PAGE, 3 * PAGE).unwrap().len(), 3 * PAGE);
        // Half as much is asked for again and again, where there are not so many addresses.
        let most = Mapping::map(PAGE, 1 << 48).unwrap().len();
        assert!((PAGE..1 << 48).contains(&most), "{most}");
        // No machine has addresses for so much.
        assert!(Mapping::map(usize::MAX / 4, usize::MAX - PAGE).is_err());
    }

    #[test]
    fn what_does_not_lie_wholly_inside_is_refused() {
        let mapping = Mapping::map(PAGE, PAGE).unwrap();
        mapping.get::<AtomicU32>(PAGE - 4).store(7, Ordering::Relaxed);
        assert_eq!(mapping.get::<AtomicU32>(PAGE - 4).load(Ordering::Relaxed), 7);
        for at in [1, PAGE - 2, PAGE, PAGE + 4, usize::MAX - 3, usize::MAX] {
            let got = catch_unwind(AssertUnwindSafe(|| mapping.get::<AtomicU32>(at).load(Ordering::Relaxed)));
            assert!(got.is_err(), "{at}");
        }
        for (at, len) in [(PAGE + 1, 0), (1, PAGE), (PAGE, 1), (usize::MAX, 2), (2, usize::MAX)] {
            assert!(catch_unwind(AssertUnwindSafe(|| mapping.range(at, len))).is_err(), "{len} from {at}");
        }
        let start = mapping.range(0, PAGE).addr().get();
        assert!(mapping.holds(start, PAGE) && mapping.holds(start + PAGE, 0));
        assert!(!mapping.holds(start + 1, PAGE) && !mapping.holds(start + PAGE, 1));
        assert!(!mapping.holds(start, usize::MAX) && !mapping.holds(usize::MAX, 2) && !mapping.holds(start - 1, 1));
    }
}
