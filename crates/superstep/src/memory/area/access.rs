//! What an area is: this processor's part of it, and the handle.

use super::{put_get::pick, transfer::Transfers};
use crate::{
    engine::{
        Carrying, Core, Element, Group, Kind, Object, Outbox, Payload, Phase, Record, Registry, Tally, damaged,
        read_words, type_hash,
    },
    error::{ErrorKind, Result, place},
    memory::{
        notice::give_notice,
        owned::Owned,
        section::{BadSection, Section, Span},
    },
};
use fabric::{Circle, Region};
use std::{
    any::type_name,
    cell::{Ref, RefCell, RefMut},
    panic::Location,
    rc::Rc,
};

/// This processor's part of an area.
pub(super) struct Part<T> {
    pub(super) owned: Owned<T>,
    /// How long everybody's part is.
    pub(super) lens: RefCell<Vec<usize>>,
    pub(super) transfers: RefCell<Transfers<T>>,
    site: &'static Location<'static>,
}

/// The first word of a record to an area is where a put goes, or this: data that a transfer waits for.
pub(super) const STAGED: u64 = u64::MAX;

/// A put that gave its vector away.
pub(super) struct Given<T> {
    pub(super) at: usize,
    pub(super) values: Vec<T>,
}

impl<T: Element> Part<T> {
    /// Copies `bytes` to the place that starts at `at`, whatever their alignment.
    fn write(&self, at: usize, bytes: &[u8]) -> Result {
        let mut region = self.owned.region.borrow_mut();
        let len = bytes.len() / size_of::<T>().max(1);
        let target = at.checked_add(len).and_then(|end| region.as_mut_slice().get_mut(at..end)).ok_or_else(damaged)?;
        let target = bytemuck::cast_slice_mut::<T, u8>(target);
        if target.len() != bytes.len() {
            return Err(damaged());
        }
        target.copy_from_slice(bytes);
        Ok(())
    }
}

impl<T: Element> Object for Part<T> {
    fn describe(&self) -> String {
        format!("area of {} of {}", type_name::<T>(), place(self.site))
    }

    fn is_borrowed(&self) -> bool {
        self.owned.is_borrowed()
    }

    fn open(&self) {
        self.owned.region.borrow_mut().open();
    }

    fn flush(&self, number: u32, outbox: &mut Outbox, circle: &dyn Circle) -> Result {
        self.flush_transfers(number, outbox, circle);
        Ok(())
    }

    fn serve(&self, from: usize, request: &[u8], outbox: &mut Outbox) -> Result {
        let mut words =
            request.chunks_exact(8).map(|word| u64::from_le_bytes(word.try_into().unwrap_or_default()) as usize);
        let mut word = || words.next().ok_or_else(damaged);
        let (reply_to, first, count, step) = (word()? as u64, word()?, word()?, word()? as isize);
        let region = self.owned.region.borrow();
        if count > region.len() {
            return Err(damaged());
        }
        let span = Span { first, step, count };
        let values = pick(region.as_slice().get(span.hull()).ok_or_else(damaged)?, span);
        let (address, prefix) = super::transfer::reply_address(reply_to);
        outbox.push(from, address, Record::Data, |out| {
            out.extend_from_slice(&prefix);
            out.extend_from_slice(bytemuck::cast_slice(&values));
        });
        Ok(())
    }

    fn notice(&self, from: usize, notice: &[u8], registry: &Registry) -> Result {
        self.notice_transfer(from, notice, registry)
    }

    fn stage(&self, number: u32, outbox: &mut Outbox) {
        self.stage_transfers(number, outbox);
    }

    fn carry(&self, _: u32) -> Option<Box<dyn Carrying + '_>> {
        self.carried()
    }

    fn pull(&self, left: &[usize]) -> Result {
        self.pull_transfers(left)
    }

    fn deliver(&self, from: usize, payload: Payload<'_>) -> Result {
        match payload {
            Payload::Bytes(mut bytes) => match read_words(&mut bytes)? {
                [STAGED] => self.take_staged(from, bytes),
                [at] => self.write(at as usize, bytes),
            },
            Payload::Moved(object) => match object.downcast::<Given<T>>() {
                Ok(given) => self.write(given.at, bytemuck::cast_slice(&given.values)),
                Err(object) => self.owned.accept(from, object),
            },
        }
    }

    fn abandon(&self) {
        *self.transfers.borrow_mut() = Transfers::default();
    }

    fn renumber(&self, stayed: &[usize]) {
        // There are none yet while the area is being made.
        let lens = stayed.iter().filter_map(|&rank| self.lens.borrow().get(rank).copied()).collect();
        *self.lens.borrow_mut() = lens;
        self.owned.renumber(stayed);
    }
}

