//! A processor's state in one group: its membership, the log of the step, the wire, and the registry of tenants.

use super::{
    exchange::Outbox,
    fingerprint::hash_numbers,
    items::Item,
    log::Log,
    membership::{Membership, Phase, StepMark},
    pending::Pending,
    registry::{Given, Registry},
    tenant::{Buried, Contributes, Tenant},
    wire::Wire,
};
use crate::{
    error::{Causes, Error, ErrorKind, Result, place},
    panics,
};
use fabric::{Circle, Failure};
use std::{
    any::{Any, type_name},
    cell::{Ref, RefCell, RefMut},
    ops::Deref,
    panic::Location,
    rc::Rc,
};

/// A processor's state in one group, which the handles of what the group has made share.
///
/// Each part owns its cells. Whoever has the group can ask it all that a member knows of itself.
pub(crate) struct Core {
    pub(super) member: Rc<Membership>,
    pub(crate) log: Log,
    pub(crate) wire: Wire,
    pub(super) registry: RefCell<Registry>,
    /// The tenants whose handles were dropped since the last boundary, also while somebody held the registry.
    pub(super) let_go: RefCell<Vec<u32>>,
    /// The subgroup that this processor is in.
    pub(super) inner: RefCell<Option<Rc<Core>>>,
    /// What kinds of tenants keep for the whole group, by type.
    states: RefCell<Vec<Rc<dyn Any>>>,
    /// The error of a member that has ended with one; in the root group it is the run's, whatever the others do.
    pub(super) failed: RefCell<Option<Error>>,
    /// The program's own errors in this run.
    pub(super) causes: Causes,
}

impl Deref for Core {
    type Target = Membership;

    #[inline]
    fn deref(&self) -> &Membership {
        &self.member
    }
}

/// A collective call that is under way: dropped before it is [`done`](Self::done), it has never been made (X1).
#[must_use]
pub(crate) struct Attempt<'a> {
    core: &'a Core,
    item: u32,
    verbs: u64,
}

impl Attempt<'_> {
    #[inline]
    pub(crate) fn done(self) {
        std::mem::forget(self);
    }
}

impl Drop for Attempt<'_> {
    fn drop(&mut self) {
        self.core.log.items.borrow_mut().take_back(self.item, self.verbs);
        self.core.wire.outbox.borrow_mut().take_back(self.item);
    }
}

impl Core {
    pub(super) fn new(
        circle: Box<dyn Circle>,
        parent: Option<&Core>,
        of_parent: (usize, u64),
        site: &'static Location<'static>,
        first_step: u64,
        causes: Causes,
    ) -> Rc<Self> {
        let log = Log::default();
        log.watch.set(parent.is_some_and(|parent| parent.log.watch.is_on()));
        let parent = parent.map(|parent| Rc::clone(&parent.member));
        Rc::new(Self {
            member: Rc::new(Membership::new(&*circle, parent, of_parent, site, first_step)),
            log,
            wire: Wire::new(circle),
            registry: RefCell::default(),
            let_go: RefCell::default(),
            inner: RefCell::default(),
            states: RefCell::default(),
            failed: RefCell::default(),
            causes,
        })
    }

    #[inline]
    pub(crate) fn begin(&self, site: &'static Location<'static>, phase: Phase) {
        self.member.begin(site, phase);
        self.log.begin();
    }

    /// Undoes what a step has asked for that will not reach its boundary (X6).
    #[cold]
    pub(crate) fn abandon(&self) {
        let outer = self.log.take_outer(self.step_mark());
        self.count_abandoned();
        self.log.abandon();
        let recalled = self.wire.outbox.borrow_mut().recall();
        let mut registry = self.registry();
        registry.abandon();
        let mut buried = registry.take_buried();
        drop(registry);
        for written in outer {
            written.revert(&mut buried);
        }
        panics::discard((recalled, buried));
    }

    /// Takes back what the body of the step at hand has written of outer groups.
    #[cold]
    pub(super) fn revert_outer(&self, buried: &mut Buried) {
        for written in self.log.take_outer(self.step_mark()) {
            written.revert(buried);
        }
    }

    /// The group inside of this one in the body of whose step this processor is, and that step.
    fn inner_step(&self) -> Option<(Rc<Self>, StepMark)> {
        let mut inner = self.inner.borrow().clone()?;
        loop {
            let Some(next) = inner.inner.borrow().clone() else { break };
            inner = next;
        }
        let step = inner.step_mark();
        (inner.phase() == Phase::Step).then_some((inner, step))
    }

