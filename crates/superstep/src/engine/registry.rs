//! What a group has made: its tenants, by number.
//!
//! Numbers are given in the order of declaration, which the check of S5 makes sure is the same on every member. A
//! tenant is forgotten when every member has dropped its handle; until then each keeps its part, so that nothing which
//! is under way to it gets lost.

use super::{
    fingerprint::mix,
    tenant::{Buried, Contributes, Hooks, Tenant},
};
use serde::{Deserialize, Serialize};
use std::{any::Any, cell::RefCell, rc::Rc};

/// A tenant, and the phases that it takes part in.
struct Lodging {
    tenant: Rc<dyn Tenant>,
    hooks: Hooks,
}

fn bury(lodging: Lodging) -> Box<dyn Any> {
    Box::new(lodging)
}

/// Which numbers a member has given. After a mismatch members agree on what is free on all of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Given {
    count: usize,
    /// How many of those that may be given again are left.
    free: usize,
}

impl Given {
    /// What is given on one of two members.
    pub(super) fn meld(self, other: Self) -> Self {
        Self { count: self.count.max(other.count), free: self.free.min(other.free) }
    }
}

/// Something that was declared since the members last agreed on what was.
enum Fresh {
    Tenant(u32),
    /// Something else, and how to take it back.
    Other(Box<dyn FnOnce()>),
}

/// What a group has declared, and what of it this step has touched.
#[derive(Default)]
pub(crate) struct Registry {
    all: Vec<Option<Lodging>>,
    /// Which members have dropped each.
    dropped_by: Vec<Vec<usize>>,
    /// Numbers to give again. All members free the same ones at the same boundaries, so they agree on them.
    free: Vec<u32>,
    /// A fingerprint of everything declared so far, and what it was when the members last agreed on it.
    pub(super) declared: u64,
    agreed: u64,
    /// The last declarations in words, for errors.
    pub(super) words: Vec<String>,
    /// What was declared since the members last agreed on that.
    fresh: Vec<Fresh>,
    /// How many transfers were asked for so far.
    issued: u64,
    /// Tenants of which a borrow was handed out since the last boundary.
    touched: Vec<u32>,
    /// Tenants that have something to hand over.
    pub(super) outgoing: RefCell<Vec<u32>>,
    /// Tenants that turn at the end of every step.
    turning: Vec<u32>,
    /// Tenants whose contribution was borrowed or written.
    written: Vec<u32>,
    /// Tenants that this processor has dropped since the last boundary.
    pub(super) dropped: Vec<u32>,
    /// What everybody has dropped by this boundary, at which it still takes part.
    forgotten: Vec<u32>,
    /// What was forgotten, and values that are over. What they hold may name this registry when it is dropped.
    buried: Buried,
    /// The tenants that records have come to in this boundary; kept for its room.
    pub(super) changed: RefCell<Vec<u32>>,
}

/// What was declared.
impl Registry {
    /// Adds a tenant, and returns its number. `mark` stands for what must agree on all members.
    pub(super) fn add(&mut self, tenant: Rc<dyn Tenant>, mark: u64) -> u32 {
        self.declare(mark);
        self.describe(tenant.declaration());
        let number = self.next_number();
        let hooks = Rc::clone(&tenant).hooks();
        if hooks.turns.is_some() {
            self.turning.push(number);
        }
        let lodging = Some(Lodging { tenant, hooks });
        if self.free.pop().is_some() {
            self.all[number as usize] = lodging;
        } else {
            self.all.push(lodging);
            self.dropped_by.push(Vec::new());
        }
        self.fresh.push(Fresh::Tenant(number));
        number
    }

    pub(crate) fn next_number(&self) -> u32 {
        let next = || u32::try_from(self.all.len()).ok().filter(|&number| number < 1 << 31);
        self.free.last().copied().or_else(next).expect("a group has fewer than 2^31 tenants")
    }

    /// Notes what must have been declared by all members alike.
    pub(super) fn declare(&mut self, what: u64) {
        self.declared = mix(self.declared, what);
    }

    /// Notes how to take back something else that was declared.
    pub(super) fn undo_with(&mut self, undo: Box<dyn FnOnce()>) {
        self.fresh.push(Fresh::Other(undo));
    }

    /// Keeps the last few descriptions: members differ, if at all, in what they have declared since the last boundary.
    pub(crate) fn describe(&mut self, declaration: String) {
        if self.words.len() >= 256 {
            self.words.drain(..128);
        }
        self.words.push(declaration);
    }

    /// Which numbers were given so far.
    pub(super) fn given(&self) -> Given {
        Given { count: self.all.len(), free: self.free.len() }
    }

    /// The members have declared the same: that was a boundary.
    #[inline]
    pub(super) fn keep_fresh(&mut self) {
        self.agreed = self.declared;
        self.fresh.clear();
    }

