//! The primitives that threads and processes wait with, in one place so that loom and Shuttle can stand in for them.
//!
//! Under `--cfg loom` the same protocols run on loom's types, which explore every schedule, and under `--cfg shuttle`
//! on Shuttle's, which try many schedules of what is too large for that. [`Shelf`] is the one cell type: its two
//! methods say which accesses read and which write, and loom reports any pair of them that race.

/// The same in all: counting references is no part of any protocol here, and would only multiply the schedules.
pub(crate) use std::sync::Arc;

#[cfg(not(any(loom, shuttle)))]
pub(crate) use std::{
    sync::{
        Mutex,
        atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering, fence},
    },
    thread::{self, Thread},
};

#[cfg(loom)]
pub(crate) use loom::{
    lazy_static,
    sync::{
        Condvar, Mutex,
        atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering, fence},
    },
    thread::{self, Thread},
};

#[cfg(shuttle)]
pub(crate) use shuttle::{
    lazy_static,
    sync::{
        Condvar, Mutex,
        atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering, fence},
    },
    thread::{self, Thread},
};

/// A cell that hands out raw pointers; who may use them when is the business of the protocol that owns it.
#[cfg(not(loom))]
#[derive(Debug, Default)]
pub(crate) struct Shelf<T>(std::cell::UnsafeCell<T>);

#[cfg(not(loom))]
impl<T> Shelf<T> {
    pub(crate) fn new(value: T) -> Self {
        Self(std::cell::UnsafeCell::new(value))
    }

    /// Lends a pointer for reading.
    #[inline]
    pub(crate) fn with<R>(&self, read: impl FnOnce(*const T) -> R) -> R {
        read(self.0.get())
    }

    /// Lends a pointer for writing.
    #[inline]
    pub(crate) fn with_mut<R>(&self, write: impl FnOnce(*mut T) -> R) -> R {
        write(self.0.get())
    }
}

#[cfg(loom)]
#[expect(clippy::unsafe_removed_from_name, reason = "a shelf is a cell with another name in both")]
pub(crate) use loom::cell::UnsafeCell as Shelf;
