//! Volatile variables: owned by one processor each, and read and written by all at any time of an epoch.
//!
//! Where all processors of the group share memory, the elements are atomics that everybody reaches. Elsewhere their
//! owner serves them, one request after another. Either way all accesses have one order, which agrees with that of each
//! processor: they are sequentially consistent.

use super::{
    cells::{Cells, Number, filled},
    deed::Deed,
    object::Object,
    state::Epoch,
};
use crate::{
    engine::{Element, Group, Joint, Lease, Renumbers, Tenant, damaged, hooks, mix, type_hash},
    error::{ErrorKind, Result},
};
use fabric::{
    Common,
    code::{Shape, Two},
};
use std::{any::type_name, cell::Cell, marker::PhantomData, panic::Location, rc::Rc, sync::Arc};

/// Where the elements are.
enum Store<T: Element> {
    Common(Arc<Cells<T>>),
    /// With the owner, who has them all; the others have none.
    Served(Object<Vec<T>>),
}

/// The owner, by its rank among those who are left in the group.
struct Owner {
    rank: Cell<usize>,
    has_left: Cell<bool>,
    what: String,
}

impl Tenant for Owner {
    fn describe(&self) -> String {
        self.what.clone()
    }

    hooks!(renumbers);
}

impl Renumbers for Owner {
    fn renumber(&self, stayed: &[usize]) {
        match stayed.iter().position(|&old| old == self.rank.get()) {
            Some(rank) if !self.has_left.get() => self.rank.set(rank),
            _ => self.has_left.set(true),
        }
    }
}

struct Inner<T: Element> {
    core: Lease,
    owner: Rc<Owner>,
    len: usize,
    store: Store<T>,
}

/// A variable that one processor owns and all read and write at any time of an [epoch](Group::epoch), one after
/// another; see [`load`](Epoch::load), [`store`](Epoch::store), [`fetch_add`](Epoch::fetch_add),
/// [`compare_exchange`](Epoch::compare_exchange).
///
/// ```
/// let tickets = superstep::Config::new().procs(4).run_all(|g| {
///     let next = g.volatile(0, 0u32);
///     g.epoch(|e| e.fetch_add(&next, 1))
/// });
/// let mut tickets = tickets.unwrap();
/// tickets.sort();
/// assert_eq!(tickets, [0, 1, 2, 3]);
/// ```
pub struct Volatile<T: Element> {
    inner: Rc<Inner<T>>,
    at: usize,
}

/// A volatile array: all its elements are owned by one processor.
///
/// ```
/// let counts = superstep::Config::new().procs(3).run_all(|g| {
///     let counts = g.volatile_array(1, 4, 0u64);
///     g.epoch(|e| for x in 0..8 { e.fetch_add(&counts.at(x % 4), 1); });
///     g.epoch(|e| (0..4).map(|at| e.load(&counts.at(at))).collect::<Vec<_>>())
/// });
/// assert_eq!(counts.unwrap(), [[6; 4], [6; 4], [6; 4]]);
/// ```
pub struct VolatileArray<T: Element>(Rc<Inner<T>>);

impl Group {
    /// Makes a variable that processor `owner` owns, with the value that the owner gives it. Collective.
    ///
    /// ```
    /// let values = superstep::Config::new().procs(2).run_all(|g| {
    ///     let flag = g.volatile(1, 0.5);
    ///     g.epoch(|e| e.load(&flag))
    /// });
    /// assert_eq!(values.unwrap(), [0.5; 2]);
    /// ```
    ///
    /// # Panics
    ///
    /// If there is no rank `owner`.
    #[track_caller]
    pub fn volatile<T: Element>(&mut self, owner: usize, init: T) -> Volatile<T> {
        self.volatile_array(owner, 1, init).at(0)
    }

