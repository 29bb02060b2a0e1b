//! The least and the largest element, and where it is.

use super::{
    key::Key,
    order::{By, ByKey, Natural, Order},
    runs::{Run, check, enter, run_of},
};
use crate::{
    engine::{AsElements, AsValue, Codec, Element, Group, Sum, Value},
    memory::{Array, Distribution},
};
use std::{cmp::Ordering, panic::Location};

/// The first of the least and the first of the largest.
fn extremes<'a, T>(values: impl IntoIterator<Item = &'a T>, order: &impl Order<T>) -> Option<(&'a T, &'a T)> {
    let mut values = values.into_iter();
    let first = values.next()?;
    Some(values.fold((first, first), |(least, largest), value| {
        let least = if order.order(value, least).is_lt() { value } else { least };
        (least, if order.order(value, largest).is_gt() { value } else { largest })
    }))
}

#[track_caller]
fn min_max_run<T: Clone + Send + 'static, W: Codec<Vec<T>>>(
    g: &mut Group,
    run: impl Run<T>,
    order: &impl Order<T>,
) -> Option<(T, T)> {
    let site = Location::caller();
    let mine = run.with(|values| extremes(values, order).map(|(least, largest)| [least.clone(), largest.clone()]));
    let all = g.step(|s| s.collect_lists::<T, W>(mine.into_iter().flatten().collect(), site));
    extremes(all.iter().flatten(), order).map(|(least, largest)| (least.clone(), largest.clone()))
}

/// Puts the larger of two, with their indices, into `best`; of equal ones that with the lower index.
fn keep_larger<T>(best: &mut Option<(usize, T)>, (at, value): (usize, T), order: &impl Order<T>) {
    let is_larger = best.as_ref().is_none_or(|(lowest, largest)| match order.order(&value, largest) {
        Ordering::Greater => true,
        Ordering::Equal => at < *lowest,
        Ordering::Less => false,
    });
    if is_larger {
        *best = Some((at, value));
    }
}

/// The largest of those that the processors have, each with its index.
#[track_caller]
fn largest_of_all<T: Clone + Send + 'static, W: Codec<Vec<T>>>(
    g: &mut Group,
    mine: Option<(usize, T)>,
    order: &impl Order<T>,
) -> Option<(usize, T)> {
    let (site, (places, values)) = (Location::caller(), mine.into_iter().unzip::<_, _, Vec<usize>, Vec<T>>());
    let (places, values) = g.step(|s| (s.collect(places), s.collect_lists::<T, W>(values, site)));
    let mut best = None;
    for found in places.concat().into_iter().zip(values.concat()) {
        keep_larger(&mut best, found, order);
    }
    best
}

/// The largest value of the vectors of all processors, and its place in all of them.
#[track_caller]
fn arg_max_run<T: Value>(g: &mut Group, values: &[T], order: &impl Order<T>) -> Option<(usize, T)> {
    let start = g.step(|s| s.prefix(values.len(), Sum));
    let mut mine: Option<usize> = None;
    for (at, value) in values.iter().enumerate() {
        if mine.is_none_or(|largest| order.order(value, &values[largest]).is_gt()) {
            mine = Some(at);
        }
    }
    let mine = mine.map(|at| (start + at, values[at].clone()));
    largest_of_all::<T, AsValue>(g, mine, order)
}

/// The largest element of an array, and its index.
#[track_caller]
fn arg_max_array<T: Element, D: Distribution>(
    g: &mut Group,
    a: &Array<T, D>,
    order: &impl Order<T>,
) -> Option<(usize, T)> {
    enter(g, a, Location::caller());
    let mut mine = None;
    a.forall(|index, value| keep_larger(&mut mine, (index, value), order));
    let largest = largest_of_all::<T, AsElements>(g, mine, order);
    check(g, a, Location::caller());
    largest
}

/// The least and the largest element, of equal ones the first; `None` if there are none. Collective; all get them.
///
/// ```
/// use superstep::{Block, Config, algorithms};
///
/// let ends = Config::new().procs(3).run(|g| {
///     let a = g.array::<f64, Block>(5);
///     a.forall_mut(|i, x| *x = [0.5, -2.0, 8.0, 1.0, 0.0][i]);
///     algorithms::min_max(g, &a)
/// });
/// assert_eq!(ends.unwrap(), Some((-2.0, 8.0)));
/// ```
///
/// # Cost
///
/// 1 step, 2 p g, n / p work. One step and n / p g more if the array does not lie in order.
///
/// # Panics
///
/// If another group made the array, or if it is borrowed for writing.
#[track_caller]
pub fn min_max<T: Element + Key, D: Distribution>(g: &mut Group, a: &Array<T, D>) -> Option<(T, T)> {
    let run = run_of(g, a);
    let ends = min_max_run::<T, AsElements>(g, run, &Natural);
    check(g, a, Location::caller());
    ends
}

