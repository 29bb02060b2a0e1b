//! A processor's block of an array, with a frame of what lies around it.

use super::{Array, layout::Distribution};
use crate::{
    engine::{Element, Pending, Settle, Settled, Step},
    error::{ErrorKind, Result},
    memory::section::Span,
};
use std::{
    ops::{Index, Range},
    panic::Location,
};

/// What is beyond the edge of an array, for a [halo](Step::halo).
///
/// ```
/// use superstep::{Block, Config, arrays::Edge};
///
/// let beyond = Config::new().procs(2).run_all(|g| {
///     let ring = g.array::<usize, Block>(6);
///     ring.forall_mut(|i, x| *x = i);
///     let halo = g.step(|s| s.halo(&ring, [1], Edge::Periodic));
///     (halo[[halo.start()[0]]], halo.len())
/// });
/// assert_eq!(beyond.unwrap(), [(5, 5), (2, 5)]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edge {
    /// Nothing: a halo ends where the array does.
    Open,
    /// The opposite side.
    Periodic,
}

/// The block that a processor owns and what lies around it, by global index; see [`Step::halo`].
///
/// ```
/// use superstep::{Array, Block, Config, arrays::Edge};
///
/// let sums = Config::new().procs(2).run(|g| {
///     let a: Array<f64, Block, 2> = g.array_with([4, 4], Block);
///     a.forall_mut_in((.., ..), |[i, j], x| *x = (4 * i + j) as f64);
///     let halo = g.step(|s| s.halo(&a, [1, 0], Edge::Open));
///     assert_eq!(halo.shape(), [3, 4]);                                // rows 0 and 1, and row 2 of the other one
///     halo.row([1, 0]).iter().zip(halo.row([2, 0])).map(|(up, down)| up + down).collect::<Vec<_>>()
/// });
/// assert_eq!(sums.unwrap(), [12.0, 14.0, 16.0, 18.0]);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Halo<T, const N: usize> {
    values: Vec<T>,
    start: [isize; N],
    shape: [usize; N],
}

impl<T, const N: usize> Halo<T, N> {
    /// The global index of its first element; negative where it is beyond a periodic edge.
    ///
    /// ```
    /// use superstep::{Block, Config, arrays::Edge};
    ///
    /// let starts = Config::new().procs(2).run_all(|g| {
    ///     let a = g.array::<u8, Block>(6);
    ///     g.step(|s| s.halo(&a, [2], Edge::Periodic)).start()
    /// });
    /// assert_eq!(starts.unwrap(), [[-2], [1]]);
    /// ```
    pub fn start(&self) -> [isize; N] {
        self.start
    }

    /// How many elements it has in each dimension.
    ///
    /// ```
    /// use superstep::{Block, Config, arrays::Edge};
    ///
    /// let shapes = Config::new().procs(3).run_all(|g| {
    ///     let a = g.array::<u8, Block>(6);
    ///     g.step(|s| s.halo(&a, [1], Edge::Open)).shape()
    /// });
    /// assert_eq!(shapes.unwrap(), [[3], [4], [3]]);
    /// ```
    pub fn shape(&self) -> [usize; N] {
        self.shape
    }

    /// How many elements it has in all.
    ///
    /// ```
    /// use superstep::{Block, Config, arrays::Edge};
    ///
    /// let len = Config::new().procs(2).run(|g| {
    ///     let a = g.array::<u8, Block>(6);
    ///     g.step(|s| s.halo(&a, [1], Edge::Open)).len()
    /// });
    /// assert_eq!(len.unwrap(), 4);
    /// ```
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether it has no elements: its processor owns none.
    ///
    /// ```
    /// use superstep::{Block, Config, arrays::Edge};
    ///
    /// let empty = Config::new().procs(2).run_all(|g| {
    ///     let a = g.array::<u8, Block>(1);
    ///     g.step(|s| s.halo(&a, [1], Edge::Open)).is_empty()
    /// });
    /// assert_eq!(empty.unwrap(), [false, true]);
    /// ```
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// The elements from this one on, along the last dimension, as a slice: what inner loops run on.
    ///
    /// ```
    /// use superstep::{Block, Config, arrays::Edge};
    ///
    /// let right = Config::new().procs(2).run(|g| {
    ///     let a = g.array::<usize, Block>(6);
    ///     a.forall_mut(|i, x| *x = i);
    ///     g.step(|s| s.halo(&a, [1], Edge::Open)).row([2]).to_vec()
    /// });
    /// assert_eq!(right.unwrap(), [2, 3]);
    /// ```
    ///
    /// # Panics
    ///
    /// If it is not there.
    #[track_caller]
    #[inline]
    pub fn row(&self, at: [isize; N]) -> &[T] {
        let (first, left) = self.find(at);
        &self.values[first..first + left]
    }

