//! Rows, runs and tiles of a paged array.

use super::access::Paged;
use crate::{
    engine::Element,
    error::{Error, ErrorKind},
    memory::{
        place::Place,
        section::{Ends, Span},
    },
};
use fabric::{Slice, SliceMut};
use std::{
    ops::{Deref, DerefMut, Range},
    panic::Location,
};

/// Elements of a [`Paged`] array that lie one behind the other, for reading.
///
/// While it lives, nothing writes to its pages: `write` and coherence refuse to. An empty one has no pages.
///
/// ```
/// let row = superstep::Config::new().procs(1).run(|g| {
///     let a = g.paged::<u8, 2>([2, 3], [2, 3]);
///     a.write([1, 2], 7);
///     a.row(1).to_vec()
/// });
/// assert_eq!(row.unwrap(), [0, 0, 7]);
/// ```
#[derive(Debug)]
pub struct Run<'a, T>(Option<Slice<'a, T>>);

impl<T> Deref for Run<'_, T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        self.0.as_deref().unwrap_or_default()
    }
}

/// Elements of a [`Paged`] array that lie one behind the other, for writing.
///
/// All of them count as written. While it lives, nothing else reads or writes its pages. An empty one has no pages.
///
/// ```
/// let x = superstep::Config::new().procs(1).run(|g| {
///     let a = g.paged::<u8, 2>([2, 3], [2, 3]);
///     a.row_mut(1).fill(7);
///     a.read([1, 2])
/// });
/// assert_eq!(x.unwrap(), 7);
/// ```
#[derive(Debug)]
pub struct RunMut<'a, T>(Option<SliceMut<'a, T>>);

impl<T> Deref for RunMut<'_, T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        self.0.as_deref().unwrap_or_default()
    }
}

impl<T> DerefMut for RunMut<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        self.0.as_deref_mut().unwrap_or_default()
    }
}

impl<T: Element> Paged<T, 2> {
    /// Lends a whole row for reading.
    ///
    /// ```
    /// let row = superstep::Config::new().procs(2).run(|g| {
    ///     let a = g.paged::<usize, 2>([4, 3], [2, 3]);
    ///     for at in a.indices() { a.write(at, 10 * at[0] + at[1]) }
    ///     g.cohere(&a, (1..3, ..), &[0, 1]);
    ///     a.row(2).to_vec()
    /// });
    /// assert_eq!(row.unwrap(), [20, 21, 22]);
    /// ```
    ///
    /// # Panics
    ///
    /// If there is no such row, if not all of it is present, if it is lent for writing, or if it does not lie in one
    /// piece: pages run along the dimension of the largest block extent, so blocks that are taller than wide have
    /// columns in one piece, and rows not.
    #[track_caller]
    #[inline]
    pub fn row(&self, i: usize) -> Run<'_, T> {
        let site = Location::caller();
        self.run_at([i, 0], 1, self.row_len(i, site), site)
    }

    /// Lends a whole row for writing.
    ///
    /// ```
    /// let x = superstep::Config::new().procs(2).run_all(|g| {
    ///     let a = g.paged::<usize, 2>([2, 3], [1, 3]);
    ///     a.row_mut(g.rank()).copy_from_slice(&[1, 2, 3]);
    ///     a.read([g.rank(), 2])
    /// });
    /// assert_eq!(x.unwrap(), [3, 3]);
    /// ```
    ///
    /// # Panics
    ///
    /// As [`row`](Self::row), and if a slice of it is alive.
    #[track_caller]
    #[inline]
    pub fn row_mut(&self, i: usize) -> RunMut<'_, T> {
        let site = Location::caller();
        self.run_mut_at([i, 0], 1, self.row_len(i, site), site)
    }

    /// Lends several rows for reading, one behind the other.
    ///
    /// ```
    /// let sum = superstep::Config::new().procs(1).run(|g| {
    ///     let a = g.paged::<usize, 2>([4, 6], [4, 6]);
    ///     a.rows_mut(1..3).fill(2);
    ///     a.rows(..).iter().sum::<usize>()
    /// });
    /// assert_eq!(sum.unwrap(), 24);
    /// ```
    ///
    /// # Panics
    ///
    /// If there are no such rows, and as [`row`](Self::row); owned rows of one block lie in one piece, copies do not.
    #[track_caller]
    pub fn rows(&self, rows: impl Ends) -> Run<'_, T> {
        let site = Location::caller();
        let [rows, columns] = self.check_rows(rows, site);
        self.run_at([rows.first, 0], 1, rows.count * columns.count, site)
    }

    /// Lends several rows for writing, one behind the other.
    ///
    /// ```
    /// let sum = superstep::Config::new().procs(1).run(|g| {
    ///     let a = g.paged::<usize, 2>([4, 6], [4, 6]);
    ///     a.rows_mut(..).fill(2);
    ///     a.rows(1..=2).iter().sum::<usize>()
    /// });
    /// assert_eq!(sum.unwrap(), 24);
    /// ```
    ///
    /// # Panics
    ///
    /// As [`rows`](Self::rows), and if a slice of one of them is alive.
    #[track_caller]
    pub fn rows_mut(&self, rows: impl Ends) -> RunMut<'_, T> {
        let site = Location::caller();
        let [rows, columns] = self.check_rows(rows, site);
        self.run_mut_at([rows.first, 0], 1, rows.count * columns.count, site)
    }

    /// How many elements a row has. Where that is none, no element says whether there is the row.
    #[inline]
    fn row_len(&self, i: usize, site: &Location<'_>) -> usize {
        match self.locator.shape[1] {
            0 if i >= self.locator.shape[0] => self.refuse_place([i, 0], site),
            len => len,
        }
    }

    /// These rows with all their columns, if there are so many rows.
    fn check_rows(&self, rows: impl Ends, site: &Location<'_>) -> [Span; 2] {
        self.check_section(&(rows, ..), site).unwrap_or_else(|error| error.raise())
    }
}

