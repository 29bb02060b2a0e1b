//! A processor's state in one group.

use super::{
    checks::{Sites, mix},
    exchange::{Inbox, Outbox},
    items::{Item, Items},
    post::Post,
    registry::{Given, Object, Registry, Variable},
    settle::Pending,
};
use crate::error::{Error, ErrorKind, Result, Sources, place};
use fabric::{Circle, Melded, Name, Pen};
use std::{
    any::{Any, type_name},
    cell::{Cell, RefCell, RefMut},
    fmt,
    panic::Location,
    rc::Rc,
    sync::atomic::{AtomicU64, Ordering},
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

/// What the members of a group make together besides the group itself: of each kind one at most in a step, or else
/// several that are numbered alike.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Joint {
    /// The circles of its subgroups.
    Split,
    /// The circle of those who stay when others leave, and their post.
    Rest,
    /// The post.
    Post,
    /// The memory of an array.
    Array,
    /// The elements of a volatile array.
    Volatile,
}

/// How many groups there have been in this process.
static GROUPS: AtomicU64 = AtomicU64::new(0);

/// The buffers of a meeting.
#[derive(Default)]
pub(crate) struct Wave {
    pub(crate) mine: Vec<u8>,
    pub(crate) melded: Melded,
}

/// How many changes of place are remembered.
const TRAIL: usize = 8;

/// A processor's state in one group, which the handles of what the group has made share.
pub(crate) struct Core {
    pub(crate) id: usize,
    /// This processor's number in the whole run.
    pub(crate) processor: usize,
    pub(crate) depth: usize,
    pub(crate) parent: Option<Rc<Core>>,
    /// A fingerprint of the way from the root group to this one, the same on every member. What has to be exact goes by
    /// [`Core::name`] and by `number`.
    key: u64,
    /// No other group of this process has it.
    number: u64,
    pub(crate) rank: Cell<usize>,
    pub(crate) size: Cell<usize>,
    pub(crate) steps: Cell<u64>,
    pub(crate) phase: Cell<Phase>,
    /// Where the current or last step began.
    pub(crate) site: Cell<&'static Location<'static>>,
    /// Where steps before that began; see [`came_by`](Self::came_by).
    trail: [Cell<&'static Location<'static>>; TRAIL],
    trod: Cell<usize>,
    /// A fingerprint of everything declared so far.
    declared: Cell<u64>,
    /// What it was when the members last agreed on it.
    agreed: Cell<u64>,
    /// A fingerprint of what this step's boundary is about, besides its items: a split's form, replaced operators.
    pub(crate) terms: Cell<u64>,
    /// The same in words, for messages.
    pub(crate) terms_in_words: RefCell<Vec<String>>,
    /// Those that count once in a step, however often they are added.
    terms_once: RefCell<Vec<u64>>,
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
    /// Why the boundary at hand is to fail for all.
    pub(super) failing: RefCell<Option<Error>>,
    /// The error of a member that has ended with one; in the root group it is the run's, whatever the others do.
    pub(super) failed: RefCell<Option<Error>>,
    /// The program's own errors in this run.
    pub(super) sources: Sources,
}

/// A collective call that is under way: dropped before it is [`done`](Self::done), it has never been made (X1).
#[must_use]
pub(crate) struct Attempt<'a> {
    core: &'a Core,
    item: u32,
    verbs: u64,
}

impl Attempt<'_> {
    /// The call was made.
    #[inline]
    pub(crate) fn done(self) {
        std::mem::forget(self);
    }
}

impl Drop for Attempt<'_> {
    fn drop(&mut self) {
        self.core.items.borrow_mut().take_back(self.item, self.verbs);
        self.core.outbox.borrow_mut().take_back(self.item);
    }
}

impl Core {
    pub(crate) fn new(
        circle: Box<dyn Circle>,
        key: u64,
        parent: Option<Rc<Core>>,
        id: usize,
        site: &'static Location<'static>,
        first_step: u64,
        sources: Sources,
    ) -> Rc<Self> {
        Rc::new(Self {
            id,
            processor: parent.as_ref().map_or_else(|| circle.rank(), |parent| parent.processor),
            depth: parent.as_ref().map_or(0, |parent| parent.depth + 1),
            parent,
            key,
            number: GROUPS.fetch_add(1, Ordering::Relaxed),
            rank: Cell::new(circle.rank()),
            size: Cell::new(circle.size()),
            steps: Cell::new(first_step),
            phase: Cell::new(Phase::Between),
            site: Cell::new(site),
            trail: std::array::from_fn(|_| Cell::new(site)),
            trod: Cell::new(0),
            declared: Cell::new(0),
            agreed: Cell::new(0),
            terms: Cell::new(0),
            terms_in_words: RefCell::default(),
            terms_once: RefCell::default(),
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
            failing: RefCell::default(),
            failed: RefCell::default(),
            sources,
        })
    }

    /// A fingerprint of the group, the same on every member.
    pub(crate) fn key(&self) -> u64 {
        self.key
    }

