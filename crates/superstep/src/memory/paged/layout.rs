//! Who owns an element of a paged array, and on which page it lies where.
//!
//! The array is cut into rectangular blocks, numbered row by row and dealt round. Its pages run along one dimension:
//! that of the largest block extent; where several are as large, one that is not distributed, and then the last. Pages
//! have a power of two of elements, so that a page's number and an offset in it are shifts and masks of the indices:
//!
//! - where that dimension is not distributed, the first power of two that holds all of it: a page is a whole line;
//! - where it is, the last power of two that the block's extent holds: pages may cross the borders of blocks, and then
//!   each owner answers for its part. Where the blocks are single elements, that would be pages of one element; they
//!   have 64 then.
//!
//! In dimensions besides that one, pages are numbered row by row, in steps of powers of two.

use crate::{
    error::ErrorKind,
    memory::{array::Divisor, section::Span},
};
use fabric::Lines;
use std::{array, ops::Range};

/// The pages of an array that is dealt round element by element.
const CYCLIC_PAGE: usize = 64;
/// The longest page: its offsets have 32 bits.
const LONGEST_PAGE: usize = 1 << 30;

/// Finds the page and the offset of an element.
#[derive(Clone, Copy, Debug)]
pub(super) struct Locator<const N: usize> {
    pub(super) shape: [usize; N],
    right: [u32; N],
    left: [u32; N],
    mask: [usize; N],
    /// 0, or more than any line where pages run along another dimension than the last.
    none: usize,
}

impl<const N: usize> Locator<N> {
    /// The number of an element's line, if lines run along the last dimension: then it is that of its page, where a
    /// page holds a line. One that there is not has a number that no line has.
    #[expect(clippy::inline_always, reason = "loops over elements are made of these")]
    #[inline(always)]
    pub(super) fn line(&self, at: [usize; N]) -> usize {
        let mut line = self.none;
        for (dimension, &index) in at.iter().enumerate().take(N - 1) {
            let step = if index < self.shape[dimension] { index << self.left[dimension] } else { usize::MAX };
            line = line.saturating_add(step);
        }
        line
    }

    /// The page and the offset of an element; `None` where there is none.
    #[expect(clippy::inline_always, reason = "loops over elements are made of these")]
    #[inline(always)]
    pub(super) fn locate(&self, at: [usize; N]) -> Option<(usize, usize)> {
        let (mut page, mut offset) = (0, 0);
        for (dimension, &index) in at.iter().enumerate() {
            if index >= self.shape[dimension] {
                return None;
            }
            page += (index >> self.right[dimension]) << self.left[dimension];
            offset |= index & self.mask[dimension];
        }
        Some((page, offset))
    }
}

/// Elements that follow each other on one page and have one owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) page: usize,
    pub(super) offset: usize,
    pub(super) len: usize,
    pub(super) owner: usize,
}

