//! The cord that stops a run of threads: it wakes everybody, wherever they wait.
//!
//! A waiter looks at `raised` before it parks; whoever raises sets it first and unparks every thread of the run
//! afterwards. A thread that looked too early finds the token that `unpark` left and does not sleep.

use super::sync::{AtomicBool, Mutex, Ordering, Thread};
use crate::{circle::Alarm, failure::Failure};
use std::sync::OnceLock;

#[derive(Default)]
pub(crate) struct Cord {
    raised: AtomicBool,
    first: OnceLock<Failure>,
    threads: Mutex<Vec<Thread>>,
}

impl Cord {
    /// Counts the calling thread among those to wake.
    pub(crate) fn enlist(&self) {
        self.threads.lock().expect("nothing panics under this lock").push(super::sync::thread::current());
    }

    #[inline]
    pub(crate) fn check(&self) -> Result<(), Failure> {
        if self.raised.load(Ordering::Acquire) { Err(self.failure()) } else { Ok(()) }
    }

    #[cold]
    fn failure(&self) -> Failure {
        self.first.get().cloned().expect("the failure is set before the flag")
    }
}

impl Alarm for Cord {
    fn raise(&self, failure: Failure) {
        self.first.get_or_init(|| failure);
        self.raised.store(true, Ordering::Release);
        for thread in self.threads.lock().expect("nothing panics under this lock").iter() {
            thread.unpark();
        }
    }

    /// By the flag and not by the failure alone: whoever learns of it here must find every later wait failing.
    fn raised(&self) -> Option<Failure> {
        self.check().err()
    }
}
