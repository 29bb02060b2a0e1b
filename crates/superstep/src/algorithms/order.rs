//! The order that a call sorts by: that of keys, that of what a function makes of values, or a function that compares.

use super::key::{Digits, Key};
use std::cmp::Ordering;

/// A total order of values.
pub(super) trait Order<T> {
    /// What [`digits`](Self::digits) tell of a value.
    const DIGITS: Digits;

    /// Which of two values comes first.
    fn order(&self, a: &T, b: &T) -> Ordering;

    /// A number that never falls while values rise.
    fn digits(&self, value: &T) -> u64;
}

/// Values are their own keys.
pub(super) struct Natural;

impl<T: Key> Order<T> for Natural {
    const DIGITS: Digits = T::DIGITS;

    #[inline]
    fn order(&self, a: &T, b: &T) -> Ordering {
        a.order(b)
    }

    #[inline]
    fn digits(&self, value: &T) -> u64 {
        value.digits()
    }
}

/// By the key that a function makes of a value.
pub(super) struct ByKey<F>(pub(super) F);

impl<T, K: Key, F: Fn(&T) -> K> Order<T> for ByKey<F> {
    const DIGITS: Digits = K::DIGITS;

    #[inline]
    fn order(&self, a: &T, b: &T) -> Ordering {
        (self.0)(a).order(&(self.0)(b))
    }

    #[inline]
    fn digits(&self, value: &T) -> u64 {
        (self.0)(value).digits()
    }
}

/// By a function that compares.
pub(super) struct By<F>(pub(super) F);

impl<T, F: Fn(&T, &T) -> Ordering> Order<T> for By<F> {
    const DIGITS: Digits = Digits::None;

    #[inline]
    fn order(&self, a: &T, b: &T) -> Ordering {
        (self.0)(a, b)
    }

    fn digits(&self, _: &T) -> u64 {
        0
    }
}

/// Rows by their keys.
pub(super) struct ByFirst;

impl<K: Key, V> Order<(K, V)> for ByFirst {
    const DIGITS: Digits = K::DIGITS;

    #[inline]
    fn order(&self, a: &(K, V), b: &(K, V)) -> Ordering {
        a.0.order(&b.0)
    }

    #[inline]
    fn digits(&self, row: &(K, V)) -> u64 {
        row.0.digits()
    }
}
