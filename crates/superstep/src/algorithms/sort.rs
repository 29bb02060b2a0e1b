//! Sorting: by a sample each processor gets its share of the order, and sorts it.

use super::{
    classes::Classes,
    deal::sort_classes,
    key::Key,
    lists::Lists,
    local_sort,
    order::{By, ByKey, Natural, Order, Ties, compare, is_in_order},
    out::Parts,
    runs::{Run, Starts, check, cut_run, part_of, put_rest, put_runs, run_of, starts_of},
    spread::{draw, even_out, hand_over, joined, splitters},
};
use crate::{
    engine::{AsElements, AsValue, Codec, Element, Group, Value},
    memory::{Array, Distribution},
    panics::Call,
};
use std::{cmp::Ordering, ops::Range, panic::Location};

/// What this processor has to sort.
enum Share<T, R> {
    /// The whole list is in order, and its runs are these.
    InOrder(R, Starts),
    /// What has come, by rank, and where the runs begin that all have. What has digits came class by class.
    Dealt { lists: Vec<Vec<T>>, starts: Starts, classes: Option<(Classes, Range<usize>)> },
}

/// Gives each processor its share of the order. One step if the list is in order, else two.
#[track_caller]
fn share<T: Clone + Send + 'static, W: Codec<Vec<T>>, R: Run<T>>(
    g: &mut Group,
    run: R,
    order: &impl Order<T>,
) -> Share<T, R> {
    let site = Location::caller();
    let (len, samples) = (run.with(<[T]>::len), draw(g, &run));
    // The first and the last of a run that is in order.
    let ends: Vec<T> = run.with(|values| match values {
        [first, .., last] if is_in_order(values, order) => vec![first.clone(), last.clone()],
        [only] => vec![only.clone(), only.clone()],
        _ => Vec::new(),
    });
    let (lens, samples, ends) =
        g.step(|s| (s.collect(len), s.collect_lists::<T, W>(samples, site), s.collect_lists::<T, W>(ends, site)));
    let are_in_order = lens.iter().zip(&ends).all(|(&len, ends)| len == 0 || !ends.is_empty());
    if are_in_order && is_in_order(&ends.concat(), order) {
        return Share::InOrder(run, starts_of(lens));
    }
    let splitters = splitters(&lens, samples, order);
    let (lists, classes) = splitters.deal(g, run, order);
    let (lists, starts) = hand_over::<T, W>(g, lists);
    let classes = classes.map(|classes| {
        let range = splitters.classes_of(g.rank(), &classes, order);
        (classes, range)
    });
    Share::Dealt { lists, starts, classes }
}

/// Sorts a list of runs; the runs that come back differ a little in length. Two steps.
#[track_caller]
pub(super) fn sorted<T: Clone + Send + 'static, W: Codec<Vec<T>>>(
    g: &mut Group,
    run: impl Run<T>,
    order: &impl Order<T>,
    ties: Ties,
) -> (Vec<T>, Starts) {
    if g.size() == 1 {
        let mut mine = run.into_vec();
        local_sort::sort(&mut mine, order, ties);
        let starts = vec![0, mine.len()];
        return (mine, starts);
    }
    match share::<T, W, _>(g, run, order) {
        Share::InOrder(run, starts) => (run.into_vec(), starts),
        Share::Dealt { lists, starts, classes } => (sorted_lists(g, lists, classes, order, ties), starts),
    }
}

/// Sorts what has come.
fn sorted_lists<T: Clone + 'static>(
    g: &Group,
    lists: Vec<Vec<T>>,
    classes: Option<(Classes, Range<usize>)>,
    order: &impl Order<T>,
    ties: Ties,
) -> Vec<T> {
    let Some((classes, range)) = classes else {
        let mut mine = joined(lists);
        compare(&mut mine, order, ties);
        return mine;
    };
    let len = lists.iter().map(Vec::len).sum();
    let mut mine = Lists::default().filled(len, lists.iter().find_map(|list| list.first()));
    sort_classes(&lists, &classes, range, order, ties, &mut mine[..]);
    Lists::of(g).keep(lists);
    mine
}

