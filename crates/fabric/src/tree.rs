//! The one grouping in which contributions are melded, on every fabric.
//!
//! A sum of floats depends on how it is bracketed, so the bracketing is fixed: a balanced binary tree over the ranks,
//! cut at the largest power of two below the size. Five ranks make `((0 1)(2 3)) 4`. Flat slots, combining trees and
//! recursive doubling can all compute it, each in its own rounds.
//!
//! What the ranks below `r` contributed is bracketed from the left over the subtrees that hang off the path from the
//! root to `r`: for rank 6 of 7 it is `((0 1)(2 3)) (4 5)`.
//!
//! The same tree says who tells whom where members pass something on: a subtree is spoken for by its first rank, which
//! hears from its [`children`] and tells its [`parent`]. Rank 4 of 7 has the children 5 and 6 and the parent 0, and
//! speaks for the [`range`] `4..7`. Whoever starts from another root than 0 counts ranks from there.

use crate::{circle::Meld, spares::Spares};
use std::ops::Range;

/// Where a segment of `size` ranks is cut: how many of them go left.
///
/// ```
/// assert_eq!([2, 3, 4, 5, 8, 9].map(fabric::tree::cut), [1, 2, 2, 4, 4, 8]);
/// ```
pub fn cut(size: usize) -> usize {
    debug_assert!(size > 1);
    1 << (size - 1).ilog2()
}

/// Those who report to `rank` among `size`, the nearest first; each speaks for twice as many ranks as the one before.
///
/// ```
/// use fabric::tree::children;
///
/// assert!(children(0, 6).eq([1, 2, 4]));
/// assert!(children(4, 6).eq([5]));
/// assert!(children(5, 6).eq([]));
/// ```
pub fn children(rank: usize, size: usize) -> impl DoubleEndedIterator<Item = usize> + ExactSizeIterator {
    debug_assert!(rank < size);
    let count = rank.trailing_zeros().min((size - rank).next_power_of_two().trailing_zeros());
    (0..count as usize).map(move |bit| rank + (1 << bit))
}

/// To whom `rank` reports; nobody if it is the root.
///
/// ```
/// assert_eq!([0, 1, 4, 6, 7].map(fabric::tree::parent), [None, Some(0), Some(0), Some(4), Some(6)]);
/// ```
pub fn parent(rank: usize) -> Option<usize> {
    Some(rank & rank.checked_sub(1)?)
}

/// The ranks that `rank` speaks for among `size`, itself the first.
///
/// ```
/// assert_eq!([0, 3, 4].map(|rank| fabric::tree::range(rank, 7)), [0..7, 3..4, 4..7]);
/// ```
pub fn range(rank: usize, size: usize) -> Range<usize> {
    let end = if rank == 0 { size } else { size.min(rank + (rank & rank.wrapping_neg())) };
    rank..end
}

pub(crate) fn is_subtree(ranks: &Range<usize>, size: usize) -> bool {
    let count = ranks.len();
    ranks.start.is_multiple_of(count.next_power_of_two()) && (count.is_power_of_two() || ranks.end == size)
}

/// The subtrees of at least two ranks that hold `rank`, from the root down: where each begins, is cut, and ends.
pub(crate) fn path(rank: usize, size: usize) -> impl Iterator<Item = [usize; 3]> {
    let (mut low, mut size) = (0, size);
    std::iter::from_fn(move || {
        let left_size = (size > 1).then(|| cut(size))?;
        let found @ [_, middle, end] = [low, low + left_size, low + size];
        if rank < middle {
            size = left_size;
        } else {
            (low, size) = (middle, end - middle);
        }
        Some(found)
    })
}

/// Melds the contributions of ranks `low..low + size` into `out`. Values between leaves and root lie in `spares`.
pub fn fold<'a>(
    low: usize,
    size: usize,
    leaf: &impl Fn(usize) -> &'a [u8],
    how: &mut dyn Meld,
    spares: &mut Spares<u8>,
    out: &mut Vec<u8>,
) {
    out.clear();
    if size == 1 {
        out.extend_from_slice(leaf(low));
        return;
    }
    if size == 2 {
        return how.meld(leaf(low), leaf(low + 1), out);
    }
    let left_size = cut(size);
    let right_size = size - left_size;
    let mut left = spares.any();
    let mut right = spares.any();
    if left_size > 1 {
        fold(low, left_size, leaf, how, spares, &mut left);
    }
    if right_size > 1 {
        fold(low + left_size, right_size, leaf, how, spares, &mut right);
    }
    how.meld(
        if left_size > 1 { &left } else { leaf(low) },
        if right_size > 1 { &right } else { leaf(low + left_size) },
        out,
    );
    spares.keep(left);
    spares.keep(right);
}

