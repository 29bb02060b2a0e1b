//! A processor's state in one group.

use super::{
    checks::{Sites, mix},
    exchange::{Inbox, Outbox},
    items::{Item, Items},
    post::Post,
    registry::{Object, Registry, Variable},
    settle::Pending,
};
use crate::error::{Error, ErrorKind, Result, place};
use fabric::{Circle, Melded, Pen};
use std::{
    any::{Any, type_name},
    cell::{Cell, RefCell, RefMut},
    fmt,
    panic::Location,
    rc::Rc,
};

/// What the processor is doing in the group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Between two steps.
    Between,
    /// In the body of a step.
    Step,
    /// In the body of a split: the group waits for its subgroups.
    Split,
    /// In an epoch: remote methods run.
    Epoch,
    /// The group is over for this processor.
    Ended,
}

/// The buffers of a meeting.
#[derive(Default)]
pub(crate) struct Wave {
    pub(crate) mine: Vec<u8>,
    pub(crate) melded: Melded,
}

/// A processor's state in one group, which the handles of what the group has made share.
pub(crate) struct Core {
    pub(crate) id: usize,
    /// This processor's number in the whole run.
    pub(crate) processor: usize,
    pub(crate) depth: usize,
    pub(crate) parent: Option<Rc<Core>>,
    /// No other circle of the run has this number.
    key: u64,
    keys_given: Cell<u64>,
    pub(crate) rank: Cell<usize>,
    pub(crate) size: Cell<usize>,
    pub(crate) steps: Cell<u64>,
    pub(crate) phase: Cell<Phase>,
    /// Where the current or last step began.
    pub(crate) site: Cell<&'static Location<'static>>,
    /// A fingerprint of everything declared so far.
    declared: Cell<u64>,
    /// A fingerprint of what this step's boundary is about, besides its items: a split's form, replaced operators.
    pub(crate) terms: Cell<u64>,
    /// The same in words, for messages.
    pub(crate) terms_in_words: RefCell<Vec<String>>,
    /// Whether anything was registered since the last boundary: a step of which this is false is an empty one.
    pub(crate) is_stirred: Cell<bool>,
    /// What this step's contribution says; see [`super::flags`].
    pub(crate) flags: Cell<u32>,
    pub(crate) circle: RefCell<Box<dyn Circle>>,
    /// With what this processor writes down where it is, for those who wait for it.
    pub(crate) pen: Pen,
    pub(crate) items: RefCell<Items>,
    pub(crate) outbox: RefCell<Outbox>,
    pub(crate) inbox: RefCell<Inbox>,
    pub(crate) registry: RefCell<Registry>,
    pub(crate) wave: RefCell<Wave>,
    pub(crate) sites: Sites,
    /// Where members write to each other outside of boundaries, once they need to.
    pub(crate) post: RefCell<Option<Post>>,
    pub(crate) has_post: Cell<bool>,
    /// Where calls were begun between boundaries that are not finished yet.
    pub(crate) begun: RefCell<Vec<&'static Location<'static>>>,
    /// The objects that a delivery has changed; kept for its room.
    pub(crate) changed: RefCell<Vec<u32>>,
    /// What the epochs of the group keep from one to the next.
    pub(crate) annex: RefCell<Option<Rc<dyn Any>>>,
}

impl Core {
    pub(crate) fn new(
        circle: Box<dyn Circle>,
        key: u64,
        parent: Option<Rc<Core>>,
        id: usize,
        site: &'static Location<'static>,
        first_step: u64,
    ) -> Rc<Self> {
        Rc::new(Self {
            id,
            processor: parent.as_ref().map_or_else(|| circle.rank(), |parent| parent.processor),
            depth: parent.as_ref().map_or(0, |parent| parent.depth + 1),
            parent,
            key,
            keys_given: Cell::new(0),
            rank: Cell::new(circle.rank()),
            size: Cell::new(circle.size()),
            steps: Cell::new(first_step),
            phase: Cell::new(Phase::Between),
            site: Cell::new(site),
            declared: Cell::new(0),
            terms: Cell::new(0),
            terms_in_words: RefCell::default(),
            is_stirred: Cell::new(false),
            flags: Cell::new(0),
            pen: circle.pen(),
            circle: RefCell::new(circle),
            items: RefCell::default(),
            outbox: RefCell::default(),
            inbox: RefCell::default(),
            registry: RefCell::default(),
            wave: RefCell::default(),
            sites: Sites::default(),
            post: RefCell::default(),
            has_post: Cell::new(false),
            begun: RefCell::default(),
            changed: RefCell::default(),
            annex: RefCell::default(),
        })
    }