impl<T: Element, const N: usize> Paged<T, N> {
    /// Lends `len` elements for reading, from one on along the dimension in which pages run.
    ///
    /// ```
    /// let run = superstep::Config::new().procs(1).run(|g| {
    ///     let a = g.paged::<usize, 3>([2, 3, 4], [2, 3, 4]);
    ///     for at in a.indices() { a.write(at, at[2]) }
    ///     a.run([1, 2, 1], 3).to_vec()
    /// });
    /// assert_eq!(run.unwrap(), [1, 2, 3]);
    /// ```
    ///
    /// # Panics
    ///
    /// If there are not so many, if not all of them are present, if they are lent for writing, or if they do not lie in
    /// one piece.
    #[track_caller]
    pub fn run(&self, at: impl Place<N>, len: usize) -> Run<'_, T> {
        self.run_at(at.indices(), self.part.layout.direction, len, Location::caller())
    }

    /// Lends `len` elements for writing, from one on along the dimension in which pages run.
    ///
    /// ```
    /// let sum = superstep::Config::new().procs(1).run(|g| {
    ///     let a = g.paged::<usize, 1>([9], [9]);
    ///     a.run_mut(3, 4).fill(1);
    ///     (0..9).map(|i| a.read(i)).sum::<usize>()
    /// });
    /// assert_eq!(sum.unwrap(), 4);
    /// ```
    ///
    /// # Panics
    ///
    /// As [`run`](Self::run), and if a slice of one of their pages is alive.
    #[track_caller]
    pub fn run_mut(&self, at: impl Place<N>, len: usize) -> RunMut<'_, T> {
        self.run_mut_at(at.indices(), self.part.layout.direction, len, Location::caller())
    }

    #[inline]
    fn run_at(&self, at: [usize; N], along: usize, len: usize, site: &Location<'_>) -> Run<'_, T> {
        let Some((page, offset)) = self.check_run(at, along, len, site) else { return Run(None) };
        let run = self.pages.slice(page, offset, len);
        Run(Some(run.unwrap_or_else(|| self.refuse_run(at, len, page, site).raise())))
    }

    #[inline]
    fn run_mut_at(&self, at: [usize; N], along: usize, len: usize, site: &Location<'_>) -> RunMut<'_, T> {
        let Some((page, offset)) = self.check_run(at, along, len, site) else { return RunMut(None) };
        self.part.reclaim().unwrap_or_else(|error| error.raise());
        let run = self.pages.slice_mut(page, offset, len);
        let run = run.unwrap_or_else(|| self.refuse_run(at, len, page, site).raise());
        if offset + len <= self.pages.room(page) {
            self.part.note(page, offset..offset + len);
        } else {
            self.each_page(at, len, |page, range| self.part.note(page, range));
        }
        RunMut(Some(run))
    }

    /// Checks that a run of elements is there, and says where it starts if it has any.
    #[inline]
    fn check_run(&self, at: [usize; N], along: usize, len: usize, site: &Location<'_>) -> Option<(usize, usize)> {
        if along == self.part.layout.direction
            && len > 0
            && let Some((page, offset)) = self.locator.locate(at)
        {
            let shown = self.pages.shown(page);
            if shown.start <= offset && len <= shown.end.saturating_sub(offset) {
                return Some((page, offset));
            }
        }
        self.check_long_run(at, along, len, site)
    }

    /// The same where the run has several pages, is not all shown, or is not there.
    #[inline(never)]
    fn check_long_run(&self, at: [usize; N], along: usize, len: usize, site: &Location<'_>) -> Option<(usize, usize)> {
        // As of a section, the end of a dimension is a place for nothing.
        if len == 0 && at.iter().zip(&self.locator.shape).all(|(index, extent)| index <= extent) {
            return None;
        }
        let (page, offset) = self.check_place(at, site);
        let direction = self.part.layout.direction;
        if direction != along {
            let what = format!(
                "pages of this array run along dimension {direction}, so what lies along dimension {along} is not in \
                 one piece; use read_section, or blocks that are longest in dimension {along}"
            );
            self.core.error_of(ErrorKind::BadSection, what, &*self.part, site).raise();
        }
        let mut missing = None;
        let left = self.each_page(at, len, |page, range| {
            missing = missing.or_else(|| self.part.missing(page, range).map(|offset| (page, offset)));
        });
        if left > 0 {
            let what = format!("{len} elements from {at:?} on, which are {left} more than there are");
            self.core.error_of(ErrorKind::OutOfBounds, what, &*self.part, site).raise();
        }
        if let Some((page, offset)) = missing {
            self.not_present(self.part.layout.index(page, offset), site).raise();
        }
        Some((page, offset))
    }

    /// Visits the pages of a run, which may go on through further lines; returns how many elements are missing.
    #[inline]
    pub(super) fn each_page(
        &self,
        mut at: [usize; N],
        len: usize,
        mut visit: impl FnMut(usize, Range<usize>),
    ) -> usize {
        let (direction, shape) = (self.part.layout.direction, self.locator.shape);
        let mut left = len;
        while left > 0 {
            let Some((page, offset)) = self.locator.locate(at) else { return left };
            let here = left.min(self.pages.room(page) - offset);
            visit(page, offset..offset + here);
            left -= here;
            at[direction] += here;
            if at[direction] == shape[direction] && left > 0 {
                at[direction] = 0;
                let above = (0..N).rev().find(|&dimension| {
                    if dimension == direction {
                        return false;
                    }
                    at[dimension] += 1;
                    let is_end = at[dimension] == shape[dimension];
                    if is_end {
                        at[dimension] = 0;
                    }
                    !is_end
                });
                if above.is_none() {
                    return left;
                }
            }
        }
        0
    }

    #[cold]
    fn refuse_run(&self, at: [usize; N], len: usize, page: usize, site: &Location<'_>) -> Error {
        if self.pages.has_slice(page) {
            return self.still_borrowed(site);
        }
        let what = format!(
            "{len} elements from {at:?} on do not lie in one piece here, or a slice of them is borrowed; use \
             read_section and write_section"
        );
        self.core.error_of(ErrorKind::BadSection, what, &*self.part, site)
    }
}
