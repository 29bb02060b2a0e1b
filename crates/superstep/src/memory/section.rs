//! Sections: which elements of an area or array are meant.
//!
//! A section is a range of indices in each dimension, with or without a stride. Its elements come in row-major order:
//! the last dimension runs fastest.

use super::place::Place;
use crate::error::ErrorKind;
use std::{
    fmt::Debug,
    ops::{Bound, Range, RangeBounds, RangeFrom, RangeFull, RangeInclusive, RangeTo, RangeToInclusive},
};

/// The indices of a section in one dimension: `first`, `first + step` and so on, `count` of them.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    pub(crate) first: usize,
    pub(crate) step: isize,
    pub(crate) count: usize,
}

impl Span {
    #[inline]
    pub(crate) fn index(&self, at: usize) -> usize {
        self.first.wrapping_add_signed(self.step.wrapping_mul(at as isize))
    }

    pub(crate) fn indices(self) -> impl Iterator<Item = usize> {
        (0..self.count).map(move |at| self.index(at))
    }

    /// The smallest range that holds all indices.
    pub(crate) fn hull(&self) -> Range<usize> {
        if self.count == 0 {
            return 0..0;
        }
        let (first, last) = (self.first, self.index(self.count - 1));
        first.min(last)..first.max(last).saturating_add(1)
    }

    /// The same indices upwards. The same ones make the same span, except where there are none.
    pub(crate) fn upwards(self) -> Self {
        match self {
            Self { first, count, .. } if count <= 1 => Self { first, step: 1, count },
            Self { step: 1.., .. } => self,
            Self { step, count, .. } => Self { first: self.index(count - 1), step: step.wrapping_neg(), count },
        }
    }

    /// Whether the indices follow each other upwards without a gap.
    pub(crate) fn is_range(&self) -> bool {
        self.step == 1 || self.count <= 1
    }
}

/// Why a section makes no sense: out of bounds, or a contradiction between its bounds and its stride.
type BadSection = (ErrorKind, String);

/// A section in `N` dimensions: a range, a range with a [stride](strided()), or a tuple of them, one per dimension.
///
/// `2..5`, `2..=4`, `..5`, `3..` and `..` are sections in one dimension, and `(0..2, ..)` is one in two.
///
/// ```
/// let values = superstep::Config::new().procs(2).run(|g| {
///     let area = g.area::<u8>(4);
///     area.local_mut().copy_from_slice(&[0, 1, 2, 3]);
///     g.step(|s| (s.get(1, &area, 2..), s.get(1, &area, ..=1)))
/// });
/// assert_eq!(values.unwrap(), (vec![2, 3], vec![0, 1]));
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no section in {N} dimensions",
    label = "not a section of this",
    note = "a section is a range of `usize`, such as `2..5` or `..`, or `strided(range, stride)`; in two dimensions \
            it is `(0..2, ..)`"
)]
pub trait Section<const N: usize>: Debug {
    /// What a place in it is: a `usize` in a range, `[usize; N]` where there is a range for each dimension.
    type At: Place<N>;

    /// The place with these indices.
    #[doc(hidden)]
    fn at(indices: [usize; N]) -> Self::At;

    /// Its indices in something of this shape.
    #[doc(hidden)]
    fn spans(&self, shape: &[usize; N]) -> Result<[Span; N], BadSection>;
}

/// A section in one dimension, of which both ends can be asked for.
///
/// ```
/// use superstep::{Config, Ends, Strided, strided};
///
/// fn backwards(range: impl Ends) -> Strided { strided(range, -1) }
/// let values = Config::new().procs(2).run(|g| {
///     let area = g.area::<u8>(4);
///     area.local_mut().copy_from_slice(&[0, 1, 2, 3]);
///     g.step(|s| s.get(1, &area, backwards(2..=0)))
/// });
/// assert_eq!(values.unwrap(), [2, 1, 0]);
/// ```
pub trait Ends: Section<1> {
    /// Where it begins and where it ends, as they were written.
    #[doc(hidden)]
    fn ends(&self) -> (Bound<usize>, Bound<usize>);
}

/// The indices upwards from one end to the other. `words` are for an error, and made only where there is one.
fn upwards(
    ends: (Bound<usize>, Bound<usize>),
    step: usize,
    len: usize,
    words: impl Fn() -> String,
) -> Result<Span, BadSection> {
    let first = match ends.0 {
        Bound::Included(first) => first,
        Bound::Excluded(before) => before.saturating_add(1),
        Bound::Unbounded => 0,
    };
    let end = match ends.1 {
        // `5..=4` is empty in Rust; here it is a range that runs backwards, like `5..4`, unless it is empty by one.
        Bound::Included(last) => last.checked_add(1),
        Bound::Excluded(end) => Some(end),
        Bound::Unbounded => Some(len.max(first)),
    };
    let Some(end) = end.filter(|&end| end <= len && first <= len) else {
        return Err((ErrorKind::OutOfBounds, format!("section {} of {len} elements", words())));
    };
    if first > end {
        let what = format!("section {} runs backwards; give it a negative stride, or turn its bounds round", words());
        return Err((ErrorKind::BadSection, what));
    }
    Ok(Span { first, step: step as isize, count: (end - first).div_ceil(step) })
}

