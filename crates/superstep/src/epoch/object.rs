//! Objects that remote methods run on.

use crate::{
    engine::{Core, Group, Lease, Lends, Tenant, hooks, mix, type_hash},
    error::{Error, ErrorKind, Result, place},
};
use serde::{Deserialize, Serialize};
use std::{
    any::type_name,
    cell::{Cell, RefCell},
    marker::PhantomData,
    panic::Location,
    rc::Rc,
};

/// One processor's representative of an object.
pub(super) struct Representative<T> {
    pub(super) value: RefCell<T>,
    /// Where the object was made.
    site: &'static Location<'static>,
    /// No other object of the run has this name: its number in the group, and above it the number of its making.
    pub(super) name: Cell<u64>,
    /// Whether a method has panicked on it, or is under way.
    pub(super) is_poisoned: Cell<bool>,
    /// What it has panicked with, and in which step.
    cause: RefCell<Option<(u64, Error)>>,
}

impl<T: 'static> Representative<T> {
    pub(super) fn describe(&self) -> String {
        format!("object of type {} made at {}", type_name::<T>(), place(self.site))
    }

    /// Notes why it cannot be used any more.
    pub(super) fn spoil(&self, core: &Core, error: &Error) {
        *self.cause.borrow_mut() = Some((core.steps(), error.clone()));
    }

    /// Why it cannot be used: in the epoch in which one of its methods has panicked, that panic.
    #[cold]
    pub(super) fn refusal(&self, core: &Core, what: &str, site: &Location<'_>) -> Error {
        match &*self.cause.borrow() {
            Some((step, error)) if *step == core.steps() => error.clone(),
            _ => {
                let what = format!("{what} the {}, one of whose methods has panicked", self.describe());
                core.error(ErrorKind::Poisoned, what, site)
            }
        }
    }
}

impl<T: 'static> Tenant for Representative<T> {
    fn describe(&self) -> String {
        Self::describe(self)
    }

    hooks!(lends);
}

impl<T: 'static> Lends for Representative<T> {
    fn take_back(&self) -> bool {
        self.value.try_borrow_mut().is_ok()
    }
}

/// Something with a representative on every processor of a group, on which others can run methods in an
/// [epoch](Group::epoch).
///
/// The representatives are whatever each processor made of them: they need not be alike, and each stays on its
/// processor. Its own processor reaches it with [`with`](Self::with), others by [`send`](crate::Epoch::send) and
/// [`call`](crate::Epoch::call).
///
/// ```
/// let buckets = superstep::Config::new().procs(2).run_all(|g| {
///     let bucket = g.object(Vec::new());
///     g.epoch(|e| for x in 0..4 {
///         e.send(x % 2, &bucket, x, |bucket, _, x| bucket.push(x));
///     });
///     bucket.with(|bucket| { bucket.sort(); bucket.clone() })
/// });
/// assert_eq!(buckets.unwrap(), [vec![0, 0, 2, 2], vec![1, 1, 3, 3]]);
/// ```
pub struct Object<T: 'static> {
    core: Lease,
    pub(super) here: Rc<Representative<T>>,
}

impl Group {
    /// Makes an object, of which `representative` is this processor's part. Collective (E1).
    ///
    /// ```
    /// let ranks = superstep::Config::new().procs(2).run_all(|g| {
    ///     let rank = g.rank();
    ///     let mine = g.object(rank);
    ///     g.epoch(|e| e.call(1 - e.rank(), &mine, (), |rank, _, ()| *rank))
    /// });
    /// assert_eq!(ranks.unwrap(), [1, 0]);
    /// ```
    ///
    /// # Cost
    ///
    /// Nothing: whether all members agree is checked at the next boundary.
    #[track_caller]
    pub fn object<T: 'static>(&mut self, representative: T) -> Object<T> {
        let here = Rc::new(Representative {
            value: RefCell::new(representative),
            site: Location::caller(),
            name: Cell::new(0),
            is_poisoned: Cell::new(false),
            cause: RefCell::default(),
        });
        let core = self.core().add_tenant(Rc::clone(&here) as Rc<dyn Tenant>, type_hash::<Representative<T>>());
        // What was declared so far is the same on all members, and another each time; other groups may have declared
        // the same.
        here.name.set(u64::from(core.number) | mix(core.declared(), core.key) << 32);
        Object { core, here }
    }
}

impl<T: 'static> Object<T> {
    /// Lends this processor's representative to `body`.
    ///
    /// ```
    /// let sum = superstep::Config::new().procs(3).run(|g| {
    ///     let sum = g.object(0);
    ///     g.epoch(|e| e.send(0, &sum, e.rank(), |sum, _, rank| *sum += rank));
    ///     sum.with(|sum| *sum)
    /// });
    /// assert_eq!(sum.unwrap(), 3);
    /// ```
    ///
    /// # Panics
    ///
    /// If it is lent already, or if one of its methods is running or has panicked.
    #[track_caller]
    pub fn with<R>(&self, body: impl FnOnce(&mut T) -> R) -> R {
        let site = Location::caller();
        match self.here.value.try_borrow_mut() {
            Ok(_) if self.here.is_poisoned.get() => {
                self.refuse(ErrorKind::Poisoned, "one of its methods has panicked; make a new one", site)
            }
            Ok(mut value) => body(&mut value),
            Err(_) => self.refuse(ErrorKind::StillBorrowed, "it is lent already, or one of its methods runs", site),
        }
    }

    #[cold]
    fn refuse(&self, kind: ErrorKind, why: &str, site: &Location<'_>) -> ! {
        self.core.error(kind, format!("the {} cannot be lent: {why}", self.here.describe()), site).raise()
    }

    /// A name for the object that can travel in arguments, so that a method can send on.
    ///
    /// ```
    /// use superstep::{Epoch, Handle};
    ///
    /// fn around(hops: &mut u32, e: &Epoch, (me, left): (Handle<u32>, u32)) {
    ///     *hops += 1;
    ///     if left > 0 { e.send((e.rank() + 1) % e.size(), &me, (me, left - 1), around) }
    /// }
    ///
    /// let hops = superstep::Config::new().procs(3).run_all(|g| {
    ///     let hops = g.object(0);
    ///     let is_leader = g.is_leader();
    ///     g.epoch(|e| if is_leader { e.send(0, &hops, (hops.handle(), 6), around) });
    ///     hops.with(|hops| *hops)
    /// });
    /// assert_eq!(hops.unwrap(), [3, 2, 2]);
    /// ```
    pub fn handle(&self) -> Handle<T> {
        Handle { name: self.here.name.get(), _of: PhantomData }
    }
}