/// Sorts an array where it is.
#[track_caller]
fn sort_array<T: Element, D: Distribution>(g: &mut Group, a: &Array<T, D>, order: &impl Order<T>, ties: Ties) {
    let _call = Call::at(Location::caller());
    let run = match ties {
        Ties::Kept => run_of(g, a),
        Ties::Free => part_of(g, a),
    };
    if g.size() == 1 && a.is_in_order() {
        local_sort::sort(&mut a.local_mut(), order, ties);
        return;
    }
    if g.size() == 1 || !a.is_in_order() {
        let (mine, starts) = sorted::<T, AsElements>(g, run, order, ties);
        check(g, a, Location::caller());
        put_runs(g, a, 0, &starts, &mine);
        return;
    }
    let share = share::<T, AsElements, _>(g, run, order);
    check(g, a, Location::caller());
    match share {
        Share::InOrder(..) => {}
        Share::Dealt { lists, starts, classes: Some((classes, range)) } => {
            let cut = cut_run(g, a, 0, &starts);
            let room = |range: &Range<usize>| vec![T::zeroed(); range.len()];
            let mut local = a.local_mut();
            let mut out =
                Parts { before: room(&cut.before), own: &mut local[cut.here.clone()], after: room(&cut.after) };
            sort_classes(&lists, &classes, range, order, ties, &mut out);
            Lists::of(g).keep(lists);
            let Parts { before, after, .. } = out;
            drop(local);
            put_rest(g, a, &cut, &before, &after);
        }
        Share::Dealt { lists, starts, classes: None } => {
            put_runs(g, a, 0, &starts, &sorted_lists(g, lists, None, order, ties));
        }
    }
}

/// Sorts a vector of each processor.
#[track_caller]
fn sort_run<T: Value>(g: &mut Group, values: Vec<T>, order: &impl Order<T>, ties: Ties) -> Vec<T> {
    let _call = Call::at(Location::caller());
    let (mine, starts) = sorted::<T, AsValue>(g, values, order, ties);
    even_out::<T, AsValue>(g, &starts, mine)
}

/// Sorts an array where it is; equal elements keep their order. Collective.
///
/// Numbers and what begins with one are dealt by their digits, anything else is compared. The work is shared evenly
/// whatever is sorted: equal elements, falling ones, few values. What is sorted already is only looked at.
///
/// ```
/// use superstep::{Block, Config, algorithms};
///
/// let sorted = Config::new().procs(3).run(|g| {
///     let a = g.array::<f64, Block>(7);
///     a.forall_mut(|i, x| *x = [2.0, f64::NAN, -1.0, 0.0, -0.0, 2.0, 1e9][i]);
///     algorithms::sort(g, &a);
///     g.step(|s| s.mirror(&a, ..))
/// });
/// assert_eq!(sorted.unwrap()[..6], [-1.0, -0.0, 0.0, 2.0, 2.0, 1e9]);
/// ```
///
/// # Cost
///
/// 3 steps: samples, values, and what is left to be evened out; 1 if it is sorted already. n / p g for n words, besides
/// 64 p g or 4096 g for the samples; (n / p) log n work, and n / p for numbers. One step and n / p g more if the array
/// does not lie in order. Memory for n / p values, which the group keeps for its next sort, until it ends.
///
/// # Panics
///
/// If another group made the array, or if it is borrowed.
#[track_caller]
pub fn sort<T: Element + Key, D: Distribution>(g: &mut Group, a: &Array<T, D>) {
    sort_array(g, a, &Natural, Ties::Kept);
}

/// Sorts like [`sort`], in the order that `compare` says.
///
/// ```
/// use superstep::{Config, Cyclic, algorithms};
///
/// let sorted = Config::new().procs(3).run(|g| {
///     let a = g.array::<i32, Cyclic>(5);
///     a.forall_mut(|i, x| *x = [3, -1, 2, -3, 1][i]);
///     algorithms::sort_by(g, &a, |x, y| x.abs().cmp(&y.abs()));
///     g.step(|s| s.mirror(&a, ..))
/// });
/// assert_eq!(sorted.unwrap(), [-1, 1, 2, 3, -3]);
/// ```
#[track_caller]
pub fn sort_by<T: Element, D: Distribution>(g: &mut Group, a: &Array<T, D>, compare: impl Fn(&T, &T) -> Ordering) {
    sort_array(g, a, &By(compare), Ties::Kept);
}