/// The indices downwards from one end to the other.
fn downwards(
    ends: (Bound<usize>, Bound<usize>),
    step: usize,
    len: usize,
    words: impl Fn() -> String,
) -> Result<Span, BadSection> {
    let first = match ends.0 {
        Bound::Included(first) => Some(first),
        Bound::Excluded(before) => before.checked_sub(1),
        Bound::Unbounded => len.checked_sub(1),
    };
    // The lowest number there is has no opposite, and is its own.
    let by = (step as isize).wrapping_neg();
    let Some(first) = first else { return Ok(Span { first: 0, step: by, count: 0 }) };
    if first >= len {
        return Err((ErrorKind::OutOfBounds, format!("section {} of {len} elements", words())));
    }
    // How many elements lie between the two ends.
    let room = match ends.1 {
        Bound::Included(last) => first.checked_sub(last).map(|room| room + 1),
        Bound::Excluded(end) => first.checked_sub(end),
        Bound::Unbounded => Some(first + 1),
    };
    let Some(room) = room else {
        let what = format!("section {} counts down from the lower bound; put the higher one first", words());
        return Err((ErrorKind::BadSection, what));
    };
    Ok(Span { first, step: by, count: room.div_ceil(step) })
}

macro_rules! ranges {
    ($($type:ty),*) => { $(
        impl Section<1> for $type {
            type At = usize;

            fn at([index]: [usize; 1]) -> usize {
                index
            }

            fn spans(&self, shape: &[usize; 1]) -> Result<[Span; 1], BadSection> {
                Ok([upwards(self.ends(), 1, shape[0], || format!("{self:?}"))?])
            }
        }

        impl Ends for $type {
            fn ends(&self) -> (Bound<usize>, Bound<usize>) {
                (RangeBounds::<usize>::start_bound(self).cloned(), RangeBounds::<usize>::end_bound(self).cloned())
            }
        }
    )* };
}
ranges!(Range<usize>, RangeInclusive<usize>, RangeFrom<usize>, RangeTo<usize>, RangeToInclusive<usize>, RangeFull);

/// A section with a stride; see [`strided()`].
///
/// ```
/// let odd = superstep::strided(1.., 2);
/// let values = superstep::Config::new().procs(2).run(|g| {
///     let area = g.area::<u8>(4);
///     area.local_mut().copy_from_slice(&[0, 1, 2, 3]);
///     g.step(|s| s.get(1, &area, odd))
/// });
/// assert_eq!(values.unwrap(), [1, 3]);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Strided {
    ends: (Bound<usize>, Bound<usize>),
    by: isize,
}

/// Every `by`-th element of a range: `strided(6..=18, 2)` is 6, 8 and so on up to 18.
///
/// A negative stride counts down, from the first bound to the second: `strided(18..=6, -2)` is 18, 16 and so on down to
/// 6. The whole of something backwards is `strided(.., -1)`.
///
/// ```
/// use superstep::{Config, strided};
///
/// let values = Config::new().procs(2).run(|g| {
///     let area = g.area::<u8>(5);
///     area.local_mut().copy_from_slice(&[0, 1, 2, 3, 4]);
///     g.step(|s| (s.get(1, &area, strided(.., 2)), s.get(1, &area, strided(.., -1))))
/// });
/// assert_eq!(values.unwrap(), (vec![0, 2, 4], vec![4, 3, 2, 1, 0]));
/// ```
pub fn strided(range: impl Ends, by: isize) -> Strided {
    Strided { ends: range.ends(), by }
}

impl Strided {
    fn in_words(&self) -> String {
        let first = match self.ends.0 {
            Bound::Included(first) => first.to_string(),
            Bound::Excluded(before) => format!("{before} (without it)"),
            Bound::Unbounded => String::new(),
        };
        let last = match self.ends.1 {
            Bound::Included(last) => format!("..={last}"),
            Bound::Excluded(end) => format!("..{end}"),
            Bound::Unbounded => "..".to_owned(),
        };
        format!("{first}{last} by {}", self.by)
    }
}

impl Section<1> for Strided {
    type At = usize;

    fn at([index]: [usize; 1]) -> usize {
        index
    }

    fn spans(&self, shape: &[usize; 1]) -> Result<[Span; 1], BadSection> {
        let step = self.by.unsigned_abs();
        let span = match self.by {
            0 => return Err((ErrorKind::BadSection, format!("section {} has a stride of 0", self.in_words()))),
            1.. => upwards(self.ends, step, shape[0], || self.in_words())?,
            _ => downwards(self.ends, step, shape[0], || self.in_words())?,
        };
        Ok([span])
    }
}

