//! Runs: what each processor works on of a list that lies spread over all of them.
//!
//! The list is all runs in the order of ranks. An array that lies in order has its parts as runs, where they are; of
//! any other each processor is brought a block. So every algorithm is written once, for runs.

use crate::{
    engine::{Element, Group},
    error::ErrorKind,
    memory::{Array, Distribution},
};
use std::{ops::Range, panic::Location};

/// Where every processor's run begins in the list, and behind them the length of the list.
pub(super) type Starts = Vec<usize>;

/// The runs of a list that is dealt out in blocks of ⌈len / p⌉.
pub(super) fn even_starts(len: usize, size: usize) -> Starts {
    let block = len.div_ceil(size);
    (0..=size).map(|rank| rank.saturating_mul(block).min(len)).collect()
}

/// The runs of these lengths.
pub(super) fn starts_of(lens: impl IntoIterator<Item = usize>) -> Starts {
    let mut starts = vec![0];
    for len in lens {
        starts.push(starts[starts.len() - 1] + len);
    }
    starts
}

/// The runs of an array.
pub(super) fn array_starts<T: Element, D: Distribution>(g: &Group, a: &Array<T, D>) -> Starts {
    if a.is_in_order() { starts_of((0..g.size()).map(|rank| a.len_of(rank))) } else { even_starts(a.len(), g.size()) }
}

/// A processor's run of values.
pub(super) trait Run<T> {
    /// Lends it. Nobody may step meanwhile.
    fn with<R>(&self, look: impl FnOnce(&[T]) -> R) -> R;

    /// Hands out its values one by one.
    fn hand_out(self, take: impl FnMut(T));

    /// The run as a vector.
    fn into_vec(self) -> Vec<T>;
}

impl<T> Run<T> for Vec<T> {
    fn with<R>(&self, look: impl FnOnce(&[T]) -> R) -> R {
        look(self)
    }

    fn hand_out(self, take: impl FnMut(T)) {
        self.into_iter().for_each(take);
    }

    fn into_vec(self) -> Vec<T> {
        self
    }
}

impl<T: Clone> Run<T> for &[T] {
    fn with<R>(&self, look: impl FnOnce(&[T]) -> R) -> R {
        look(self)
    }

    fn hand_out(self, take: impl FnMut(T)) {
        self.iter().cloned().for_each(take);
    }

    fn into_vec(self) -> Vec<T> {
        self.to_vec()
    }
}

/// A run of an array.
pub(super) enum ArrayRun<'a, T: Element, D: Distribution> {
    /// It is the part that is here.
    Here(&'a Array<T, D>),
    /// It was brought.
    Brought(Vec<T>),
}

impl<T: Element, D: Distribution> Run<T> for ArrayRun<'_, T, D> {
    fn with<R>(&self, look: impl FnOnce(&[T]) -> R) -> R {
        match self {
            Self::Here(a) => look(&a.local()),
            Self::Brought(values) => look(values),
        }
    }

    fn hand_out(self, take: impl FnMut(T)) {
        match self {
            Self::Here(a) => a.local().iter().copied().for_each(take),
            Self::Brought(values) => values.into_iter().for_each(take),
        }
    }

    fn into_vec(self) -> Vec<T> {
        match self {
            Self::Here(a) => a.local().to_vec(),
            Self::Brought(values) => values,
        }
    }
}

/// Refuses an array of another group, one that is not whole any more, and one that is borrowed for writing.
///
/// A member that leaves does so at the first boundary of a call. So a call looks again behind that one, before it makes
/// anything of what those who stay have.
pub(super) fn check<T: Element, D: Distribution, const N: usize>(g: &Group, a: &Array<T, D, N>, site: &Location<'_>) {
    let outcome = a.check_whole(g.core(), site).and_then(|()| a.try_local(site).map(drop));
    outcome.unwrap_or_else(|error| error.raise());
}

/// Looks at an array as [`check`] does, where a call begins, and notes that the call is about this one. If it is not on
/// all members, the next boundary says so.
pub(super) fn enter<T: Element, D: Distribution, const N: usize>(g: &Group, a: &Array<T, D, N>, site: &Location<'_>) {
    check(g, a, site);
    // Where nobody else is there may be no boundary that takes it.
    if g.size() > 1 {
        a.declare(g.core(), site);
    }
}

/// The run of this processor: its part, where the array lies in order, else a block that is brought with one step.
#[track_caller]
pub(super) fn run_of<'a, T: Element, D: Distribution>(g: &mut Group, a: &'a Array<T, D>) -> ArrayRun<'a, T, D> {
    enter(g, a, Location::caller());
    if a.is_in_order() {
        return ArrayRun::Here(a);
    }
    let starts = even_starts(a.len(), g.size());
    ArrayRun::Brought(bring(g, a, &starts))
}

/// Brings each processor its run of an array. One step.
#[track_caller]
pub(super) fn bring<T: Element, D: Distribution>(g: &mut Group, a: &Array<T, D>, starts: &[usize]) -> Vec<T> {
    let (site, run) = (Location::caller(), starts[g.rank()]..starts[g.rank() + 1]);
    g.step(|s| s.check_mirror(a, &run, Vec::new(), site).unwrap_or_else(|error| error.raise()))
}

