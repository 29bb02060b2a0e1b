//! Dealing values into classes, and sorting each class.

use super::{
    classes::{Classes, search},
    key::{Digits, OTHER_KEY},
    lists::Lists,
    order::{Order, Ties, compare},
    out::Out,
    passes::Passes,
};
use fabric::Ahead;
use std::{mem::needs_drop, ops::Range};

/// So many values, or fewer, are sorted by comparing them.
const SMALL: usize = 64;

/// To so many targets values are dealt by digits: a class and a target together are 16 bits.
pub(super) const TARGETS_MAX: usize = 1 << 15;

/// Whether values are dealt by digits. What owns memory would be cloned by that, and is only moved where values are
/// compared.
pub(super) const fn is_dealt<T, O: Order<T>>() -> bool {
    !needs_drop::<T>() && !matches!(O::DIGITS, Digits::None)
}

/// Deals values into a list for each target, class by class. Each class belongs to one target, but for those of the
/// borders: what is in one of these may belong to the target of the border's number or to the next one, and to any of
/// several where borders share a class. Then `target` decides, which is handed the value, its digits, its place, and
/// the numbers of these borders.
pub(super) fn deal<T: Clone + 'static, O: Order<T>>(
    values: &[T],
    classes: &Classes,
    order: &O,
    borders: &[usize],
    kept: &Lists<T>,
    target: impl Fn(&T, u64, usize, Range<usize>) -> usize,
) -> Vec<Vec<T>> {
    match classes {
        Classes::Even(even) => {
            deal_by::<T, O, false>(values, classes, order, borders, kept, target, |digits| even.class(digits))
        }
        Classes::Celled(celled) => {
            deal_by::<T, O, false>(values, classes, order, borders, kept, target, |digits| celled.class(digits))
        }
        Classes::Cut(tree) => {
            deal_by::<T, O, true>(values, classes, order, borders, kept, target, |digits| search(digits, tree))
        }
    }
}

/// Deals like [`deal`], with the function that finds the class. Where it searches, what it found is kept, which is
/// sooner done than to search again.
fn deal_by<T: Clone + 'static, O: Order<T>, const SEARCHES: bool>(
    values: &[T],
    classes: &Classes,
    order: &O,
    borders: &[usize],
    kept: &Lists<T>,
    target: impl Fn(&T, u64, usize, Range<usize>) -> usize,
    class: impl Fn(u64) -> usize,
) -> Vec<Vec<T>> {
    // The class and the target of a value never fall while values rise, so their sum tells both.
    let sums: Vec<Sum> = (0..classes.count()).map(|class| Sum::of(class, borders)).collect();
    let sum_of = |at: usize, value: &T| {
        let digits = order.digits(value);
        let class = class(digits);
        match &sums[class] {
            Sum::Known(sum) => usize::from(*sum),
            Sum::Within(first, end) => {
                class + decided(&target, value, digits, at, usize::from(*first)..usize::from(*end))
            }
        }
    };
    let mut counts = vec![0; classes.count() + borders.len()];
    let mut count = |at: usize, value: &T| {
        let sum = sum_of(at, value);
        counts[sum] += 1;
        sum as u16
    };
    let each = fabric::chunks(values).flatten().enumerate();
    let mut chosen: Vec<u16> = Vec::new();
    if SEARCHES {
        fabric::make_room(&mut chosen, values.len());
        each.for_each(|(at, value)| chosen.push(count(at, value)));
    } else {
        each.for_each(|(at, value)| _ = count(at, value));
    }
    let mut lists: Vec<Vec<T>> = Vec::with_capacity(borders.len() + 1);
    let mut first = 0;
    for target in 0..=borders.len() {
        let end = first_sum(borders, target + 1).unwrap_or(counts.len());
        lists.push(kept.filled(counts[first..end].iter().sum(), values.first()));
        first = end;
    }
    let places = places(&mut lists, &counts, borders);
    let all_found = if SEARCHES {
        fabric::deal(values, |at, _| chosen[at].into(), places)
    } else {
        fabric::deal(values, sum_of, places)
    };
    // Where one found no place another place is free, and has what a call before left there.
    assert!(all_found, "{OTHER_KEY}");
    lists
}

