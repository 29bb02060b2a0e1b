//! Sections: which part of an area or array is meant.

use super::Area;
use crate::engine::Element;
use std::ops::{Range, RangeFrom, RangeFull, RangeInclusive, RangeTo, RangeToInclusive};

/// A section in `N` dimensions: a range of indices, with or without bounds.
pub trait Section<const N: usize> {
    /// The range it means in something of length `len`, or `None` if it is not inside of that.
    #[doc(hidden)]
    fn within(&self, len: usize) -> Option<Range<usize>>;

    /// How a message shows it.
    #[doc(hidden)]
    fn in_words(&self) -> String;
}

fn inside(start: usize, end: Option<usize>, len: usize) -> Option<Range<usize>> {
    end.filter(|&end| start <= end && end <= len).map(|end| start..end)
}

macro_rules! sections {
    ($($type:ty: $self:ident, $len:ident => $start:expr, $end:expr;)*) => { $(
        impl Section<1> for $type {
            fn within(&$self, $len: usize) -> Option<Range<usize>> {
                inside($start, $end, $len)
            }

            fn in_words(&self) -> String {
                format!("{self:?}")
            }
        }
    )* };
}

sections! {
    Range<usize>: self, len => self.start, Some(self.end);
    RangeInclusive<usize>: self, len => *self.start(), self.end().checked_add(usize::from(!self.is_empty()));
    RangeFrom<usize>: self, len => self.start, Some(len);
    RangeTo<usize>: self, len => 0, Some(self.end);
    RangeToInclusive<usize>: self, len => 0, self.end.checked_add(1);
    RangeFull: self, len => 0, Some(len);
}

/// Where an `hp_put` takes its data from without a copy: a vector that is given away, or a section of an area of this
/// processor, whose content counts as it is at the boundary.
pub enum Source<'a, T: Element> {
    /// A vector that is given away.
    Given(Vec<T>),
    /// A section of an area of this processor.
    Section(&'a Area<T>, Range<usize>),
}

impl<T: Element> From<Vec<T>> for Source<'_, T> {
    fn from(values: Vec<T>) -> Self {
        Self::Given(values)
    }
}

impl<'a, T: Element> From<(&'a Area<T>, Range<usize>)> for Source<'a, T> {
    fn from((area, range): (&'a Area<T>, Range<usize>)) -> Self {
        Self::Section(area, range)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_mean_what_they_say_and_no_more_than_there_is() {
        assert_eq!((1..3).within(3), Some(1..3));
        assert_eq!((1..=2).within(3), Some(1..3));
        assert_eq!((..).within(3), Some(0..3));
        assert_eq!((2..).within(3), Some(2..3));
        assert_eq!((..=2).within(3), Some(0..3));
        assert_eq!((3..3).within(3), Some(3..3));
        for outside in [(1..4).within(3), (usize::MAX..1).within(3), (0..usize::MAX).within(3)] {
            assert_eq!(outside, None);
        }
        assert_eq!((0..=usize::MAX).within(3), None);
        assert_eq!((4..).within(3), None);
    }
}
