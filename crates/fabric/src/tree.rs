//! The one grouping in which contributions are melded, on every fabric.
//!
//! A sum of floats depends on how it is bracketed, so the bracketing is fixed: a balanced binary tree over the ranks,
//! cut at the largest power of two below the size. Five ranks make `((0 1)(2 3)) 4`. Flat slots, combining trees and
//! recursive doubling can all compute it, each in its own rounds.
//!
//! What the ranks below `r` contributed is bracketed from the left over the subtrees that hang off the path from the
//! root to `r`: for rank 6 of 7 it is `((0 1)(2 3)) (4 5)`.

use crate::circle::Meld;

/// Where a segment of `size` ranks is cut: how many of them go left.
///
/// ```
/// assert_eq!([2, 3, 4, 5, 8, 9].map(fabric::tree::cut), [1, 2, 2, 4, 4, 8]);
/// ```
pub fn cut(size: usize) -> usize {
    debug_assert!(size > 1);
    1 << (size - 1).ilog2()
}

/// Buffers that a fold uses for the values between leaves and root, kept from one fold to the next.
#[derive(Debug, Default)]
pub struct Scratch(Vec<Vec<u8>>);

impl Scratch {
    fn lend(&mut self) -> Vec<u8> {
        let mut buffer = self.0.pop().unwrap_or_default();
        buffer.clear();
        buffer
    }
}

/// Melds the contributions of ranks `low..low + size` into `out`.
pub fn fold<'a>(
    low: usize,
    size: usize,
    leaf: &impl Fn(usize) -> &'a [u8],
    how: &mut dyn Meld,
    scratch: &mut Scratch,
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
    let mut left = scratch.lend();
    let mut right = scratch.lend();
    if left_size > 1 {
        fold(low, left_size, leaf, how, scratch, &mut left);
    }
    if right_size > 1 {
        fold(low + left_size, right_size, leaf, how, scratch, &mut right);
    }
    how.meld(
        if left_size > 1 { &left } else { leaf(low) },
        if right_size > 1 { &right } else { leaf(low + left_size) },
        out,
    );
    scratch.0.push(left);
    scratch.0.push(right);
}

/// Melds what the ranks below `rank` contributed into `out`, which stays empty for rank 0.
pub fn fold_before<'a>(
    rank: usize,
    size: usize,
    leaf: &impl Fn(usize) -> &'a [u8],
    how: &mut dyn Meld,
    scratch: &mut Scratch,
    out: &mut Vec<u8>,
) {
    out.clear();
    if rank == 0 {
        return;
    }
    let mut subtree = scratch.lend();
    descend(rank, size, |low, left_size| {
        fold(low, left_size, leaf, how, scratch, &mut subtree);
        append(&subtree, how, scratch, out);
    });
    scratch.0.push(subtree);
}

/// Visits, from the root down, the left subtrees that lie wholly below `rank`: the first rank of each and its size.
pub(crate) fn descend(rank: usize, size: usize, mut visit: impl FnMut(usize, usize)) {
    let (mut low, mut size) = (0, size);
    while size > 1 {
        let left_size = cut(size);
        if rank < low + left_size {
            size = left_size;
        } else {
            visit(low, left_size);
            (low, size) = (low + left_size, size - left_size);
        }
    }
}

/// Melds `next` onto the right of what is in `sum`; an empty `sum` becomes `next`.
pub(crate) fn append(next: &[u8], how: &mut dyn Meld, scratch: &mut Scratch, sum: &mut Vec<u8>) {
    if sum.is_empty() {
        sum.extend_from_slice(next);
        return;
    }
    let mut melded = scratch.lend();
    how.meld(sum, next, &mut melded);
    std::mem::swap(sum, &mut melded);
    scratch.0.push(melded);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes the brackets it makes.
    struct Brackets;
    impl Meld for Brackets {
        fn meld(&mut self, left: &[u8], right: &[u8], out: &mut Vec<u8>) {
            out.extend([b"(", left, b" ", right, b")"].concat());
        }
    }

    const LEAVES: [&[u8]; 7] = [b"0", b"1", b"2", b"3", b"4", b"5", b"6"];

    fn total(size: usize) -> String {
        let mut out = Vec::new();
        fold(0, size, &|r| LEAVES[r], &mut Brackets, &mut Scratch::default(), &mut out);
        String::from_utf8(out).unwrap()
    }

    fn before(rank: usize, size: usize) -> String {
        let mut out = Vec::new();
        fold_before(rank, size, &|r| LEAVES[r], &mut Brackets, &mut Scratch::default(), &mut out);
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
