//! Memory that a processor owns in a group: lent to itself as slices, and to its peers at boundaries.

use crate::{
    engine::{Address, Core, Element, Lease, damaged},
    error::{Error, ErrorKind, Result, place},
};
use fabric::{Reach, Refused, Region};
use std::{
    any::Any,
    cell::{Cell, Ref, RefCell, RefMut},
    fmt::Display,
    panic::Location,
};

/// This processor's memory of an area or array, and how to read everybody else's.
pub(super) struct Owned<T> {
    pub(super) region: RefCell<Region<T>>,
    /// How to read everybody's directly, where that can be done.
    pub(super) reaches: RefCell<Vec<Option<Reach<T>>>>,
    /// The step in which the boundary was last told to look at it, plus one.
    marked: Cell<u64>,
}

impl<T: Element> Owned<T> {
    pub(super) fn new(mut region: Region<T>, core: &Core) -> Self {
        region.open();
        let mut reaches = vec![None; core.size()];
        reaches[core.rank()] = Some(region.reach());
        Self { region: RefCell::new(region), reaches: RefCell::new(reaches), marked: Cell::new(0) }
    }

    /// Hands a way to read it to everybody with whom this processor shares memory, at the next boundary.
    pub(super) fn offer(&self, core: &Lease) {
        let (circle, mut outbox) = (core.wire.circle(), core.outbox());
        for to in (0..core.size()).filter(|&to| to != core.rank() && circle.shares(to)) {
            outbox.push_moved(to, Address::Tenant(core.number), Box::new(self.region.borrow().reach()));
        }
    }

    pub(super) fn accept(&self, from: usize, value: Box<dyn Any + Send>) -> Result {
        let reach = value.downcast::<Reach<T>>().map_err(|_| damaged())?;
        *self.reaches.borrow_mut().get_mut(from).ok_or_else(damaged)? = Some(*reach);
        Ok(())
    }

    /// Takes it back from this processor and opens it to peers. False if a borrow of it is alive.
    pub(super) fn take_back(&self) -> bool {
        self.region.try_borrow_mut().is_ok_and(|mut region| {
            region.open();
            true
        })
    }

    /// Makes it readable by peers, after others have written to it.
    pub(super) fn open(&self) {
        self.region.borrow_mut().open();
    }

    /// Lends it for reading; `what` names it in errors.
    #[inline]
    pub(super) fn lend(&self, core: &Lease, site: &Location<'_>, what: &dyn Fn() -> String) -> Ref<'_, [T]> {
        self.try_lend(core, site, what).unwrap_or_else(|error| error.raise())
    }

    /// Lends it like [`lend`](Self::lend), or returns why that cannot be done.
    #[inline]
    pub(super) fn try_lend(
        &self,
        core: &Lease,
        site: &Location<'_>,
        what: &dyn Fn() -> String,
    ) -> Result<Ref<'_, [T]>> {
        self.mark(core);
        match self.region.try_borrow() {
            Ok(region) => Ok(Ref::map(region, Region::as_slice)),
            Err(_) => Err(refusal(core, site, what)),
        }
    }

    #[inline]
    pub(super) fn lend_mut(&self, core: &Lease, site: &Location<'_>, what: &dyn Fn() -> String) -> RefMut<'_, [T]> {
        self.mark(core);
        match self.region.try_borrow_mut() {
            Ok(region) => RefMut::map(region, Region::as_mut_slice),
            Err(_) => refusal(core, site, what).raise(),
        }
    }

    /// Makes the boundary look at it.
    #[inline]
    fn mark(&self, core: &Lease) {
        let step = core.steps().wrapping_add(1);
        if self.marked.replace(step) != step || step == 0 {
            core.registry().touch(core.number);
        }
    }

    pub(super) fn renumber(&self, stayed: &[usize]) {
        let reaches = stayed.iter().map(|&rank| self.reaches.borrow()[rank].clone()).collect();
        *self.reaches.borrow_mut() = reaches;
    }
}

/// The error of a read from memory that its owner has not opened.
#[cold]
pub(super) fn lends_nothing(who: impl Display, refused: Refused, site: &Location<'_>) -> Error {
    Error::new(ErrorKind::Damaged, format!("{who} lends nothing: {refused} ({})", place(site)))
}

/// The error of a read from a member that leaves in the same boundary.
#[cold]
pub(super) fn left_unserved(rank: usize, what: &str, site: &Location<'_>) -> Error {
    let message = format!("rank {rank} left the group before this {what} was served ({})", place(site));
    Error::new(ErrorKind::Departed, message)
}

#[cold]
fn refusal(core: &Core, site: &Location<'_>, what: &dyn Fn() -> String) -> Error {
    let what = format!("the {} is borrowed twice; drop the first borrow", what());
    core.error(ErrorKind::StillBorrowed, what, site)
}
