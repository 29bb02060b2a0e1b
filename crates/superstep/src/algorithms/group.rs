//! Groups of rows by key, each combined to one value.

use super::{
    classes::Classes,
    deal::{deal, is_dealt},
    key::{Digits, Key},
    lists::Lists,
    local_sort,
    order::{ByFirst, Natural, Ties},
    random::mixed,
    reduce::apply,
    runs::{ArrayRun, Run, agree_lens, array_of_runs, array_starts, bring, check, check_lens, declare, enter, run_of},
    spread::{cut_at, draw, joined, split},
};
use crate::{
    engine::{AsElements, AsValue, Codec, Combine, Element, Group, Value, type_hash},
    memory::{Array, Distribution, Irregular},
    panics::Call,
};
use std::{any::type_name, panic::Location};

/// Finds the place of a key by its digits: a table with open addresses.
struct Table {
    /// Digits and a place; `usize::MAX` where there is none.
    slots: Vec<(u64, usize)>,
    count: usize,
}

impl Table {
    const EMPTY: (u64, usize) = (0, usize::MAX);

    fn new() -> Self {
        Self { slots: vec![Self::EMPTY; 64], count: 0 }
    }

    /// The place of these digits; `next` if they are new.
    #[inline]
    fn place(&mut self, digits: u64, next: usize) -> usize {
        let slot = self.slot(digits);
        if self.slots[slot].1 != usize::MAX {
            return self.slots[slot].1;
        }
        self.slots[slot] = (digits, next);
        self.count += 1;
        if self.count * 2 > self.slots.len() {
            self.grow();
        }
        next
    }

    /// Where these digits are, or belong.
    #[inline]
    fn slot(&self, digits: u64) -> usize {
        let mask = self.slots.len() - 1;
        let mut slot = mixed(digits) as usize & mask;
        while self.slots[slot].1 != usize::MAX && self.slots[slot].0 != digits {
            slot = (slot + 1) & mask;
        }
        slot
    }

    /// Combines the values of each key, and appends the rows that come of it, sorted by key. The table is empty before
    /// and after.
    fn combine<K: Key + Clone + 'static, V: Value, C: Combine<V>>(
        &mut self,
        rows: impl IntoIterator<Item = (K, V)>,
        op: &C,
        groups: &mut Vec<(K, V)>,
    ) {
        let first = groups.len();
        for (key, value) in rows {
            let place = self.place(key.digits(), groups.len());
            match groups.get_mut(place) {
                Some(group) => apply(op, &mut group.1, &value),
                None => groups.push((key, value)),
            }
        }
        self.slots.fill(Self::EMPTY);
        self.count = 0;
        local_sort::sort(&mut groups[first..], &ByFirst, Ties::Free);
    }

    #[cold]
    fn grow(&mut self) {
        let len = self.slots.len() * 4;
        for old in std::mem::replace(&mut self.slots, vec![Self::EMPTY; len]) {
            if old.1 != usize::MAX {
                let slot = self.slot(old.0);
                self.slots[slot] = old;
            }
        }
    }
}

/// So many rows are looked at to see how many keys there are.
const SAMPLE: usize = 4096;
/// With so many keys, a table of all of them is larger than the second cache.
const KEYS: usize = 1 << 15;

/// Classes of keys, each of which has so few that its table is in a cache; none where the keys are few enough without.
fn classes_of<K: Key, V>(rows: &[(K, V)]) -> Option<Classes> {
    if rows.len() < KEYS {
        return None;
    }
    let mut sample: Vec<u64> = rows.iter().step_by(rows.len().div_ceil(SAMPLE)).map(|row| row.0.digits()).collect();
    sample.sort_unstable();
    let drawn = sample.len();
    // Of as many draws out of k keys so many differ.
    let differ = sample.chunk_by(|a, b| a == b).count();
    let share = 1.0 - (-(drawn as f64) / KEYS as f64).exp();
    (differ as f64 > KEYS as f64 * share).then(|| Classes::of(&sample, rows.len(), 1))
}

