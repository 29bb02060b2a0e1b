//! An array of what a function makes of elements.

use super::runs::{check, enter, refuse};
use crate::{
    engine::{Element, Group},
    error::ErrorKind,
    memory::{Array, Distribution},
};
use std::{any::TypeId, panic::Location};

/// Makes an array of what `f` makes of each element; it lies as `a` does. Collective.
///
/// ```
/// use superstep::{Block, Config, algorithms};
///
/// let halves = Config::new().procs(3).run(|g| {
///     let a = g.array::<u32, Block>(4);
///     a.forall_mut(|i, x| *x = i as u32);
///     let halves = algorithms::map(g, &a, |&x| f64::from(x) / 2.0);
///     g.step(|s| s.mirror(&halves, ..))
/// });
/// assert_eq!(halves.unwrap(), [0.0, 0.5, 1.0, 1.5]);
/// ```
///
/// # Cost
///
/// 1 step, which makes the array; n / p work.
///
/// # Panics
///
/// If another group made the array, or if it is borrowed for writing.
#[track_caller]
pub fn map<T: Element, U: Element, D: Distribution, const N: usize>(
    g: &mut Group,
    a: &Array<T, D, N>,
    mut f: impl FnMut(&T) -> U,
) -> Array<U, D, N> {
    enter(g, a, Location::caller());
    let out = g.array_with(a.shape(), a.distribution().clone());
    check(g, a, Location::caller());
    {
        let (from, mut to) = (a.local(), out.local_mut());
        a.stretches(|at, _, count| {
            let places = to[at..at + count].iter_mut();
            places.zip(&from[at..at + count]).for_each(|(place, value)| *place = f(value));
        });
    }
    out
}

/// Makes an array of what `f` makes of each two elements with the same index; it lies as `a` does. Collective.
///
/// ```
/// use superstep::{Block, Config, Cyclic, algorithms};
///
/// let sums = Config::new().procs(3).run(|g| {
///     let (a, b) = (g.array::<usize, Block>(4), g.array::<usize, Cyclic>(4));
///     a.forall_mut(|i, x| *x = i);
///     b.forall_mut(|i, x| *x = 10 * i);
///     let sums = algorithms::zip_map(g, &a, &b, |x, y| x + y);
///     g.step(|s| s.mirror(&sums, ..))
/// });
/// assert_eq!(sums.unwrap(), [0, 11, 22, 33]);
/// ```
///
/// # Cost
///
/// 1 step, which makes the array; n / p work. 2 steps and n / p g more if the two lie differently.
///
/// # Panics
///
/// If the shapes differ (`BadLength`), if another group made one of the arrays, or if one is borrowed for writing.
#[track_caller]
pub fn zip_map<T: Element, U: Element, R: Element, D: Distribution, E: Distribution, const N: usize>(
    g: &mut Group,
    a: &Array<T, D, N>,
    b: &Array<U, E, N>,
    mut f: impl FnMut(&T, &U) -> R,
) -> Array<R, D, N> {
    let site = Location::caller();
    enter(g, a, site);
    enter(g, b, site);
    if a.shape() != b.shape() {
        let what = format!("arrays of shape {:?} and {:?} to be mapped together", a.shape(), b.shape());
        refuse(g, ErrorKind::BadLength, &what, site);
    }
    let lies_alike = TypeId::of::<D>() == TypeId::of::<E>() && a.distribution().terms() == b.distribution().terms();
    let brought = (!lies_alike).then(|| {
        let brought = g.array_with(a.shape(), a.distribution().clone());
        check(g, b, site);
        g.step(|s| s.assign(&brought, b));
        brought
    });
    let out = g.array_with(a.shape(), a.distribution().clone());
    check(g, a, site);
    check(g, b, site);
    {
        let others = brought.as_ref().map_or_else(|| b.local(), Array::local);
        let (from, mut to) = (a.local(), out.local_mut());
        a.stretches(|at, _, count| {
            let values = from[at..at + count].iter().zip(&others[at..at + count]);
            let places = to[at..at + count].iter_mut();
            places.zip(values).for_each(|(place, (value, other))| *place = f(value, other));
        });
    }
    out
}
