//! Sleeping until a number in shared memory changes.

use std::{
    ptr::null,
    sync::atomic::{AtomicU32, Ordering},
    time::Duration,
};

/// Sleeps while `word` is `seen`, until somebody wakes those who do, and at most for `limit`.
pub(super) fn sleep(word: &AtomicU32, seen: u32, limit: Duration) {
    let limit = libc::timespec { tv_sec: limit.as_secs() as _, tv_nsec: limit.subsec_nanos().into() };
    // SAFETY: the word outlives the call, and the kernel only reads it.
    unsafe {
        libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAIT, seen, &raw const limit, null::<u32>(), 0)
    };
}

/// Wakes all who sleep on `word`.
pub(super) fn wake(word: &AtomicU32) {
    // SAFETY: the kernel takes the address only, to find who sleeps there.
    unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAKE, i32::MAX) };
}

/// A number that others wait for, and whether anybody sleeps until it changes.
#[repr(C)]
#[derive(Debug)]
pub(super) struct Count {
    number: AtomicU32,
    sleepers: AtomicU32,
}

/// How long a sleep lasts at most, in case somebody died before it could wake others.
const NAP: Duration = Duration::from_millis(50);

impl Count {
    pub(super) fn get(&self) -> u32 {
        self.number.load(Ordering::Acquire)
    }

    /// Sets it, and wakes those who sleep until it changes.
    #[inline]
    pub(super) fn set(&self, number: u32) {
        // A swap and not a store: it comes before the look at the sleepers, in the eyes of all. Who goes to sleep
        // counts itself first and looks at the number afterwards, so one of the two sees the other.
        self.number.swap(number, Ordering::SeqCst);
        if self.sleepers.load(Ordering::SeqCst) != 0 {
            wake(&self.number);
        }
    }

    /// Sleeps until it may have changed from `seen`.
    #[cold]
    pub(super) fn sleep(&self, seen: u32) {
        self.sleepers.fetch_add(1, Ordering::SeqCst);
        if self.number.load(Ordering::SeqCst) == seen {
            sleep(&self.number, seen, NAP);
        }
        self.sleepers.fetch_sub(1, Ordering::SeqCst);
    }

    /// Wakes those who sleep, though nothing has changed.
    pub(super) fn stir(&self) {
        wake(&self.number);
    }
}