    /// Where an element is, and how many are left of its row.
    #[track_caller]
    #[inline]
    fn find(&self, at: [isize; N]) -> (usize, usize) {
        let (mut place, mut left) = (0, 0);
        for ((&here, &start), &extent) in at.iter().zip(&self.start).zip(&self.shape) {
            let within = here.wrapping_sub(start).cast_unsigned();
            if within >= extent {
                self.is_not_there(at);
            }
            place = place * extent + within;
            left = extent - within;
        }
        (place, left)
    }

    #[cold]
    #[track_caller]
    fn is_not_there(&self, at: [isize; N]) -> ! {
        panic!("element {at:?} is not in a halo of shape {:?} from {:?} on; make it wider", self.shape, self.start)
    }
}

impl<T, const N: usize> Index<[isize; N]> for Halo<T, N> {
    type Output = T;

    #[track_caller]
    #[inline]
    fn index(&self, at: [isize; N]) -> &T {
        &self.values[self.find(at).0]
    }
}

/// A [`Halo`] that the boundary brings; return it from the step.
///
/// ```
/// use superstep::{Array, Block, Config, Step, arrays::{Edge, PendingHalo}};
///
/// fn around(s: &Step, a: &Array<u8, Block>) -> PendingHalo<u8, 1> { s.halo(a, [1], Edge::Open) }
///
/// let lens = Config::new().procs(2).run(|g| {
///     let (a, b) = (g.array::<u8, Block>(4), g.array::<u8, Block>(6));
///     let [a, b] = g.step(|s| [around(s, &a), around(s, &b)]);
///     [a.len(), b.len()]
/// });
/// assert_eq!(lens.unwrap(), [3, 4]);
/// ```
#[derive(Debug)]
#[must_use = "return it from the step: the halo is there when the step is over"]
pub struct PendingHalo<T, const N: usize> {
    pieces: Vec<Piece<T, N>>,
    start: [isize; N],
    shape: [usize; N],
    /// How much of the shape is read; it repeats where the halo goes round the array more than once.
    periods: [usize; N],
    /// Room for all of it, unless one piece is that.
    room: Vec<T>,
}

/// What is read in one go.
#[derive(Debug)]
struct Piece<T, const N: usize> {
    /// Where in the halo it begins.
    at: [usize; N],
    extents: [usize; N],
    values: Pending<Vec<T>>,
}

impl<T: Element, const N: usize> Settle for PendingHalo<T, N> {
    type Out = Halo<T, N>;

    fn settle(self, from: &mut Settled<'_>) -> Halo<T, N> {
        let Self { pieces, start, shape, periods, room: mut all } = self;
        // One piece is all of it, as it is.
        let pieces = match <[Piece<T, N>; 1]>::try_from(pieces) {
            Ok([whole]) if periods == shape => return Halo { values: whole.values.settle(from), start, shape },
            Ok([whole]) => vec![whole],
            Err(pieces) => pieces,
        };
        all.resize(shape.iter().product(), T::zeroed());
        for Piece { at, extents, values } in pieces {
            let row = extents[N - 1];
            for (number, line) in values.settle(from).chunks_exact(row).enumerate() {
                let (mut rest, mut place, mut stride) = (number, at[N - 1], shape[N - 1]);
                for dimension in (0..N - 1).rev() {
                    place += (at[dimension] + rest % extents[dimension]) * stride;
                    rest /= extents[dimension];
                    stride *= shape[dimension];
                }
                all[place..place + row].copy_from_slice(line);
            }
        }
        let mut below = 1;
        for (&extent, &period) in shape.iter().zip(&periods).rev().filter(|(extent, _)| **extent > 0) {
            all.chunks_exact_mut(extent * below).for_each(|those| repeat(those, period * below));
            below *= extent;
        }
        Halo { values: all, start, shape }
    }
}

/// Fills the rest with what the first so many are, again and again.
fn repeat<T: Copy>(all: &mut [T], period: usize) {
    let mut done = period;
    while done < all.len() {
        let more = done.min(all.len() - done);
        all.copy_within(..more, done);
        done += more;
    }
}

