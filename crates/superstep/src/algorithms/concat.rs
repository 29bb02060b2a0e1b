//! Arrays one behind the other.

use super::runs::{check, starts_of};
use crate::{
    engine::{Any, Element, Group},
    memory::{Array, Block, Distribution},
};
use std::panic::Location;

/// Stretches shorter than this travel element by element.
const SHORT: usize = 16;

/// Makes one array, in blocks of ⌈n / p⌉, of several, one behind the other. Collective.
///
/// ```
/// use superstep::{Config, Cyclic, algorithms};
///
/// let all = Config::new().procs(3).run(|g| {
///     let (a, b) = (g.array::<u8, Cyclic>(3), g.array::<u8, Cyclic>(2));
///     b.local_mut().fill(7);
///     let all = algorithms::concat(g, &[&a, &b, &a]);
///     g.step(|s| s.mirror(&all, ..))
/// });
/// assert_eq!(all.unwrap(), [0, 0, 0, 7, 7, 0, 0, 0]);
/// ```
///
/// # Cost
///
/// 2 steps, one of which makes the array; n / p g for n words of all together, where they lie in order.
///
/// # Panics
///
/// If another group made one of the arrays, or if one is borrowed for writing.
#[track_caller]
pub fn concat<T: Element, D: Distribution>(g: &mut Group, arrays: &[&Array<T, D>]) -> Array<T, Block> {
    let check_all = |g: &Group, site: &Location<'_>| arrays.iter().for_each(|a| check(g, *a, site));
    check_all(g, Location::caller());
    let starts = starts_of(arrays.iter().map(|a| a.len()));
    let all = g.array::<T, Block>(starts[arrays.len()]);
    check_all(g, Location::caller());
    g.step(|s| {
        let (mut places, mut values) = (Vec::new(), Vec::new());
        for (a, first) in arrays.iter().zip(&starts) {
            let local = a.local();
            a.stretches(|at, index, count| {
                let (to, values_here) = (first + index..first + index + count, &local[at..at + count]);
                if count < SHORT {
                    places.extend(to);
                    values.extend_from_slice(values_here);
                } else {
                    s.update(&all, to, values_here);
                }
            });
        }
        s.scatter(&all, &places, &values, Any);
    });
    all
}
