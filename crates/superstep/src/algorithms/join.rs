//! Rows of two tables that have the same key.

use super::{
    group::columns,
    key::Key,
    local_sort,
    order::{ByFirst, Natural, Ties},
    runs::{Run, agree_lens, array_of_runs, check},
    spread::{cut_at, draw, joined, split},
};
use crate::{
    engine::{AsElements, AsValue, Codec, Element, Group, Value},
    memory::{Array, Distribution, Irregular},
    panics::Call,
};
use std::panic::Location;

/// Keys, and a value for each.
type Columns<K, V> = (Vec<K>, Vec<V>);

/// Sorts rows by key; equal keys keep their order.
fn by_key<K: Key + Clone + 'static, V: Clone + 'static>((keys, values): Columns<K, V>) -> Columns<K, V> {
    let mut rows: Vec<(K, V)> = keys.into_iter().zip(values).collect();
    local_sort::sort(&mut rows, &ByFirst, Ties::Kept);
    rows.into_iter().unzip()
}

/// Pairs the rows of two sorted tables.
fn paired<K: Key, A, B, R>(left: Columns<K, A>, right: Columns<K, B>, mut make: impl FnMut(&K, &A, &B) -> R) -> Vec<R> {
    let (mut pairs, mut first) = (Vec::new(), 0);
    for (key, a) in left.0.iter().zip(&left.1) {
        first += right.0[first..].iter().take_while(|other| key.order(other).is_gt()).count();
        let same = right.0[first..].iter().zip(&right.1[first..]).take_while(|(other, _)| key.order(other).is_eq());
        pairs.extend(same.map(|(_, b)| make(key, a, b)));
    }
    pairs
}

/// Joins two lists of rows; the runs that come back differ in length. Two steps.
#[track_caller]
fn join_run<K, A, B, R, W>(
    g: &mut Group,
    left: Columns<K, A>,
    right: Columns<K, B>,
    make: impl FnMut(&K, &A, &B) -> R,
) -> Vec<R>
where
    K: Key + Clone + Send + 'static,
    A: Clone + Send + 'static,
    B: Clone + Send + 'static,
    W: Codec<Vec<K>> + Codec<Vec<A>> + Codec<Vec<B>>,
{
    let site = Location::caller();
    let _call = Call::at(site);
    let (left, right) = (by_key(left), by_key(right));
    if g.size() == 1 {
        return paired(left, right, make);
    }
    let keys = [&left.0[..], &right.0[..]].concat();
    let (len, samples) = (keys.len(), draw(g, &keys));
    drop(keys);
    let splitters = split::<K, W>(g, len, samples, &Natural);
    let [ends, other_ends] = [&left.0, &right.0].map(|keys| splitters.cut(g, keys, &Natural));
    let (keys, values) = (cut_at(left.0, &ends), cut_at(left.1, &ends));
    let (other_keys, other_values) = (cut_at(right.0, &other_ends), cut_at(right.1, &other_ends));
    let (keys, values, other_keys, other_values) = g.step(|s| {
        let keys = (s.exchange_lists::<K, W>(keys, site), s.exchange_lists::<K, W>(other_keys, site));
        let values = (s.exchange_lists::<A, W>(values, site), s.exchange_lists::<B, W>(other_values, site));
        (keys.0, values.0, keys.1, values.1)
    });
    let left = by_key((joined(keys), joined(values)));
    let right = by_key((joined(other_keys), joined(other_values)));
    paired(left, right, make)
}