impl<T: Element, D: Distribution, const N: usize> Array<T, D, N> {
    /// The section of all elements that this processor owns, if they are one block, as with [`Block`](crate::Block).
    /// Whoever owns nothing has an empty one.
    ///
    /// ```
    /// use superstep::{Array, Block, Config, Cyclic};
    ///
    /// let owned = Config::new().procs(2).run_all(|g| {
    ///     let sheet: Array<u8, Block, 2> = g.array_with([5, 4], Block);
    ///     let dealt = g.array::<u8, Cyclic>(5);
    ///     (sheet.owned(), dealt.owned())
    /// });
    /// assert_eq!(owned.unwrap(), [(Some([0..3, 0..4]), None), (Some([3..5, 0..4]), None)]);
    /// ```
    ///
    /// It is a section, and so can be read and written as one.
    pub fn owned(&self) -> Option<[Range<usize>; N]> {
        let (mut hull, mut count) = (None::<[Range<usize>; N]>, 0);
        self.stretches(|_, index, len| {
            let (first, last) = (self.place(index), self.place(index + len - 1));
            let parting = (0..N).find(|&dimension| first[dimension] != last[dimension]).unwrap_or(N);
            // Beyond the first dimension in which they differ, a stretch goes round.
            let covered = |dimension: usize| {
                if dimension > parting { 0..self.shape()[dimension] } else { first[dimension]..last[dimension] + 1 }
            };
            let covered: [Range<usize>; N] = std::array::from_fn(covered);
            hull = Some(match hull.take() {
                None => covered,
                Some(hull) => std::array::from_fn(|dimension| {
                    let (one, other) = (&hull[dimension], &covered[dimension]);
                    one.start.min(other.start)..one.end.max(other.end)
                }),
            });
            count += len;
        });
        let hull = hull.unwrap_or_else(|| std::array::from_fn(|_| 0..0));
        (hull.iter().map(Range::len).product::<usize>() == count).then_some(hull)
    }
}

impl Step {
    /// Reads the block that this processor owns and what lies around it, `width` elements in each direction of each
    /// dimension, corners too, as it is when this step's writes have been committed.
    ///
    /// ```
    /// use superstep::{Block, Config, arrays::Edge};
    ///
    /// // Three sweeps over a ring: each element becomes the sum of its neighbours.
    /// let ring = Config::new().procs(3).run(|g| {
    ///     let a = g.array::<u64, Block>(9);
    ///     a.forall_mut(|i, x| *x = u64::from(i == 4));
    ///     for _ in 0..3 {
    ///         let halo = g.step(|s| s.halo(&a, [1], Edge::Periodic));
    ///         a.forall_mut(|i, x| *x = halo[[i as isize - 1]] + halo[[i as isize + 1]]);
    ///     }
    ///     g.step(|s| s.mirror(&a, ..))
    /// });
    /// assert_eq!(ring.unwrap(), [0, 1, 0, 3, 0, 3, 0, 1, 0]);
    /// ```
    ///
    /// # Cost
    ///
    /// As [`mirror`](Self::mirror) of what lies around; what this processor owns is copied once. A halo that goes round
    /// a periodic array several times reads each element once.
    ///
    /// # Panics
    ///
    /// If another group made the array, if this processor's elements are not one [block](Array::owned), or if there is
    /// no memory for so wide a halo; [`try_halo`](Self::try_halo) returns the error.
    #[track_caller]
    pub fn halo<T: Element, D: Distribution, const N: usize>(
        &self,
        a: &Array<T, D, N>,
        width: [usize; N],
        edge: Edge,
    ) -> PendingHalo<T, N> {
        self.try_halo(a, width, edge).unwrap_or_else(|error| error.raise())
    }

