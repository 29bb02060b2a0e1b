//! A lock that outlives a panic.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Takes a lock, even if somebody panicked who held it: each change to what these locks guard is whole.
#[inline]
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