/// What this processor owns, whatever its place in the array.
#[track_caller]
pub(super) fn part_of<'a, T: Element, D: Distribution>(g: &Group, a: &'a Array<T, D>) -> ArrayRun<'a, T, D> {
    enter(g, a, Location::caller());
    if a.is_in_order() {
        return ArrayRun::Here(a);
    }
    let (local, mut values) = (a.local(), Vec::new());
    // Tiles have places that are no elements.
    a.stretches(|offset, _, count| values.extend_from_slice(&local[offset..offset + count]));
    ArrayRun::Brought(values)
}

/// Writes a list to an array from `first` on, of which each processor has the run from its start on. Collective.
///
/// What this processor owns of its own run is copied; the rest travels in one step. Where the runs are the parts of the
/// array there is none.
#[track_caller]
pub(super) fn put_runs<T: Element, D: Distribution>(
    g: &mut Group,
    a: &Array<T, D>,
    first: usize,
    starts: &[usize],
    values: &[T],
) {
    if !a.is_in_order() {
        let me = g.rank();
        g.step(|s| s.update(a, first + starts[me]..first + starts[me + 1], values));
        return;
    }
    let cut = cut_run(g, a, first, starts);
    let own = cut.before.len()..cut.before.len() + cut.here.len();
    if !own.is_empty() {
        a.local_mut()[cut.here.clone()].copy_from_slice(&values[own.clone()]);
    }
    put_rest(g, a, &cut, &values[..own.start], &values[own.end..]);
}

/// A run, cut where those of others begin that are in this processor's run.
pub(super) struct Cut {
    /// What others have, by the index.
    pub(super) before: Range<usize>,
    /// What is here, by the place.
    pub(super) here: Range<usize>,
    pub(super) after: Range<usize>,
    /// Whether nobody has anything of others.
    is_here: bool,
}

/// Cuts the run of a list that is written from `first` on to an array that lies in order.
pub(super) fn cut_run<T: Element, D: Distribution>(g: &Group, a: &Array<T, D>, first: usize, starts: &[usize]) -> Cut {
    let (me, parts) = (g.rank(), array_starts(g, a));
    let (from, to) = (first + starts[me], first + starts[me + 1]);
    let (start, end) = (parts[me].clamp(from, to), parts[me + 1].clamp(from, to));
    let here = if start < end { start - parts[me]..end - parts[me] } else { 0..0 };
    Cut { before: from..start, here, after: end..to, is_here: first == 0 && parts == starts }
}

/// Writes what others have of a run that was cut. One step, and none where nobody has anything of others. Collective.
#[track_caller]
pub(super) fn put_rest<T: Element, D: Distribution>(
    g: &mut Group,
    a: &Array<T, D>,
    cut: &Cut,
    before: &[T],
    after: &[T],
) {
    if !cut.is_here {
        g.step(|s| {
            s.update(a, cut.before.clone(), before);
            s.update(a, cut.after.clone(), after);
        });
    }
}

/// Makes an array whose parts are these runs. Collective.
#[track_caller]
pub(super) fn array_of_runs<T: Element, D: Distribution>(g: &mut Group, len: usize, d: D, run: &[T]) -> Array<T, D> {
    let a = g.array_with([len], d);
    a.local_mut().copy_from_slice(run);
    a
}

/// Notes an argument that must be the same on all members; the next boundary sees to it.
pub(super) fn declare(g: &Group, terms: impl IntoIterator<Item = u64>, words: String, site: &Location<'_>) {
    g.core().declare_call(terms, &words, site);
}

/// Refuses two arrays that should have as many elements.
pub(super) fn check_lens(g: &Group, what: &str, lens: [usize; 2], site: &Location<'_>) {
    if lens[0] != lens[1] {
        let what = format!("{what}: {} elements and {}; give as many of both", lens[0], lens[1]);
        refuse(g, ErrorKind::BadLength, &what, site);
    }
}

/// Unwinds with an error that every member finds by itself.
#[cold]
pub(super) fn refuse(g: &Group, kind: ErrorKind, what: &str, site: &Location<'_>) -> ! {
    g.core().error(kind, what, site).raise()
}

/// Looks whether somebody gave lists of different lengths; then all get the error. Collective.
#[track_caller]
pub(super) fn agree_lens(g: &mut Group, what: &str, lens: [usize; 2]) {
    let (me, site) = (g.rank(), Location::caller());
    let wrong = (lens[0] != lens[1]).then_some((me, lens));
    let first = g.step(|s| s.reduce(wrong, |first: &mut Option<_>, next: &Option<_>| *first = first.or(*next)));
    if let Some((rank, [some, others])) = first {
        let what = format!("{what}: {some} and {others} on rank {rank}; give as many of both");
        refuse(g, ErrorKind::BadLength, &what, site);
    }
}
