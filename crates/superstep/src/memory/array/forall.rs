//! Loops over what this processor owns.

use super::{
    Array,
    layout::{self, Distribution, Map as _},
    pieces,
};
use crate::{
    engine::Element,
    memory::{
        place,
        section::{Section, Span},
    },
};
use std::{convert::Infallible, ops::Range, panic::Location};

impl<T: Element, D: Distribution> Array<T, D> {
    /// Calls `body` with the index and value of every element that this processor owns, upwards.
    ///
    /// ```
    /// let owned = superstep::Config::new().procs(2).run_all(|g| {
    ///     let a = g.array::<u8, superstep::Cyclic>(5);
    ///     let mut owned = Vec::new();
    ///     a.forall(|i, _| owned.push(i));
    ///     owned
    /// });
    /// assert_eq!(owned.unwrap(), [vec![0, 2, 4], vec![1, 3]]);
    /// ```
    #[track_caller]
    pub fn forall(&self, mut body: impl FnMut(usize, T)) {
        let local = self.local();
        self.stretches(|offset, index, count| {
            for (more, &value) in local[offset..offset + count].iter().enumerate() {
                body(index + more, value);
            }
        });
    }

    /// Calls `body` with the index of every element that this processor owns, upwards, and the element to be changed.
    ///
    /// ```
    /// let here = superstep::Config::new().procs(2).run_all(|g| {
    ///     let a = g.array::<usize, superstep::Block>(4);
    ///     a.forall_mut(|i, x| *x = i * i);
    ///     a.local().to_vec()
    /// });
    /// assert_eq!(here.unwrap(), [[0, 1], [4, 9]]);
    /// ```
    #[track_caller]
    pub fn forall_mut(&self, mut body: impl FnMut(usize, &mut T)) {
        let mut local = self.local_mut();
        self.stretches(|offset, index, count| {
            for (more, value) in local[offset..offset + count].iter_mut().enumerate() {
                body(index + more, value);
            }
        });
    }
}

impl<T: Element, D: Distribution, const N: usize> Array<T, D, N> {
    /// Calls `body` with the place of every element of a section that this processor owns, in the section's order, and
    /// the element to be changed. In one dimension the place is an index. A negative stride counts down.
    ///
    /// ```
    /// use superstep::{Array, Block, Config, strided};
    ///
    /// let seen = Config::new().procs(2).run_all(|g| {
    ///     let (line, sheet) = (g.array::<u8, Block>(20), g.array_with::<usize, _, 2>([4, 2], Block::new()));
    ///     sheet.forall_mut_in((.., ..), |[i, j], x| *x = 10 * i + j);
    ///     let mut seen = Vec::new();
    ///     line.forall_mut_in(strided(18..=6, -4), |i, _| seen.push(i));
    ///     (seen, sheet.local().to_vec())
    /// });
    /// assert_eq!(seen.unwrap(), [(vec![6], vec![0, 1, 10, 11]), (vec![18, 14, 10], vec![20, 21, 30, 31])]);
    /// ```
    ///
    /// # Panics
    ///
    /// If there is no such section.
    #[track_caller]
    pub fn forall_mut_in<S: Section<N>>(&self, section: S, mut body: impl FnMut(S::At, &mut T)) {
        let spans = self.check_section(&section, Location::caller()).unwrap_or_else(|error| error.raise());
        let all = |(span, &extent): (&Span, &usize)| span.is_range() && span.count == extent;
        if N == 1 {
            self.in_line(spans[0], |index, value| body(S::at([index; N]), value));
        } else if D::Map::RISES && spans.iter().zip(&self.shape).all(all) {
            self.in_whole(|at, value| body(S::at(at), value));
        } else {
            self.in_section(&spans, |at, value| body(S::at(at), value));
        }
    }

