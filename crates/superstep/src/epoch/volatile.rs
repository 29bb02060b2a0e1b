//! Volatile variables: owned by one processor each, and read and written by all at any time of an epoch.
//!
//! Where all processors of the group share memory, the elements are atomics that everybody reaches. Elsewhere their
//! owner serves them, one request after another. Either way every access is one point in a single order of all of them
//! that each processor's own order agrees with: they are sequentially consistent.

use super::{Deed, Epoch, Object, Plain};
use crate::{
    engine::{Core, Element, Group, Joint, Object as Numbered, Phase, Value, mix, type_hash},
    error::{ErrorKind, Result},
};
use fabric::{Shared, code::Three};
use std::{
    any::type_name,
    cell::Cell,
    marker::PhantomData,
    panic::Location,
    rc::Rc,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering::SeqCst},
    },
};

/// What [`Epoch::fetch_add`] can add: integers, which wrap round, and floats.
///
/// ```
/// fn plus<T: superstep::Number>(a: T, b: T) -> T { a.plus(b) }
/// assert_eq!(plus(250u8, 10), 4);
/// assert_eq!(plus(0.5, 0.25), 0.75);
/// ```
pub trait Number: Element {
    /// The sum.
    ///
    /// ```
    /// use superstep::Number;
    /// assert_eq!(i32::MAX.plus(1), i32::MIN);
    /// ```
    #[must_use]
    fn plus(self, other: Self) -> Self;
}

macro_rules! numbers {
    ($plus:ident: $($number:ty)*) => {
        $(impl Number for $number {
            #[inline]
            fn plus(self, other: Self) -> Self {
                self.$plus(other)
            }
        })*
    };
}
numbers!(wrapping_add: u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize);

impl Number for f32 {
    #[inline]
    fn plus(self, other: Self) -> Self {
        self + other
    }
}

impl Number for f64 {
    #[inline]
    fn plus(self, other: Self) -> Self {
        self + other
    }
}

const WORD: usize = size_of::<u64>();

/// The bytes of a small element as a number.
#[inline]
fn to_word<T: Element>(value: T) -> u64 {
    let mut bytes = [0; WORD];
    bytes[..size_of::<T>()].copy_from_slice(bytemuck::bytes_of(&value));
    u64::from_le_bytes(bytes)
}

#[inline]
fn from_word<T: Element>(word: u64) -> T {
    bytemuck::pod_read_unaligned(&word.to_le_bytes()[..size_of::<T>()])
}

/// So many of what `make` makes; `None` where the system has no memory for them.
fn filled<C>(len: usize, make: impl FnMut() -> C) -> Option<Vec<C>> {
    let mut cells = Vec::new();
    cells.try_reserve_exact(len).ok()?;
    cells.resize_with(len, make);
    Some(cells)
}

/// Elements that every processor reaches.
enum Cells<T> {
    /// Of up to eight bytes each.
    Words(Box<[AtomicU64]>),
    Locked(Box<[Mutex<T>]>),
}

fn lock<T>(cell: &Mutex<T>) -> MutexGuard<'_, T> {
    cell.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<T: Element> Cells<T> {
    /// `None` where the system has no memory for them.
    fn new(len: usize, init: T) -> Option<Self> {
        Some(if size_of::<T>() <= WORD {
            Self::Words(filled(len, || AtomicU64::new(to_word(init)))?.into())
        } else {
            Self::Locked(filled(len, || Mutex::new(init))?.into())
        })
    }

    fn len(&self) -> usize {
        match self {
            Self::Words(words) => words.len(),
            Self::Locked(cells) => cells.len(),
        }
    }

    #[inline]
    fn load(&self, at: usize) -> T {
        match self {
            Self::Words(words) => from_word(words[at].load(SeqCst)),
            Self::Locked(cells) => *lock(&cells[at]),
        }
    }

    #[inline]
    fn store(&self, at: usize, value: T) {
        match self {
            Self::Words(words) => words[at].store(to_word(value), SeqCst),
            Self::Locked(cells) => *lock(&cells[at]) = value,
        }
    }

    /// Replaces the element by what `change` makes of it, unless that is nothing; returns what it was.
    #[inline]
    fn update(&self, at: usize, change: impl Fn(T) -> Option<T>) -> T {
        match self {
            Self::Words(words) => {
                let changed = words[at].fetch_update(SeqCst, SeqCst, |word| change(from_word(word)).map(to_word));
                from_word(changed.unwrap_or_else(|word| word))
            }
            Self::Locked(cells) => {
                let mut cell = lock(&cells[at]);
                let before = *cell;
                if let Some(after) = change(before) {
                    *cell = after;
                }
                before
            }
        }
    }
}