/// Makes an array of what `make` makes of each two rows, one of each table, that have the same key: in the order of
/// keys, of equal ones in that of the rows on the left, and then on the right. A table is an array of keys and one of
/// values. Collective.
///
/// ```
/// use superstep::{Block, Config, algorithms};
///
/// let pairs = Config::new().procs(2).run(|g| {
///     let (ids, ages) = (g.array::<u32, Block>(3), g.array::<u32, Block>(3));
///     ids.forall_mut(|i, id| *id = [7, 5, 9][i]);
///     ages.forall_mut(|i, age| *age = 30 + i as u32);
///     let (who, paid) = (g.array::<u32, Block>(4), g.array::<u32, Block>(4));
///     who.forall_mut(|i, id| *id = [9, 7, 9, 4][i]);
///     paid.forall_mut(|i, sum| *sum = 100 * (i as u32 + 1));
///     let pairs = algorithms::join(g, (&ids, &ages), (&who, &paid), |&id, &age, &sum| [id, age, sum]);
///     g.step(|s| s.mirror(&pairs, ..))
/// });
/// assert_eq!(pairs.unwrap(), [[7, 30, 200], [9, 32, 100], [9, 32, 300]]);
/// ```
///
/// # Cost
///
/// 4 steps, one of which makes the array: n / p g for n words of both tables, besides the samples of a
/// [`sort`](super::sort), and work as for that. One step and n / p g more for each array that does not lie in order, or
/// otherwise than the first of its table.
///
/// All rows of one key meet on one processor, and all pairs of them are made there and stay there: a b pairs of a key
/// with a rows on the left and b on the right, whatever p is. Where few keys have most rows, combine these first by
/// [`group_by_key`](super::group_by_key), if that will do. [`rebalance`](super::rebalance) deals out what was made.
///
/// # Panics
///
/// If the arrays of a table differ in length (`BadLength`), if another group made one of them, or if one is borrowed
/// for writing.
#[track_caller]
pub fn join<K, A, B, R, D, E, F, H>(
    g: &mut Group,
    left: (&Array<K, D>, &Array<A, E>),
    right: (&Array<K, F>, &Array<B, H>),
    make: impl FnMut(&K, &A, &B) -> R,
) -> Array<R, Irregular>
where
    K: Element + Key,
    A: Element,
    B: Element,
    R: Element,
    D: Distribution,
    E: Distribution,
    F: Distribution,
    H: Distribution,
{
    let site = Location::caller();
    let rows = columns(g, "keys and values on the left of a join", left);
    let others = columns(g, "keys and values on the right of a join", right);
    let (rows, others) = ((rows.0.into_vec(), rows.1.into_vec()), (others.0.into_vec(), others.1.into_vec()));
    let pairs = join_run::<K, A, B, R, AsElements>(g, rows, others, make);
    check(g, left.0, site);
    check(g, left.1, site);
    check(g, right.0, site);
    check(g, right.1, site);
    let lens = g.step(|s| s.collect(pairs.len()));
    array_of_runs(g, lens.iter().sum(), Irregular(lens), &pairs)
}

/// Joins the rows of all processors; see [`join`]. Each gets a run of what is made. Collective.
///
/// ```
/// let pairs = superstep::Config::new().procs(2).run_all(|g| {
///     let names = (vec![g.rank()], vec![format!("rank {}", g.rank())]);
///     let marks = (vec![1, 0], vec!['a', 'b']);
///     superstep::algorithms::join_vec(g, names, marks, |_, name, mark| format!("{name} {mark}"))
/// });
/// assert_eq!(pairs.unwrap().concat(), ["rank 0 b", "rank 0 b", "rank 1 a", "rank 1 a"]);
/// ```
///
/// # Cost
///
/// 4 steps, the first two to see that the lengths fit; see [`join`].
///
/// # Panics
///
/// If somebody gives not as many keys as values of a table (`BadLength`, on all members).
#[track_caller]
pub fn join_vec<K: Value + Key, A: Value, B: Value, R>(
    g: &mut Group,
    left: (Vec<K>, Vec<A>),
    right: (Vec<K>, Vec<B>),
    make: impl FnMut(&K, &A, &B) -> R,
) -> Vec<R> {
    agree_lens(g, "keys and values on the left of a join", [left.0.len(), left.1.len()]);
    agree_lens(g, "keys and values on the right of a join", [right.0.len(), right.1.len()]);
    join_run::<K, A, B, R, AsValue>(g, left, right, make)
}