    /// Reads like [`halo`](Self::halo), or returns why that cannot be done.
    ///
    /// ```
    /// use superstep::{Config, Cyclic, ErrorKind, Local, arrays::Edge};
    ///
    /// let kind = Config::new().procs(2).run(|g| {
    ///     let dealt = g.array::<u8, Cyclic>(6);
    ///     g.step(|s| Local(s.try_halo(&dealt, [1], Edge::Open).unwrap_err().kind()))
    /// });
    /// assert_eq!(kind.unwrap(), ErrorKind::BadDistribution);
    /// ```
    #[track_caller]
    pub fn try_halo<T: Element, D: Distribution, const N: usize>(
        &self,
        a: &Array<T, D, N>,
        width: [usize; N],
        edge: Edge,
    ) -> Result<PendingHalo<T, N>> {
        let site = Location::caller();
        a.check_whole(&self.core, site)?;
        let wrong = |kind, what| self.core.error_of(kind, what, &*a.part, site);
        let Some(owned) = a.owned() else {
            let what =
                "a halo lies around one block, and what this processor owns is none; distribute the array in blocks";
            return Err(wrong(ErrorKind::BadDistribution, what.to_owned()));
        };
        if owned.iter().any(Range::is_empty) {
            let nothing = [0; N];
            let room = Vec::new();
            return Ok(PendingHalo { pieces: Vec::new(), start: [0; N], shape: nothing, periods: nothing, room });
        }
        let too_wide = |kind, why| wrong(kind, format!("a halo of width {width:?} {why}; make it narrower"));
        let mut lines = Vec::new();
        for ((owned, width), extent) in owned.into_iter().zip(width).zip(a.shape()) {
            let line = Line::around(owned, width, extent, edge);
            lines.push(line.ok_or_else(|| too_wide(ErrorKind::Overflow, "is wider than indices can count"))?);
        }
        let start: [isize; N] = std::array::from_fn(|dimension| lines[dimension].start);
        let shape: [usize; N] = std::array::from_fn(|dimension| lines[dimension].len);
        let periods: [usize; N] = std::array::from_fn(|dimension| lines[dimension].period());
        let len = shape.iter().try_fold(1usize, |product, &len| product.checked_mul(len));
        let len = len.ok_or_else(|| too_wide(ErrorKind::Overflow, "has more elements than a usize can count"))?;
        let is_one_piece = periods == shape && lines.iter().all(|line| line.segments.len() == 1);
        let mut room = Vec::new();
        room.try_reserve_exact(if is_one_piece { 0 } else { len })
            .map_err(|_| too_wide(ErrorKind::OutOfMemory, "needs more memory than there is"))?;
        let mut pieces = Vec::new();
        let mut number = [0; N];
        // All combinations of the segments of each dimension, as a counter with a digit for each.
        'all: loop {
            let segment = |dimension: usize| &lines[dimension].segments[number[dimension]];
            let at = std::array::from_fn(|dimension| segment(dimension).0);
            let extents = std::array::from_fn(|dimension| segment(dimension).1.len());
            let span = |dimension| Span { first: segment(dimension).1.start, step: 1, count: extents[dimension] };
            let values = self.mirror_spans(a, std::array::from_fn(span), Vec::new(), site);
            pieces.push(Piece { at, extents, values });
            for dimension in (0..N).rev() {
                number[dimension] += 1;
                if number[dimension] < lines[dimension].segments.len() {
                    continue 'all;
                }
                number[dimension] = 0;
            }
            break;
        }
        Ok(PendingHalo { pieces, start, shape, periods, room })
    }
}

/// A halo in one dimension.
struct Line {
    start: isize,
    len: usize,
    /// Runs of the array, and where in the halo they begin. Each element is in one at most.
    segments: Vec<(usize, Range<usize>)>,
}

impl Line {
    /// The line around `owned`, in a dimension of this extent; `None` if nobody could count its elements.
    fn around(owned: Range<usize>, width: usize, extent: usize, edge: Edge) -> Option<Self> {
        if edge == Edge::Open {
            let all = owned.start.saturating_sub(width)..owned.end.saturating_add(width).min(extent);
            return Some(Self { start: all.start.cast_signed(), len: all.len(), segments: vec![(0, all)] });
        }
        let width = isize::try_from(width).ok()?;
        let start = owned.start.cast_signed().checked_sub(width)?;
        let end = owned.end.cast_signed().checked_add(width)?;
        let (mut segments, mut at) = (Vec::new(), start);
        let len = end.checked_sub(start)?.cast_unsigned();
        let once = start + len.min(extent).cast_signed();
        while at < once {
            let first = at.rem_euclid(extent.cast_signed()).cast_unsigned();
            let len = (extent - first).min((once - at).cast_unsigned());
            segments.push(((at - start).cast_unsigned(), first..first + len));
            at += len.cast_signed();
        }
        Some(Self { start, len, segments })
    }

    /// After how many elements it repeats.
    fn period(&self) -> usize {
        self.segments.iter().map(|(_, run)| run.len()).sum()
    }
}
