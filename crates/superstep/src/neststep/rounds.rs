//! Loops that go through the same again when they are run again.

use std::{
    iter::{Chain, Cloned, Copied, Enumerate, Rev, Skip, StepBy, Take, Zip},
    ops::{Range, RangeInclusive},
    slice,
};

/// Numbers, of which nothing changes behind a shared reference.
pub trait Plain {}

/// Iterators over what cannot change while they are there: made of the same twice, they go through the same twice.
pub trait Steady {}

/// Lends numbers, and what is made of them, the trait.
macro_rules! plain {
    ($($number:ty),*) => { $(impl Plain for $number {})* };
}

plain!(u8, u16, u32, u64, u128, usize, i8, i16, i32, i64, i128, isize, bool, char);

impl<T: Plain> Plain for &T {}
impl<T: Plain, const N: usize> Plain for [T; N] {}
impl<A: Plain, B: Plain> Plain for (A, B) {}

impl<T: Plain> Steady for slice::Iter<'_, T> {}
impl<T: Plain> Steady for Range<T> {}
impl<T: Plain> Steady for RangeInclusive<T> {}
impl<I: Steady> Steady for Enumerate<I> {}
impl<I: Steady> Steady for Copied<I> {}
impl<I: Steady> Steady for Cloned<I> {}
impl<I: Steady> Steady for Rev<I> {}
impl<I: Steady> Steady for Skip<I> {}
impl<I: Steady> Steady for Take<I> {}
impl<I: Steady> Steady for StepBy<I> {}
impl<A: Steady, B: Steady> Steady for Zip<A, B> {}
impl<A: Steady, B: Steady> Steady for Chain<A, B> {}

/// An iterator that is asked whether it is steady.
#[derive(Debug)]
pub struct Rounds<'a, I>(pub &'a I);

impl<I: Steady> Rounds<'_, I> {
    /// It is.
    #[inline]
    pub fn are_steady(&self) -> bool {
        true
    }
}

/// The answer of all others.
pub trait Unsteady {
    /// Nobody knows.
    #[inline]
    fn are_steady(&self) -> bool {
        false
    }
}

impl<I> Unsteady for Rounds<'_, I> {}