    /// A number that no other group of the run has, the same on every member.
    pub(crate) fn key(&self) -> u64 {
        self.key
    }

    /// A key for a further circle, the same on every member.
    pub(crate) fn fresh_key(&self) -> u64 {
        self.keys_given.set(self.keys_given.get() + 1);
        mix(mix(self.key, 0xC1C1E), self.keys_given.get())
    }

    /// The way from the root group to this one, such as `0/1/0/2`.
    pub(crate) fn path(&self) -> String {
        let mut ids = Vec::with_capacity(self.depth + 1);
        let mut next = Some(self);
        while let Some(core) = next {
            ids.push(core.id.to_string());
            next = core.parent.as_deref();
        }
        ids.reverse();
        ids.join("/")
    }

    /// An error that says where it happened.
    #[cold]
    pub(crate) fn error(&self, kind: ErrorKind, what: impl std::fmt::Display, site: &Location<'_>) -> Error {
        let message = format!("step {} of group {}: {what} ({})", self.steps.get(), self.path(), place(site));
        Error::placed(kind, message)
    }

    /// Enters a step at `site`.
    #[inline]
    pub(crate) fn begin(&self, site: &'static Location<'static>, phase: Phase) {
        if self.phase.get() == Phase::Step {
            // The body of the last step unwound and was caught: it never reached its boundary.
            self.registry().abandon();
        }
        self.site.set(site);
        self.phase.set(phase);
        self.pen.enter(self.steps.get(), self.place_key(site), |out| self.say_where(out, "", site));
        self.terms.set(0);
        self.flags.set(0);
        // Also what the body of a step left behind that unwound and was caught.
        let mut items = self.items.borrow_mut();
        if !items.is_empty() {
            items.clear();
        }
        if !self.outbox.borrow().is_empty() {
            self.outbox.borrow_mut().clear();
        }
    }

    /// Stands for a place in this group.
    #[inline]
    fn place_key(&self, site: &'static Location<'static>) -> u64 {
        self.key ^ std::ptr::from_ref(site).addr() as u64
    }

    /// A place in this group in words, as it stands behind a step's number.
    #[cold]
    fn say_where(&self, out: &mut dyn fmt::Write, what: &str, site: &Location<'_>) -> fmt::Result {
        // Of a group that is very deep only the last numbers, so that going down costs the same at any depth.
        const LAST: usize = 16;
        let mut ids = [0; LAST];
        let mut next = Some(self);
        for id in ids.iter_mut().rev() {
            *id = next.map_or(0, |core| core.id);
            next = next.and_then(|core| core.parent.as_deref());
        }
        out.write_str(if next.is_some() { "of group …" } else { "of group " })?;
        for (at, id) in ids[LAST - LAST.min(self.depth + 1)..].iter().enumerate() {
            write!(out, "{}{id}", if at > 0 || next.is_some() { "/" } else { "" })?;
        }
        write!(out, "{what} ({}:{})", site.file(), site.line())
    }

    /// Writes down that this processor is at `site`, in something that is no step; `what` says in what.
    pub(crate) fn go_to(&self, what: &'static str, site: &'static Location<'static>) {
        let key = self.place_key(site) ^ what.len() as u64;
        self.pen.go_to(key, |out| self.say_where(out, what, site));
    }

    /// Counts a step whose boundary was held.
    #[inline]
    pub(crate) fn count_step(&self) {
        self.steps.set(self.steps.get().wrapping_add(1));
        self.pen.leave(self.steps.get());
    }

    /// Makes the next boundary a full one.
    #[inline]
    pub(crate) fn stir(&self) {
        self.is_stirred.set(true);
    }

