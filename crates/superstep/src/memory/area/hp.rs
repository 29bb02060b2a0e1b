//! The verbs that move data straight from area to area: `hp_put` and `hp_get`.

use super::{
    access::Area,
    put_get::is_nothing,
    transfer::{Transit, reply_to},
};
use crate::{
    engine::{Address, Element, Step, Tag, flags},
    error::{ErrorKind, Result},
    memory::section::Section,
};
use fabric::{Use, wire::Writer as _};
use std::{ops::Range, panic::Location};

/// Where an `hp_put` takes its data from without a copy: a vector that is given away, or a section of an area of this
/// processor, whose content counts as it is at the boundary.
///
/// ```
/// use superstep::{Config, Source};
///
/// let values = Config::new().procs(2).run(|g| {
///     let area = g.area::<u8>(4);
///     area.local_mut().fill(9);
///     g.step(|s| if s.rank() == 1 {
///         s.hp_put(0, Source::Given(vec![1, 2]), &area, 0);
///         s.hp_put(0, Source::Section(&area, 0..1), &area, 2);
///     });
///     area.local().to_vec()
/// });
/// assert_eq!(values.unwrap(), [1, 2, 9, 9]);
/// ```
#[derive(Debug)]
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

impl Step {
    /// Moves `source` into member `to`'s part of `area`, from `offset` on, at the boundary and with one copy only.
    ///
    /// `source` is a vector that is given away, or a section of an area of this processor, as `(&area, range)`, which
    /// counts as it is at the boundary. Transfers come before puts, and read everything before any of them writes.
    /// [`Check::Conflicts`](crate::Check::Conflicts) reports a transfer over what is read, because only this library
    /// says what becomes of it.
    ///
    /// ```
    /// let values = superstep::Config::new().procs(2).run_all(|g| {
    ///     let area = g.area::<u8>(2);
    ///     area.local_mut().fill(g.rank() as u8);
    ///     g.step(|s| s.hp_put(1 - s.rank(), (&area, 0..2), &area, 0));    // a swap
    ///     area.local()[0]
    /// });
    /// assert_eq!(values.unwrap(), [1, 0]);
    /// ```
    ///
    /// # Cost
    ///
    /// n g for n words, and for a section two more waits in the boundary; one, where no two members share memory.
    ///
    /// # Panics
    ///
    /// As [`put`](Self::put). [`try_hp_put`](Self::try_hp_put) returns the error.
    #[track_caller]
    pub fn hp_put<'a, T: Element>(&self, to: usize, source: impl Into<Source<'a, T>>, area: &Area<T>, offset: usize) {
        self.try_hp_put(to, source, area, offset).unwrap_or_else(|error| error.raise());
    }

    /// Moves like [`hp_put`](Self::hp_put), or returns why that cannot be done.
    ///
    /// ```
    /// use superstep::{Config, ErrorKind, Local};
    ///
    /// let kind = Config::new().procs(2).run(|g| {
    ///     let area = g.area::<u8>(2);
    ///     g.step(|s| Local(s.try_hp_put(1, vec![1, 2], &area, 1).unwrap_err().kind()))
    /// });
    /// assert_eq!(kind.unwrap(), ErrorKind::OutOfBounds);
    /// ```
    #[track_caller]
    pub fn try_hp_put<'a, T: Element>(
        &self,
        to: usize,
        source: impl Into<Source<'a, T>>,
        area: &Area<T>,
        offset: usize,
    ) -> Result {
        let site = Location::caller();
        self.core.check_member(&area.core, "area", site)?;
        match source.into() {
            Source::Given(values) if values.is_empty() => {}
            Source::Given(values) => {
                self.core.check_rank(to, site)?;
                area.check_place(to, offset, values.len(), site)?;
                self.core.touch((to, area.core.number), Use::Transfer, (offset, 1, values.len()), site);
                self.give(to, values, area, offset);
            }
            Source::Section(source, range) => {
                self.core.check_member(&source.core, "area", site)?;
                if range.is_empty() {
                    return Ok(());
                }
                self.core.check_rank(to, site)?;
                let range = source.check_section(self.rank(), &range, site)?.hull();
                area.check_place(to, offset, range.len(), site)?;
                let (me, count) = (self.rank(), range.len());
                self.core.touch((me, source.core.number), Use::Read, (range.start, 1, count), site);
                self.core.touch((to, area.core.number), Use::Transfer, (offset, 1, count), site);
                let issue = self.core.registry().issue();
                source.part.transit.borrow_mut().lend(issue, to, area.core.number, range, offset);
                self.announce(source);
            }
        }
        Ok(())
    }

    /// Moves a section of member `from`'s part of `area` into this processor's part of `into`, from `offset` on, at the
    /// boundary and with one copy only. Transfers come before puts, and read everything before any of them writes.
    ///
    /// ```
    /// let values = superstep::Config::new().procs(3).run_all(|g| {
    ///     let area = g.area::<usize>(2);
    ///     area.local_mut()[0] = g.rank();
    ///     g.step(|s| s.hp_get((s.rank() + 1) % s.size(), &area, ..1, &area, 1));
    ///     area.local().to_vec()
    /// });
    /// assert_eq!(values.unwrap(), [[0, 1], [1, 2], [2, 0]]);
    /// ```
    ///
    /// # Cost
    ///
    /// n g for n words, and two more waits in the boundary; one, where no two members share memory.
    ///
    /// # Panics
    ///
    /// As [`get`](Self::get), and if the section does not fit. [`try_hp_get`](Self::try_hp_get) returns the error.
    #[track_caller]
    pub fn hp_get<T: Element>(&self, from: usize, area: &Area<T>, at: impl Section<1>, into: &Area<T>, offset: usize) {
        self.try_hp_get(from, area, at, into, offset).unwrap_or_else(|error| error.raise());
    }

    /// Moves like [`hp_get`](Self::hp_get), or returns why that cannot be done.
    ///
    /// ```
    /// use superstep::{Config, ErrorKind, Local, strided};
    ///
    /// let kind = Config::new().procs(2).run(|g| {
    ///     let area = g.area::<u8>(4);
    ///     g.step(|s| Local(s.try_hp_get(1, &area, strided(.., 2), &area, 0).unwrap_err().kind()))
    /// });
    /// assert_eq!(kind.unwrap(), ErrorKind::BadSection);
    /// ```
    #[track_caller]
    pub fn try_hp_get<T: Element>(
        &self,
        from: usize,
        area: &Area<T>,
        at: impl Section<1>,
        into: &Area<T>,
        offset: usize,
    ) -> Result {
        let site = Location::caller();
        self.core.check_member(&area.core, "area", site)?;
        self.core.check_member(&into.core, "area", site)?;
        if is_nothing(&at) {
            return Ok(());
        }
        self.core.check_rank(from, site)?;
        let span = area.check_section(from, &at, site)?;
        if !span.is_range() {
            let what = "a transfer from area to area takes a section without stride; use get for one with";
            return Err(self.core.error(ErrorKind::BadSection, what, site));
        }
        let range = span.hull();
        into.check_place(self.rank(), offset, range.len(), site)?;
        if range.is_empty() {
            return Ok(());
        }
        let (me, count) = (self.rank(), range.len());
        self.core.touch((from, area.core.number), Use::Read, (range.start, 1, count), site);
        self.core.touch((me, into.core.number), Use::Transfer, (offset, 1, count), site);
        let reach = area.part.owned.reaches.borrow()[from].clone();
        let is_reached = reach.is_some();
        let pull = into.part.transit.borrow_mut().pull((from, area.core.number), range.clone(), offset, reach);
        let address = Address::Tenant(area.core.number);
        if is_reached {
            self.outbox()
                .push(from, address, Tag::Notice, |out| Transit::<T>::write_lend(out, into.core.number, &range));
        } else {
            let (start, len) = (range.start as u64, range.len() as u64);
            let words = [reply_to(into.core.number, pull), start, len, 1];
            self.outbox().push(from, address, Tag::ReadBefore, |out| out.put(words));
            self.core.raise_flag(flags::READS);
        }
        self.announce(into);
        Ok(())
    }

    fn announce<T: Element>(&self, area: &Area<T>) {
        self.core.raise_flag(flags::DIRECT);
        if !std::mem::replace(&mut area.part.transit.borrow_mut().is_announced, true) {
            self.core.registry().announce(area.core.number);
        }
    }
}
