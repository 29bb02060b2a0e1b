//! Reading and writing the areas of others.

use super::{
    access::Area,
    part::{Given, pick},
    puts::Puts,
};
use crate::{
    engine::{Address, Element, Item, Payload, Pending, Step, Tag, damaged, decode_plain, flags, long_bytes},
    error::Result,
    memory::{
        owned::{left_unserved, lends_nothing},
        section::{Section, Span},
    },
};
use fabric::{Reach, Use, wire::Writer as _};
use std::{any, panic::Location};

/// From how many bytes on a put looks whether its tray is full; what is shorter has company to wait for.
const LONG: usize = 4096;

impl Step {
    /// Copies `values` to member `to`'s part of `area`, from `offset` on, at the boundary.
    ///
    /// They are read now: what `values` hold later makes no difference. Where several puts meet, they are applied by
    /// the rank of their sources and then in the order of issue, so the last one stands (S3). No values is no put.
    ///
    /// ```
    /// let values = superstep::Config::new().procs(3).run(|g| {
    ///     let area = g.area::<usize>(3);
    ///     g.step(|s| s.put(0, &[10 * s.rank()], &area, s.rank()));
    ///     area.local().to_vec()
    /// });
    /// assert_eq!(values.unwrap(), [0, 10, 20]);
    /// ```
    ///
    /// # Cost
    ///
    /// n g for n words, sent and received; two copies.
    ///
    /// # Panics
    ///
    /// If there is no such member, if the values do not fit, or if another group made the area. Nothing is queued then;
    /// [`try_put`](Self::try_put) returns the error.
    #[track_caller]
    #[inline]
    pub fn put<T: Element>(&self, to: usize, values: &[T], area: &Area<T>, offset: usize) {
        self.try_put(to, values, area, offset).unwrap_or_else(|error| error.raise());
    }

    /// Puts like [`put`](Self::put), or returns why that cannot be done.
    ///
    /// ```
    /// use superstep::{Config, ErrorKind, Local};
    ///
    /// let kind = Config::new().procs(2).run(|g| {
    ///     let area = g.area::<u8>(2);
    ///     g.step(|s| Local(s.try_put(1, &[1, 2, 3], &area, 0).unwrap_err().kind()))
    /// });
    /// assert_eq!(kind.unwrap(), ErrorKind::OutOfBounds);
    /// ```
    #[track_caller]
    #[inline]
    pub fn try_put<T: Element>(&self, to: usize, values: &[T], area: &Area<T>, offset: usize) -> Result {
        let site = Location::caller();
        self.core.check_member(&area.core, "area", site)?;
        if values.is_empty() {
            return Ok(());
        }
        self.core.check_rank(to, site)?;
        area.check_place(to, offset, values.len(), site)?;
        self.core.touch((to, area.core.number), Use::Write, (offset, 1, values.len()), site);
        let (address, bytes) = (Address::Tenant(area.core.number), size_of_val(values));
        if self.carries_to(to) && bytes >= long_bytes() {
            let issue = self.announce_put(to, area, offset, values.len());
            area.part.puts.borrow_mut().copy(to, issue, values);
            return Ok(());
        }
        self.outbox().push_sized(to, address, Tag::Data, bytes + 8, |out| write_put(out, offset, values));
        if bytes >= LONG {
            self.core.wire.post_full();
        }
        Ok(())
    }

    /// Gives `values` away to member `to`'s part of `area`: they are copied once, at the boundary.
    pub(super) fn give<T: Element>(&self, to: usize, values: Vec<T>, area: &Area<T>, offset: usize) {
        let address = Address::Tenant(area.core.number);
        if self.core.wire.circle().shares(to) {
            self.outbox().push_moved(to, address, Box::new(Given { at: offset, values }));
        } else if self.carries_to(to) && size_of_val(&values[..]) >= long_bytes() {
            let issue = self.announce_put(to, area, offset, values.len());
            area.part.puts.borrow_mut().give(to, issue, values);
        } else {
            let bytes = size_of_val(&values[..]);
            self.outbox().push_sized(to, address, Tag::Data, bytes + 8, |out| write_put(out, offset, &values));
        }
    }

    /// Whether long data goes to this member without a tray.
    fn carries_to(&self, to: usize) -> bool {
        let circle = self.core.wire.circle();
        to != self.rank() && circle.carries() && !circle.shares(to)
    }

