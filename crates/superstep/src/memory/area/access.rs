//! What an area is: the handle, and its making.

use super::part::Part;
use crate::{
    engine::{Core, Element, Group, Lease, Occasion, Tally, Tenant as _, damaged, type_hash},
    error::{ErrorKind, Result},
    memory::{
        making::make,
        owned::Owned,
        section::{Section, Span},
    },
};
use fabric::Region;
use std::{
    any::type_name,
    cell::{Ref, RefMut},
    panic::Location,
    rc::Rc,
};

const MAKING: Occasion = Occasion::new("making of an area");

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
    pub(super) core: Lease,
    pub(super) part: Rc<Part<T>>,
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
        let part = Region::try_new(len).map(|region| Part::new(Owned::new(region, core), site)).ok_or_else(|| {
            let (rank, what) = (core.rank(), type_name::<T>());
            let what = format!("rank {rank} has no memory for {len} elements of {what}");
            core.error(ErrorKind::OutOfMemory, what, site)
        });
        let tally = || core.place::<Tally, Vec<u64>>(Tally::new(len as u64), 0);
        let (area, lens) = make(core, (&MAKING, type_hash::<Part<T>>(), site), part, tally, |part, core| {
            part.owned.offer(&core);
            Area { core, part }
        })?;
        let lens = core.settled(&lens);
        if lens.len() != core.size() {
            return Err(core.give_up(&damaged()));
        }
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
        self.part.lens.borrow()[self.core.rank()]
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
    /// let values = superstep::Config::new().procs(2).run(|g| {
    ///     let area = g.area::<u8>(3);
    ///     g.step(|s| if s.rank() == 1 { s.put(0, &[7], &area, 2) });
    ///     area.local().to_vec()
    /// });
    /// assert_eq!(values.unwrap(), [0, 0, 7]);
    /// ```
    #[track_caller]
    pub fn local(&self) -> Ref<'_, [T]> {
        self.part.owned.lend(&self.core, Location::caller(), &|| self.part.describe())
    }

    /// Lends it like [`local`](Self::local), or returns why that cannot be done.
    pub(crate) fn try_local(&self, site: &Location<'_>) -> Result<Ref<'_, [T]>> {
        self.part.owned.try_lend(&self.core, site, &|| self.part.describe())
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
        self.part.owned.lend_mut(&self.core, Location::caller(), &|| self.part.describe())
    }

    /// Refuses another group than the one that made it.
    pub(crate) fn check_home(&self, core: &Core, site: &Location<'_>) -> Result {
        core.check_member(&self.core, "area", site)
    }

    /// Refuses a section that member `of`'s part does not have.
    pub(super) fn check_section(&self, of: usize, section: &impl Section<1>, site: &Location<'_>) -> Result<Span> {
        let len = self.part.lens.borrow()[of];
        section.spans(&[len]).map(|[span]| span).map_err(|(kind, what)| {
            let owner = format!(", which is what the area has on rank {of}");
            let what = what + if kind == ErrorKind::OutOfBounds { &owner } else { "" };
            self.core.error_of(kind, what, &*self.part, site)
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

impl<T: Element> std::fmt::Debug for Area<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Area<{}>({} elements here)", type_name::<T>(), self.len())
    }
}

#[cfg(test)]
mod tests {
    use crate::{Config, Fabric};

    /// Whose parts each of three processors can read directly.
    fn reached(fabric: Fabric) -> Vec<Vec<bool>> {
        let outcome = Config::new().procs(3).fabric(fabric).run_all(|g| {
            let area = g.area::<u8>(1);
            let reaches = area.part.owned.reaches.borrow();
            reaches.iter().map(Option::is_some).collect::<Vec<bool>>()
        });
        outcome.expect("the run succeeds")
    }

    #[test]
    fn parts_are_read_directly_where_memory_is_shared_and_nowhere_else() {
        let all = vec![vec![true; 3]; 3];
        assert_eq!(reached(Fabric::Threads), all);
        assert_eq!(reached(Fabric::Sim { seed: 0, shares_memory: true }), all);
        let own = [[true, false, false], [false, true, false], [false, false, true]];
        assert_eq!(reached(Fabric::Sim { seed: 0, shares_memory: false }), own);
    }
}