impl<T: 'static> std::fmt::Debug for Object<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.here.describe())
    }
}

/// Names an [`Object`] in an argument. It means the same on every processor of the group.
///
/// ```
/// use superstep::{Config, ErrorKind};
///
/// let error = Config::new().procs(2).run(|g| {
///     let stale = g.object(1).handle();                       // the object is dropped at once
///     g.step(|_| ());
///     g.epoch(|e| e.send(0, &stale, (), |_, _, ()| ()));
/// });
/// assert_eq!(error.unwrap_err().kind(), ErrorKind::HandleMismatch);
/// ```
#[derive(Serialize, Deserialize)]
#[serde(bound = "", transparent)]
pub struct Handle<T: 'static> {
    name: u64,
    #[serde(skip)]
    _of: PhantomData<fn() -> T>,
}

impl<T: 'static> Handle<T> {
    /// The object's name.
    #[inline]
    pub(super) fn name(self) -> u64 {
        self.name
    }
}

impl<T: 'static> Clone for Handle<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: 'static> Copy for Handle<T> {}

impl<T: 'static> std::fmt::Debug for Handle<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Handle<{}>({:#x})", type_name::<T>(), self.name)
    }
}

/// What a request can be sent to: an [`Object`], or the [`Handle`] of one.
///
/// ```
/// use superstep::{Epoch, Target};
///
/// fn add(e: &Epoch, to: usize, sum: &impl Target<u32>) {
///     e.send(to, sum, 1, |sum, _, x| *sum += x);
/// }
///
/// let sum = superstep::Config::new().procs(2).run(|g| {
///     let sum = g.object(0);
///     g.epoch(|e| {
///         add(e, 0, &sum);
///         add(e, 0, &sum.handle());
///     });
///     sum.with(|sum| *sum)
/// });
/// assert_eq!(sum.unwrap(), 4);
/// ```
pub trait Target<T: 'static>: sealed::Refer<T> {}

impl<T: 'static> Target<T> for Object<T> {}
impl<T: 'static> Target<T> for Handle<T> {}

mod sealed {
    use super::{Handle, Object};

    /// One of the two.
    #[expect(unnameable_types, reason = "only this library says what a target is")]
    #[derive(Debug)]
    pub enum Reference<'a, T: 'static> {
        Object(&'a Object<T>),
        Handle(Handle<T>),
    }

    #[expect(unnameable_types, reason = "only this library says what a target is")]
    pub trait Refer<T: 'static> {
        fn refer(&self) -> Reference<'_, T>;
    }

    impl<T: 'static> Refer<T> for Object<T> {
        #[inline]
        fn refer(&self) -> Reference<'_, T> {
            Reference::Object(self)
        }
    }

    impl<T: 'static> Refer<T> for Handle<T> {
        #[inline]
        fn refer(&self) -> Reference<'_, T> {
            Reference::Handle(*self)
        }
    }
}

impl<T: 'static> sealed::Reference<'_, T> {
    /// The object's name, if it is one of this group.
    #[inline]
    pub(super) fn name_in(&self, core: &Core, site: &Location<'_>) -> Result<u64> {
        match self {
            Self::Object(object) => {
                if !std::ptr::eq(core, &raw const **object.core) {
                    core.check_member(&object.core, &object.here.describe(), site)?;
                }
                Ok(object.here.name.get())
            }
            Self::Handle(handle) => self.find(core, site).map(|_| handle.name),
        }
    }

    #[inline]
    pub(super) fn find(&self, core: &Core, site: &Location<'_>) -> Result<Rc<Representative<T>>> {
        match self {
            Self::Object(object) => {
                self.name_in(core, site)?;
                Ok(Rc::clone(&object.here))
            }
            Self::Handle(handle) => find(core, handle.name).ok_or_else(|| stale::<T>(core, site)),
        }
    }
}

/// The representative of the object with this name, if there is one of this type.
#[inline]
pub(super) fn find<T: 'static>(core: &Core, name: u64) -> Option<Rc<Representative<T>>> {
    let object = Rc::clone(core.tenants().tenant(name as u32)?) as Rc<dyn std::any::Any>;
    object.downcast::<Representative<T>>().ok().filter(|object| object.name.get() == name)
}

#[cold]
fn stale<T>(core: &Core, site: &Location<'_>) -> Error {
    let what = format!(
        "a handle names no object of type {} of this group; it was dropped, or another group has it",
        type_name::<T>()
    );
    core.error(ErrorKind::HandleMismatch, what, site)
}