    /// Makes an array of `len` volatile elements that processor `owner` owns. Collective.
    ///
    /// ```
    /// let sums = superstep::Config::new().procs(2).run_all(|g| {
    ///     let array = g.volatile_array(0, 3, 1u8);
    ///     g.epoch(|e| (0..3).map(|at| e.load(&array.at(at))).sum::<u8>())
    /// });
    /// assert_eq!(sums.unwrap(), [3, 3]);
    /// ```
    ///
    /// # Panics
    ///
    /// If there is no rank `owner`, or no memory for so many elements.
    #[track_caller]
    pub fn volatile_array<T: Element>(&mut self, owner: usize, len: usize, init: T) -> VolatileArray<T> {
        const { assert!(size_of::<T>() > 0, "the elements of a volatile array have a size") }
        let (core, site) = (Rc::clone(self.core()), Location::caller());
        core.check_rank(owner, site).unwrap_or_else(|error| error.raise());
        let mark = mix(mix(type_hash::<Volatile<T>>(), len as u64), owner as u64);
        let what = format!("volatile array of {len} {} of rank {owner}", type_name::<T>());
        let seat = Rc::new(Owner { rank: Cell::new(owner), has_left: Cell::new(false), what });
        let core = core.add_tenant(Rc::clone(&seat) as Rc<dyn Tenant>, mark);
        let name = core.name(Joint::Tenant, core.number.into());
        let mut make = || Arc::new(Cells::new(len, init).map(Arc::new)) as Common;
        let common = core.wire.circle().common(name, &mut make);
        let cells = common.as_ref().and_then(|common| common.downcast_ref::<Option<Arc<Cells<T>>>>()).cloned();
        // Whoever declares another array than the others finds theirs here, and an error at the boundary.
        let cells = cells.filter(|cells| cells.as_ref().is_none_or(|cells| cells.len() == len));
        let is_owner = core.rank() == owner;
        let none = || {
            let what = format!("the system has no memory for {len} volatile elements of {}", type_name::<T>());
            core.error(ErrorKind::OutOfMemory, what, site)
        };
        let store = match cells {
            Some(None) => none().raise(),
            Some(Some(cells)) => {
                for at in (0..len).filter(|_| is_owner) {
                    cells.store(at, init);
                }
                Store::Common(cells)
            }
            None => {
                let mine = filled(if is_owner { len } else { 0 }, || init);
                Store::Served(self.object(mine.unwrap_or_else(|| none().raise())))
            }
        };
        VolatileArray(Rc::new(Inner { core, owner: seat, len, store }))
    }
}

impl<T: Element> VolatileArray<T> {
    /// One of its elements.
    ///
    /// ```
    /// let value = superstep::Config::new().procs(2).run(|g| {
    ///     let array = g.volatile_array(0, 2, 7);
    ///     g.epoch(|e| e.load(&array.at(1)))
    /// });
    /// assert_eq!(value.unwrap(), 7);
    /// ```
    ///
    /// # Panics
    ///
    /// If there is no element `at`.
    #[track_caller]
    #[inline]
    pub fn at(&self, at: usize) -> Volatile<T> {
        if at >= self.0.len {
            let (len, rank) = (self.0.len, self.0.core.rank());
            let what = format!("element {at} of a volatile array of {len} {}; rank {rank} names it", type_name::<T>());
            self.0.core.error(ErrorKind::IndexOutOfRange, what, Location::caller()).raise();
        }
        Volatile { inner: Rc::clone(&self.0), at }
    }

    /// How many elements it has.
    ///
    /// ```
    /// let len = superstep::Config::new().procs(2).run(|g| g.volatile_array(0, 5, 0u8).len());
    /// assert_eq!(len.unwrap(), 5);
    /// ```
    pub fn len(&self) -> usize {
        self.0.len
    }

    /// Whether it has none.
    ///
    /// ```
    /// let is_empty = superstep::Config::new().procs(2).run(|g| g.volatile_array(0, 0, 0u8).is_empty());
    /// assert!(is_empty.unwrap());
    /// ```
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<T: Element> std::fmt::Debug for Volatile<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Volatile<{}>(of rank {})", type_name::<T>(), self.inner.owner.rank.get())
    }
}

impl<T: Element> std::fmt::Debug for VolatileArray<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "VolatileArray<{}>({} of rank {})", type_name::<T>(), self.0.len, self.0.owner.rank.get())
    }
}