/// Memory of this processor that the others of its group may put to and get from.
///
/// It has its own length on every processor. Its owner works on it as a slice, between boundaries; what others do to it
/// happens at boundaries.
///
/// ```
/// let values = superstep::Config::new().procs(3).run_all(|g| {
///     let area = g.area::<u32>(1);
///     let mine = 10 * g.rank() as u32;
///     g.step(|s| s.put(s.size() - s.rank() - 1, &[mine], &area, 0));
///     area.local()[0]
/// });
/// assert_eq!(values.unwrap(), [20, 10, 0]);
/// ```
///
/// A handle stays on its processor:
///
/// ```compile_fail,E0277
/// superstep::run(|g| {
///     let area = g.area::<u8>(1);
///     std::thread::scope(|threads| { threads.spawn(|| area.len()); });
/// });
/// ```
pub struct Area<T: Element> {
    pub(super) core: Rc<Core>,
    pub(super) part: Rc<Part<T>>,
    pub(super) number: u32,
}

impl Group {
    /// Makes an area with `len` elements on this processor, all zero. Collective; `len` may differ.
    ///
    /// ```
    /// let lens = superstep::Config::new().procs(2).run_all(|g| {
    ///     let area = g.area::<f64>(3 + g.rank());
    ///     area.len()
    /// });
    /// assert_eq!(lens.unwrap(), [3, 4]);
    /// ```
    ///
    /// Elements have a size:
    ///
    /// ```compile_fail,E0080
    /// superstep::run(|g| drop(g.area::<()>(3)));
    /// ```
    ///
    /// # Cost
    ///
    /// One boundary.
    ///
    /// # Panics
    ///
    /// If there is no memory for it; [`try_area`](Self::try_area) says so.
    #[track_caller]
    pub fn area<T: Element>(&mut self, len: usize) -> Area<T> {
        self.try_area(len).unwrap_or_else(|error| error.raise())
    }

    /// Makes an area like [`area`](Self::area), or returns why that cannot be done: some member has no memory for
    /// it, or the group has another error.
    ///
    /// ```
    /// let failed = superstep::Config::new().procs(2).run_all(|g| {
    ///     let made = if g.is_leader() { g.try_area::<u8>(1).err() } else { g.try_area::<i8>(1).err() };
    ///     made.is_some_and(|error| error.is_divergence())
    /// });
    /// assert_eq!(failed.unwrap(), [true, true]);
    /// ```
    #[track_caller]
    pub fn try_area<T: Element>(&mut self, len: usize) -> Result<Area<T>> {
        const { assert!(size_of::<T>() > 0, "the elements of an area have a size") }
        let site = Location::caller();
        let core = self.core();
        let tally = || core.place::<Tally, Vec<u64>>(Tally::new(len as u64), 0);
        let Some(region) = Region::try_new(len) else {
            let (rank, what) = (core.rank.get(), type_name::<T>());
            let what = format!("rank {rank} has no memory for {len} elements of {what}");
            let error = core.error(ErrorKind::OutOfMemory, what, site);
            return Err(give_notice(core, Kind::Make, type_hash::<Part<T>>(), || drop(tally()), error, site));
        };
        core.begin(site, Phase::Step);
        let part = Rc::new(Part {
            owned: Owned::new(region, core),
            lens: RefCell::default(),
            transfers: RefCell::default(),
            site,
        });
        let number = core.add_object(Rc::clone(&part) as Rc<dyn Object>, type_hash::<Part<T>>());
        let lens = tally();
        let area = Area { core: Rc::clone(core), part, number };
        area.part.owned.offer(core, number);
        core.boundary(Kind::Make)?;
        let lens = core.settled(&lens);
        *area.part.lens.borrow_mut() = lens.into_iter().map(|len| len as usize).collect();
        Ok(area)
    }
}