/// One range for each dimension.
impl<const N: usize> Section<N> for [Range<usize>; N] {
    type At = [usize; N];

    fn at(indices: [usize; N]) -> [usize; N] {
        indices
    }

    fn spans(&self, shape: &[usize; N]) -> Result<[Span; N], BadSection> {
        let mut spans = [Span { first: 0, step: 1, count: 0 }; N];
        for ((span, range), &extent) in spans.iter_mut().zip(self).zip(shape) {
            [*span] = range.spans(&[extent])?;
        }
        Ok(spans)
    }
}

macro_rules! tuples {
    ($($count:literal: $($name:ident $at:tt),+;)*) => { $(
        impl<$($name: Section<1>),+> Section<$count> for ($($name,)+) {
            type At = [usize; $count];

            fn at(indices: [usize; $count]) -> [usize; $count] {
                indices
            }

            fn spans(&self, shape: &[usize; $count]) -> Result<[Span; $count], BadSection> {
                Ok([$(self.$at.spans(&[shape[$at]])?[0]),+])
            }
        }
    )* };
}
tuples! {
    2: A 0, B 1;
    3: A 0, B 1, C 2;
    4: A 0, B 1, C 2, D 3;
    5: A 0, B 1, C 2, D 3, E 4;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn indices(section: &impl Section<1>, len: usize) -> Result<Vec<usize>, BadSection> {
        Ok(section.spans(&[len])?[0].indices().collect())
    }

    #[test]
    fn sections_mean_what_they_say() {
        assert_eq!(indices(&(1..3), 3).unwrap(), [1, 2]);
        assert_eq!(indices(&(1..=2), 3).unwrap(), [1, 2]);
        assert_eq!(indices(&(..), 2).unwrap(), [0, 1]);
        assert_eq!(indices(&(2..), 3).unwrap(), [2]);
        assert_eq!(indices(&(..=1), 3).unwrap(), [0, 1]);
        assert_eq!(indices(&(3..3), 3).unwrap(), [0usize; 0]);
        assert_eq!(indices(&strided(6..=18, 2), 19).unwrap(), [6, 8, 10, 12, 14, 16, 18]);
        assert_eq!(indices(&strided(1..8, 3), 8).unwrap(), [1, 4, 7]);
        assert_eq!(indices(&strided(.., 2), 5).unwrap(), [0, 2, 4]);
    }

    #[test]
    fn negative_strides_count_down() {
        assert_eq!(indices(&strided(RangeInclusive::new(18, 6), -4), 19).unwrap(), [18, 14, 10, 6]);
        assert_eq!(indices(&strided(.., -1), 3).unwrap(), [2, 1, 0]);
        assert_eq!(indices(&strided(.., -1), 0).unwrap(), [0usize; 0]);
        assert_eq!(indices(&strided(Range { start: 5, end: 2 }, -2), 6).unwrap(), [5, 3]);
        assert_eq!(indices(&strided(.., isize::MIN), 6).unwrap(), [5]);
    }

    #[test]
    fn what_is_not_there_and_what_contradicts_itself_is_refused() {
        for beyond in
            [indices(&(1..4), 3), indices(&(0..=usize::MAX), 3), indices(&(4..), 3), indices(&strided(3..3, -1), 3)]
        {
            assert!(matches!(beyond, Err((ErrorKind::OutOfBounds, _))), "{beyond:?}");
        }
        let backwards = Range { start: 2, end: 1 };
        for bad in [indices(&backwards, 3), indices(&strided(0..2, 0), 3), indices(&strided(0..2, -1), 3)] {
            assert!(matches!(bad, Err((ErrorKind::BadSection, _))), "{bad:?}");
        }
    }

    #[test]
    fn a_section_that_is_refused_is_named_as_it_was_written() {
        let words = |section: Strided| indices(&section, 4).unwrap_err().1;
        assert_eq!(words(strided(0..9, 2)), "section 0..9 by 2 of 4 elements");
        assert_eq!(words(strided(..=7, 3)), "section ..=7 by 3 of 4 elements");
        assert_eq!(words(strided(5.., -1)), "section 5.. by -1 of 4 elements");
    }

    #[test]
    fn a_span_is_turned_upwards() {
        let span = |first, step, count| Span { first, step, count };
        assert_eq!(span(8, -3, 3).upwards(), span(2, 3, 3));
        assert_eq!(span(2, 3, 3).upwards(), span(2, 3, 3));
        for step in [1, 3, -1, isize::MIN] {
            assert_eq!(span(5, step, 1).upwards(), span(5, 1, 1));
        }
    }

    #[test]
    fn a_span_knows_its_hull() {
        assert_eq!(Span { first: 8, step: -3, count: 3 }.hull(), 2..9);
        assert_eq!(Span { first: 8, step: 3, count: 0 }.hull(), 0..0);
    }
}