impl Epoch {
    /// The value of a volatile variable.
    ///
    /// ```
    /// let values = superstep::Config::new().procs(2).run_all(|g| {
    ///     let flag = g.volatile(0, 0u8);
    ///     g.epoch(|e| {
    ///         if e.rank() == 0 { e.store(&flag, 1) }
    ///         while e.load(&flag) == 0 {}                          // others are served meanwhile
    ///         e.load(&flag)
    ///     })
    /// });
    /// assert_eq!(values.unwrap(), [1, 1]);
    /// ```
    ///
    /// # Cost
    ///
    /// That of an atomic load where processors share memory, and of a [`call`](Self::call) elsewhere.
    #[track_caller]
    #[inline]
    pub fn load<T: Element>(&self, variable: &Volatile<T>) -> T {
        match self.store_of(variable, Location::caller()) {
            Store::Common(cells) => cells.load(variable.at),
            Store::Served(cells) => self.change(variable, cells, &[], |before, _| Some(before)),
        }
    }

    /// Sets a volatile variable. Who loads it afterwards sees it.
    ///
    /// ```
    /// let values = superstep::Config::new().procs(2).run_all(|g| {
    ///     let x = g.volatile(1, 0u16);
    ///     g.epoch(|e| if e.rank() == 0 { e.store(&x, 300) });
    ///     g.epoch(|e| e.load(&x))
    /// });
    /// assert_eq!(values.unwrap(), [300; 2]);
    /// ```
    #[track_caller]
    #[inline]
    pub fn store<T: Element>(&self, variable: &Volatile<T>, value: T) {
        match self.store_of(variable, Location::caller()) {
            Store::Common(cells) => cells.store(variable.at, value),
            Store::Served(cells) => {
                self.change(variable, cells, &[value], |_, with| with.first().copied());
            }
        }
    }

    /// Adds to a volatile variable and returns what it was before, in one.
    ///
    /// ```
    /// let sum = superstep::Config::new().procs(3).run(|g| {
    ///     let sum = g.volatile(0, 0.0f32);
    ///     g.epoch(|e| e.fetch_add(&sum, 0.5));
    ///     g.epoch(|e| e.load(&sum))
    /// });
    /// assert_eq!(sum.unwrap(), 1.5);
    /// ```
    #[track_caller]
    #[inline]
    pub fn fetch_add<T: Number>(&self, variable: &Volatile<T>, value: T) -> T {
        match self.store_of(variable, Location::caller()) {
            Store::Common(cells) => cells.add(variable.at, value),
            Store::Served(cells) => {
                self.change(variable, cells, &[value], |before, with| Some(before.plus(*with.first()?)))
            }
        }
    }

    /// Sets a volatile variable to `new` if it is `current`, byte for byte; returns what it was, as an error if it was
    /// something else.
    ///
    /// ```
    /// let winners = superstep::Config::new().procs(4).run_all(|g| {
    ///     let leader = g.volatile(0, u64::MAX);
    ///     g.epoch(|e| e.compare_exchange(&leader, u64::MAX, e.rank() as u64).is_ok())
    /// });
    /// assert_eq!(winners.unwrap().iter().filter(|&&has_won| has_won).count(), 1);
    /// ```
    ///
    /// # Errors
    ///
    /// What the variable is, if it is not `current`.
    #[track_caller]
    #[inline]
    pub fn compare_exchange<T: Element>(&self, variable: &Volatile<T>, current: T, new: T) -> Result<T, T> {
        let before = match self.store_of(variable, Location::caller()) {
            Store::Common(cells) => cells.update(variable.at, |before| is_same(before, current).then_some(new)),
            Store::Served(cells) => self.change(variable, cells, &[current, new], |before, with| {
                let &[current, new] = with else { return None };
                Some(if is_same(before, current) { new } else { before })
            }),
        };
        if is_same(before, current) { Ok(before) } else { Err(before) }
    }

    /// Checks a variable, and serves others now and then: a loop on a value must not keep them waiting.
    #[inline]
    fn store_of<'a, T: Element>(&self, variable: &'a Volatile<T>, site: &Location<'_>) -> &'a Store<T> {
        let inner = &*variable.inner;
        let ticked = if std::ptr::eq(&raw const *self.core, &raw const **inner.core) && !inner.owner.has_left.get() {
            if self.pace.is_due(LOAD) { self.look_from_loop() } else { Ok(()) }
        } else {
            self.refuse_variable(inner, site)
        };
        ticked.unwrap_or_else(|error| error.raise());
        &inner.store
    }

