//! Keeping some elements.

use super::{
    rebalance::rebalance_vec,
    runs::{Run, array_of_runs, check, put_runs, run_of, starts_of},
};
use crate::{
    engine::{Element, Group, Value},
    memory::{Array, Block, Distribution, Irregular},
};
use std::panic::Location;

/// So many elements are looked at before those that are kept are copied.
const CHUNK: usize = 256;

/// The values that are kept. Each is written down, and only the place of the next depends on whether it is kept: that
/// needs no branch.
fn picked<T: Copy>(values: &[T], mut keep: impl FnMut(&T) -> bool) -> Vec<T> {
    let (mut kept, Some(&first)) = (Vec::new(), values.first()) else { return Vec::new() };
    // What is not used of it costs nothing.
    fabric::make_room(&mut kept, values.len());
    let mut noted = [first; CHUNK];
    for chunk in values.chunks(CHUNK) {
        let mut count = 0;
        for value in chunk {
            noted[count % CHUNK] = *value;
            count += usize::from(keep(value));
        }
        kept.extend_from_slice(&noted[..count]);
    }
    kept
}

/// Those of this processor's run that are kept, and the runs of all that are.
#[track_caller]
fn kept<T: Element, D: Distribution>(
    g: &mut Group,
    a: &Array<T, D>,
    keep: impl FnMut(&T) -> bool,
) -> (Vec<T>, Vec<usize>) {
    let kept = run_of(g, a).with(|values| picked(values, keep));
    let lens = g.step(|s| s.collect(kept.len()));
    check(g, a, Location::caller());
    (kept, lens)
}

/// Makes an array of the elements that `keep` says yes to, in their order; each stays where it is. Collective.
///
/// ```
/// use superstep::{Block, Config, algorithms};
///
/// let here = Config::new().procs(2).run_all(|g| {
///     let a = g.array::<usize, Block>(10);
///     a.forall_mut(|i, x| *x = i);
///     algorithms::filter(g, &a, |&x| x % 3 == 0).local().to_vec()
/// });
/// assert_eq!(here.unwrap(), [[0, 3], [6, 9]]);
/// ```
///
/// # Cost
///
/// 2 steps, one of which makes the array; p g and n / p work. One step and n / p g more if the array does not lie in
/// order.
///
/// # Panics
///
/// If another group made the array, or if it is borrowed for writing.
#[track_caller]
pub fn filter<T: Element, D: Distribution>(
    g: &mut Group,
    a: &Array<T, D>,
    keep: impl FnMut(&T) -> bool,
) -> Array<T, Irregular> {
    let (kept, lens) = kept(g, a, keep);
    array_of_runs(g, lens.iter().sum(), Irregular(lens), &kept)
}

/// Filters like [`filter`], into an array in blocks of ⌈n / p⌉.
///
/// ```
/// use superstep::{Block, Config, algorithms};
///
/// let here = Config::new().procs(2).run_all(|g| {
///     let a = g.array::<usize, Block>(10);
///     a.forall_mut(|i, x| *x = i);
///     algorithms::filter_balanced(g, &a, |&x| x < 4).local().to_vec()
/// });
/// assert_eq!(here.unwrap(), [[0, 1], [2, 3]]);
/// ```
///
/// # Cost
///
/// 3 steps, and at most n / p g.
#[track_caller]
pub fn filter_balanced<T: Element, D: Distribution>(
    g: &mut Group,
    a: &Array<T, D>,
    keep: impl FnMut(&T) -> bool,
) -> Array<T, Block> {
    let (kept, lens) = kept(g, a, keep);
    let starts = starts_of(lens);
    let even = g.array::<T, Block>(starts[g.size()]);
    put_runs(g, &even, 0, &starts, &kept);
    even
}

/// Keeps those values of the vectors of all processors that `keep` says yes to, in their order; each processor gets a
/// block of ⌈n / p⌉ of them. Collective.
///
/// ```
/// let here = superstep::Config::new().procs(2).run_all(|g| {
///     let mine = if g.is_leader() { vec![1, 2, 3, 4, 5] } else { vec![] };
///     superstep::algorithms::filter_balanced_vec(g, mine, |&x| x > 3)
/// });
/// assert_eq!(here.unwrap(), [[4], [5]]);
/// ```
///
/// # Cost
///
/// 2 steps, the first for p lengths; what a processor keeps too much or too little, times g.
#[track_caller]
pub fn filter_balanced_vec<T: Value>(g: &mut Group, mut values: Vec<T>, keep: impl FnMut(&T) -> bool) -> Vec<T> {
    values.retain(keep);
    rebalance_vec(g, values)
}