    /// Lets a tenant of this group, which waits for its subgroups, keep what it is before the step of a subgroup writes
    /// it: `keep` says whether it had not kept that for the given step. The step takes the write back if it fails.
    #[cold]
    pub(crate) fn write_from_inside(&self, tenant: Rc<dyn Contributes>, keep: impl FnOnce(StepMark) -> bool) {
        if let Some((inner, step)) = self.inner_step()
            && keep(step)
        {
            inner.log.note_outer(step, tenant);
        }
    }

    /// Ends the group for this processor: nothing that it has made is left.
    pub(super) fn close(&self) {
        self.set_phase(Phase::Ended);
        self.registry.take();
        self.states.take();
    }

    /// Ends the run with `error`, or with that of whoever was first.
    pub(crate) fn give_up(&self, error: &Error) -> Error {
        give_up(&**self.wire.circle(), self, error)
    }
}

/// Ends the run with `error` of this member, or with the error of whoever was first.
pub(crate) fn give_up(circle: &dyn Circle, me: &Membership, error: &Error) -> Error {
    let alarm = circle.alarm();
    alarm.raise(Failure::GaveUp { rank: me.processor, report: error.report() });
    alarm.raised().map_or_else(|| error.clone(), Error::from)
}

/// What the step asks for.
impl Core {
    /// Makes the next boundary a full one.
    #[inline]
    pub(crate) fn stir(&self) {
        self.log.is_stirred.set(true);
    }

    /// Places an item and returns its pending value; see [`Log::place`].
    #[inline]
    pub(crate) fn place<I: Item, T>(&self, item: I, argument: u64) -> Pending<T> {
        self.stir();
        self.pending(self.log.place(item, argument))
    }

    /// Places an item that no other member needs to have.
    #[inline]
    pub(crate) fn place_alone<I: Item, T>(&self, item: I) -> Pending<T> {
        self.stir();
        self.pending(self.log.items.borrow_mut().place_alone(item))
    }

    #[inline]
    fn pending<T>(&self, item: u32) -> Pending<T> {
        Pending::new(item, self.step_mark())
    }

    /// The number of the next item that every member places.
    pub(crate) fn next_item(&self) -> u32 {
        self.log.items.borrow().collective().len() as u32
    }

    pub(crate) fn next_alone(&self) -> u32 {
        self.log.items.borrow().next_alone()
    }

    /// Begins a collective call that may be refused when it has placed its item and sent something already.
    pub(crate) fn attempt(&self) -> Attempt<'_> {
        let items = self.log.items.borrow();
        Attempt { core: self, item: items.collective().len() as u32, verbs: items.verbs }
    }

    #[inline]
    pub(crate) fn raise_flag(&self, flag: u32) {
        self.stir();
        self.log.flags.set(self.log.flags.get() | flag);
    }

    /// Takes the value of a pending one whose step has closed.
    pub(crate) fn settled<T: 'static>(&self, pending: &Pending<T>) -> T {
        let mut items = self.log.items.borrow_mut();
        let is_of_it = pending.of == self.closed_mark();
        let item = items.get_mut(pending.item).filter(|_| is_of_it);
        let value = item.and_then(|item| (item.outcome() as &mut dyn Any).downcast_mut::<Option<T>>()?.take());
        value.unwrap_or_else(|| {
            let (what, step) = (type_name::<T>(), pending.of.step);
            let what = format!("a pending {what} of step {step} was returned; return it from the step that made it");
            self.closed_error(ErrorKind::StalePending, what).raise()
        })
    }

    /// What this step has for others.
    #[inline]
    pub(crate) fn outbox(&self) -> RefMut<'_, Outbox> {
        self.stir();
        self.wire.outbox.borrow_mut()
    }
}

/// What the group has made.
impl Core {
    /// Adds a tenant. `mark` stands for what must agree on all members.
    pub(crate) fn add_tenant(self: &Rc<Self>, tenant: Rc<dyn Tenant>, mark: u64) -> Lease {
        Lease { number: self.registry().add(tenant, mark), core: Rc::clone(self) }
    }