/// Combines the values of each key, in the order of the rows. The rows that come back are sorted by key.
fn combined<K: Key + Clone + 'static, V: Value, C: Combine<V>>(
    rows: Vec<(K, V)>,
    op: &C,
    kept: &Lists<(K, V)>,
) -> Vec<(K, V)> {
    if K::DIGITS == Digits::All {
        let (mut table, mut groups) = (Table::new(), Vec::new());
        let classes = if is_dealt::<(K, V), ByFirst>() { classes_of(&rows) } else { None };
        let Some(classes) = classes else {
            table.combine(rows, op, &mut groups);
            return groups;
        };
        let mut lists = deal(&rows, &classes, &ByFirst, &[], kept, |_, _, _, _| 0);
        let mut rest = &lists[0][..];
        for class in 0..classes.count() {
            let here;
            (here, rest) = rest.split_at(rest.partition_point(|row| classes.class(row.0.digits()) <= class));
            table.combine(here.iter().cloned(), op, &mut groups);
        }
        lists.push(rows);
        kept.keep(lists);
        return groups;
    }
    let mut groups = rows;
    local_sort::sort(&mut groups, &ByFirst, Ties::Kept);
    groups.dedup_by(|next, group| {
        let is_same = group.0.order(&next.0).is_eq();
        if is_same {
            apply(op, &mut group.1, &next.1);
        }
        is_same
    });
    groups
}

/// Groups a list of rows; the runs that come back differ in length. Two steps.
#[track_caller]
fn group_run<K, V, C, WK, WV>(g: &mut Group, rows: Vec<(K, V)>, op: C) -> (Vec<K>, Vec<V>)
where
    K: Key + Clone + Send + 'static,
    V: Value,
    C: Combine<V>,
    WK: Codec<Vec<K>>,
    WV: Codec<Vec<V>>,
{
    let site = Location::caller();
    let _call = Call::at(site);
    let words = format!("groups that are combined by {}", type_name::<C>());
    declare(g, [type_hash::<C>(), op.mark()], words, site);
    let kept = Lists::of(g);
    let (keys, values): (Vec<K>, Vec<V>) = g.operate(site, || combined(rows, &op, &kept)).into_iter().unzip();
    if g.size() == 1 {
        return (keys, values);
    }
    let (len, samples) = (keys.len(), draw(g, &keys.as_slice()));
    let ends = split::<K, WK>(g, len, samples, &Natural).cut(g, &keys, &Natural);
    let (keys, values) = (cut_at(keys, &ends), cut_at(values, &ends));
    let (keys, values) = g.step(|s| (s.exchange_lists::<K, WK>(keys, site), s.exchange_lists::<V, WV>(values, site)));
    let rows = rows_of(joined(keys).into_iter(), joined(values).into_iter(), &kept);
    g.operate(site, || combined(rows, &op, &kept)).into_iter().unzip()
}

