//! Spreading values over the processors: by where they stand in an order, or so that all have as many.
//!
//! A sample of the values says where each processor's share of the order begins. A splitter is a value with its place
//! in the list, so that equal values can be cut apart, and no input, however few values it has, crowds on one
//! processor.

use super::{
    classes::Classes,
    deal::{TARGETS_MAX, deal, is_dealt},
    lists::Lists,
    order::Order,
    random::mixed,
    runs::{Run, Starts, even_starts, starts_of},
};
use crate::engine::{Codec, Each, Group, Sum};
use std::{cmp::Ordering, ops::Range, panic::Location};

/// Each processor draws so many samples, or its share of `SAMPLES` if that is more.
const SAMPLES_EACH: usize = 64;
/// So many samples are drawn by all of a small group.
const SAMPLES: usize = 4096;

/// A value where a processor's share begins, and its place in the list: a rank, and a place in its run.
struct Splitter<T> {
    value: T,
    rank: usize,
    at: usize,
}

/// Where the shares of all processors but the first begin.
pub(super) struct Splitters<T> {
    list: Vec<Splitter<T>>,
    /// How many values there are.
    len: usize,
    /// The digits of all samples, in order.
    digits: Vec<u64>,
}

/// How many samples are drawn of a run of `len` in a group of `size`.
fn count(len: usize, size: usize) -> usize {
    SAMPLES_EACH.max(SAMPLES / size).min(len)
}

/// The places of the samples of a run: one of each stretch, drawn by a number that all processors know.
fn places(rank: usize, len: usize, count: usize) -> impl Iterator<Item = usize> {
    let bound = move |number: usize| (number as u128 * len as u128 / count as u128) as usize;
    (0..count).map(move |number| {
        let (first, end) = (bound(number), bound(number + 1));
        let drawn = u128::from(mixed((rank as u64) << 32 ^ number as u64));
        first + ((drawn * (end - first) as u128) >> 64) as usize
    })
}

/// The samples of a run.
pub(super) fn draw<T: Clone>(g: &Group, run: &impl Run<T>) -> Vec<T> {
    run.with(|values| {
        let places = places(g.rank(), values.len(), count(values.len(), g.size()));
        places.map(|at| values[at].clone()).collect()
    })
}

/// Agrees on splitters of a list, of which this processor has a run of `len` and these samples. One step, in which the
/// samples of all travel to all.
#[track_caller]
pub(super) fn split<T: Clone + Send + 'static, W: Codec<Vec<T>>>(
    g: &mut Group,
    len: usize,
    samples: Vec<T>,
    order: &impl Order<T>,
) -> Splitters<T> {
    let site = Location::caller();
    let (lens, lists) = g.step(|s| (s.collect(len), s.collect_lists::<T, W>(samples, site)));
    splitters(&lens, lists, order)
}

/// The splitters that follow from how long all runs are, and their samples.
pub(super) fn splitters<T: Clone>(lens: &[usize], lists: Vec<Vec<T>>, order: &impl Order<T>) -> Splitters<T> {
    let size = lens.len();
    let total: f64 = lens.iter().map(|&len| len as f64).sum();
    let mut drawn: Vec<(Splitter<T>, f64)> = Vec::new();
    for (rank, (list, &len)) in lists.into_iter().zip(lens).enumerate() {
        // Each sample stands for as many values as it was drawn from.
        let (count, weight) = (list.len(), len as f64 / list.len() as f64);
        let samples = list.into_iter().zip(places(rank, len, count));
        drawn.extend(samples.map(|(value, at)| (Splitter { value, rank, at }, weight)));
    }
    drawn.sort_by(|(a, _), (b, _)| order.order(&a.value, &b.value).then((a.rank, a.at).cmp(&(b.rank, b.at))));
    let (mut list, mut below) = (Vec::with_capacity(size - 1), 0.0);
    for (splitter, weight) in &drawn {
        below += weight;
        while list.len() + 1 < size && below > total * (list.len() + 1) as f64 / size as f64 {
            let Splitter { value, rank, at } = splitter;
            list.push(Splitter { value: value.clone(), rank: *rank, at: *at });
        }
    }
    let digits = drawn.iter().map(|(splitter, _)| order.digits(&splitter.value)).collect();
    Splitters { list, len: lens.iter().sum(), digits }
}