    /// What the group has declared.
    #[inline]
    pub(crate) fn tenants(&self) -> Ref<'_, Registry> {
        self.registry.borrow()
    }

    /// The same, to be changed.
    pub(crate) fn registry(&self) -> RefMut<'_, Registry> {
        self.stir();
        self.registry.borrow_mut()
    }

    /// Everything that was declared, as one number.
    pub(crate) fn declared(&self) -> u64 {
        self.registry.borrow().declared
    }

    /// Notes what must have been declared by all members alike.
    pub(crate) fn declare(&self, what: u64) {
        // The next boundary is the one at which they agree on it.
        self.registry().declare(what);
    }

    /// Notes the arguments of a call at `site` that must be the same on all members; `words` say what they are.
    pub(crate) fn declare_call(&self, terms: impl IntoIterator<Item = u64>, words: &str, site: &Location<'_>) {
        self.declare(hash_numbers(terms));
        self.registry().describe(format!("{words} ({})", place(site)));
    }

    /// Notes the same of something that `undo` takes back, if the members turn out to have declared different things.
    pub(crate) fn declare_until(&self, what: u64, undo: impl FnOnce() + 'static) {
        self.declare(what);
        self.registry.borrow_mut().undo_with(Box::new(undo));
    }

    /// The members have declared different things since they last agreed: nobody has declared any of it.
    #[cold]
    pub(super) fn void_declared(&self, given: Given) {
        let undone = self.registry.borrow_mut().void_fresh(given);
        for undo in undone {
            undo();
        }
        let buried = self.registry.borrow_mut().take_buried();
        drop(buried);
    }

    /// What the tenants of a kind keep for the whole group, if they have kept it.
    pub(crate) fn state<T: 'static>(&self) -> Option<Rc<T>> {
        self.states.borrow().iter().find_map(|state| Rc::clone(state).downcast().ok())
    }

    /// Keeps something for the whole group, in the place of what was kept under its type.
    pub(crate) fn keep_state<T: 'static>(&self, state: Rc<T>) {
        let mut states = self.states.borrow_mut();
        states.retain(|other| !(**other).is::<T>());
        states.push(state);
    }

    /// Refuses what this processor has declared and the others have not.
    pub(crate) fn check_declared(&self, is_there: bool, what: &dyn Fn() -> String, site: &Location<'_>) -> Result {
        if is_there {
            return Ok(());
        }
        let what = format!("the {} is void, because the members did not declare it alike; declare it again", what());
        Err(self.error(ErrorKind::DeclMismatch, what, site))
    }

    /// An error about something that this processor has named: which one it means, and who it is.
    #[cold]
    pub(crate) fn error_of(
        &self,
        kind: ErrorKind,
        what: impl std::fmt::Display,
        of: &dyn Tenant,
        site: &Location<'_>,
    ) -> Error {
        let what = format!("{what}; rank {} means the {}", self.rank(), of.describe());
        self.error(kind, what, site)
    }

    /// Refuses what another group made.
    pub(crate) fn check_member(&self, owner: &Core, what: &str, site: &Location<'_>) -> Result {
        if std::ptr::eq(self, owner) {
            return Ok(());
        }
        let what = format!(
            "this {what} belongs to group {}; make one in this group, or use it in a step of its own group",
            owner.path()
        );
        Err(self.error(ErrorKind::NotMember, what, site))
    }
}

/// A handle's hold on a tenant of a group, and its way to the group. With it the tenant goes.
pub(crate) struct Lease {
    core: Rc<Core>,
    /// The tenant's number in the group.
    pub(crate) number: u32,
}

impl Deref for Lease {
    type Target = Rc<Core>;

    #[inline]
    fn deref(&self) -> &Rc<Core> {
        &self.core
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        if self.phase() != Phase::Ended {
            self.stir();
            self.let_go.borrow_mut().push(self.number);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Config;

    #[test]
    fn a_group_keeps_one_thing_of_each_type_and_nothing_beyond_its_end() {
        let outcome = Config::new().procs(1).run(|g| {
            let mut kept = None;
            g.split(1, |sub| {
                let core = Rc::clone(sub.core());
                core.keep_state(Rc::new(1u8));
                core.keep_state(Rc::new(2u16));
                core.keep_state(Rc::new(3u8));
                assert_eq!(core.state::<u8>(), Some(Rc::new(3)));
                assert_eq!(core.state::<u16>(), Some(Rc::new(2)));
                kept = Some(core);
            });
            let core = kept.expect("everybody is in it");
            assert_eq!((core.phase(), core.state::<u8>()), (Phase::Ended, None));
        });
        assert_eq!(outcome, Ok(()));
    }
}
