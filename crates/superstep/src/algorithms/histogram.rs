//! How many elements lie between edges.

use super::{
    key::Key,
    runs::{Run, check, declare, part_of, refuse},
};
use crate::{
    engine::{AsElements, AsValue, Codec, Each, Element, Group, Sum, Value, hash_numbers},
    error::{ErrorKind, Result},
    memory::{Array, Distribution},
};
use std::panic::Location;

/// A number for some edges, which others have another one for.
fn mark<T: Clone, W: Codec<Vec<T>>>(edges: &[T]) -> Result<u64> {
    let mut bytes = Vec::new();
    W::encode(&edges.to_vec(), &mut bytes)?;
    Ok(hash_numbers(bytes.iter().map(|&byte| byte.into())))
}

/// Counts a run.
#[track_caller]
fn histogram_run<T: Key + Clone, W: Codec<Vec<T>>>(g: &mut Group, run: impl Run<T>, edges: &[T]) -> Vec<u64> {
    let site = Location::caller();
    let Some(bins) = edges.len().checked_sub(1).filter(|&bins| bins > 0) else {
        let what = format!("a histogram with {} edges; give two or more", edges.len());
        refuse(g, ErrorKind::BadLength, &what, site);
    };
    if let Some(at) = (1..=bins).find(|&at| edges[at].order(&edges[at - 1]).is_lt()) {
        let what = format!("edge {at} of a histogram is below the one before it; give them in order");
        refuse(g, ErrorKind::BadSection, &what, site);
    }
    let mark = mark::<T, W>(edges).unwrap_or_else(|error| g.core().placed_at(error, site).raise());
    declare(g, [mark], format!("a histogram with {} edges, which come to {mark:x}", edges.len()), site);
    let mut counts = vec![0u64; bins];
    run.with(|values| {
        for value in values {
            let below = edges.partition_point(|edge| edge.order(value).is_le());
            // The last bin has its upper edge.
            let is_last = below == edges.len() && edges[bins].order(value).is_eq();
            if below > 0 && (below < edges.len() || is_last) {
                counts[(below - 1).min(bins - 1)] += 1;
            }
        }
    });
    g.step(|s| s.reduce(counts, Each(Sum)))
}

/// Counts the elements between each two edges: those from one edge on and below the next; the last bin has its upper
/// edge too. What lies outside is not counted. Collective; all get the counts.
///
/// ```
/// use superstep::{Config, Cyclic, algorithms};
///
/// let counts = Config::new().procs(3).run(|g| {
///     let a = g.array::<f64, Cyclic>(11);
///     a.forall_mut(|i, x| *x = i as f64);
///     algorithms::histogram(g, &a, &[0.0, 2.5, 5.0, 9.0])
/// });
/// assert_eq!(counts.unwrap(), [3, 2, 5]);
/// ```
///
/// # Cost
///
/// 1 step, b g log p and (n / p) log b work for b bins.
///
/// # Panics
///
/// If there are fewer than two edges (`BadLength`), if they are not in order (`BadSection`) or not the same on all
/// members, if another group made the array, or if it is borrowed for writing.
#[track_caller]
pub fn histogram<T: Element + Key, D: Distribution>(g: &mut Group, a: &Array<T, D>, edges: &[T]) -> Vec<u64> {
    let run = part_of(g, a);
    let counts = histogram_run::<T, AsElements>(g, run, edges);
    check(g, a, Location::caller());
    counts
}

/// Counts the values of the vectors of all processors between each two edges; see [`histogram`]. Collective; all get
/// the counts.
///
/// ```
/// let counts = superstep::Config::new().procs(2).run(|g| {
///     let words = ["apple", "pear", "zebra"].map(str::to_owned);
///     superstep::algorithms::histogram_vec(g, &words, &["a", "n", "z"].map(str::to_owned))
/// });
/// assert_eq!(counts.unwrap(), [2, 2]);
/// ```
#[track_caller]
pub fn histogram_vec<T: Value + Key>(g: &mut Group, values: &[T], edges: &[T]) -> Vec<u64> {
    histogram_run::<T, AsValue>(g, values, edges)
}