    /// Tells member `to` of a put whose `len` values are carried to it, and returns its number of issue.
    fn announce_put<T: Element>(&self, to: usize, area: &Area<T>, offset: usize, len: usize) -> u64 {
        let (issue, mut outbox) = (self.core.registry().issue(), self.outbox());
        outbox.carries = true;
        let address = Address::Tenant(area.core.number);
        outbox.push(to, address, Tag::Data, |out| Puts::<T>::write_record(out, offset, len, issue));
        issue
    }

    /// Reads a section of member `from`'s part of `area`, as it is when all have reached the boundary, before any of
    /// this step's puts.
    ///
    /// ```
    /// let values = superstep::Config::new().procs(2).run_all(|g| {
    ///     let area = g.area::<usize>(4);
    ///     area.local_mut().fill(g.rank());
    ///     g.step(|s| s.get(1 - s.rank(), &area, ..2))
    /// });
    /// assert_eq!(values.unwrap(), [[1, 1], [0, 0]]);
    /// ```
    ///
    /// # Cost
    ///
    /// n g for n words, and one more wait in the boundary.
    ///
    /// # Panics
    ///
    /// If there is no such member or section, or if another group made the area. [`try_get`](Self::try_get) returns the
    /// error.
    #[track_caller]
    pub fn get<T: Element>(&self, from: usize, area: &Area<T>, at: impl Section<1>) -> Pending<Vec<T>> {
        self.try_get(from, area, at).unwrap_or_else(|error| error.raise())
    }

    /// Gets like [`get`](Self::get), or returns why that cannot be done.
    ///
    /// ```
    /// use superstep::{Config, ErrorKind, Local};
    ///
    /// let kind = Config::new().procs(2).run(|g| {
    ///     let area = g.area::<u8>(2);
    ///     g.step(|s| Local(s.try_get(5, &area, ..).unwrap_err().kind()))
    /// });
    /// assert_eq!(kind.unwrap(), ErrorKind::RankOutOfRange);
    /// ```
    #[track_caller]
    pub fn try_get<T: Element>(&self, from: usize, area: &Area<T>, at: impl Section<1>) -> Result<Pending<Vec<T>>> {
        let site = Location::caller();
        self.core.check_member(&area.core, "area", site)?;
        if is_nothing(&at) {
            let span = Span { first: 0, step: 1, count: 0 };
            let values = Some(Vec::<T>::new());
            return Ok(self.core.place_alone(Get { from: self.rank(), span, reach: None, values, site }));
        }
        self.core.check_rank(from, site)?;
        let span = area.check_section(from, &at, site)?;
        self.core.touch((from, area.core.number), Use::Read, (span.first, span.step, span.count), site);
        let reach = area.part.owned.reaches.borrow()[from].clone();
        let is_reached = reach.is_some();
        let get = Get { from, span, reach, values: None, site };
        let pending = self.core.place_alone(get);
        self.core.raise_flag(flags::READS);
        if !is_reached {
            let words = [u64::from(pending.item), span.first as u64, span.count as u64, span.step as u64];
            self.outbox().push(from, Address::Tenant(area.core.number), Tag::ReadBefore, |out| out.put(words));
        }
        Ok(pending)
    }
}

/// Whether a section has no elements, whatever it is a section of: then nothing is asked for, and nothing can be wrong.
pub(super) fn is_nothing(section: &impl Section<1>) -> bool {
    section.spans(&[isize::MAX as usize]).is_ok_and(|[span]| span.count == 0)
}

#[inline]
fn write_put<T: Element>(out: &mut Vec<u8>, offset: usize, values: &[T]) {
    let values = bytemuck::cast_slice::<T, u8>(values);
    out.put([offset as u64]);
    out.extend_from_slice(values);
}

/// A section of somebody's part, on its way.
struct Get<T> {
    from: usize,
    span: Span,
    reach: Option<Reach<T>>,
    values: Option<Vec<T>>,
    site: &'static Location<'static>,
}

impl<T: Element> Item for Get<T> {
    fn read_before(&mut self, left: &[usize]) -> Result {
        if left.contains(&self.from) {
            return Err(left_unserved(self.from, "get", self.site));
        }
        if let Some(reach) = &self.reach {
            let loan = reach.read(self.span.hull());
            let loan = loan.map_err(|refused| lends_nothing(format_args!("rank {}", self.from), refused, self.site))?;
            self.values = Some(pick(&loan, self.span));
        }
        Ok(())
    }

    fn deliver(&mut self, _: usize, payload: Payload<'_>) -> Result {
        let values = decode_plain(payload.bytes()?)?;
        if values.len() != self.span.count {
            return Err(damaged());
        }
        self.values = Some(values);
        Ok(())
    }

    fn outcome(&mut self) -> &mut dyn any::Any {
        &mut self.values
    }
}
