//! Arrays one behind the other.

use super::{
    line::line_up,
    runs::{check, enter, starts_of},
};
use crate::{
    engine::{Any, Element, Group, Value},
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
    let site = Location::caller();
    for a in arrays {
        enter(g, *a, site);
    }
    let starts = starts_of(arrays.iter().map(|a| a.len()));
    let all = g.array::<T, Block>(starts[arrays.len()]);
    for a in arrays {
        check(g, *a, site);
    }
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

/// Puts the first lists of all processors one behind the other, then the second ones and so on; each processor gets a
/// block of ⌈n / p⌉ of all together. Every member gives as many lists, and they may have any lengths. Collective.
///
/// ```
/// let here = superstep::Config::new().procs(2).run_all(|g| {
///     let me = g.rank();
///     superstep::algorithms::concat_vec(g, vec![vec![me], vec![10 + me, 20 + me]])
/// });
/// assert_eq!(here.unwrap(), [[0, 1, 10], [20, 11, 21]]);
/// ```
///
/// # Cost
///
/// 2 steps, the first for the lengths of all lists; n / p g for n words of all together.
///
/// # Panics
///
/// If members give different numbers of lists (`BadLength`, on all members).
#[track_caller]
pub fn concat_vec<T: Value>(g: &mut Group, lists: Vec<Vec<T>>) -> Vec<T> {
    line_up(g, lists).0
}
