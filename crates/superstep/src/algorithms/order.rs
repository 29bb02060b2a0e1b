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

/// What becomes of values that are equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ties {
    /// They keep their order.
    Kept,
    /// They come in any order, which is the same in every run.
    Free,
}

/// Sorts values by comparing them.
pub(super) fn compare<T, O: Order<T>>(values: &mut [T], order: &O, ties: Ties) {
    match ties {
        Ties::Kept => values.sort_by(|a, b| order.order(a, b)),
        Ties::Free => values.sort_unstable_by(|a, b| order.order(a, b)),
    }
}

/// So many values are looked at without a branch.
const CHUNK: usize = 256;

/// Whether values are in order.
pub(super) fn is_in_order<T, O: Order<T>>(values: &[T], order: &O) -> bool {
    if O::DIGITS != Digits::All {
        return values.is_sorted_by(|a, b| order.order(a, b).is_le());
    }
    let mut before = 0;
    values.chunks(CHUNK).all(|chunk| {
        chunk.iter().fold(true, |is_rising, value| {
            let digits = order.digits(value);
            is_rising & (std::mem::replace(&mut before, digits) <= digits)
        })
    })
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
