//! Elements of a volatile array that processors reach in common memory.

use crate::engine::Element;
use std::{
    ops::Add,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering::SeqCst},
    },
};

/// What [`Epoch::fetch_add`](crate::Epoch::fetch_add) can add: integers, which wrap round, and floats.
///
/// ```
/// fn plus<T: superstep::Number>(a: T, b: T) -> T { a.plus(b) }
/// assert_eq!(plus(250u8, 10), 4);
/// assert_eq!(plus(0.5, 0.25), 0.75);
/// ```
pub trait Number: Element {
    /// The sum.
    ///
    /// ```
    /// use superstep::Number;
    /// assert_eq!(i32::MAX.plus(1), i32::MIN);
    /// ```
    #[must_use]
    fn plus(self, other: Self) -> Self;
}

macro_rules! numbers {
    ($plus:ident: $($number:ty)*) => {
        $(impl Number for $number {
            #[inline]
            fn plus(self, other: Self) -> Self {
                self.$plus(other)
            }
        })*
    };
}
numbers!(wrapping_add: u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize);
numbers!(add: f32 f64);

const WORD: usize = size_of::<u64>();

#[inline]
fn to_word<T: Element>(value: T) -> u64 {
    let mut bytes = [0; WORD];
    bytes[..size_of::<T>()].copy_from_slice(bytemuck::bytes_of(&value));
    u64::from_le_bytes(bytes)
}

#[inline]
fn from_word<T: Element>(word: u64) -> T {
    bytemuck::pod_read_unaligned(&word.to_le_bytes()[..size_of::<T>()])
}

/// So many of what `make` makes; `None` where the system has no memory for them.
pub(super) fn filled<C>(len: usize, make: impl FnMut() -> C) -> Option<Vec<C>> {
    let mut cells = Vec::new();
    cells.try_reserve_exact(len).ok()?;
    cells.resize_with(len, make);
    Some(cells)
}

/// Elements that every processor reaches.
pub(super) enum Cells<T> {
    /// Of up to eight bytes each.
    Words(Box<[AtomicU64]>),
    Locked(Box<[Mutex<T>]>),
}

fn lock<T>(cell: &Mutex<T>) -> MutexGuard<'_, T> {
    cell.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<T: Element> Cells<T> {
    /// `None` where the system has no memory for them.
    pub(super) fn new(len: usize, init: T) -> Option<Self> {
        Some(if size_of::<T>() <= WORD {
            Self::Words(filled(len, || AtomicU64::new(to_word(init)))?.into())
        } else {
            Self::Locked(filled(len, || Mutex::new(init))?.into())
        })
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Self::Words(words) => words.len(),
            Self::Locked(cells) => cells.len(),
        }
    }

    #[inline]
    pub(super) fn load(&self, at: usize) -> T {
        match self {
            Self::Words(words) => from_word(words[at].load(SeqCst)),
            Self::Locked(cells) => *lock(&cells[at]),
        }
    }

    #[inline]
    pub(super) fn store(&self, at: usize, value: T) {
        match self {
            Self::Words(words) => words[at].store(to_word(value), SeqCst),
            Self::Locked(cells) => *lock(&cells[at]) = value,
        }
    }

    /// Replaces the element by what `change` makes of it, unless that is nothing; returns what it was.
    #[inline]
    pub(super) fn update(&self, at: usize, change: impl Fn(T) -> Option<T>) -> T {
        match self {
            Self::Words(words) => {
                let changed = words[at].fetch_update(SeqCst, SeqCst, |word| change(from_word(word)).map(to_word));
                from_word(changed.unwrap_or_else(|word| word))
            }
            Self::Locked(cells) => {
                let mut cell = lock(&cells[at]);
                let before = *cell;
                if let Some(after) = change(before) {
                    *cell = after;
                }
                before
            }
        }
    }
}

impl<T: Number> Cells<T> {
    /// Adds to the element; returns what it was.
    #[inline]
    pub(super) fn add(&self, at: usize, value: T) -> T {
        match self {
            // Whole words wrap round like the integers they are.
            Self::Words(words) if is_word::<T>() => from_word(words[at].fetch_add(to_word(value), SeqCst)),
            cells => cells.update(at, |before| Some(before.plus(value))),
        }
    }
}

/// Whether adding words is adding numbers.
fn is_word<T: 'static>() -> bool {
    use std::any::TypeId;
    let words = [TypeId::of::<u64>(), TypeId::of::<i64>(), TypeId::of::<usize>(), TypeId::of::<isize>()];
    size_of::<T>() == WORD && words.contains(&TypeId::of::<T>())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Elements of any size are replaced and added to as numbers, whatever the word they are kept in.
    #[test]
    fn an_element_is_added_to_as_the_number_it_is() {
        fn check<T: Number + std::fmt::Debug + PartialEq>(start: T, more: T, sum: T) {
            let cells = Cells::new(3, start).expect("there is memory");
            assert_eq!(cells.len(), 3);
            assert_eq!((cells.add(1, more), cells.load(1)), (start, sum));
            assert_eq!((cells.load(0), cells.load(2)), (start, start), "the others stay");
            cells.store(1, more);
            assert_eq!((cells.update(1, |_| None), cells.load(1)), (more, more));
            assert_eq!((cells.update(1, |_| Some(sum)), cells.load(1)), (more, sum));
        }
        check(u64::MAX, 3, 2);
        check(-5i64, 3, -2);
        check(usize::MAX, 1, 0);
        check(250u8, 10, 4);
        check(-1i32, -1, -2);
        check(1.5f64, 2.25, 3.75);
        check(0.5f32, -2.0, -1.5);
    }
}