/// Looks like [`min_max`], in the order that `compare` says.
///
/// ```
/// use superstep::{Block, Config, algorithms};
///
/// let ends = Config::new().procs(3).run(|g| {
///     let a = g.array::<i32, Block>(3);
///     a.forall_mut(|i, x| *x = [-5, 1, 3][i]);
///     algorithms::min_max_by(g, &a, |x, y| x.abs().cmp(&y.abs()))
/// });
/// assert_eq!(ends.unwrap(), Some((1, -5)));
/// ```
#[track_caller]
pub fn min_max_by<T: Element, D: Distribution>(
    g: &mut Group,
    a: &Array<T, D>,
    compare: impl Fn(&T, &T) -> Ordering,
) -> Option<(T, T)> {
    let run = run_of(g, a);
    let ends = min_max_run::<T, AsElements>(g, run, &By(compare));
    check(g, a, Location::caller());
    ends
}

/// The least and the largest value of the vectors of all processors; see [`min_max`]. Collective; all get them.
///
/// ```
/// let ends = superstep::Config::new().procs(3).run(|g| {
///     let mine = vec![g.rank(); g.rank()];
///     superstep::algorithms::min_max_vec(g, &mine)
/// });
/// assert_eq!(ends.unwrap(), Some((1, 2)));
/// ```
#[track_caller]
pub fn min_max_vec<T: Value + Key>(g: &mut Group, values: &[T]) -> Option<(T, T)> {
    min_max_run::<T, AsValue>(g, values, &Natural)
}

/// The index of the largest element, of equal ones the lowest, and the element; `None` if there are none. Collective;
/// all get it.
///
/// ```
/// use superstep::{Config, Cyclic, algorithms};
///
/// let largest = Config::new().procs(3).run(|g| {
///     let a = g.array::<u32, Cyclic>(5);
///     a.forall_mut(|i, x| *x = [1, 7, 3, 7, 2][i]);
///     algorithms::arg_max(g, &a)
/// });
/// assert_eq!(largest.unwrap(), Some((1, 7)));
/// ```
///
/// # Cost
///
/// 1 step, 2 p g, n / p work, however the array lies.
///
/// # Panics
///
/// If another group made the array, or if it is borrowed for writing.
#[track_caller]
pub fn arg_max<T: Element + Key, D: Distribution>(g: &mut Group, a: &Array<T, D>) -> Option<(usize, T)> {
    arg_max_array(g, a, &Natural)
}

/// Looks like [`arg_max`], by what `key` makes of an element. With [`Reverse`](std::cmp::Reverse) it is the least.
///
/// ```
/// use std::cmp::Reverse;
/// use superstep::{Block, Config, algorithms};
///
/// let least = Config::new().procs(3).run(|g| {
///     let a = g.array::<u32, Block>(5);
///     a.forall_mut(|i, x| *x = [4, 7, 3, 7, 3][i]);
///     algorithms::arg_max_by_key(g, &a, |&x| Reverse(x))
/// });
/// assert_eq!(least.unwrap(), Some((2, 3)));
/// ```
#[track_caller]
pub fn arg_max_by_key<T: Element, D: Distribution, K: Key>(
    g: &mut Group,
    a: &Array<T, D>,
    key: impl Fn(&T) -> K,
) -> Option<(usize, T)> {
    arg_max_array(g, a, &ByKey(key))
}

/// The largest value of the vectors of all processors, and its place in all of them, one behind the other. Collective;
/// all get it.
///
/// ```
/// let largest = superstep::Config::new().procs(3).run(|g| {
///     let mine = [g.rank() % 2, 0];
///     superstep::algorithms::arg_max_vec(g, &mine)
/// });
/// assert_eq!(largest.unwrap(), Some((2, 1)));
/// ```
///
/// # Cost
///
/// 2 steps, the first for the lengths; see [`arg_max`].
#[track_caller]
pub fn arg_max_vec<T: Value + Key>(g: &mut Group, values: &[T]) -> Option<(usize, T)> {
    arg_max_run(g, values, &Natural)
}

/// Looks like [`min_max_vec`], in the order that `compare` says.
///
/// ```
/// let ends = superstep::Config::new().procs(3).run(|g| {
///     let mine = vec![g.rank() as i32 - 1];
///     superstep::algorithms::min_max_by_vec(g, &mine, |x, y| x.abs().cmp(&y.abs()))
/// });
/// assert_eq!(ends.unwrap(), Some((0, -1)));
/// ```
#[track_caller]
pub fn min_max_by_vec<T: Value>(g: &mut Group, values: &[T], compare: impl Fn(&T, &T) -> Ordering) -> Option<(T, T)> {
    min_max_run::<T, AsValue>(g, values, &By(compare))
}

/// Looks like [`arg_max_vec`], by what `key` makes of a value.
///
/// ```
/// use std::cmp::Reverse;
/// use superstep::{Config, algorithms};
///
/// let least = Config::new().procs(3).run(|g| {
///     let mine = [5 - g.rank()];
///     algorithms::arg_max_by_key_vec(g, &mine, |&x| Reverse(x))
/// });
/// assert_eq!(least.unwrap(), Some((2, 3)));
/// ```
#[track_caller]
pub fn arg_max_by_key_vec<T: Value, K: Key>(g: &mut Group, values: &[T], key: impl Fn(&T) -> K) -> Option<(usize, T)> {
    arg_max_run(g, values, &ByKey(key))
}
