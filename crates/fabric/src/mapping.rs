//! Memory that processes have in common: mapped before they part, and at the same address in all of them.
//!
//! # Invariants
//!
//! - **S1** `start` is the beginning of `len` mapped bytes, which stay mapped while the value lives, and nobody else
//!   unmaps them.
//! - **S2** Whatever is placed in it is made of atomics alone, for which zeros are a value: the system hands out zeros,
//!   and every access of every process is one of an atomic.

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
            match system::map(len) {
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
        unsafe { system::unmap(self.start, self.len) };
    }
}

#[cfg(not(miri))]
mod system {
    use std::{io, ptr::NonNull};

    /// New memory of so many bytes, all of them zeros.
    pub(super) fn map(len: usize) -> io::Result<NonNull<u8>> {
        let (read_write, flags) =
            (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE);
        // SAFETY: it asks for new memory and touches none that is there.
        let start = unsafe { libc::mmap(std::ptr::null_mut(), len, read_write, flags, -1, 0) };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        // Otherwise a crash would write all of it to a core file.
        // SAFETY: the range was mapped just now. Advice that is not taken does no harm.
        unsafe { libc::madvise(start, len, libc::MADV_DONTDUMP) };
        NonNull::new(start.cast()).ok_or_else(|| io::ErrorKind::OutOfMemory.into())
    }

    /// Gives memory back.
    ///
    /// # Safety
    ///
    /// It was mapped with this length, and nobody uses it any more.
    pub(super) unsafe fn unmap(start: NonNull<u8>, len: usize) {
        // SAFETY: the caller's promise.
        unsafe { libc::munmap(start.as_ptr().cast(), len) };
    }
}

/// Miri forks no processes: the heap is all that can be shared there.
#[cfg(miri)]
mod system {
    use std::{alloc, io, ptr::NonNull};

    fn layout(len: usize) -> alloc::Layout {
        alloc::Layout::from_size_align(len, super::PAGE).expect("a mapping fits into memory")
    }

    /// New memory of so many bytes, all of them zeros.
    pub(super) fn map(len: usize) -> io::Result<NonNull<u8>> {
        // SAFETY: a mapping is not empty.
        NonNull::new(unsafe { alloc::alloc_zeroed(layout(len)) }).ok_or_else(|| io::ErrorKind::OutOfMemory.into())
    }

    /// Gives memory back.
    ///
    /// # Safety
    ///
    /// It was mapped with this length, and nobody uses it any more.
    pub(super) unsafe fn unmap(start: NonNull<u8>, len: usize) {
        // SAFETY: the caller's promise.
        unsafe { alloc::dealloc(start.as_ptr(), layout(len)) };
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
        assert!(!mapping.holds(start, usize::MAX) && !mapping.holds(usize::MAX, 2) && !mapping.holds(start - 1, 1));
    }
}
