//! Ways out of a step, and what splits are told.

use super::state::refuse;
use crate::{
    engine::{Element, Group},
    error::ErrorKind,
    memory::{Array, Distribution},
};
use std::{convert::Infallible, panic::Location};

/// How the body of a step has ended. The jump happens behind the step.
#[derive(Debug)]
pub enum Flow<R> {
    /// At its end.
    Next,
    /// With a `break` or `continue` of this number among the step's.
    Jump(usize),
    /// With a `return`.
    Return(R),
}

/// What `?` takes apart in the body of a step.
pub trait Attempt {
    /// What goes on.
    type Output;
    /// What is returned.
    type Rest;

    /// One of the two.
    fn attempt(self) -> Result<Self::Output, Self::Rest>;
}

impl<T, E> Attempt for Result<T, E> {
    type Output = T;
    type Rest = Result<Infallible, E>;

    fn attempt(self) -> Result<T, Result<Infallible, E>> {
        self.map_err(Err)
    }
}

impl<T> Attempt for Option<T> {
    type Output = T;
    type Rest = Option<Infallible>;

    fn attempt(self) -> Result<T, Option<Infallible>> {
        self.ok_or(None)
    }
}

/// What a function returns when `?` has found nothing to go on with.
pub trait FromRest<R> {
    /// It.
    fn from_rest(rest: R) -> Self;
}

impl<T, E, F: From<E>> FromRest<Result<Infallible, E>> for Result<T, F> {
    fn from_rest(rest: Result<Infallible, E>) -> Self {
        match rest {
            Err(error) => Err(error.into()),
            Ok(never) => match never {},
        }
    }
}

impl<T> FromRest<Option<Infallible>> for Option<T> {
    fn from_rest(_: Option<Infallible>) -> Self {
        None
    }
}

/// The subgroup that a processor names; any other number names none.
pub fn choice(subgroup: impl TryInto<usize>) -> Option<usize> {
    subgroup.try_into().ok()
}

/// The first `count` of these weights, which may be of any type of numbers that a float can hold.
#[track_caller]
pub fn weights(count: usize, weights: &[impl Copy + Into<f64>]) -> Vec<f64> {
    let Some(first) = weights.get(..count) else {
        let what = format!("{} weights for {count} subgroups; give one for each", weights.len());
        refuse(ErrorKind::BadWeight, &what, Location::caller())
    };
    first.iter().map(|&weight| weight.into()).collect()
}

/// An array like this one, for a subgroup that imports and does not export.
#[track_caller]
pub fn copied<T: Element, D: Distribution + Default>(group: &mut Group, part: &Array<T, D>) -> Array<T, D> {
    let copy = group.array::<T, D>(part.len());
    copy.local_mut().copy_from_slice(&part.local());
    copy
}