    /// The members have declared different things since they last agreed. Nobody has declared any of it then, and what
    /// they declare next is numbered alike again. Returns what there is to do about it.
    ///
    /// Its numbers are given to nothing else as long as somebody has a handle with one of them. Between two boundaries
    /// numbers are only taken off the end of the free ones, so the shortest list is what all members have left.
    pub(super) fn void_fresh(&mut self, given: Given) -> Vec<Box<dyn FnOnce()>> {
        self.declared = self.agreed;
        let mut undone = Vec::new();
        for fresh in self.fresh.drain(..).rev() {
            match fresh {
                Fresh::Tenant(number) => self.buried.extend(self.all[number as usize].take().map(bury)),
                Fresh::Other(undo) => undone.push(undo),
            }
        }
        self.all.resize_with(given.count, || None);
        self.dropped_by.resize_with(given.count, Vec::new);
        self.free.truncate(given.free);
        for list in [&mut self.turning, self.outgoing.get_mut(), &mut self.touched] {
            list.retain(|&number| self.all.get(number as usize).is_some_and(Option::is_some));
        }
        // They would be compared with those of other members again.
        self.words.clear();
        undone
    }
}

/// Who is there.
impl Registry {
    #[inline]
    fn lodging(&self, number: u32) -> Option<&Lodging> {
        self.all.get(number as usize)?.as_ref()
    }

    #[inline]
    pub(crate) fn tenant(&self, number: u32) -> Option<&Rc<dyn Tenant>> {
        self.lodging(number).map(|lodging| &lodging.tenant)
    }

    /// The phases that a tenant takes part in.
    #[inline]
    pub(super) fn hooks(&self, number: u32) -> Option<&Hooks> {
        self.lodging(number).map(|lodging| &lodging.hooks)
    }

    /// All tenants that take part in a phase, with their numbers.
    pub(super) fn all<'a, H: ?Sized + 'a>(
        &'a self,
        phase: impl Fn(&Hooks) -> Option<&Rc<H>>,
    ) -> impl Iterator<Item = (u32, &'a H)> {
        let all = (0..).zip(&self.all).filter_map(|(number, lodging)| Some((number, lodging.as_ref()?)));
        all.filter_map(move |(number, lodging)| Some((number, &**phase(&lodging.hooks)?)))
    }

    #[inline]
    pub(super) fn contributor(&self, number: u32) -> Option<&dyn Contributes> {
        self.hooks(number)?.contributes.as_deref()
    }

    /// Whether there is such a tenant, and a borrow of it is alive.
    #[inline]
    pub(crate) fn is_borrowed(&self, number: u32) -> bool {
        self.hooks(number).and_then(|hooks| hooks.lends.as_ref()).is_some_and(|memory| !memory.take_back())
    }
}

/// What this step has touched.
impl Registry {
    /// Notes that a borrow of a tenant was handed out.
    #[inline]
    pub(crate) fn touch(&mut self, number: u32) {
        self.touched.push(number);
    }

    /// Notes that a tenant has something to hand over; it does so once in a step.
    #[inline]
    pub(crate) fn announce(&self, number: u32) {
        self.outgoing.borrow_mut().push(number);
    }

    /// Notes that a tenant's contribution was borrowed or written.
    pub(crate) fn write(&mut self, number: u32) {
        if !self.written.contains(&number) {
            self.written.push(number);
        }
    }

    /// The next number in the order of issue.
    pub(crate) fn issue(&mut self) -> u64 {
        self.issued += 1;
        self.issued
    }

    /// Notes the tenants of which this processor has dropped its handles.
    #[inline]
    pub(super) fn drop_tenants(&mut self, let_go: &mut Vec<u32>) {
        if !let_go.is_empty() {
            self.turning.retain(|number| !let_go.contains(number));
            self.dropped.append(let_go);
        }
    }

    /// Takes back what the program has borrowed. Names a tenant of which a borrow is still alive.
    #[inline]
    pub(super) fn take_back(&self) -> Result<(), String> {
        match [&self.touched, &self.written].into_iter().flatten().find(|&&number| self.is_borrowed(number)) {
            Some(&number) => Err(self.tenant(number).map(|tenant| tenant.describe()).unwrap_or_default()),
            None => Ok(()),
        }
    }

    /// The tenants that were written and take part, lowest number first. No allocation where there are none.
    #[inline]
    pub(super) fn contributors(&self, rank: usize) -> Vec<u32> {
        if self.written.is_empty() {
            return Vec::new();
        }
        let takes_part = |&number: &u32| self.contributor(number).is_some_and(|tenant| tenant.takes_part(rank));
        let mut written = Vec::new();
        written.extend(self.written.iter().copied().filter(takes_part));
        written.sort_unstable();
        written
    }

    /// Whether the next boundary has something to do, whatever its step asks for: tenants turn at every boundary, and a
    /// borrow that has made a boundary fail may still be alive.
    #[inline]
    pub(super) fn is_stirred(&self) -> bool {
        let lists = [&self.turning, &self.touched, &self.written, &self.dropped];
        lists.iter().any(|list| !list.is_empty())
    }
}

