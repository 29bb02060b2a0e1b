//! The alarm that stops a run of threads: it wakes everybody, wherever they wait.
//!
//! A waiter looks at `raised` before it parks; whoever raises sets it first and unparks every thread of the run
//! afterwards. A thread that looked too early finds the token that `unpark` left and does not sleep.

use super::sync::{AtomicBool, Mutex, Ordering, Thread};
use crate::{
    alarm::Alarm,
    failure::Failure,
    sight::{self, Pen, Sighting},
};
use std::sync::OnceLock;

pub(crate) struct ThreadAlarm {
    raised: AtomicBool,
    first: OnceLock<Failure>,
    threads: Mutex<Vec<Thread>>,
    pub(crate) sightings: std::sync::Arc<[Sighting]>,
    /// The number of the first of them in the whole run.
    base: usize,
}

impl ThreadAlarm {
    /// For so many threads, the first of which is number `base` of the whole run.
    pub(crate) fn new(threads: usize, base: usize) -> Self {
        Self {
            raised: AtomicBool::new(false),
            first: OnceLock::new(),
            threads: Mutex::new(Vec::new()),
            sightings: sight::sightings(threads),
            base,
        }
    }

    pub(crate) fn pen(&self, thread: usize) -> Pen {
        Pen::here(&self.sightings, thread)
    }

    pub(crate) fn number(&self, thread: usize) -> usize {
        self.base + thread
    }

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

impl Alarm for ThreadAlarm {
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
