//! Copies of others' pages: making room for them, and letting them go.

use super::{access::Paged, layout::Piece, part::Part};
use crate::{engine::Element, memory::section::Section};
use std::panic::Location;

impl<T: Element, const N: usize> Part<T, N> {
    /// A coherence call has brought these pieces: they are the youngest, and the oldest may go.
    pub(super) fn age(&self, pieces: &[Piece]) {
        let mut copies = self.copies.borrow_mut();
        if copies.ages.is_empty() {
            return;
        }
        copies.now += 1;
        let now = copies.now;
        for piece in pieces.iter().filter(|piece| piece.owner != self.rank) {
            if let Some(age) = copies.ages.get_mut(&piece.page) {
                *age = now;
            }
        }
        drop(copies);
        self.drop_oldest();
    }

    /// Drops the pages that were not made coherent for longest, until the rest is within the limit. What the last call
    /// has brought stays, and so does what was written here and not made coherent since.
    fn drop_oldest(&self) {
        let copies = self.copies.borrow();
        if copies.bytes <= copies.limit {
            return;
        }
        let old = copies.ages.iter().filter(|&(_, &age)| age < copies.now);
        let mut old: Vec<(u64, usize)> = old.map(|(&page, &age)| (age, page)).collect();
        drop(copies);
        old.sort_unstable();
        for (_, page) in old {
            let copies = self.copies.borrow();
            if copies.bytes <= copies.limit {
                return;
            }
            drop(copies);
            self.drop_copy(page);
        }
    }

    /// Drops a page that holds copies only, unless something on it was written and not made coherent since: a call that
    /// was begun and is not finished has made nothing coherent yet.
    fn drop_copy(&self, page: usize) {
        if self.is_written(page) || self.flight.holds(page) || !self.pages.remove(page) {
            return;
        }
        self.scattered.borrow_mut().remove(&page);
        let mut copies = self.copies.borrow_mut();
        copies.ages.remove(&page);
        copies.bytes -= self.pages.room(page) * size_of::<T>();
    }
}

impl<T: Element, const N: usize> Paged<T, N> {
    /// Drops copies: of the pages that the section touches, those that hold nothing of this processor's own.
    ///
    /// What was written there and not made coherent since stays. A call that is under way may bring copies back, but
    /// none that is older than what was dropped.
    ///
    /// ```
    /// let bytes = superstep::Config::new().procs(2).run_all(|g| {
    ///     let a = g.paged::<u8, 2>([2, 4], [1, 4]);
    ///     g.cohere(&a, (.., ..), &[0, 1]);
    ///     let before = a.copied_bytes();
    ///     a.forget((.., ..));
    ///     (before, a.copied_bytes())
    /// });
    /// assert_eq!(bytes.unwrap(), [(4, 0), (4, 0)]);
    /// ```
    ///
    /// # Panics
    ///
    /// If there is no such section.
    #[track_caller]
    pub fn forget(&self, section: impl Section<N>) {
        let spans = self.check_section(&section, Location::caller()).unwrap_or_else(|error| error.raise());
        self.part.layout.pieces(&spans, |piece| self.part.drop_copy(piece.page));
    }

    /// Limits how many bytes copies may have here; without it there is no limit.
    ///
    /// At the end of each coherence call the pages that were not made coherent for longest are dropped until the rest
    /// is within the limit. What the last call has brought stays, even if that alone is more.
    ///
    /// ```
    /// let there = superstep::Config::new().procs(2).run(|g| {
    ///     let a = g.paged::<u8, 2>([4, 4], [2, 4]);
    ///     a.limit_copies(4);
    ///     g.cohere(&a, (2..3, ..), &[0, 1]);
    ///     g.cohere(&a, (3..4, ..), &[0, 1]);
    ///     (a.is_present([2, 0]), a.is_present([3, 0]))
    /// });
    /// assert_eq!(there.unwrap(), (false, true));
    /// ```
    pub fn limit_copies(&self, bytes: usize) {
        self.part.copies.borrow_mut().limit = bytes;
        self.part.drop_oldest();
    }

    /// How many bytes the pages have that hold copies only.
    ///
    /// ```
    /// let bytes = superstep::Config::new().procs(2).run(|g| {
    ///     let a = g.paged::<u8, 1>([4], [2]);
    ///     let before = a.copied_bytes();
    ///     g.cohere(&a, .., &[0, 1]);
    ///     (before, a.copied_bytes() > 0)
    /// });
    /// assert_eq!(bytes.unwrap(), (0, true));
    /// ```
    pub fn copied_bytes(&self) -> usize {
        self.part.copies.borrow().bytes
    }

    /// Makes room for copies of a section before coherence brings them, and says whether all of it is present.
    ///
    /// The first coherence call then costs what later ones do. Where all is present, a loop over the section need not
    /// ask again, and slices of it can be had.
    ///
    /// ```
    /// let there = superstep::Config::new().procs(2).run(|g| {
    ///     let a = g.paged::<u8, 1>([4], [2]);
    ///     let before = a.prefetch(..);
    ///     g.cohere(&a, .., &[0, 1]);
    ///     (before, a.prefetch(..))
    /// });
    /// assert_eq!(there.unwrap(), (false, true));
    /// ```
    ///
    /// # Panics
    ///
    /// If there is no such section, or if the system has no memory for its pages.
    #[track_caller]
    pub fn prefetch(&self, section: impl Section<N>) -> bool {
        let site = Location::caller();
        let spans = self.check_section(&section, site).unwrap_or_else(|error| error.raise());
        let mut is_present = true;
        self.part.layout.pieces(&spans, |piece| {
            let made = self.part.make_room(piece.page);
            made.unwrap_or_else(|error| self.core.error(error.kind(), error, site).raise());
            is_present &= self.part.missing(piece.page, piece.range()).is_none();
        });
        is_present
    }
}
