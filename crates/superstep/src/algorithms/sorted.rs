//! Whether a list is in order.

use super::{
    key::Key,
    order::{By, Natural, Order},
    runs::{Run, check, run_of},
};
use crate::{
    engine::{And, AsElements, AsValue, Codec, Element, Group, Value},
    memory::{Array, Distribution},
};
use std::{cmp::Ordering, panic::Location};

/// Looks at the run here, and at the first and last values of all.
#[track_caller]
fn is_sorted_run<T: Clone + Send + 'static, W: Codec<Vec<T>>>(
    g: &mut Group,
    run: impl Run<T>,
    order: &impl Order<T>,
) -> bool {
    let rises = |values: &[T]| values.is_sorted_by(|a, b| order.order(a, b).is_le());
    let (is_sorted, ends) = run.with(|values| {
        let ends = values.first().into_iter().chain(values.last()).cloned().collect();
        (rises(values), ends)
    });
    let site = Location::caller();
    let (is_sorted, ends) = g.step(|s| (s.reduce(is_sorted, And), s.collect_lists::<T, W>(ends, site)));
    is_sorted && rises(&ends.concat())
}

/// Whether no element is below the one before it. Collective; all get the answer.
///
/// ```
/// use superstep::{Block, Config, algorithms};
///
/// let is_sorted = Config::new().procs(3).run(|g| {
///     let a = g.array::<usize, Block>(10);
///     a.forall_mut(|i, x| *x = i / 2);
///     let rises = algorithms::is_sorted(g, &a);
///     a.forall_mut(|i, x| *x = i % 5);
///     [rises, algorithms::is_sorted(g, &a)]
/// });
/// assert_eq!(is_sorted.unwrap(), [true, false]);
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
pub fn is_sorted<T: Element + Key, D: Distribution>(g: &mut Group, a: &Array<T, D>) -> bool {
    let run = run_of(g, a);
    let is_sorted = is_sorted_run::<T, AsElements>(g, run, &Natural);
    check(g, a, Location::caller());
    is_sorted
}

/// Looks like [`is_sorted`], in the order that `compare` says.
///
/// ```
/// use superstep::{Block, Config, algorithms};
///
/// let falls = Config::new().procs(2).run(|g| {
///     let a = g.array::<i64, Block>(4);
///     a.forall_mut(|i, x| *x = -(i as i64));
///     algorithms::is_sorted_by(g, &a, |x, y| y.cmp(x))
/// });
/// assert!(falls.unwrap());
/// ```
#[track_caller]
pub fn is_sorted_by<T: Element, D: Distribution>(
    g: &mut Group,
    a: &Array<T, D>,
    compare: impl Fn(&T, &T) -> Ordering,
) -> bool {
    let run = run_of(g, a);
    let is_sorted = is_sorted_run::<T, AsElements>(g, run, &By(compare));
    check(g, a, Location::caller());
    is_sorted
}

/// Whether the vectors of all processors, one behind the other, are in order. Collective; all get the answer.
///
/// ```
/// let is_sorted = superstep::Config::new().procs(2).run(|g| {
///     let mine = [g.rank() as f64, 1.0];
///     superstep::algorithms::is_sorted_vec(g, &mine)
/// });
/// assert!(is_sorted.unwrap());
/// ```
///
/// # Cost
///
/// As [`is_sorted`].
#[track_caller]
pub fn is_sorted_vec<T: Value + Key>(g: &mut Group, values: &[T]) -> bool {
    is_sorted_run::<T, AsValue>(g, values, &Natural)
}

/// Looks like [`is_sorted_vec`], in the order that `compare` says.
///
/// ```
/// let falls = superstep::Config::new().procs(2).run(|g| {
///     let mine = ["z", "b"][g.rank()..].iter().map(|text| text.to_string()).collect::<Vec<_>>();
///     superstep::algorithms::is_sorted_by_vec(g, &mine, |x, y| y.cmp(x))
/// });
/// assert!(falls.unwrap());
/// ```
#[track_caller]
pub fn is_sorted_by_vec<T: Value>(g: &mut Group, values: &[T], compare: impl Fn(&T, &T) -> Ordering) -> bool {
    is_sorted_run::<T, AsValue>(g, values, &By(compare))
}