/// Sorts like [`sort`], by what `key` makes of an element. It is asked several times for each.
///
/// ```
/// use superstep::{Block, Config, algorithms};
///
/// let sorted = Config::new().procs(2).run(|g| {
///     let a = g.array::<[f32; 2], Block>(3);
///     a.forall_mut(|i, x| *x = [[7.0, 0.5], [8.0, -0.5], [9.0, 0.5]][i]);
///     algorithms::sort_by_key(g, &a, |x| x[1]);
///     g.step(|s| s.mirror(&a, ..))
/// });
/// assert_eq!(sorted.unwrap(), [[8.0, -0.5], [7.0, 0.5], [9.0, 0.5]]);
/// ```
#[track_caller]
pub fn sort_by_key<T: Element, D: Distribution, K: Key>(g: &mut Group, a: &Array<T, D>, key: impl Fn(&T) -> K) {
    sort_array(g, a, &ByKey(key), Ties::Kept);
}

/// Sorts like [`sort`]; equal elements come in any order, the same in every run. An array that does not lie in order is
/// not brought in order first.
///
/// ```
/// use superstep::{Config, Cyclic, algorithms};
///
/// let sorted = Config::new().procs(3).run(|g| {
///     let a = g.array::<u8, Cyclic>(5);
///     a.forall_mut(|i, x| *x = b"bread"[i]);
///     algorithms::sort_unstable(g, &a);
///     g.step(|s| s.mirror(&a, ..))
/// });
/// assert_eq!(sorted.unwrap(), b"abder");
/// ```
///
/// # Cost
///
/// 3 steps and n / p g, as [`sort`] of an array that lies in order.
#[track_caller]
pub fn sort_unstable<T: Element + Key, D: Distribution>(g: &mut Group, a: &Array<T, D>) {
    sort_array(g, a, &Natural, Ties::Free);
}

/// Sorts like [`sort_unstable`], in the order that `compare` says.
///
/// ```
/// use superstep::{Block, Config, algorithms};
///
/// let sorted = Config::new().procs(2).run(|g| {
///     let a = g.array::<u32, Block>(4);
///     a.forall_mut(|i, x| *x = i as u32);
///     algorithms::sort_unstable_by(g, &a, |x, y| y.cmp(x));
///     g.step(|s| s.mirror(&a, ..))
/// });
/// assert_eq!(sorted.unwrap(), [3, 2, 1, 0]);
/// ```
#[track_caller]
pub fn sort_unstable_by<T: Element, D: Distribution>(
    g: &mut Group,
    a: &Array<T, D>,
    compare: impl Fn(&T, &T) -> Ordering,
) {
    sort_array(g, a, &By(compare), Ties::Free);
}

/// Sorts like [`sort_unstable`], by what `key` makes of an element.
///
/// ```
/// use std::cmp::Reverse;
/// use superstep::{Block, Config, algorithms};
///
/// let sorted = Config::new().procs(2).run(|g| {
///     let a = g.array::<u32, Block>(4);
///     a.forall_mut(|i, x| *x = i as u32);
///     algorithms::sort_unstable_by_key(g, &a, |&x| Reverse(x));
///     g.step(|s| s.mirror(&a, ..))
/// });
/// assert_eq!(sorted.unwrap(), [3, 2, 1, 0]);
/// ```
#[track_caller]
pub fn sort_unstable_by_key<T: Element, D: Distribution, K: Key>(
    g: &mut Group,
    a: &Array<T, D>,
    key: impl Fn(&T) -> K,
) {
    sort_array(g, a, &ByKey(key), Ties::Free);
}

