//! Dealing elements out evenly.

use super::{
    runs::{check, enter, starts_of},
    spread,
};
use crate::{
    engine::{AsValue, Element, Group, Value},
    memory::{Array, Block, Distribution},
};
use std::panic::Location;

/// Copies an array to one in blocks of ⌈n / p⌉. Collective.
///
/// ```
/// use superstep::{Config, Irregular, algorithms};
///
/// let here = Config::new().procs(2).run_all(|g| {
///     let a = g.array_with::<usize, _, 1>([4], Irregular(vec![1, 3]));
///     a.forall_mut(|i, x| *x = i);
///     algorithms::rebalance(g, &a).local().to_vec()
/// });
/// assert_eq!(here.unwrap(), [[0, 1], [2, 3]]);
/// ```
///
/// # Cost
///
/// 2 steps, one of which makes the array; n / p g for n words.
///
/// # Panics
///
/// If another group made the array, or if it is borrowed for writing.
#[track_caller]
pub fn rebalance<T: Element, D: Distribution>(g: &mut Group, a: &Array<T, D>) -> Array<T, Block> {
    enter(g, a, Location::caller());
    let even = g.array::<T, Block>(a.len());
    check(g, a, Location::caller());
    g.step(|s| s.assign(&even, a));
    even
}

/// Deals the vectors of all processors out in blocks of ⌈n / p⌉, and keeps their order. Collective.
///
/// ```
/// let here = superstep::Config::new().procs(2).run_all(|g| {
///     let mine = if g.is_leader() { vec![] } else { vec!["a".to_owned(), "b".to_owned(), "c".to_owned()] };
///     superstep::algorithms::rebalance_vec(g, mine)
/// });
/// assert_eq!(here.unwrap(), [vec!["a", "b"], vec!["c"]]);
/// ```
///
/// # Cost
///
/// 2 steps, the first for p lengths; what a processor has too much or too little, times g.
#[track_caller]
pub fn rebalance_vec<T: Value>(g: &mut Group, values: Vec<T>) -> Vec<T> {
    let lens = g.step(|s| s.collect(values.len()));
    spread::even_out::<T, AsValue>(g, &starts_of(lens), values)
}
