//! What a function checks of the arrays that it is handed.

use super::state::refuse;
use crate::{
    engine::{Combine, Element},
    error::ErrorKind,
    memory::{Array, Distribution},
};
use std::panic::Location;

/// Refuses to take one array for two: a function that writes one of them in place would see the other change.
#[track_caller]
pub fn check_apart(arrays: &[(*const (), &str)]) {
    for (at, (one, name)) in arrays.iter().enumerate() {
        if let Some((_, other)) = arrays[..at].iter().find(|(other, _)| other == one) {
            let what = format!("`{other}` and `{name}` are the same array; a function takes each of its arrays once");
            refuse(ErrorKind::Conflict, &what, Location::caller());
        }
    }
}

/// Refuses an array that combines by another operator than the function says.
#[track_caller]
pub fn check_operator<T: Element, D: Distribution, const N: usize>(
    a: &Array<T, D, N>,
    op: impl Combine<T>,
    name: &str,
) {
    if !a.combines_by(op) {
        let what = format!("`{name}` was declared with another operator than this function says");
        refuse(ErrorKind::CombineMismatch, &what, Location::caller());
    }
}
