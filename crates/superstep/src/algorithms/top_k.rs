//! The largest elements.

use super::{
    key::Key,
    order::{By, Natural, Order},
    runs::{Run, check, declare, run_of},
};
use crate::{
    engine::{AsElements, AsValue, Codec, Element, Group, Value},
    memory::{Array, Distribution},
    panics::Call,
};
use std::{cmp::Ordering, panic::Location};

/// The `k` largest of a list, from the largest down; of equal ones the first.
fn largest<T: Clone>(values: &[T], k: usize, order: &impl Order<T>) -> Vec<T> {
    let from_top = |a: &(usize, &T), b: &(usize, &T)| order.order(b.1, a.1).then(a.0.cmp(&b.0));
    let room = k.saturating_mul(2).max(64);
    let mut best: Vec<(usize, &T)> = Vec::new();
    // What is not above this one is not among them.
    let mut limit: Option<&T> = None;
    for (at, value) in values.iter().enumerate() {
        if limit.is_some_and(|limit| order.order(value, limit).is_le()) {
            continue;
        }
        best.push((at, value));
        if best.len() == room && k > 0 {
            best.select_nth_unstable_by(k - 1, from_top);
            best.truncate(k);
            limit = Some(best[k - 1].1);
        } else if k == 0 {
            best.clear();
        }
    }
    best.sort_unstable_by(from_top);
    best.truncate(k);
    best.into_iter().map(|(_, value)| value.clone()).collect()
}

#[track_caller]
fn top_k_run<T: Clone + Send + 'static, W: Codec<Vec<T>>>(
    g: &mut Group,
    run: impl Run<T>,
    k: usize,
    order: &impl Order<T>,
) -> Vec<T> {
    let site = Location::caller();
    let _call = Call::at(site);
    declare(g, [k as u64], format!("the {k} largest"), site);
    let mine = run.with(|values| largest(values, k, order));
    let lists = g.step(|s| s.collect_lists::<T, W>(mine, site));
    largest(&lists.concat(), k, order)
}

/// The `k` largest elements, from the largest down; of equal ones the first. Collective; all get them.
///
/// ```
/// use superstep::{Block, Config, algorithms};
///
/// let top = Config::new().procs(3).run(|g| {
///     let a = g.array::<f64, Block>(100);
///     a.forall_mut(|i, x| *x = (i as f64).sin());
///     algorithms::top_k(g, &a, 2).len()
/// });
/// assert_eq!(top.unwrap(), 2);
/// ```
///
/// # Cost
///
/// 1 step, k p g, n / p work. One step and n / p g more if the array does not lie in order.
///
/// # Panics
///
/// If `k` differs between members, if another group made the array, or if it is borrowed for writing.
#[track_caller]
pub fn top_k<T: Element + Key, D: Distribution>(g: &mut Group, a: &Array<T, D>, k: usize) -> Vec<T> {
    let run = run_of(g, a);
    let largest = top_k_run::<T, AsElements>(g, run, k, &Natural);
    check(g, a, Location::caller());
    largest
}

/// Takes the largest like [`top_k`], in the order that `compare` says.
///
/// ```
/// use superstep::{Block, Config, algorithms};
///
/// let least = Config::new().procs(3).run(|g| {
///     let a = g.array::<usize, Block>(100);
///     a.forall_mut(|i, x| *x = i);
///     algorithms::top_k_by(g, &a, 3, |x, y| y.cmp(x))
/// });
/// assert_eq!(least.unwrap(), [0, 1, 2]);
/// ```
#[track_caller]
pub fn top_k_by<T: Element, D: Distribution>(
    g: &mut Group,
    a: &Array<T, D>,
    k: usize,
    compare: impl Fn(&T, &T) -> Ordering,
) -> Vec<T> {
    let run = run_of(g, a);
    let largest = top_k_run::<T, AsElements>(g, run, k, &By(compare));
    check(g, a, Location::caller());
    largest
}

/// The `k` largest values of the vectors of all processors; see [`top_k`]. Collective; all get them.
///
/// ```
/// let top = superstep::Config::new().procs(3).run(|g| {
///     let mine = [g.rank(), 5 * g.rank()];
///     superstep::algorithms::top_k_vec(g, &mine, 3)
/// });
/// assert_eq!(top.unwrap(), [10, 5, 2]);
/// ```
#[track_caller]
pub fn top_k_vec<T: Value + Key>(g: &mut Group, values: &[T], k: usize) -> Vec<T> {
    top_k_run::<T, AsValue>(g, values, k, &Natural)
}

/// Takes the largest like [`top_k_vec`], in the order that `compare` says.
///
/// ```
/// let least = superstep::Config::new().procs(3).run(|g| {
///     let mine = [g.rank(), 5 * g.rank()];
///     superstep::algorithms::top_k_by_vec(g, &mine, 3, |x, y| y.cmp(x))
/// });
/// assert_eq!(least.unwrap(), [0, 0, 1]);
/// ```
#[track_caller]
pub fn top_k_by_vec<T: Value>(g: &mut Group, values: &[T], k: usize, compare: impl Fn(&T, &T) -> Ordering) -> Vec<T> {
    top_k_run::<T, AsValue>(g, values, k, &By(compare))
}