/// Combines the values of each key, in the order of their indices. The arrays that come back lie alike, and have every
/// key once, in order, and its value. Collective.
///
/// ```
/// use superstep::{Block, Config, Sum, algorithms};
///
/// let sums = Config::new().procs(3).run(|g| {
///     let (keys, values) = (g.array::<u32, Block>(100), g.array::<f64, Block>(100));
///     keys.forall_mut(|i, key| *key = i as u32 % 3);
///     values.local_mut().fill(0.5);
///     let (keys, sums) = algorithms::group_by_key(g, &keys, &values, Sum);
///     g.step(|s| (s.mirror(&keys, ..), s.mirror(&sums, ..)))
/// }).unwrap();
/// assert_eq!(sums, (vec![0, 1, 2], vec![17.0, 16.5, 16.5]));
/// ```
///
/// # Cost
///
/// 5 steps, two of which make the arrays. Each processor combines what it has first, so every key travels at most once
/// from each, with its value; besides the samples of a [`sort`](super::sort). n / p work, and k log k to sort k keys.
/// Two steps and 2 n / p g more if an array does not lie in order or the two lie differently. The group keeps memory
/// for 2 n / p rows until it ends, as with `sort`.
///
/// # Panics
///
/// If the arrays differ in length (`BadLength`), if members name different operators (`DeclMismatch`), if another group
/// made one of the arrays, or if one is borrowed for writing.
#[track_caller]
pub fn group_by_key<K, V, D, E, C>(
    g: &mut Group,
    keys: &Array<K, D>,
    values: &Array<V, E>,
    op: C,
) -> (Array<K, Irregular>, Array<V, Irregular>)
where
    K: Element + Key,
    V: Element + Value,
    D: Distribution,
    E: Distribution,
    C: Combine<V>,
{
    let site = Location::caller();
    let runs = columns(g, "keys and values of a grouping", (keys, values));
    let kept = Lists::of(g);
    let rows = runs.0.with(|keys| runs.1.with(|values| rows_of(keys.iter().copied(), values.iter().copied(), &kept)));
    let groups = group_run::<K, V, C, AsElements, AsElements>(g, rows, op);
    check(g, keys, site);
    check(g, values, site);
    let lens = g.step(|s| s.collect(groups.0.len()));
    let len = lens.iter().sum();
    (array_of_runs(g, len, Irregular(lens.clone()), &groups.0), array_of_runs(g, len, Irregular(lens), &groups.1))
}

/// Keys, each with its value.
fn rows_of<K: Clone + 'static, V: Clone + 'static>(
    keys: impl ExactSizeIterator<Item = K>,
    values: impl Iterator<Item = V>,
    kept: &Lists<(K, V)>,
) -> Vec<(K, V)> {
    let mut rows = kept.empty(keys.len());
    rows.extend(keys.zip(values));
    rows
}

/// The runs of two arrays that belong together, element by element.
#[track_caller]
pub(super) fn columns<'a, A: Element, B: Element, D: Distribution, E: Distribution>(
    g: &mut Group,
    what: &str,
    (a, b): (&'a Array<A, D>, &'a Array<B, E>),
) -> (ArrayRun<'a, A, D>, ArrayRun<'a, B, E>) {
    let site = Location::caller();
    enter(g, a, site);
    enter(g, b, site);
    check_lens(g, what, [a.len(), b.len()], site);
    let here = run_of(g, a);
    let starts = array_starts(g, a);
    let there = if starts == array_starts(g, b) { run_of(g, b) } else { ArrayRun::Brought(bring(g, b, &starts)) };
    (here, there)
}

/// Combines the values of each key in the vectors of all processors. Each processor gets a run of the keys, which are
/// in order, with their values. Collective.
///
/// ```
/// let counts = superstep::Config::new().procs(2).run_all(|g| {
///     let text = ["to be or not", "to be"][g.rank()];
///     let (keys, ones) = text.split(' ').map(|word| (word.to_owned(), 1)).unzip();
///     superstep::algorithms::group_by_key_vec(g, keys, ones, superstep::Sum)
/// });
/// let (words, counts): (Vec<_>, Vec<_>) = counts.unwrap().into_iter().unzip();
/// assert_eq!(words.concat(), ["be", "not", "or", "to"]);
/// assert_eq!(counts.concat(), [2, 1, 1, 2]);
/// ```
///
/// # Cost
///
/// 3 steps, the first to see that the lengths fit; see [`group_by_key`].
///
/// # Panics
///
/// If somebody gives not as many keys as values (`BadLength`, on all members), or names another operator
/// (`DeclMismatch`).
#[track_caller]
pub fn group_by_key_vec<K: Value + Key, V: Value, C: Combine<V>>(
    g: &mut Group,
    keys: Vec<K>,
    values: Vec<V>,
    op: C,
) -> (Vec<K>, Vec<V>) {
    agree_lens(g, "keys and values of a grouping", [keys.len(), values.len()]);
    group_run::<K, V, C, AsValue, AsValue>(g, keys.into_iter().zip(values).collect(), op)
}