/// Sorts the vectors of all processors as one list; each gets a block of ⌈n / p⌉. Equal values keep their order.
/// Collective.
///
/// ```
/// use superstep::{Config, algorithms};
///
/// let sorted = Config::new().procs(2).run_all(|g| {
///     let words = if g.is_leader() { "the quick brown fox" } else { "jumps" };
///     algorithms::sort_vec(g, words.split(' ').map(str::to_owned).collect())
/// });
/// assert_eq!(sorted.unwrap(), [vec!["brown", "fox", "jumps"], vec!["quick", "the"]]);
/// ```
///
/// # Cost
///
/// As [`sort`].
#[track_caller]
pub fn sort_vec<T: Value + Key>(g: &mut Group, values: Vec<T>) -> Vec<T> {
    sort_run(g, values, &Natural, Ties::Kept)
}

/// Sorts like [`sort_vec`], in the order that `compare` says.
///
/// ```
/// use superstep::{Config, algorithms};
///
/// let sorted = Config::new().procs(2).run_all(|g| {
///     let mine = vec![g.rank(), 5];
///     algorithms::sort_by_vec(g, mine, |x, y| y.cmp(x))
/// });
/// assert_eq!(sorted.unwrap(), [[5, 5], [1, 0]]);
/// ```
#[track_caller]
pub fn sort_by_vec<T: Value>(g: &mut Group, values: Vec<T>, compare: impl Fn(&T, &T) -> Ordering) -> Vec<T> {
    sort_run(g, values, &By(compare), Ties::Kept)
}

/// Sorts like [`sort_vec`], by what `key` makes of a value.
///
/// ```
/// use superstep::{Config, algorithms};
///
/// let sorted = Config::new().procs(2).run_all(|g| {
///     let mine = vec![(g.rank(), 'x'), (0, 'y')];
///     algorithms::sort_by_key_vec(g, mine, |pair| pair.0)
/// });
/// assert_eq!(sorted.unwrap(), [[(0, 'x'), (0, 'y')], [(0, 'y'), (1, 'x')]]);
/// ```
#[track_caller]
pub fn sort_by_key_vec<T: Value, K: Key>(g: &mut Group, values: Vec<T>, key: impl Fn(&T) -> K) -> Vec<T> {
    sort_run(g, values, &ByKey(key), Ties::Kept)
}

/// Sorts like [`sort_vec`]; equal values come in any order, the same in every run.
///
/// ```
/// let sorted = superstep::Config::new().procs(2).run_all(|g| {
///     let mine = vec![0.5 * g.rank() as f64, -1.0];
///     superstep::algorithms::sort_unstable_vec(g, mine)
/// });
/// assert_eq!(sorted.unwrap(), [[-1.0, -1.0], [0.0, 0.5]]);
/// ```
#[track_caller]
pub fn sort_unstable_vec<T: Value + Key>(g: &mut Group, values: Vec<T>) -> Vec<T> {
    sort_run(g, values, &Natural, Ties::Free)
}

#[cfg(test)]
mod tests {
    use super::{super::random::mixed, *};
    use crate::Config;

    /// The share of each processor is within a tenth of n / p before anything is evened out.
    #[test]
    fn the_work_is_shared_evenly_whatever_is_sorted() {
        let lists: [fn(u64) -> u64; 6] = [|_| 7, |at| at, |at| !at, |at| at % 2, mixed, |at| mixed(at) >> (at % 60)];
        for list in lists {
            let outcome = Config::new().procs(4).run(|g| {
                let first = 10_000 * g.rank() as u64;
                let run: Vec<u64> = (first..first + 10_000).map(list).collect();
                let (mine, starts) = sorted::<u64, AsElements>(g, run, &Natural, Ties::Kept);
                assert_eq!(starts[g.rank() + 1] - starts[g.rank()], mine.len());
                starts
            });
            let starts = outcome.expect("the run succeeds");
            let lens: Vec<usize> = starts.windows(2).map(|ends| ends[1] - ends[0]).collect();
            assert!(lens.iter().all(|len| (9_000..=11_000).contains(len)), "{lens:?}");
        }
    }
}
