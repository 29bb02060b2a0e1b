//! Sleeping until a number in shared memory changes.

use crate::threads::sync::{AtomicU32, Ordering, fence};
use std::{sync::atomic::compiler_fence, time::Duration};
use system::{sleep, wake};

#[cfg(not(any(loom, shuttle)))]
mod system {
    use std::{ptr::null, sync::atomic::AtomicU32, time::Duration};

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
}

/// The same for loom and Shuttle: who sleeps looks at the word under the lock that who wakes takes, as in the kernel.
/// There is no limit, so who sleeps and is never woken is found.
#[cfg(any(loom, shuttle))]
mod system {
    use crate::threads::sync::{AtomicU32, Condvar, Mutex, Ordering, lazy_static};
    use std::time::Duration;

    lazy_static! {
        static ref KERNEL: (Mutex<()>, Condvar) = (Mutex::new(()), Condvar::new());
    }

    pub(super) fn sleep(word: &AtomicU32, seen: u32, _: Duration) {
        let bucket = KERNEL.0.lock().expect("nobody panics with it");
        if word.load(Ordering::SeqCst) == seen {
            drop(KERNEL.1.wait(bucket));
        }
    }

    pub(super) fn wake(_: &AtomicU32) {
        let _bucket = KERNEL.0.lock().expect("nobody panics with it");
        KERNEL.1.notify_all();
    }
}

/// Whether the kernel runs a fence on every core that runs a process of ours, when one of them asks for it: then who
/// sets a number in every superstep needs none, and who goes to sleep asks for it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fences(bool);

impl Fences {
    /// Asks the kernel to count this process among those.
    pub(super) fn register() -> Self {
        Self(membarrier(libc::MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED))
    }
}

fn membarrier(command: libc::c_int) -> bool {
    // SAFETY: it takes numbers and touches no memory of the caller.
    unsafe { libc::syscall(libc::SYS_membarrier, command, 0) == 0 }
}

/// A number that others wait for, and whether anybody sleeps until it changes.
#[repr(C)]
#[derive(Debug)]
pub struct Count {
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
    ///
    /// The store comes before the look at the sleepers, in the eyes of all. Who goes to sleep counts itself first and
    /// looks at the number afterwards, so one of the two sees the other. This runs in every superstep, and a full fence
    /// would wait for the line that the others look at before it lets anything else go on; so who sleeps asks for it.
    #[inline]
    pub(super) fn set(&self, number: u32, fences: Fences) {
        self.number.store(number, Ordering::Release);
        if fences.0 {
            compiler_fence(Ordering::SeqCst);
        } else {
            fence(Ordering::SeqCst);
        }
        if self.sleepers.load(Ordering::Relaxed) != 0 {
            wake(&self.number);
        }
    }

    /// Sleeps until it may have changed from `seen`.
    #[cold]
    pub(super) fn sleep(&self, seen: u32, fences: Fences) {
        self.sleepers.fetch_add(1, Ordering::SeqCst);
        // Loom takes no ordering of an access for a fence.
        fence(Ordering::SeqCst);
        if fences.0 {
            membarrier(libc::MEMBARRIER_CMD_GLOBAL_EXPEDITED);
        }
        if self.number.load(Ordering::SeqCst) == seen {
            sleep(&self.number, seen, NAP);
        }
        self.sleepers.fetch_sub(1, Ordering::SeqCst);
    }

    /// Wakes whoever sleeps until something else changes; the caller has changed that just now.
    #[inline]
    pub(super) fn ring(&self) {
        // What the caller has changed comes before the look at the sleepers, in the eyes of all.
        fence(Ordering::SeqCst);
        if self.sleepers.load(Ordering::Relaxed) != 0 {
            self.number.fetch_add(1, Ordering::SeqCst);
            wake(&self.number);
        }
    }

    /// Sleeps until somebody rings, unless a look at what may have changed says that there is no need to.
    #[cold]
    pub(super) fn sleep_unless(&self, is_ready: impl FnOnce() -> bool) {
        let seen = self.number.load(Ordering::SeqCst);
        self.sleepers.fetch_add(1, Ordering::SeqCst);
        fence(Ordering::SeqCst);
        if !is_ready() {
            sleep(&self.number, seen, NAP);
        }
        self.sleepers.fetch_sub(1, Ordering::SeqCst);
    }

    /// Wakes those who sleep, though nothing has changed.
    pub(super) fn stir(&self) {
        wake(&self.number);
    }
}

/// Every schedule of who changes something and who sleeps until it has changed. Nobody dies here, so nobody may need
/// the limit of a sleep.
#[cfg(all(test, loom))]
mod loom_tests {
    use super::*;
    use loom::thread;
    use std::sync::Arc;

    const FENCES: Fences = Fences(false);

    fn count() -> Arc<Count> {
        Arc::new(Count { number: AtomicU32::new(0), sleepers: AtomicU32::new(0) })
    }

    fn await_number(count: &Count, number: u32) {
        loop {
            let seen = count.get();
            if seen == number {
                return;
            }
            count.sleep(seen, FENCES);
        }
    }

    #[test]
    fn whoever_sleeps_until_a_number_changes_is_woken() {
        for (sleepers, bound) in [(1, None), (2, Some(2))] {
            let mut builder = loom::model::Builder::new();
            builder.preemption_bound = bound;
            builder.check(move || {
                let count = count();
                let sleep = |count: &Arc<Count>| {
                    let count = Arc::clone(count);
                    thread::spawn(move || await_number(&count, 1))
                };
                let threads: Vec<_> = (0..sleepers).map(|_| sleep(&count)).collect();
                count.set(1, FENCES);
                threads.into_iter().for_each(|thread| thread.join().expect("loom reports a panic before this"));
            });
        }
    }

    #[test]
    fn whoever_sleeps_until_somebody_rings_is_woken() {
        loom::model(|| {
            let (count, packet) = (count(), Arc::new(AtomicU32::new(0)));
            let reader = {
                let (count, packet) = (Arc::clone(&count), Arc::clone(&packet));
                thread::spawn(move || {
                    while packet.load(Ordering::Acquire) == 0 {
                        count.sleep_unless(|| packet.load(Ordering::Acquire) != 0);
                    }
                })
            };
            packet.store(1, Ordering::Release);
            count.ring();
            reader.join().expect("loom reports a panic before this");
        });
    }
}
