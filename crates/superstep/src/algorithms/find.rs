//! The first element that a function looks for.

use super::runs::{check, enter};
use crate::{
    engine::{Element, Group, Min, Sum},
    memory::{Array, Distribution},
};
use std::panic::Location;

/// The lowest of the indices that processors have found.
#[track_caller]
fn lowest(g: &mut Group, mine: Option<usize>) -> Option<usize> {
    // No element has this index.
    let lowest = g.step(|s| s.reduce(mine.unwrap_or(usize::MAX), Min));
    (lowest != usize::MAX).then_some(lowest)
}

/// The lowest index of an element that `is_one` says yes to; `None` if there is none. Collective; all get it.
///
/// Each processor looks at what it owns, up to the first that it finds.
///
/// ```
/// use superstep::{Config, Cyclic, algorithms};
///
/// let first = Config::new().procs(3).run(|g| {
///     let a = g.array::<usize, Cyclic>(100);
///     a.forall_mut(|i, x| *x = i * i);
///     algorithms::find_first(g, &a, |&x| x > 50)
/// });
/// assert_eq!(first.unwrap(), Some(8));
/// ```
///
/// # Cost
///
/// 1 step, nothing beyond the boundary; n / p work, however the array lies.
///
/// # Panics
///
/// If another group made the array, or if it is borrowed for writing.
#[track_caller]
pub fn find_first<T: Element, D: Distribution>(
    g: &mut Group,
    a: &Array<T, D>,
    mut is_one: impl FnMut(&T) -> bool,
) -> Option<usize> {
    enter(g, a, Location::caller());
    let mut mine = None;
    {
        let local = a.local();
        a.stretches(|at, index, count| {
            if mine.is_none() {
                mine = local[at..at + count].iter().position(&mut is_one).map(|more| index + more);
            }
        });
    }
    let lowest = lowest(g, mine);
    check(g, a, Location::caller());
    lowest
}

/// The place of the first value that `is_one` says yes to, in the vectors of all processors one behind the other.
/// Collective; all get it.
///
/// ```
/// let first = superstep::Config::new().procs(3).run(|g| {
///     let mine = [g.rank(), 2];
///     superstep::algorithms::find_first_vec(g, &mine, |&x| x == 1)
/// });
/// assert_eq!(first.unwrap(), Some(2));
/// ```
///
/// # Cost
///
/// 2 steps, the first for the lengths; see [`find_first`].
#[track_caller]
pub fn find_first_vec<T>(g: &mut Group, values: &[T], is_one: impl FnMut(&T) -> bool) -> Option<usize> {
    let start = g.step(|s| s.prefix(values.len(), Sum));
    let mine = values.iter().position(is_one).map(|at| start + at);
    lowest(g, mine)
}