    /// Refuses a variable of another group, or one that has left with its owner: on every fabric alike.
    #[cold]
    fn refuse_variable<T: Element>(&self, inner: &Inner<T>, site: &Location<'_>) -> Result {
        self.core.check_member(&inner.core, "volatile variable", site)?;
        let what = format!("the owner of the {} has left the group; make a new one", inner.owner.what);
        Err(self.core.error(ErrorKind::Departed, what, site))
    }

    /// Has the owner change one of its elements; returns what it was.
    #[track_caller]
    fn change<T: Element>(
        &self,
        variable: &Volatile<T>,
        cells: &Object<Vec<T>>,
        with: &[T],
        change: fn(T, &[T]) -> Option<T>,
    ) -> T {
        let args = (variable.at as u64, bytemuck::cast_slice(with).to_vec());
        let owner = variable.inner.owner.rank.get();
        let before = self.call_deed::<Change<T>>(owner, cells, args, Two::<Change<T>>(change));
        // It comes from another process, which may have written anything.
        bytemuck::try_pod_read_unaligned(&before).unwrap_or_else(|_| damaged().raise())
    }
}

fn is_same<T: Element>(one: T, other: T) -> bool {
    bytemuck::bytes_of(&one) == bytemuck::bytes_of(&other)
}

/// A change of an element, which is nothing if it came with too few others. Elements travel as bytes, because they are
/// plain.
struct Change<T>(PhantomData<fn(T)>);

impl<T: Element> Shape for Change<T> {
    type On<'a> = T;
    type With<'a> = &'a [T];
    type Args = ();
    type Answer = Option<T>;
}

impl<T: Element> Deed for Change<T> {
    type On = Vec<T>;
    type Args = (u64, Vec<u8>);
    type Answer = Vec<u8>;
    type Pointer = Two<Self>;

    fn name() -> &'static str {
        type_name::<Self>()
    }

    fn run(change: Two<Self>, cells: &mut Vec<T>, _: &Epoch, (at, with): (u64, Vec<u8>)) -> Vec<u8> {
        let with: Vec<T> = with.chunks_exact(size_of::<T>()).map(bytemuck::pod_read_unaligned).collect();
        let cell = usize::try_from(at).ok().and_then(|at| cells.get_mut(at));
        // What was asked for comes from another process, which may have written anything.
        let changed = cell.and_then(|cell| Some(std::mem::replace(cell, (change.0)(*cell, &with)?)));
        changed.map_or_else(|| damaged().raise(), |before| bytemuck::bytes_of(&before).to_vec())
    }
}

/// An access counts as so many requests when it comes to looking for those of others.
const LOAD: u32 = 16;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Config, Fabric};

    #[test]
    fn threads_reach_the_elements_where_they_are() {
        let outcome = Config::new().procs(2).fabric(Fabric::Threads).run(|g| {
            let (some, none) = (g.volatile_array(1, 3, 5u8), g.volatile_array(0, 0, 5u8));
            assert!(matches!(some.0.store, Store::Common(_)));
            assert_eq!([some.is_empty(), none.is_empty()], [false, true]);
        });
        outcome.expect("the run succeeds");
    }

    #[test]
    fn an_owner_is_found_by_its_new_rank_until_it_leaves() {
        let owner = Owner { rank: Cell::new(2), has_left: Cell::new(false), what: "volatile".to_owned() };
        assert_eq!(Tenant::describe(&owner), "volatile");
        owner.renumber(&[0, 2, 3]);
        assert_eq!((owner.rank.get(), owner.has_left.get()), (1, false));
        owner.renumber(&[0, 2]);
        assert_eq!((owner.rank.get(), owner.has_left.get()), (1, true));
        // Whoever has its rank now is another one.
        owner.renumber(&[1]);
        assert_eq!((owner.rank.get(), owner.has_left.get()), (1, true));
    }
}