/// The end of a boundary.
impl Registry {
    /// Notes that these members of `size` have dropped a tenant.
    pub(super) fn drop_by(&mut self, number: u32, members: impl Iterator<Item = usize>, size: usize) {
        if let Some(dropped_by) = self.dropped_by.get_mut(number as usize) {
            dropped_by.extend(members);
            if dropped_by.len() >= size {
                self.forgotten.push(number);
            }
        }
    }

    /// Forgets what everybody has dropped, when the boundary has no more need of it.
    pub(super) fn forget(&mut self) {
        while let Some(number) = self.forgotten.pop() {
            self.bury(number);
        }
    }

    fn bury(&mut self, number: u32) {
        self.dropped_by[number as usize].clear();
        self.free.push(number);
        self.buried.extend(self.all[number as usize].take().map(bury));
    }

    /// What was forgotten and is over, to be dropped when nobody holds the registry.
    #[inline]
    pub(super) fn take_buried(&mut self) -> Buried {
        std::mem::take(&mut self.buried)
    }

    /// Ends a step that was committed, or another boundary: there nobody has sent anything.
    #[inline]
    pub(super) fn settle(&mut self, is_step: bool) {
        self.settle_contributors();
        if is_step {
            let mut buried = std::mem::take(&mut self.buried);
            for turning in self.turning.iter().filter_map(|&number| self.hooks(number)?.turns.as_ref()) {
                turning.turn(&mut buried);
            }
            self.buried = buried;
        }
        self.touched.clear();
        self.dropped.clear();
    }

    #[inline]
    fn settle_contributors(&mut self) {
        if !self.written.is_empty() {
            let (mut written, mut buried) = (std::mem::take(&mut self.written), std::mem::take(&mut self.buried));
            written.retain(|&number| self.contributor(number).is_some_and(|tenant| tenant.settle(&mut buried)));
            (self.written, self.buried) = (written, buried);
        }
    }

    /// Undoes what a step that failed has registered. Its borrows may still be alive, so they stay noted.
    pub(super) fn abandon(&mut self) {
        self.settle_contributors();
        self.outgoing.get_mut().clear();
        let mut buried = std::mem::take(&mut self.buried);
        for (_, tenant) in self.all(|hooks| hooks.abandons.as_ref()) {
            tenant.abandon(&mut buried);
        }
        self.buried = buried;
    }

    /// Lets every tenant follow a new numbering. What those who stay have all dropped is forgotten.
    pub(super) fn renumber(&mut self, stayed: &[usize]) {
        for number in 0..self.all.len() {
            let dropped_by = &mut self.dropped_by[number];
            if !dropped_by.is_empty() {
                *dropped_by = dropped_by.iter().filter_map(|rank| stayed.iter().position(|old| old == rank)).collect();
                if dropped_by.len() >= stayed.len() {
                    self.bury(number as u32);
                }
            }
        }
        for (_, tenant) in self.all(|hooks| hooks.renumbers.as_ref()) {
            tenant.renumber(stayed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::tenant::{Turns, hooks},
        *,
    };

    struct Turning;

    impl Tenant for Turning {
        fn describe(&self) -> String {
            "what turns".to_owned()
        }

        hooks!(turns);
    }

    impl Turns for Turning {
        fn turn(&self, _: &mut Buried) {}
    }

    #[test]
    fn the_next_boundary_has_something_to_do_while_a_tenant_turns_or_is_lent() {
        let mut registry = Registry::default();
        assert!(!registry.is_stirred());
        let number = registry.add(Rc::new(Turning), 1);
        assert!(registry.is_stirred());
        // Another one that is dropped is not this one.
        for (dropped, is_stirred) in [(number + 1, true), (number, false)] {
            registry.drop_tenants(&mut vec![dropped]);
            registry.settle(true);
            assert_eq!(registry.is_stirred(), is_stirred);
        }
        registry.touch(number);
        assert!(registry.is_stirred());
    }

    #[test]
    fn what_was_declared_since_the_members_agreed_is_taken_back_from_the_last_on() {
        let undone = Rc::new(RefCell::new(Vec::new()));
        let undo = |number: u32| {
            let undone = Rc::clone(&undone);
            Box::new(move || undone.borrow_mut().push(number))
        };
        let mut registry = Registry::default();
        registry.undo_with(undo(0));
        registry.keep_fresh();
        registry.undo_with(undo(1));
        registry.undo_with(undo(2));
        let given = registry.given();
        registry.void_fresh(given).into_iter().for_each(|undo| undo());
        assert_eq!(*undone.borrow(), [2, 1]);
    }

    #[test]
    fn no_two_transfers_have_one_number() {
        let mut registry = Registry::default();
        let (first, second, third) = (registry.issue(), registry.issue(), registry.issue());
        assert!(first < second && second < third);
    }
}