    /// The name of what the members make together now, the same on each of them. It goes by the step and by nothing
    /// that one of them could have counted alone, such as a call that was refused there.
    pub(crate) fn name(&self, what: Joint, part: u64) -> Name {
        Name { serial: self.steps.get(), kind: what as u32, part }
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

    /// The same about a place of something that this processor has named: which one it means, and who it is.
    #[cold]
    pub(crate) fn error_of(
        &self,
        kind: ErrorKind,
        what: impl std::fmt::Display,
        of: &dyn Object,
        site: &Location<'_>,
    ) -> Error {
        let what = format!("{what}; rank {} means the {}", self.rank.get(), of.describe());
        self.error(kind, what, site)
    }

    /// Enters a step at `site`.
    #[inline]
    pub(crate) fn begin(&self, site: &'static Location<'static>, phase: Phase) {
        let last = self.site.replace(site);
        if !std::ptr::eq(last, site) {
            // A loop around one step leaves no more than one trace.
            self.trail[self.trod.get() % TRAIL].set(last);
            self.trod.set(self.trod.get().wrapping_add(1));
        }
        self.phase.set(phase);
        self.pen.enter(self.steps.get(), self.place_key(site), |out| self.say_where(out, "", site));
        self.terms.set(0);
        self.flags.set(0);
        let mut items = self.items.borrow_mut();
        if !items.is_empty() {
            items.clear();
        }
    }

    /// Undoes what a step has asked for that will not reach its boundary (X6).
    #[cold]
    pub(crate) fn abandon(&self) {
        self.phase.set(Phase::Between);
        self.failing.take();
        self.items.borrow_mut().clear();
        self.outbox.borrow_mut().recall();
        self.registry().abandon();
    }

    /// The last few places at which steps began before this one, the latest first and each once. What a helper does is
    /// at the helper's place; these say where in the program it was called.
    pub(crate) fn came_by(&self) -> Vec<String> {
        let trod = self.trod.get();
        let mut places = vec![self.site.get()];
        for back in 1..=trod.min(TRAIL) {
            let site = self.trail[trod.wrapping_sub(back) % TRAIL].get();
            if !places.contains(&site) {
                places.push(site);
            }
        }
        places.into_iter().skip(1).take(3).map(place).collect()
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

    /// Places an item and returns its pending value. `argument` is what must agree on all members besides the verb,
    /// which is known by the item's type.
    #[inline]
    pub(crate) fn place<I: Item, T>(&self, item: I, argument: u64) -> Pending<T> {
        self.stir();
        let mut items = self.items.borrow_mut();
        items.verbs = mix(items.verbs, mix(super::checks::type_hash::<I>(), argument));
        Pending::new(items.place(item), self.steps.get(), self.number)
    }

    /// Begins a collective call that may be refused when it has placed its item and sent something already.
    pub(crate) fn attempt(&self) -> Attempt<'_> {
        let items = self.items.borrow();
        Attempt { core: self, item: items.collective().len() as u32, verbs: items.verbs }
    }

    /// Places an item that no other member needs to have.
    #[inline]
    pub(crate) fn place_alone<I: Item, T>(&self, item: I) -> Pending<T> {
        self.stir();
        Pending::new(self.items.borrow_mut().place_alone(item), self.steps.get(), self.number)
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

    /// Adds to what must agree on all members, unless it was added in this step before.
    pub(crate) fn add_term_once(&self, term: u64, in_words: impl FnOnce() -> String) {
        if self.terms.get() == 0 {
            self.terms_once.borrow_mut().clear();
        }
        if !self.terms_once.borrow().contains(&term) {
            self.terms_once.borrow_mut().push(term);
            self.add_term(term, in_words());
        }
    }

    /// Takes the value of a pending one whose step has closed.
    pub(crate) fn settled<T: 'static>(&self, pending: &Pending<T>) -> T {
        let now = self.steps.get().wrapping_sub(1);
        let mut items = self.items.borrow_mut();
        let is_of_it = (pending.group, pending.step) == (self.number, now);
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
        // The next boundary is the one at which they agree on it.
        self.stir();
        self.declared.set(mix(self.declared.get(), what));
    }

    /// Notes the same of something that `undo` takes back, if the members turn out to have declared different things.
    pub(crate) fn declare_until(&self, what: u64, undo: impl FnOnce() + 'static) {
        self.declare(what);
        self.registry.borrow_mut().undo_with(Box::new(undo));
    }

    /// The members have declared the same: that was a boundary.
    #[inline]
    pub(super) fn keep_declared(&self, registry: &mut Registry) {
        self.agreed.set(self.declared.get());
        registry.keep_fresh();
    }

    /// Which numbers were given so far.
    pub(super) fn given(&self) -> Given {
        self.registry.borrow().given()
    }

    /// The members have declared different things since they last agreed. Nobody has declared any of it then, and what
    /// they declare next is numbered alike again.
    #[cold]
    pub(super) fn void_declared(&self, given: &Given) {
        self.declared.set(self.agreed.get());
        let undone = self.registry.borrow_mut().void_fresh(given);
        for undo in undone {
            undo();
        }
        let buried = self.registry.borrow_mut().take_buried();
        drop(buried);
    }

    /// Refuses what this processor has declared and the others have not.
    pub(crate) fn check_declared(&self, is_there: bool, what: &dyn Fn() -> String, site: &Location<'_>) -> Result {
        if is_there { Ok(()) } else { Err(self.undeclared(&what(), site)) }
    }

    #[cold]
    fn undeclared(&self, what: &str, site: &Location<'_>) -> Error {
        let what = format!("the {what} is void, because the members did not declare it alike; declare it again");
        self.error(ErrorKind::DeclMismatch, what, site)
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
}