/// The target of one of the few values for which it is not known. Apart, so that the loops over all stay short.
#[cold]
#[inline(never)]
fn decided<T>(
    target: &impl Fn(&T, u64, usize, Range<usize>) -> usize,
    value: &T,
    digits: u64,
    at: usize,
    borders: Range<usize>,
) -> usize {
    target(value, digits, at, borders)
}

/// The lowest sum of a class and this target; none behind the last target.
fn first_sum(borders: &[usize], target: usize) -> Option<usize> {
    borders.get(target - 1).map(|border| border + target)
}

/// The places of each sum in the lists of the targets.
fn places<'a, T>(lists: &'a mut [Vec<T>], counts: &[usize], borders: &[usize]) -> Vec<&'a mut [T]> {
    let (mut places, mut sum) = (Vec::with_capacity(counts.len()), 0);
    for (target, list) in lists.iter_mut().enumerate() {
        let end = first_sum(borders, target + 1).unwrap_or(counts.len());
        let mut rest = &mut list[..];
        for &count in &counts[sum..end] {
            let (here, behind) = rest.split_at_mut(count);
            places.push(here);
            rest = behind;
        }
        sum = end;
    }
    places
}

/// The sum of a class and the targets of what is in it.
enum Sum {
    Known(u16),
    /// It depends on the borders of these numbers.
    Within(u16, u16),
}

impl Sum {
    fn of(class: usize, borders: &[usize]) -> Self {
        let first = borders.partition_point(|&border| border < class);
        let end = borders.partition_point(|&border| border <= class);
        if first == end { Self::Known((class + first) as u16) } else { Self::Within(first as u16, end as u16) }
    }
}

/// Sorts what is in lists that were dealt, class by class.
pub(super) fn sort_classes<T: Clone, O: Order<T>, L: AsRef<[T]>>(
    lists: &[L],
    classes: &Classes,
    range: Range<usize>,
    order: &O,
    ties: Ties,
    out: &mut (impl Out<T> + ?Sized),
) {
    let mut rest: Vec<&[T]> = lists.iter().map(AsRef::as_ref).collect();
    let (mut room, mut at) = (Vec::new(), 0);
    for class in range {
        let pieces: Vec<&[T]> = rest
            .iter_mut()
            .map(|list| {
                let end = list.partition_point(|value| classes.class(order.digits(value)) <= class);
                let (piece, behind) = list.split_at(end);
                *list = behind;
                piece
            })
            .collect();
        let len = pieces.iter().map(|piece| piece.len()).sum::<usize>();
        let bounds = classes.bounds(class);
        out.fill(at..at + len, |out| sort_pieces(&pieces, bounds, &mut room, order, ties, out));
        at += len;
    }
    // Whoever sent what is left had another key for it. Its places are not filled.
    assert!(rest.iter().all(|list| list.is_empty()), "{OTHER_KEY}");
}

/// Sorts the values of some pieces, whose digits are within these bounds if they are known, into `out`.
fn sort_pieces<T: Clone, O: Order<T>>(
    pieces: &[&[T]],
    bounds: Option<(u64, u64)>,
    room: &mut Vec<T>,
    order: &O,
    ties: Ties,
    out: &mut [T],
) {
    let passes = if out.len() > SMALL { Passes::new(pieces, bounds, order) } else { None };
    if let Some(mut passes) = passes {
        if room.len() < out.len() {
            room.resize(out.len(), out[0].clone());
        }
        let room = &mut room[..out.len()];
        passes.deal_low(pieces, room, Ahead::of(out), order);
        passes.deal_high(room, out, order, ties);
        return;
    }
    let mut at = 0;
    for piece in pieces {
        out[at..at + piece.len()].clone_from_slice(piece);
        at += piece.len();
    }
    if out.len() <= SMALL || O::DIGITS != Digits::All {
        compare(out, order, ties);
    }
}
