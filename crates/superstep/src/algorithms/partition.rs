//! Putting some elements before the others.

use super::{
    line::line_up,
    runs::{Run, check, run_of},
};
use crate::{
    engine::{Each, Element, Group, Sum, Value},
    memory::{Array, Distribution},
};
use std::panic::Location;

/// Puts the elements that `is_first` says yes to before all others, where they are, and says how many there are. Both
/// keep their order. Collective.
///
/// ```
/// use superstep::{Config, Cyclic, algorithms};
///
/// let (count, all) = Config::new().procs(3).run(|g| {
///     let a = g.array::<usize, Cyclic>(7);
///     a.forall_mut(|i, x| *x = i);
///     let count = algorithms::partition(g, &a, |&x| x % 2 == 1);
///     (count, g.step(|s| s.mirror(&a, ..)))
/// }).unwrap();
/// assert_eq!((count, all), (3, vec![1, 3, 5, 0, 2, 4, 6]));
/// ```
///
/// # Cost
///
/// 2 steps, n / p g. One step and n / p g more if the array does not lie in order.
///
/// # Panics
///
/// If another group made the array, or if it is borrowed.
#[track_caller]
pub fn partition<T: Element, D: Distribution>(
    g: &mut Group,
    a: &Array<T, D>,
    mut is_first: impl FnMut(&T) -> bool,
) -> usize {
    let (yes, no): (Vec<T>, Vec<T>) = run_of(g, a).with(|values| values.iter().partition(|value| is_first(value)));
    let lens = [yes.len(), no.len()];
    let (before, total) = g.step(|s| (s.prefix(lens, Each(Sum)), s.reduce(lens, Each(Sum))));
    check(g, a, Location::caller());
    let places = [before[0], total[0] + before[1]];
    g.step(|s| {
        s.update(a, places[0]..places[0] + lens[0], &yes);
        s.update(a, places[1]..places[1] + lens[1], &no);
    });
    total[0]
}

/// Puts those values of the vectors of all processors that `is_first` says yes to before all others; both keep their
/// order. Each processor gets a block of ⌈n / p⌉, and all get the number of the first ones. Collective.
///
/// ```
/// let parted = superstep::Config::new().procs(2).run_all(|g| {
///     let mine = if g.is_leader() { vec![1, 2, 3] } else { vec![4, 5] };
///     superstep::algorithms::partition_vec(g, mine, |x| x % 2 == 0)
/// });
/// assert_eq!(parted.unwrap(), [(vec![2, 4, 1], 2), (vec![3, 5], 2)]);
/// ```
///
/// # Cost
///
/// 2 steps, the first for 2 p lengths; n / p g and n / p work.
#[track_caller]
pub fn partition_vec<T: Value>(g: &mut Group, values: Vec<T>, mut is_first: impl FnMut(&T) -> bool) -> (Vec<T>, usize) {
    let (yes, no) = values.into_iter().partition(|value| is_first(value));
    let (mine, lens) = line_up(g, vec![yes, no]);
    (mine, lens[0])
}
