//! Every value once: neighbours that are equal, or all that are.

use super::{
    key::Key,
    local_sort,
    order::{Natural, Order, Ties},
    runs::{Run, array_of_runs, check, run_of},
    spread::{cut_at, draw, hand_over, joined, split},
};
use crate::{
    engine::{AsElements, AsValue, Codec, Element, Group, Value},
    memory::{Array, Distribution, Irregular},
    panics::Call,
};
use std::panic::Location;

/// Sorts values and keeps the first of those that are equal.
fn unique_here<T: Clone + 'static>(values: &mut Vec<T>, order: &impl Order<T>) {
    local_sort::sort(values, order, Ties::Kept);
    values.dedup_by(|next, kept| order.order(kept, next).is_eq());
}

/// Every value of a list once, in order; runs may differ in length.
#[track_caller]
fn unique_run<T: Clone + Send + 'static, W: Codec<Vec<T>>>(
    g: &mut Group,
    mut values: Vec<T>,
    order: &impl Order<T>,
) -> Vec<T> {
    let _call = Call::at(Location::caller());
    unique_here(&mut values, order);
    if g.size() > 1 {
        let (len, samples) = (values.len(), draw(g, &values.as_slice()));
        let splitters = split::<T, W>(g, len, samples, order);
        let ends = splitters.cut(g, &values, order);
        values = joined(hand_over::<T, W>(g, cut_at(values, &ends)).0);
        unique_here(&mut values, order);
    }
    values
}

/// Keeps the first of neighbours that are the same.
#[track_caller]
fn dedup_run<T: Clone + Send + 'static, W: Codec<Vec<T>>>(
    g: &mut Group,
    mut values: Vec<T>,
    mut is_same: impl FnMut(&T, &T) -> bool,
) -> Vec<T> {
    let site = Location::caller();
    let last = values.last().cloned().into_iter().collect();
    let lasts = g.step(|s| s.collect_lists::<T, W>(last, site));
    // Ranks are those of the members that have stayed.
    let mut before = lasts[..g.rank()].iter().rev().find_map(|last| last.first()).cloned();
    values.retain(|value| {
        let is_new = before.as_ref().is_none_or(|before| !is_same(before, value));
        if is_new {
            before = Some(value.clone());
        }
        is_new
    });
    values
}

/// Makes an array whose parts are these runs.
#[track_caller]
fn irregular<T: Element>(g: &mut Group, run: &[T]) -> Array<T, Irregular> {
    let lens = g.step(|s| s.collect(run.len()));
    array_of_runs(g, lens.iter().sum(), Irregular(lens), run)
}

/// Makes a sorted array that has every value once; of equal elements it has the first. Collective.
///
/// ```
/// use superstep::{Block, Config, algorithms};
///
/// let values = Config::new().procs(3).run(|g| {
///     let a = g.array::<i32, Block>(100);
///     a.forall_mut(|i, x| *x = i as i32 % 4 - 2);
///     let values = algorithms::unique(g, &a);
///     g.step(|s| s.mirror(&values, ..))
/// });
/// assert_eq!(values.unwrap(), [-2, -1, 0, 1]);
/// ```
///
/// # Cost
///
/// 4 steps, one of which makes the array: each processor sorts what it has and sends every value once, so at most n / p
/// g, besides the samples of a [`sort`](super::sort). One step and n / p g more if the array does not lie in order.
///
/// # Panics
///
/// If another group made the array, or if it is borrowed for writing.
#[track_caller]
pub fn unique<T: Element + Key, D: Distribution>(g: &mut Group, a: &Array<T, D>) -> Array<T, Irregular> {
    let values = run_of(g, a).into_vec();
    let values = unique_run::<T, AsElements>(g, values, &Natural);
    check(g, a, Location::caller());
    irregular(g, &values)
}

/// Every value of the vectors of all processors once, in order; each processor gets a run. Collective.
///
/// ```
/// let words = superstep::Config::new().procs(2).run_all(|g| {
///     let text = ["to be or not", "to be"][g.rank()];
///     superstep::algorithms::unique_vec(g, text.split(' ').map(str::to_owned).collect())
/// });
/// assert_eq!(words.unwrap().concat(), ["be", "not", "or", "to"]);
/// ```
///
/// # Cost
///
/// 2 steps; see [`unique`].
#[track_caller]
pub fn unique_vec<T: Value + Key>(g: &mut Group, values: Vec<T>) -> Vec<T> {
    unique_run::<T, AsValue>(g, values, &Natural)
}

/// Makes an array without those elements that `is_same` finds the same as the one before them; each of the others stays
/// where it is. Collective.
///
/// ```
/// use superstep::{Block, Config, algorithms};
///
/// let values = Config::new().procs(3).run(|g| {
///     let a = g.array::<usize, Block>(10);
///     a.forall_mut(|i, x| *x = i / 4 % 2);
///     let values = algorithms::dedup(g, &a, |x, y| x == y);
///     g.step(|s| s.mirror(&values, ..))
/// });
/// assert_eq!(values.unwrap(), [0, 1, 0]);
/// ```
///
/// `is_same` is handed the element that was kept last, and says of three elements that the first is the same as the
/// third if it says so of the first and the second, and of the second and the third.
///
/// # Cost
///
/// 3 steps, one of which makes the array; 2 p g and n / p work. One step and n / p g more if the array does not lie in
/// order.
///
/// # Panics
///
/// If another group made the array, or if it is borrowed for writing.
#[track_caller]
pub fn dedup<T: Element, D: Distribution>(
    g: &mut Group,
    a: &Array<T, D>,
    is_same: impl FnMut(&T, &T) -> bool,
) -> Array<T, Irregular> {
    let values = run_of(g, a).into_vec();
    let values = dedup_run::<T, AsElements>(g, values, is_same);
    check(g, a, Location::caller());
    irregular(g, &values)
}

/// Leaves out those values of the vectors of all processors that are the same as the one before. Collective.
///
/// ```
/// let values = superstep::Config::new().procs(2).run_all(|g| {
///     let mine = vec![g.rank(), 1];
///     superstep::algorithms::dedup_vec(g, mine, |x, y| x == y)
/// });
/// assert_eq!(values.unwrap(), [vec![0, 1], vec![]]);
/// ```
///
/// # Cost
///
/// 1 step; see [`dedup`].
#[track_caller]
pub fn dedup_vec<T: Value>(g: &mut Group, values: Vec<T>, is_same: impl FnMut(&T, &T) -> bool) -> Vec<T> {
    dedup_run::<T, AsValue>(g, values, is_same)
}
