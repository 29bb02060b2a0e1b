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
pub(super) struct Shared {
    start: NonNull<u8>,
    len: usize,
}

// SAFETY: it is an address range; what can be reached through it safely are atomics (S2).
unsafe impl Send for Shared {}
// SAFETY: as above.
unsafe impl Sync for Shared {}

/// Where mappings begin, at the least.
const PAGE: usize = 4096;

/// A type of which all processes may have a reference at once, and for which zeros are a value.
///
/// # Safety
///
/// It is made of atomics alone.
pub(super) unsafe trait Common {}

impl Shared {
    /// Maps up to `most` bytes, at least `least`. Memory is taken only where it is written to.
    pub(super) fn map(least: usize, most: usize) -> io::Result<Self> {
        let mut len = most.max(least);
        loop {
            let (read_write, flags) =
                (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE);
            // SAFETY: it asks for new memory and touches none that is there.
            let start = unsafe { libc::mmap(std::ptr::null_mut(), len, read_write, flags, -1, 0) };
            if start != libc::MAP_FAILED {
                // A process that crashes would else write out all of it, page by page.
                // SAFETY: the range was mapped just now. Advice that is not taken does no harm.
                unsafe { libc::madvise(start, len, libc::MADV_DONTDUMP) };
                let start = NonNull::new(start.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
                return Ok(Self { start, len });
            }
            if len == least {
                return Err(io::Error::last_os_error());
            }
            len = (len / 2).max(least);
        }
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// What lies `at` so many bytes from the beginning.
    ///
    /// # Panics
    ///
    /// If it would not lie wholly inside, or not as its type asks for.
    pub(super) fn get<T: Common>(&self, at: usize) -> &T {
        const { assert!(align_of::<T>() <= PAGE, "a mapping begins on a page, and on nothing wider") }
        assert!(at.is_multiple_of(align_of::<T>()) && at + size_of::<T>() <= self.len);
        // SAFETY: S1, and the line above keeps it inside; the mapping begins on a page.
        let place = unsafe { self.start.add(at) };
        // SAFETY: S2; the reference ends before the mapping does.
        unsafe { place.cast::<T>().as_ref() }
    }

    /// The bytes from `at` on, `len` of them.
    pub(super) fn range(&self, at: usize, len: usize) -> NonNull<u8> {
        assert!(at <= self.len && len <= self.len - at);
        // SAFETY: S1, and the line above keeps it inside.
        unsafe { self.start.add(at) }
    }

    /// Whether these bytes lie inside.
    pub(super) fn holds(&self, address: usize, len: usize) -> bool {
        let start = self.start.addr().get();
        address >= start && len <= self.len && address - start <= self.len - len
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        // SAFETY: S1: it is ours, and all references to it have ended.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.len) };
    }
}
