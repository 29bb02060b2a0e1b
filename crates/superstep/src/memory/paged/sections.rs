//! Sections of a paged array, read and written as a whole.

use super::access::Paged;
use crate::{
    engine::Element,
    error::{ErrorKind, Result},
    memory::section::{Section, Span},
};
use std::panic::Location;

impl<T: Element, const N: usize> Paged<T, N> {
    /// Reads a section, a tile for instance, in row-major order.
    ///
    /// ```
    /// use superstep::{Config, strided};
    ///
    /// let tile = Config::new().procs(1).run(|g| {
    ///     let a = g.paged::<usize, 2>([4, 4], [4, 4]);
    ///     for at in a.indices() { a.write(at, 10 * at[0] + at[1]) }
    ///     (a.read_section((1..3, 2..4)), a.read_section((0..1, strided(.., -2))))
    /// });
    /// assert_eq!(tile.unwrap(), (vec![12, 13, 22, 23], vec![3, 1]));
    /// ```
    ///
    /// # Panics
    ///
    /// If there is no such section, if not all of it is present, or if it is lent for writing.
    #[track_caller]
    pub fn read_section(&self, section: impl Section<N>) -> Vec<T> {
        let mut values = Vec::new();
        self.read_section_into(section, &mut values);
        values
    }

    /// Reads a section like [`read_section`](Self::read_section), in the place of what `values` holds.
    ///
    /// ```
    /// let tile = superstep::Config::new().procs(1).run(|g| {
    ///     let a = g.paged::<u8, 2>([4, 4], [4, 4]);
    ///     let mut tile = vec![9; 100];
    ///     a.read_section_into((1..3, 2..4), &mut tile);
    ///     tile
    /// });
    /// assert_eq!(tile.unwrap(), [0; 4]);
    /// ```
    ///
    /// # Panics
    ///
    /// As [`read_section`](Self::read_section).
    #[track_caller]
    pub fn read_section_into(&self, section: impl Section<N>, values: &mut Vec<T>) {
        let site = Location::caller();
        let spans = self.check_section(&section, site).unwrap_or_else(|error| error.raise());
        self.check_readable(&spans, site).unwrap_or_else(|error| error.raise());
        values.clear();
        self.append(&spans, values, site);
    }

    /// Appends the values of a section that can be read.
    pub(super) fn append(&self, spans: &[Span; N], values: &mut Vec<T>, site: &Location<'_>) {
        values.reserve(spans.iter().map(|span| span.count).product());
        self.in_order(spans, |at, len| self.read_run(at, len, values, site));
    }

    /// Writes a section in row-major order, whoever owns it.
    ///
    /// ```
    /// let x = superstep::Config::new().procs(2).run_all(|g| {
    ///     let a = g.paged::<u8, 2>([4, 4], [2, 4]);
    ///     if g.rank() == 0 { a.write_section((1..3, 1..3), &[1, 2, 3, 4]) }
    ///     g.cohere(&a, (.., ..), &[0, 1]);
    ///     a.read([2, 1])
    /// });
    /// assert_eq!(x.unwrap(), [3, 3]);
    /// ```
    ///
    /// # Panics
    ///
    /// If there is no such section, if there are not as many values, or if a slice of one of its pages is alive.
    #[track_caller]
    pub fn write_section(&self, section: impl Section<N>, values: &[T]) {
        let site = Location::caller();
        let spans = self.check_section(&section, site).unwrap_or_else(|error| error.raise());
        let count: usize = spans.iter().map(|span| span.count).product();
        if values.len() != count {
            let what = format!("{} values for a section of {count} elements", values.len());
            self.core.error(ErrorKind::BadLength, what, site).raise();
        }
        self.make_writable(&spans, site);
        let mut values = values;
        self.in_order(&spans, |at, len| {
            let (head, rest) = values.split_at(len);
            self.write_run(at, head, site);
            values = rest;
        });
    }

    /// Visits a section in row-major order, by runs along the pages where that is the last dimension.
    fn in_order(&self, spans: &[Span; N], mut visit: impl FnMut([usize; N], usize)) {
        if spans.iter().any(|span| span.count == 0) {
            return;
        }
        let last = N - 1;
        let is_run = self.part.layout.direction == last && spans[last].is_range();
        let mut counts = [0; N];
        loop {
            let at = std::array::from_fn(|dimension| spans[dimension].index(counts[dimension]));
            visit(at, if is_run { spans[last].count } else { 1 });
            let mut dimensions = (0..if is_run { last } else { N }).rev();
            let next = dimensions.find(|&dimension| {
                counts[dimension] = (counts[dimension] + 1) % spans[dimension].count;
                counts[dimension] > 0
            });
            if next.is_none() {
                return;
            }
        }
    }

    /// Refuses to read a section of which something is not present or lent for writing, before any of it is read.
    pub(super) fn check_readable(&self, spans: &[Span; N], site: &Location<'_>) -> Result {
        let (mut missing, mut is_borrowed) = (None, false);
        self.part.layout.pieces(spans, |piece| match self.part.missing(piece.page, piece.range()) {
            Some(offset) => missing = missing.or(Some((piece.page, offset))),
            None => is_borrowed |= self.pages.peek(piece.page, piece.offset).is_none(),
        });
        if let Some((page, offset)) = missing {
            return Err(self.not_present(self.part.layout.index(page, offset), site));
        }
        if is_borrowed { Err(self.still_borrowed(site)) } else { Ok(()) }
    }

    fn read_run(&self, at: [usize; N], len: usize, values: &mut Vec<T>, site: &Location<'_>) {
        self.each_page(at, len, |page, range| {
            if !self.pages.copy_out(page, range, values) {
                self.still_borrowed(site).raise();
            }
        });
    }

    /// Makes sure that all pages of a section can be written, before any of them is.
    fn make_writable(&self, spans: &[Span; N], site: &Location<'_>) {
        let mut is_borrowed = false;
        if self.pages.has_slices() {
            self.part.layout.pieces(spans, |piece| is_borrowed |= self.pages.has_slice(piece.page));
        }
        if is_borrowed {
            self.still_borrowed(site).raise();
        }
        self.part.layout.pieces(spans, |piece| self.prepare(piece.page, site));
    }

    fn write_run(&self, at: [usize; N], mut values: &[T], site: &Location<'_>) {
        self.each_page(at, values.len(), |page, range| {
            let (head, rest) = values.split_at(range.len());
            if !self.pages.fill(page, range.start, head) {
                self.still_borrowed(site).raise();
            }
            self.part.note(page, range.clone());
            self.part.make_present(page, range);
            values = rest;
        });
    }
}
