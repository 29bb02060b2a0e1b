//! A section of an array, cut where owners change.

use super::{layout::Map, part::Part};
use crate::{engine::Element, memory::section::Span};

/// Elements of one owner that follow each other in a section: `count` of them, `step` apart in its part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) owner: usize,
    /// Where the first lies in the owner's part.
    pub(super) at: usize,
    pub(super) step: isize,
    pub(super) count: usize,
}

impl Piece {
    /// Where its elements lie in the owner's part.
    pub(super) fn places(self) -> impl ExactSizeIterator<Item = usize> {
        (0..self.count).map(move |number| self.at.wrapping_add_signed(self.step.wrapping_mul(number as isize)))
    }
}

/// How many elements a section has.
pub(super) fn count(spans: &[Span]) -> usize {
    // A dimension of 0 hides what the others come to.
    if spans.iter().any(|span| span.count == 0) { 0 } else { spans.iter().map(|span| span.count).product() }
}

/// How many places spans have together.
pub(super) fn total(spans: &[Span]) -> usize {
    spans.iter().map(|span| span.count).sum()
}

/// Cuts a section into pieces, in the section's order.
pub(super) fn cut<T: Element, M: Map, E>(
    part: &Part<T, M>,
    shape: &[usize],
    spans: &[Span],
    mut take: impl FnMut(Piece) -> Result<(), E>,
) -> Result<(), E> {
    if count(spans) == 0 {
        return Ok(());
    }
    let (outer, row) = rows(shape, spans);
    let mut at = vec![0; outer.len()];
    loop {
        let start = at.iter().zip(&outer).map(|(&at, (span, weight))| span.index(at) * weight).sum();
        cut_row(part, start, row, &mut take)?;
        // The next row: the last dimension runs fastest.
        let Some(next) = (0..outer.len()).rev().find(|&dimension| at[dimension] + 1 < outer[dimension].0.count) else {
            return Ok(());
        };
        at[next] += 1;
        at[next + 1..].fill(0);
    }
}

/// How many elements the rows of a section have that lie evenly in row-major order.
pub(super) fn row_len(shape: &[usize], spans: &[Span]) -> usize {
    if count(spans) == 0 { 0 } else { rows(shape, spans).1.count }
}

/// The longest rows that lie evenly in row-major order, and the dimensions outside, each with its stride.
fn rows(shape: &[usize], spans: &[Span]) -> (Vec<(Span, usize)>, Span) {
    let mut dimension = shape.len() - 1;
    let (mut row, mut extent) = (spans[dimension], shape[dimension]);
    while dimension > 0 && row.is_range() && row.count == extent && spans[dimension - 1].is_range() {
        dimension -= 1;
        row = Span { first: spans[dimension].first * extent, step: 1, count: spans[dimension].count * extent };
        extent *= shape[dimension];
    }
    let mut outer: Vec<(Span, usize)> = Vec::with_capacity(dimension);
    let mut weight = extent;
    for dimension in (0..dimension).rev() {
        outer.push((spans[dimension], weight));
        weight *= shape[dimension];
    }
    outer.reverse();
    (outer, row)
}

fn cut_row<T: Element, M: Map, E>(
    part: &Part<T, M>,
    start: usize,
    row: Span,
    take: &mut impl FnMut(Piece) -> Result<(), E>,
) -> Result<(), E> {
    let step = if row.count == 1 { 1 } else { row.step };
    let (mut index, mut left) = (start + row.first, row.count);
    while left > 0 {
        let (owner, at) = part.locate(index);
        let room = match step {
            1 => part.stretch(index),
            2.. => (part.stretch(index) - 1) / step.unsigned_abs() + 1,
            _ => part.before(index) / step.unsigned_abs() + 1,
        };
        let count = room.min(left);
        take(Piece { owner, at, step, count })?;
        index = index.wrapping_add_signed(step.wrapping_mul(count as isize));
        left -= count;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_as_long_as_they_lie_evenly() {
        let span = |first, step, count| Span { first, step, count };
        // Whole rows behind each other are one.
        assert_eq!(row_len(&[4, 6], &[span(1, 1, 2), span(0, 1, 6)]), 12);
        assert_eq!(row_len(&[4, 6], &[span(0, 2, 2), span(0, 1, 6)]), 6);
        assert_eq!(row_len(&[4, 6], &[span(1, 1, 2), span(1, 2, 3)]), 3);
        assert_eq!(row_len(&[4, 6], &[span(0, 1, 0), span(0, 1, 6)]), 0);
    }
}