/// Melds what the ranks below `rank` contributed into `out`, which stays empty for rank 0.
pub fn fold_before<'a>(
    rank: usize,
    size: usize,
    leaf: &impl Fn(usize) -> &'a [u8],
    how: &mut dyn Meld,
    spares: &mut Spares<u8>,
    out: &mut Vec<u8>,
) {
    out.clear();
    if rank == 0 {
        return;
    }
    let mut subtree = spares.any();
    for (low, size) in left_of(rank, size) {
        fold(low, size, leaf, how, spares, &mut subtree);
        append(&subtree, how, spares, out);
    }
    spares.keep(subtree);
}

/// The subtrees that lie wholly below `rank` and hang off its path, from the root down: the first rank and the size.
pub(crate) fn left_of(rank: usize, size: usize) -> impl Iterator<Item = (usize, usize)> {
    path(rank, size).filter(move |&[_, middle, _]| middle <= rank).map(|[low, middle, _]| (low, middle - low))
}

/// Melds `next` onto the right of what is in `sum`; an empty `sum` becomes `next`.
pub(crate) fn append(next: &[u8], how: &mut dyn Meld, spares: &mut Spares<u8>, sum: &mut Vec<u8>) {
    if sum.is_empty() {
        sum.extend_from_slice(next);
        return;
    }
    let mut melded = spares.any();
    how.meld(sum, next, &mut melded);
    std::mem::swap(sum, &mut melded);
    spares.keep(melded);
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Writes the brackets it makes.
    pub(crate) struct Brackets;
    impl Meld for Brackets {
        fn meld(&mut self, left: &[u8], right: &[u8], out: &mut Vec<u8>) {
            out.extend([b"(", left, b" ", right, b")"].concat());
        }
    }

    #[test]
    fn children_and_parents_agree_and_ranges_are_subtrees_that_make_up_all() {
        for size in 1..40 {
            for rank in 0..size {
                let ranges = children(rank, size).map(|child| range(child, size));
                let mut next = rank + 1;
                for ranks in ranges {
                    assert_eq!((ranks.start, parent(ranks.start)), (next, Some(rank)));
                    assert!(is_subtree(&ranks, size));
                    next = ranks.end;
                }
                assert_eq!(next, range(rank, size).end, "{rank} of {size}");
            }
            if size > 1 {
                assert_eq!(children(0, size).next_back(), Some(cut(size)));
            }
        }
    }

    const LEAVES: [&[u8]; 7] = [b"0", b"1", b"2", b"3", b"4", b"5", b"6"];

    fn total(size: usize) -> String {
        let mut out = Vec::new();
        fold(0, size, &|r| LEAVES[r], &mut Brackets, &mut Spares::default(), &mut out);
        String::from_utf8(out).unwrap()
    }

    fn before(rank: usize, size: usize) -> String {
        let mut out = Vec::new();
        fold_before(rank, size, &|r| LEAVES[r], &mut Brackets, &mut Spares::default(), &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn the_total_is_bracketed_by_powers_of_two() {
        assert_eq!(total(1), "0");
        assert_eq!(total(2), "(0 1)");
        assert_eq!(total(3), "((0 1) 2)");
        assert_eq!(total(5), "(((0 1) (2 3)) 4)");
        assert_eq!(total(7), "(((0 1) (2 3)) ((4 5) 6))");
    }

    #[test]
    fn what_comes_before_is_bracketed_from_the_left_over_the_subtrees_below() {
        assert_eq!(before(0, 7), "");
        assert_eq!(before(1, 7), "0");
        assert_eq!(before(3, 7), "((0 1) 2)");
        assert_eq!(before(4, 7), "((0 1) (2 3))");
        assert_eq!(before(6, 7), "(((0 1) (2 3)) (4 5))");
    }
}
