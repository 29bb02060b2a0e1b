//! What is assigned to a section: as many values as it has elements, or one for all of them.

use super::cells::Cells;
use crate::engine::Value;
use std::{
    borrow::Cow,
    cell::{Ref, RefMut},
};

/// Values for the elements of a section.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be assigned to a section of `{T}`",
    label = "neither one `{T}` nor a row of them",
    note = "a section takes a vector, an array or a slice of `{T}`, or one `{T}` for all of its elements"
)]
pub trait Values<T: Clone> {
    /// The values for `count` elements. A row has as many as it has.
    fn values(&self, count: usize) -> Cow<'_, [T]>;
}

impl<T: Clone> Values<T> for T {
    fn values(&self, count: usize) -> Cow<'_, [T]> {
        Cow::Owned(vec![self.clone(); count])
    }
}

impl<T: Clone, const N: usize> Values<T> for [T; N] {
    fn values(&self, _: usize) -> Cow<'_, [T]> {
        Cow::Borrowed(self)
    }
}

impl<T: Clone, const N: usize> Values<T> for &[T; N] {
    fn values(&self, _: usize) -> Cow<'_, [T]> {
        Cow::Borrowed(*self)
    }
}

/// Rows that lend themselves as a slice.
macro_rules! rows {
    ($($row:ty),*) => {
        $(impl<T: Clone> Values<T> for $row {
            fn values(&self, _: usize) -> Cow<'_, [T]> {
                Cow::Borrowed(self)
            }
        })*
    };
}

rows!([T], &[T], &mut [T], Vec<T>, &Vec<T>, &mut Vec<T>, Box<[T]>, Ref<'_, [T]>, RefMut<'_, [T]>);

impl<T: Value> Values<T> for Cells<T> {
    fn values(&self, _: usize) -> Cow<'_, [T]> {
        Cow::Borrowed(self)
    }
}

impl<T: Value> Values<T> for &mut Cells<T> {
    fn values(&self, _: usize) -> Cow<'_, [T]> {
        Cow::Borrowed(self)
    }
}

/// Writes values over a part of a private or replicated array.
#[track_caller]
pub fn copy<T: Clone>(into: &mut [T], values: &(impl Values<T> + ?Sized)) {
    into.clone_from_slice(&values.values(into.len()));
}
