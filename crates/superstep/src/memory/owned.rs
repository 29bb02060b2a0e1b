//! Memory that a processor owns in a group: lent to itself as slices, and to its peers at boundaries.

use crate::{
    engine::{Address, Core, Element, damaged},
    error::{ErrorKind, Result},
};
use fabric::{Reach, Region};
use std::{
    any::Any,
    cell::{Cell, Ref, RefCell, RefMut},
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
        let mut reaches = vec![None; core.size.get()];
        reaches[core.rank.get()] = Some(region.reach());
        Self { region: RefCell::new(region), reaches: RefCell::new(reaches), marked: Cell::new(0) }
    }

    /// Hands a way to read it to everybody with whom this processor shares memory, at the next boundary.
    pub(super) fn offer(&self, core: &Core, number: u32) {
        core.stir();
        let (circle, mut outbox) = (core.circle.borrow(), core.outbox.borrow_mut());
        for to in (0..core.size.get()).filter(|&to| to != core.rank.get() && circle.shares(to)) {
            outbox.push_moved(to, Address::Object(number), Box::new(self.region.borrow().reach()));
        }
    }

    /// Takes what member `from` has offered.
    pub(super) fn accept(&self, from: usize, object: Box<dyn Any + Send>) -> Result {
        let reach = object.downcast::<Reach<T>>().map_err(|_| damaged())?;
        *self.reaches.borrow_mut().get_mut(from).ok_or_else(damaged)? = Some(*reach);
        Ok(())
    }

    /// Whether a borrow of it is alive.
    pub(super) fn is_borrowed(&self) -> bool {
        self.region.try_borrow_mut().is_err()
    }

    /// Lends it for reading; `what` names it in messages.
    #[inline]
    pub(super) fn lend(
        &self,
        core: &Core,
        number: u32,
        site: &Location<'_>,
        what: &dyn Fn() -> String,
    ) -> Ref<'_, [T]> {
        self.mark(core, number);
        match self.region.try_borrow() {
            Ok(region) => Ref::map(region, Region::as_slice),
            Err(_) => refuse(core, site, what),
        }
    }

    /// Lends it for writing.
    #[inline]
    pub(super) fn lend_mut(
        &self,
        core: &Core,
        number: u32,
        site: &Location<'_>,
        what: &dyn Fn() -> String,
    ) -> RefMut<'_, [T]> {
        self.mark(core, number);
        match self.region.try_borrow_mut() {
            Ok(region) => RefMut::map(region, Region::as_mut_slice),
            Err(_) => refuse(core, site, what),
        }
    }

    /// Makes the boundary look at it.
    #[inline]
    fn mark(&self, core: &Core, number: u32) {
        let step = core.steps.get().wrapping_add(1);
        if self.marked.replace(step) != step || step == 0 {
            core.registry().touched.push(number);
        }
    }

    /// Follows the new numbering.
    pub(super) fn renumber(&self, stayed: &[usize]) {
        let reaches = stayed.iter().map(|&rank| self.reaches.borrow()[rank].clone()).collect();
        *self.reaches.borrow_mut() = reaches;
    }
}

#[cold]
fn refuse(core: &Core, site: &Location<'_>, what: &dyn Fn() -> String) -> ! {
    let what = format!("the {} is borrowed twice; drop the first borrow", what());
    core.error(ErrorKind::StillBorrowed, what, site).raise()
}