impl<T: Clone + 'static> Splitters<T> {
    /// Deals this processor's run into one list for each processor. Values with digits come class by class, and the
    /// classes come back.
    pub(super) fn deal<O: Order<T>>(&self, g: &Group, run: impl Run<T>, order: &O) -> (Vec<Vec<T>>, Option<Classes>) {
        let me = g.rank();
        if is_dealt::<T, O>() && g.size() <= TARGETS_MAX {
            let classes = Classes::of(&self.digits, self.len, g.size());
            let digits = |splitter: &Splitter<T>| order.digits(&splitter.value);
            let borders: Vec<usize> = self.list.iter().map(|splitter| classes.class(digits(splitter))).collect();
            let target = |value: &T, mine: u64, at: usize, range: Range<usize>| {
                let is_above = |splitter: &Splitter<T>| {
                    let order = mine.cmp(&digits(splitter)).then_with(|| order.order(value, &splitter.value));
                    order.then_with(|| splitter.order_of(me, at)).is_ge()
                };
                range.start + self.list[range].partition_point(is_above)
            };
            let lists = run.with(|values| deal(values, &classes, order, &borders, &Lists::of(g), target));
            return (lists, Some(classes));
        }
        let mut lists: Vec<Vec<T>> = (0..g.size()).map(|_| Vec::new()).collect();
        let mut at = 0;
        run.hand_out(|value| {
            let to = self.list.partition_point(|splitter| {
                let order = order.order(&value, &splitter.value);
                order.then_with(|| splitter.order_of(me, at)).is_ge()
            });
            lists[to].push(value);
            at += 1;
        });
        (lists, None)
    }

    /// The classes that are in the share of a rank.
    pub(super) fn classes_of(&self, rank: usize, classes: &Classes, order: &impl Order<T>) -> Range<usize> {
        let class = |number: usize| self.list.get(number).map(|splitter| classes.class(order.digits(&splitter.value)));
        let first = rank.checked_sub(1).and_then(class).unwrap_or(0);
        first..class(rank).map_or(classes.count(), |last| last + 1)
    }

    /// Where a run that is in order is to be cut, so that equal values stay together: one end for each processor.
    pub(super) fn cut(&self, g: &Group, sorted: &[T], order: &impl Order<T>) -> Vec<usize> {
        let is_below = |splitter: &Splitter<T>, value: &T| order.order(value, &splitter.value).is_lt();
        let ends = self.list.iter().map(|splitter| sorted.partition_point(|value| is_below(splitter, value)));
        let mut ends: Vec<usize> = ends.collect();
        ends.resize(g.size(), sorted.len());
        ends
    }
}

/// Cuts a list at these ends.
pub(super) fn cut_at<T>(mut list: Vec<T>, ends: &[usize]) -> Vec<Vec<T>> {
    let starts = ends.iter().rev().skip(1).chain([&0]);
    let mut lists: Vec<Vec<T>> = starts.map(|&start| list.split_off(start)).collect();
    lists.reverse();
    lists
}

impl<T> Splitter<T> {
    /// Whether a value that is equal to it, at a place in the run of a rank, is below or above it.
    fn order_of(&self, rank: usize, at: usize) -> Ordering {
        (rank, at).cmp(&(self.rank, self.at))
    }
}

/// Hands each processor its list, and yields what came, by rank, and where the runs begin that all got. One step.
#[track_caller]
pub(super) fn hand_over<T: Send + 'static, W: Codec<Vec<T>>>(
    g: &mut Group,
    lists: Vec<Vec<T>>,
) -> (Vec<Vec<T>>, Starts) {
    let (site, lens) = (Location::caller(), lists.iter().map(Vec::len).collect::<Vec<usize>>());
    let (came, lens) = g.step(|s| (s.exchange_lists::<T, W>(lists, site), s.reduce(lens, Each(Sum))));
    (came, starts_of(lens))
}

/// One list of all, in their order.
pub(super) fn joined<T>(mut lists: Vec<Vec<T>>) -> Vec<T> {
    if lists.len() == 1 {
        return lists.swap_remove(0);
    }
    let mut all = Vec::new();
    fabric::make_room(&mut all, lists.iter().map(Vec::len).sum());
    for mut list in lists {
        all.append(&mut list);
    }
    all
}

/// Deals a list out in blocks of ⌈n / p⌉, of which this processor has the run from its start on. One step, and none
/// where the runs are these blocks.
#[track_caller]
pub(super) fn even_out<T: Send + 'static, W: Codec<Vec<T>>>(g: &mut Group, starts: &[usize], run: Vec<T>) -> Vec<T> {
    let (me, size, site) = (g.rank(), g.size(), Location::caller());
    let blocks = even_starts(starts[size], size);
    if blocks == starts {
        return run;
    }
    let (from, to) = (starts[me], starts[me + 1]);
    let ends: Vec<usize> = blocks[1..].iter().map(|&end| end.clamp(from, to) - from).collect();
    let lists = cut_at(run, &ends);
    joined(g.step(|s| s.exchange_lists::<T, W>(lists, site)))
}