    /// The places of all elements that this processor owns, in the order in which they lie in its part.
    ///
    /// ```
    /// use superstep::{Config, Cyclic};
    ///
    /// let places = Config::new().procs(2).run_all(|g| {
    ///     let a = g.array_with::<u8, _, 2>([3, 2], Cyclic::new());
    ///     a.indices().collect::<Vec<_>>()
    /// });
    /// assert_eq!(places.unwrap(), [vec![[0, 0], [0, 1], [2, 0], [2, 1]], vec![[1, 0], [1, 1]]]);
    /// ```
    ///
    /// # Cost
    ///
    /// Some divisions for each: a loop that changes elements is several times as fast with
    /// [`forall_mut`](Array::forall_mut) and [`forall_mut_in`](Self::forall_mut_in), which visit them by stretches.
    pub fn indices(&self) -> impl Iterator<Item = [usize; N]> + '_ {
        let indices = (0..self.part.lens[self.part.rank]).filter_map(|offset| self.global(offset));
        indices.map(|index| place::place(index, &self.shape))
    }

    /// The owned elements of a span in one dimension.
    fn in_line(&self, span: Span, mut body: impl FnMut(usize, &mut T)) {
        let mut local = self.local_mut();
        let visit = |offset: usize, index: usize, count: usize| {
            for number in numbers_in(span, index, count) {
                let at = span.index(number);
                body(at, &mut local[offset + (at - index)]);
            }
        };
        if span.step > 0 { self.stretches(visit) } else { self.stretches_down(visit) }
    }

    /// All owned elements, as they lie.
    fn in_whole(&self, mut body: impl FnMut([usize; N], &mut T)) {
        let mut local = self.local_mut();
        self.stretches(|offset, index, count| {
            let mut at = place::place(index, &self.shape);
            for value in &mut local[offset..offset + count] {
                body(at, value);
                advance(&mut at, &self.shape);
            }
        });
    }

    /// The owned elements of a section, in its order.
    fn in_section(&self, spans: &[Span; N], mut body: impl FnMut([usize; N], &mut T)) {
        let (me, counts) = (self.part.rank, spans.map(|span| span.count));
        let mut local = self.local_mut();
        let mut done = 0;
        let Ok(()) = pieces::cut(&self.part, &self.shape, spans, |piece| {
            let first = done;
            done += piece.count;
            if piece.owner == me {
                let mut number = place::place(first, &counts);
                for offset in piece.places() {
                    let mut at = number;
                    for (at, span) in at.iter_mut().zip(spans) {
                        *at = span.index(*at);
                    }
                    body(at, &mut local[offset]);
                    advance(&mut number, &counts);
                }
            }
            Ok::<_, Infallible>(())
        });
    }

    /// Calls `take` with each stretch of consecutive elements here, upwards: its place, its first number, its length.
    pub(crate) fn stretches(&self, mut take: impl FnMut(usize, usize, usize)) {
        let (map, inner) = (&self.part.map, self.part.inner);
        layout::stretches(map, self.part.rank, |at, unit, count| take(at * inner, unit * inner, count * inner));
    }

    /// The same downwards.
    fn stretches_down(&self, mut take: impl FnMut(usize, usize, usize)) {
        let (part, me) = (&self.part, self.part.rank);
        let mut end = part.lens[me];
        while end > 0 {
            let Some(last) = part.index(me, end - 1) else {
                end -= 1;
                continue;
            };
            let count = part.before(last) + 1;
            end -= count;
            take(end, last + 1 - count, count);
        }
    }
}

/// The next place in row-major order.
#[inline]
fn advance<const N: usize>(at: &mut [usize; N], shape: &[usize; N]) {
    for dimension in (0..N).rev() {
        at[dimension] += 1;
        if at[dimension] < shape[dimension] {
            return;
        }
        at[dimension] = 0;
    }
}

/// Which of a span's indices lie in the `count` from `index` on, by their numbers in the span.
fn numbers_in(span: Span, index: usize, count: usize) -> Range<usize> {
    let (first, step) = (span.first as isize, span.step);
    let (lowest, highest) = (index as isize, (index + count - 1) as isize);
    let (near, far) = if step > 0 { (lowest - first, highest - first) } else { (highest - first, lowest - first) };
    // Numbers from the first that has come as far as `near`, up to the last that has not gone beyond `far`.
    let from = if near.signum() == step.signum() { near.unsigned_abs().div_ceil(step.unsigned_abs()) } else { 0 };
    let to = if far == 0 || far.signum() == step.signum() { far.unsigned_abs() / step.unsigned_abs() + 1 } else { 0 };
    from..to.min(span.count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_knows_its_indices_in_a_stretch() {
        for step in [-3, -2, -1, 1, 2, 3] {
            for first in 0..12 {
                let span = Span { first, step, count: if step > 0 { 4 } else { first / step.unsigned_abs() + 1 } };
                for index in 0..12 {
                    for count in 1..6 {
                        let inside = |&number: &usize| (index..index + count).contains(&span.index(number));
                        let expected: Vec<usize> = (0..span.count).filter(inside).collect();
                        let found: Vec<usize> = numbers_in(span, index, count).collect();
                        assert_eq!(found, expected, "{span:?} in {count} from {index}");
                    }
                }
            }
        }
    }
}