impl Piece {
    pub(super) fn range(&self) -> Range<usize> {
        self.offset..self.offset + self.len
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Layout<const N: usize> {
    pub(super) locator: Locator<N>,
    pub(super) block: [usize; N],
    /// How many blocks there are in each dimension.
    grid: [usize; N],
    by_block: [Divisor; N],
    size: usize,
    by_size: Divisor,
    /// The dimension along which pages run.
    pub(super) direction: usize,
    pub(super) lines: Lines,
    /// How many pages the table has.
    pub(super) pages: usize,
}

impl<const N: usize> Layout<N> {
    pub(super) fn new(shape: [usize; N], block: [usize; N], size: usize) -> Result<Self, (ErrorKind, String)> {
        if block.contains(&0) {
            return Err((ErrorKind::BadLength, format!("blocks of {block:?}; every extent must be at least 1")));
        }
        let too_many = || {
            let what = format!("a paged array of shape {shape:?} has more elements or pages than a usize can count");
            (ErrorKind::Overflow, what)
        };
        let is_empty = shape.contains(&0);
        let count = shape.iter().try_fold(1usize, |product, &extent| product.checked_mul(extent));
        if !is_empty {
            count.ok_or_else(too_many)?;
        }
        // A block that is longer than the array is as long.
        let block: [usize; N] = array::from_fn(|dimension| block[dimension].min(shape[dimension].max(1)));
        let is_whole = |dimension: usize| block[dimension] >= shape[dimension];
        let direction = (0..N).max_by_key(|&d| (block[d], is_whole(d), d)).expect("there is a dimension");
        let (extent, line) = (block[direction], shape[direction]);
        let page = match extent {
            _ if is_whole(direction) => line.max(1).checked_next_power_of_two().ok_or_else(too_many)?,
            1 => CYCLIC_PAGE,
            _ => 1 << extent.ilog2(),
        };
        let page = page.min(LONGEST_PAGE);
        let in_line = line.div_ceil(page).max(1);
        let lines = Lines { page, line, numbers: in_line.next_power_of_two() };

        let (mut right, mut left, mut mask) = ([0; N], [0; N], [0; N]);
        (right[direction], mask[direction]) = (page.ilog2(), page - 1);
        let mut bits = lines.numbers.ilog2();
        let mut pages = if is_empty { 0 } else { in_line };
        for dimension in (0..N).rev().filter(|&dimension| dimension != direction) {
            left[dimension] = bits;
            if !is_empty {
                let above = shape[dimension].checked_mul(1usize.checked_shl(bits).ok_or_else(too_many)?);
                pages = above.ok_or_else(too_many)?;
                bits += shape[dimension].checked_next_power_of_two().ok_or_else(too_many)?.ilog2();
            }
        }
        let grid = array::from_fn(|dimension| shape[dimension].div_ceil(block[dimension]));
        let (by_block, by_size) = (block.map(Divisor::new), Divisor::new(size));
        let locator = Locator { shape, right, left, mask, none: if direction + 1 == N { 0 } else { usize::MAX } };
        Ok(Self { locator, block, grid, by_block, size, by_size, direction, lines, pages })
    }

    /// Whether a page may have elements of one member with others' between: only if it is longer than a block.
    pub(super) fn scatters(&self) -> bool {
        self.size > 1 && self.lines.page.min(self.lines.line) > self.block[self.direction]
    }

    #[inline]
    pub(super) fn owner(&self, at: [usize; N]) -> usize {
        let mut number = 0;
        for (dimension, &index) in at.iter().enumerate() {
            number = number * self.grid[dimension] + self.by_block[dimension].divide(index).0;
        }
        self.by_size.divide(number).1
    }

    /// The blocks of a member, by rising number.
    pub(super) fn blocks(&self, rank: usize) -> impl Iterator<Item = [Range<usize>; N]> + use<N> {
        let (grid, block, shape) = (self.grid, self.block, self.locator.shape);
        let count: usize = if shape.contains(&0) { 0 } else { grid.iter().product() };
        (rank..count).step_by(self.size).map(move |mut number| {
            let mut ranges = [const { 0..0 }; N];
            for dimension in (0..N).rev() {
                let first = number % grid[dimension] * block[dimension];
                ranges[dimension] = first..(first + block[dimension]).min(shape[dimension]);
                number /= grid[dimension];
            }
            ranges
        })
    }

    /// Hands out all elements of a section, by rising index: each once, whatever the order and the sign of its strides.
    pub(super) fn pieces(&self, spans: &[Span; N], mut visit: impl FnMut(Piece)) {
        if spans.iter().any(|span| span.count == 0) {
            return;
        }
        let spans = spans.map(Span::upwards);
        let mut counts = [0; N];
        loop {
            let at = array::from_fn(|dimension| spans[dimension].index(counts[dimension]));
            self.line(&spans[self.direction], at, &mut visit);
            // The next line: as an odometer runs, past the dimension that the line has.
            let mut dimensions = (0..N).rev().filter(|&dimension| dimension != self.direction);
            let next = dimensions.find(|&dimension| {
                counts[dimension] += 1;
                let is_more = counts[dimension] < spans[dimension].count;
                if !is_more {
                    counts[dimension] = 0;
                }
                is_more
            });
            if next.is_none() {
                return;
            }
        }
    }

    fn line(&self, span: &Span, mut at: [usize; N], visit: &mut impl FnMut(Piece)) {
        let (direction, block) = (self.direction, self.block[self.direction]);
        let mut piece = |at: [usize; N], len: usize| {
            let (page, offset) = self.locator.locate(at).expect("sections are checked");
            visit(Piece { page, offset, len, owner: self.owner(at) });
        };
        if span.step != 1 {
            for index in span.indices() {
                at[direction] = index;
                piece(at, 1);
            }
            return;
        }
        let end = span.first + span.count;
        while at[direction] < end {
            let index = at[direction];
            let to_page = self.lines.page - (index & (self.lines.page - 1));
            let to_block = block - self.by_block[direction].divide(index).1;
            let len = (end - index).min(to_page).min(to_block);
            piece(at, len);
            at[direction] += len;
        }
    }

    /// The index of an element by its page and offset.
    pub(super) fn index(&self, page: usize, offset: usize) -> [usize; N] {
        let locator = &self.locator;
        let mut at = [0; N];
        let mut rest = page;
        // From the highest step down, which is the first dimension besides that of the pages.
        for dimension in (0..N).filter(|&dimension| dimension != self.direction) {
            at[dimension] = rest >> locator.left[dimension];
            rest -= at[dimension] << locator.left[dimension];
        }
        at[self.direction] = rest * self.lines.page + offset;
        at
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::{BTreeMap, BTreeSet};

    fn pages_of<const N: usize>(shape: [usize; N], block: [usize; N]) -> (usize, usize) {
        let layout = Layout::new(shape, block, 3).unwrap();
        (layout.direction, layout.lines.page)
    }

    #[test]
    fn pages_have_the_direction_and_the_size_of_the_paper() {
        // Rows in blocks: the page is the row, rounded up.
        assert_eq!(pages_of([10, 10], [4, 10]), (1, 16));
        assert_eq!(pages_of([2048, 2048], [1024, 2048]), (1, 2048));
        assert_eq!(pages_of([10, 10], [10, 4]), (0, 16));
        // All dimensions distributed: the largest extent, rounded down.
        assert_eq!(pages_of([100, 100], [20, 30]), (1, 16));
        assert_eq!(pages_of([100, 100], [32, 30]), (0, 32));
        assert_eq!(pages_of([90, 90, 90], [5, 9, 7]), (1, 8));
        assert_eq!(pages_of([1000], [300]), (0, 256));
        assert_eq!(pages_of([1000], [1]), (0, 64));
        assert_eq!(pages_of([0, 5], [1, 5]), (1, 8));
        // Where it is the longest, a dimension counts that is not the last.
        assert_eq!(pages_of([1000, 4], [500, 4]), (0, 256));
    }

    #[test]
    fn no_element_that_there_is_not_has_a_line() {
        let layout = Layout::new([5, 3, 6], [2, 3, 6], 2).unwrap();
        let line = |at| layout.locator.line(at);
        assert_eq!(line([4, 2, 0]), layout.locator.locate([4, 2, 0]).unwrap().0);
        for at in [[5, 0, 0], [0, 3, 0], [6, 0, 0], [0, 4, 0], [5, 3, 0], [usize::MAX, 2, 0]] {
            assert_eq!(line(at), usize::MAX, "{at:?}");
        }
    }

    fn check<const N: usize>(shape: [usize; N], block: [usize; N], size: usize) {
        let layout = Layout::new(shape, block, size).unwrap();
        let everything = shape.map(|extent| Span { first: 0, step: 1, count: extent });
        let mut seen = BTreeMap::new();
        layout.pieces(&everything, |piece| {
            assert!(piece.page < layout.pages && piece.offset + piece.len <= layout.lines.page);
            for offset in piece.range() {
                let at = layout.index(piece.page, offset);
                assert_eq!(layout.locator.locate(at), Some((piece.page, offset)), "{at:?} of {shape:?} in {block:?}");
                assert_eq!(layout.owner(at), piece.owner);
                assert!(seen.insert(at, piece.owner).is_none(), "{at:?} comes once");
            }
        });
        assert_eq!(seen.len(), shape.iter().product::<usize>());
        for rank in 0..size {
            let count: usize = layout.blocks(rank).map(|ranges| ranges.iter().map(Range::len).product::<usize>()).sum();
            assert_eq!(count, seen.values().filter(|&&owner| owner == rank).count());
        }
    }

    #[test]
    fn every_element_has_one_owner_and_one_place() {
        for size in [1, 2, 3, 5] {
            check([17], [4], size);
            check([200], [1], size);
            check([9, 7], [2, 7], size);
            check([9, 7], [9, 2], size);
            check([9, 7], [3, 2], size);
            check([9, 7], [1, 1], size);
            check([5, 4, 6], [2, 4, 6], size);
            check([5, 4, 6], [2, 3, 2], size);
            check([5, 0, 6], [2, 3, 2], size);
        }
    }

    #[test]
    fn sections_have_each_element_once_whatever_their_strides() {
        let layout = Layout::new([9, 10], [3, 4], 2).unwrap();
        let spans = [Span { first: 8, step: -3, count: 3 }, Span { first: 1, step: 4, count: 3 }];
        let mut seen = BTreeSet::new();
        layout.pieces(&spans, |piece| {
            piece.range().for_each(|offset| assert!(seen.insert(layout.index(piece.page, offset))));
        });
        let wanted = [2, 5, 8].into_iter().flat_map(|i| [1, 5, 9].map(|j| [i, j]));
        assert!(seen.into_iter().eq(wanted));
    }

    #[test]
    fn what_cannot_be_counted_is_refused() {
        assert_eq!(Layout::new([usize::MAX, 2], [1, 2], 2).unwrap_err().0, ErrorKind::Overflow);
        assert_eq!(Layout::new([4], [0], 2).unwrap_err().0, ErrorKind::BadLength);
        // More elements than a usize counts, and not too many pages.
        let long = 1 << (usize::BITS / 2 + 8);
        assert_eq!(Layout::new([long, long], [1, long], 2).unwrap_err().0, ErrorKind::Overflow);
        assert!(Layout::new([usize::MAX, 0], [1, 1], 2).is_ok());
    }

    #[test]
    fn pages_have_others_between_only_if_they_are_longer_than_blocks() {
        let scatters = |shape, block, size| Layout::new([shape], [block], size).unwrap().scatters();
        assert!(scatters(200, 1, 3) && scatters(5, 1, 2));
        assert!(!scatters(200, 1, 1), "there is nobody else");
        assert!(!scatters(1000, 300, 3) && !scatters(64, 16, 2) && !scatters(4, 4, 2));
        assert!(!scatters(1, 1, 2), "a line is no longer than its block");
    }
}