/// Where the elements are.
enum Store<T: Element> {
    Common(Arc<Cells<T>>),
    /// With the owner, who has them all; the others have none.
    Served(Object<Vec<T>>),
}

/// Which processor has them, in the numbers of those who are left in the group.
struct Owner {
    rank: Cell<usize>,
    has_left: Cell<bool>,
    what: String,
}

impl Numbered for Owner {
    fn describe(&self) -> String {
        self.what.clone()
    }

    fn renumber(&self, stayed: &[usize]) {
        match stayed.iter().position(|&old| old == self.rank.get()) {
            Some(rank) if !self.has_left.get() => self.rank.set(rank),
            _ => self.has_left.set(true),
        }
    }
}

struct Inner<T: Element> {
    core: Rc<Core>,
    owner: Rc<Owner>,
    /// The owner's number among the objects of the group.
    number: u32,
    len: usize,
    store: Store<T>,
}

impl<T: Element> Drop for Inner<T> {
    fn drop(&mut self) {
        if self.core.phase.get() != Phase::Ended {
            self.core.registry().drop_object(self.number);
        }
    }
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
        let kind = mix(mix(type_hash::<Volatile<T>>(), len as u64), owner as u64);
        let what = format!("volatile array of {len} {} of rank {owner}", type_name::<T>());
        let seat = Rc::new(Owner { rank: Cell::new(owner), has_left: Cell::new(false), what });
        let number = core.add_object(Rc::clone(&seat) as Rc<dyn Numbered>, kind);
        let name = core.name(Joint::Volatile, number.into());
        let mut make = || Arc::new(Cells::new(len, init).map(Arc::new)) as Shared;
        let common = core.circle.borrow().common(name, &mut make);
        let cells = common.as_ref().and_then(|common| common.downcast_ref::<Option<Arc<Cells<T>>>>()).cloned();
        // Whoever declares another array than the others finds theirs here, and an error at the boundary.
        let cells = cells.filter(|cells| cells.as_ref().is_none_or(|cells| cells.len() == len));
        let is_owner = core.rank.get() == owner;
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
        VolatileArray(Rc::new(Inner { core, owner: seat, number, len, store }))
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
            let (len, rank) = (self.0.len, self.0.core.rank.get());
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
        let at = variable.at;
        match self.store_of(variable, Location::caller()) {
            Store::Common(cells) => cells.load(at),
            Store::Served(cells) => self.serve_cell(variable, cells, at as u64, |cells, _, at| cells[at as usize]),
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
        let at = variable.at;
        match self.store_of(variable, Location::caller()) {
            Store::Common(cells) => cells.store(at, value),
            Store::Served(cells) => {
                let value = bytemuck::bytes_of(&value).to_vec();
                self.serve_cell(variable, cells, (at as u64, value), |cells, _, (at, value)| {
                    let cell = &mut cells[at as usize];
                    std::mem::replace(cell, bytemuck::pod_read_unaligned(&value))
                });
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
        let at = variable.at;
        match self.store_of(variable, Location::caller()) {
            Store::Common(cells) => match &**cells {
                // Whole words wrap round like the integers they are.
                Cells::Words(words) if is_word::<T>() => from_word(words[at].fetch_add(to_word(value), SeqCst)),
                cells => cells.update(at, |before| Some(before.plus(value))),
            },
            Store::Served(cells) => {
                let value = bytemuck::bytes_of(&value).to_vec();
                self.serve_cell(variable, cells, (at as u64, value), |cells, _, (at, value)| {
                    let cell = &mut cells[at as usize];
                    let after = cell.plus(bytemuck::pod_read_unaligned(&value));
                    std::mem::replace(cell, after)
                })
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
        let at = variable.at;
        let is_current = |value: &T| bytemuck::bytes_of(value) == bytemuck::bytes_of(&current);
        let before = match self.store_of(variable, Location::caller()) {
            Store::Common(cells) => cells.update(at, |before| is_current(&before).then_some(new)),
            Store::Served(cells) => {
                let both = [bytemuck::bytes_of(&current), bytemuck::bytes_of(&new)].concat();
                self.serve_cell(variable, cells, (at as u64, both), |cells, _, (at, both)| {
                    let (cell, (current, new)) = (&mut cells[at as usize], both.split_at(both.len() / 2));
                    let before = *cell;
                    if bytemuck::bytes_of(&before) == current {
                        *cell = bytemuck::pod_read_unaligned(new);
                    }
                    before
                })
            }
        };
        if is_current(&before) { Ok(before) } else { Err(before) }
    }

    /// Refuses a variable that cannot be reached, and looks for what came now and then: a loop that waits for a value
    /// must not keep others waiting.
    #[inline]
    fn store_of<'a, T: Element>(&self, variable: &'a Volatile<T>, site: &Location<'_>) -> &'a Store<T> {
        let inner = &*variable.inner;
        let ticked = if std::ptr::eq(&raw const *self.core, &raw const *inner.core) && !inner.owner.has_left.get() {
            let left = self.state.until_poll.get();
            if left > LOAD {
                self.state.until_poll.set(left - LOAD);
                Ok(())
            } else {
                self.look_from_loop()
            }
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

    /// Looks for what came. What is waited for may be the effect of a request that waits here to be sent, so that is
    /// sent on as well, but not so often that letters become small.
    #[cold]
    fn look_from_loop(&self) -> Result {
        let until = &self.state.until_flush;
        if until.get() == 0 {
            until.set(FLUSH);
            self.post_all()?;
        }
        until.set(until.get() - 1);
        self.look()
    }

    /// Has the owner do something to one of its elements.
    #[track_caller]
    fn serve_cell<T: Element, A: Value>(
        &self,
        variable: &Volatile<T>,
        cells: &Object<Vec<T>>,
        args: A,
        access: fn(&mut Vec<T>, &Epoch, A) -> T,
    ) -> T {
        let owner = variable.inner.owner.rank.get();
        bytemuck::pod_read_unaligned(&self.call_deed::<InBytes<T, A>>(
            owner,
            cells,
            args,
            Three::<Plain<Vec<T>, A, T>>(access),
        ))
    }
}

/// An access to an element, which travels back as bytes because it is plain.
struct InBytes<T, A>(PhantomData<fn(T, A)>);

impl<T: Element, A: Value> Deed for InBytes<T, A> {
    type On = Vec<T>;
    type Args = A;
    type Answer = Vec<u8>;
    type Pointer = Three<Plain<Vec<T>, A, T>>;

    fn name() -> &'static str {
        type_name::<Self>()
    }

    fn run(access: Self::Pointer, cells: &mut Vec<T>, e: &Epoch, args: A) -> Vec<u8> {
        bytemuck::bytes_of(&(access.0)(cells, e, args)).to_vec()
    }
}

/// An access counts as so many requests when it comes to looking for those of others.
const LOAD: u32 = 16;
/// Every so often that an access looks for what came, it sends on what waits.
const FLUSH: u32 = 16;

/// Whether adding words is adding numbers.
fn is_word<T: 'static>() -> bool {
    use std::any::TypeId;
    let words = [TypeId::of::<u64>(), TypeId::of::<i64>(), TypeId::of::<usize>(), TypeId::of::<isize>()];
    size_of::<T>() == WORD && words.contains(&TypeId::of::<T>())
}