    /// Places an item and returns its pending value. `salt` is whatever must also agree on all members.
    #[inline]
    pub(crate) fn place<I: Item, T>(&self, item: I, salt: u64) -> Pending<T> {
        self.stir();
        let mut items = self.items.borrow_mut();
        items.verbs = mix(items.verbs, mix(super::checks::type_hash::<I>(), salt));
        Pending::new(items.place(item), self.steps.get(), self.key)
    }

    /// Places an item that no other member needs to have.
    #[inline]
    pub(crate) fn place_alone<I: Item, T>(&self, item: I) -> Pending<T> {
        self.stir();
        Pending::new(self.items.borrow_mut().place_alone(item), self.steps.get(), self.key)
    }

    /// The number that the next item of this member alone will have.
    pub(crate) fn next_alone(&self) -> u32 {
        self.items.borrow().next_alone()
    }

    #[inline]
    pub(crate) fn raise_flag(&self, flag: u32) {
        self.stir();
        self.flags.set(self.flags.get() | flag);
    }

    /// Adds to what must agree on all members, whatever the order of the calls.
    pub(crate) fn add_term(&self, term: u64, in_words: String) {
        if self.terms.get() == 0 {
            self.terms_in_words.borrow_mut().clear();
        }
        self.terms.set(self.terms.get().wrapping_add(mix(term, 0x7E21) | 1));
        self.terms_in_words.borrow_mut().push(in_words);
    }

    /// Takes the value of a pending one whose step has closed.
    pub(crate) fn settled<T: 'static>(&self, pending: &Pending<T>) -> T {
        let now = self.steps.get().wrapping_sub(1);
        let mut items = self.items.borrow_mut();
        let is_of_it = (pending.group, pending.step) == (self.key, now);
        let item = items.get_mut(pending.item).filter(|_| is_of_it);
        let value = item.and_then(|item| (item.outcome() as &mut dyn Any).downcast_mut::<Option<T>>()?.take());
        value.unwrap_or_else(|| {
            let (what, step) = (type_name::<T>(), pending.step);
            let what = format!("a pending {what} of step {step} was returned; return it from the step that made it");
            self.closed_error(ErrorKind::StalePending, what).raise()
        })
    }

    /// Everything that was declared, as one number.
    pub(crate) fn declared(&self) -> u64 {
        self.declared.get()
    }

    /// Notes what must have been declared by all members alike.
    pub(crate) fn declare(&self, what: u64) {
        self.declared.set(mix(self.declared.get(), what));
    }

    /// Adds a shared variable and returns its number. `kind` is whatever must agree on all members.
    pub(crate) fn add_variable(&self, variable: Rc<dyn Variable>, kind: u64) -> u32 {
        self.declare(kind);
        self.registry.borrow_mut().add_variable(variable)
    }

    /// Adds an area or a queue and returns its number.
    pub(crate) fn add_object(&self, object: Rc<dyn Object>, kind: u64) -> u32 {
        self.declare(kind);
        self.registry.borrow_mut().add_object(object)
    }

    /// What the group has declared, to be changed.
    pub(crate) fn registry(&self) -> RefMut<'_, Registry> {
        self.stir();
        self.registry.borrow_mut()
    }

    /// Refuses a rank that is not in the group.
    #[inline]
    pub(crate) fn check_rank(&self, rank: usize, site: &Location<'_>) -> Result {
        if rank < self.size.get() { Ok(()) } else { Err(self.bad_rank(rank, site)) }
    }

    #[cold]
    fn bad_rank(&self, rank: usize, site: &Location<'_>) -> Error {
        let size = self.size.get();
        let what = format!("rank {rank} named in a group of {size}; ranks run from 0 to {}", size - 1);
        self.error(ErrorKind::RankOutOfRange, what, site)
    }

    /// Refuses an object that another group made.
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

    /// Ends the group for this processor: the rest go on without it.
    pub(crate) fn end(&self) -> Result {
        self.phase.set(Phase::Ended);
        let outcome = if self.size.get() > 1 { self.leave() } else { Ok(()) };
        self.registry.borrow_mut().clear();
        self.annex.take();
        outcome
    }
}