impl<T: Element> Area<T> {
    /// How many elements this processor's part has.
    ///
    /// ```
    /// let lens = superstep::Config::new().procs(2).run_all(|g| g.area::<u8>(5 * g.rank()).len());
    /// assert_eq!(lens.unwrap(), [0, 5]);
    /// ```
    pub fn len(&self) -> usize {
        self.part.lens.borrow()[self.core.rank.get()]
    }

    /// Whether this processor's part has none.
    ///
    /// ```
    /// let empty = superstep::Config::new().procs(2).run_all(|g| g.area::<u8>(5 * g.rank()).is_empty());
    /// assert_eq!(empty.unwrap(), [true, false]);
    /// ```
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many elements the part of member `rank` has.
    ///
    /// ```
    /// let len = superstep::Config::new().procs(2).run(|g| g.area::<u8>(5 * g.rank()).len_of(1));
    /// assert_eq!(len.unwrap(), 5);
    /// ```
    ///
    /// # Panics
    ///
    /// If there is no such member.
    #[track_caller]
    pub fn len_of(&self, rank: usize) -> usize {
        self.core.check_rank(rank, Location::caller()).unwrap_or_else(|error| error.raise());
        self.part.lens.borrow()[rank]
    }

    /// Lends this processor's part. Drop the borrow before the next boundary.
    ///
    /// ```
    /// let values = superstep::Config::new().procs(2).run(|g| g.area::<u8>(3).local().to_vec());
    /// assert_eq!(values.unwrap(), [0, 0, 0]);
    /// ```
    #[track_caller]
    pub fn local(&self) -> Ref<'_, [T]> {
        self.part.owned.lend(&self.core, self.number, Location::caller(), &|| self.part.describe())
    }

    /// Lends this processor's part for writing. Drop the borrow before the next boundary.
    ///
    /// ```
    /// let values = superstep::Config::new().procs(2).run(|g| {
    ///     let area = g.area::<u8>(2);
    ///     area.local_mut().fill(7);
    ///     area.local().to_vec()
    /// });
    /// assert_eq!(values.unwrap(), [7, 7]);
    /// ```
    #[track_caller]
    pub fn local_mut(&self) -> RefMut<'_, [T]> {
        self.part.owned.lend_mut(&self.core, self.number, Location::caller(), &|| self.part.describe())
    }

    /// Refuses a section that member `of`'s part does not have.
    pub(super) fn check_section(&self, of: usize, section: &impl Section<1>, site: &Location<'_>) -> Result<Span> {
        let len = self.part.lens.borrow()[of];
        section.spans(&[len]).map(|[span]| span).map_err(|bad| match bad {
            BadSection::Beyond(what) => {
                let what = format!("{what}, which is what the area has on rank {of}");
                self.core.error_of(ErrorKind::OutOfBounds, what, &*self.part, site)
            }
            BadSection::Contradicts(what) => self.core.error_of(ErrorKind::BadSection, what, &*self.part, site),
        })
    }

    /// Refuses a place that member `of`'s part does not have.
    pub(super) fn check_place(&self, of: usize, at: usize, len: usize, site: &Location<'_>) -> Result {
        let there = self.part.lens.borrow()[of];
        match at.checked_add(len) {
            Some(end) if end <= there => Ok(()),
            end => {
                let beyond = end.map_or_else(|| "far".to_owned(), |end| (end - there).to_string());
                let what = format!(
                    "{len} elements at offset {at} end {beyond} beyond the area, which has {there} on rank {of}"
                );
                Err(self.core.error_of(ErrorKind::OutOfBounds, what, &*self.part, site))
            }
        }
    }
}

impl<T: Element> Drop for Area<T> {
    fn drop(&mut self) {
        if self.core.phase.get() != Phase::Ended {
            self.core.registry().drop_object(self.number);
        }
    }
}

impl<T: Element> std::fmt::Debug for Area<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Area<{}>({} elements here)", type_name::<T>(), self.len())
    }
}
