//! Vectors that grow where they are pushed to.

use super::{
    blocks::Blocks,
    home::Home,
    update::{Keyed, Update},
};
use crate::{
    engine::{Core, Group, Value},
    epoch::{Answer, Epoch, Method, Object},
};
use fabric::code::Two;
use std::{cell::RefCell, marker::PhantomData, ops::Range, panic::Location};

/// What one processor has.
pub(super) struct Part<T> {
    pub(super) values: Vec<T>,
    /// How many of them have an index; the rest was pushed since.
    pub(super) settled: usize,
}

/// A vector that lies spread over the processors of a group, and can grow.
///
/// Its elements are numbered from rank to rank: first those of processor 0, then those of processor 1. A processor
/// [pushes](Self::push) to its own part, which needs no communication; what was pushed gets its index, and can be seen,
/// when the group [settles](Self::settle) the vector. [`resize`](Self::resize) and [`balance`](Self::balance) deal the
/// elements out evenly again.
///
/// ```
/// use superstep::{Config, Sum};
///
/// let sums = Config::new().procs(3).run_all(|g| {
///     let squares = g.vector(10, |index| index * index);
///     let total = g.epoch(|e| (0..squares.len()).map(|index| squares.get(e, index)).sum::<usize>());
///     squares.push(g.rank());
///     squares.settle(g);
///     (total, squares.len())
/// });
/// assert_eq!(sums.unwrap(), [(285, 13); 3]);
/// ```
pub struct Vector<T: 'static> {
    pub(super) home: Home,
    pub(super) part: Object<Part<T>>,
    /// The first index of each processor, and behind them the length.
    starts: RefCell<Vec<usize>>,
}

impl Group {
    /// Makes a [vector](Vector) of `len` elements, dealt out in blocks of ⌈len / p⌉; `value` makes those of this
    /// processor from their indices. Collective.
    ///
    /// ```
    /// let owned = superstep::Config::new().procs(2).run_all(|g| {
    ///     let vector = g.vector(5, |index| index as f64);
    ///     vector.with(|values| values.to_vec())
    /// });
    /// assert_eq!(owned.unwrap(), [vec![0.0, 1.0, 2.0], vec![3.0, 4.0]]);
    /// ```
    ///
    /// # Cost
    ///
    /// No communication.
    #[track_caller]
    pub fn vector<T: 'static>(&mut self, len: usize, value: impl FnMut(usize) -> T) -> Vector<T> {
        let home = Home::new::<Vector<T>>(self, Location::caller());
        home.declare_len(len);
        let blocks = Blocks::new(len, self.size());
        let values: Vec<T> = blocks.range(self.rank()).map(value).collect();
        let part = self.object(Part { settled: values.len(), values });
        Vector { starts: RefCell::new(starts(&blocks, home.size)), home, part }
    }
}

/// The first index of each processor, and the length.
fn starts(blocks: &Blocks, procs: usize) -> Vec<usize> {
    (0..procs).map(|rank| blocks.range(rank).start).chain([blocks.len]).collect()
}

impl<T: 'static> Vector<T> {
    /// How many elements have an index, on all processors together.
    ///
    /// ```
    /// let len = superstep::Config::new().procs(2).run(|g| g.vector(7, |_| 'x').len());
    /// assert_eq!(len.unwrap(), 7);
    /// ```
    pub fn len(&self) -> usize {
        self.starts.borrow()[self.home.size]
    }

    /// Whether no element has an index.
    ///
    /// ```
    /// let is_empty = superstep::Config::new().procs(2).run(|g| g.vector(0, |_| 'x').is_empty());
    /// assert_eq!(is_empty.unwrap(), true);
    /// ```
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The indices of the elements that are here.
    ///
    /// ```
    /// let owned = superstep::Config::new().procs(3).run_all(|g| g.vector(7, |_| 'x').owned());
    /// assert_eq!(owned.unwrap(), [0..3, 3..6, 6..7]);
    /// ```
    pub fn owned(&self) -> Range<usize> {
        let starts = self.starts.borrow();
        starts[self.home.rank]..starts[self.home.rank + 1]
    }

    /// The rank of the processor that has the element with this index; none if there is no such element.
    ///
    /// ```
    /// let owners = superstep::Config::new().procs(3).run(|g| {
    ///     let vector = g.vector(7, |_| 'x');
    ///     [0, 2, 3, 6, 7].map(|index| vector.owner(index))
    /// });
    /// assert_eq!(owners.unwrap(), [Some(0), Some(0), Some(1), Some(2), None]);
    /// ```
    pub fn owner(&self, index: usize) -> Option<usize> {
        let starts = self.starts.borrow();
        let is_there = index < starts[self.home.size];
        is_there.then(|| starts.partition_point(|&start| start <= index) - 1)
    }

    /// Where an element is: its owner, and its place there.
    #[inline]
    fn place(&self, core: &Core, index: usize, site: &Location<'_>) -> (usize, usize) {
        self.home.check(core, site);
        match self.owner(index) {
            Some(owner) => (owner, index - self.starts.borrow()[owner]),
            None => self.home.missing(core, index, self.len(), site).raise(),
        }
    }

    /// Adds an element to this processor's part. It gets its index, and can be seen, when the group
    /// [settles](Self::settle) the vector.
    ///
    /// ```
    /// let found = superstep::Config::new().procs(3).run(|g| {
    ///     let odd = g.vector(0, |_| 0);
    ///     for x in 10 * g.rank()..10 * g.rank() + 3 { if x % 2 == 1 { odd.push(x) } }
    ///     odd.settle(g);
    ///     g.epoch(|e| (0..odd.len()).map(|index| odd.get(e, index)).collect::<Vec<_>>())
    /// });
    /// assert_eq!(found.unwrap(), [1, 11, 21]);
    /// ```
    ///
    /// # Cost
    ///
    /// No communication.
    #[track_caller]
    pub fn push(&self, value: T) {
        self.part.with(|part| part.values.push(value));
    }

    /// Numbers all elements again, those that were pushed as well: by rank, and by their order in a part. Collective.
    ///
    /// ```
    /// let owned = superstep::Config::new().procs(2).run_all(|g| {
    ///     let vector = g.vector(2, |_| 'x');
    ///     if g.is_leader() { vector.push('y') }
    ///     vector.settle(g);
    ///     vector.owned()
    /// });
    /// assert_eq!(owned.unwrap(), [0..2, 2..3]);
    /// ```
    ///
    /// # Cost
    ///
    /// p g + l.
    #[track_caller]
    pub fn settle(&self, g: &mut Group) {
        self.home.check(g.core(), Location::caller());
        let mine = self.part.with(|part| {
            part.settled = part.values.len();
            part.settled
        });
        let lens = g.step(|s| s.collect(mine));
        let mut starts = vec![0];
        for len in lens {
            starts.push(starts[starts.len() - 1] + len);
        }
        self.starts.replace(starts);
    }

    /// Hands every element that is here to `body`, upwards, with its index.
    ///
    /// ```
    /// let owned = superstep::Config::new().procs(2).run_all(|g| {
    ///     let vector = g.vector(4, |_| 1);
    ///     vector.forall_mut(|index, value| *value += index);
    ///     vector.with(|values| values.to_vec())
    /// });
    /// assert_eq!(owned.unwrap(), [[1, 2], [3, 4]]);
    /// ```
    #[track_caller]
    pub fn forall_mut(&self, mut body: impl FnMut(usize, &mut T)) {
        let first = self.owned().start;
        self.with(|values| values.iter_mut().enumerate().for_each(|(at, value)| body(first + at, value)));
    }

    /// Lends the elements that are here, as a slice.
    ///
    /// ```
    /// let owned = superstep::Config::new().procs(2).run_all(|g| {
    ///     let vector = g.vector(4, |index| 10 - index);
    ///     vector.with(|values| values.sort());
    ///     vector.with(|values| values.to_vec())
    /// });
    /// assert_eq!(owned.unwrap(), [[9, 10], [7, 8]]);
    /// ```
    ///
    /// # Panics
    ///
    /// If they are lent already.
    #[track_caller]
    pub fn with<R>(&self, body: impl FnOnce(&mut [T]) -> R) -> R {
        self.part.with(|part| body(&mut part.values[..part.settled]))
    }

    /// Changes the element with this index where it is: `method` runs there, with the element and `args`. Returns at
    /// once. The method is a function or a closure that captures nothing.
    ///
    /// ```
    /// let owned = superstep::Config::new().procs(2).run_all(|g| {
    ///     let vector = g.vector(4, |index| vec![index]);
    ///     g.epoch(|e| if e.rank() == 0 {
    ///         for index in 0..4 { vector.update(e, index, 10, |value, x| value.push(x)) }
    ///     });
    ///     vector.with(|values| values.concat())
    /// });
    /// assert_eq!(owned.unwrap(), [[0, 10, 1, 10], [2, 10, 3, 10]]);
    /// ```
    #[track_caller]
    #[inline]
    pub fn update<A: Value>(&self, e: &Epoch, index: usize, args: A, method: fn(&mut T, A)) {
        let (owner, at) = self.place(&e.core, index, Location::caller());
        e.send_deed::<Update<Part<T>, A>>(owner, &self.part, (at, args), Two::<Update<Part<T>, A>>(method));
    }
}

impl<T: Value> Vector<T> {
    /// The element with this index, wherever it is. Waits for it.
    ///
    /// ```
    /// let last = superstep::Config::new().procs(3).run_all(|g| {
    ///     let words = g.vector(6, |index| "abcdef"[index..].to_owned());
    ///     g.epoch(|e| words.get(e, 5 - e.rank()))
    /// });
    /// assert_eq!(last.unwrap(), ["f", "ef", "def"]);
    /// ```
    ///
    /// # Cost
    ///
    /// The way there and back, unless the element is here.
    ///
    /// # Panics
    ///
    /// If there is no such element, or if the vector is one of another group.
    #[track_caller]
    pub fn get(&self, e: &Epoch, index: usize) -> T {
        let (owner, at) = self.place(&e.core, index, Location::caller());
        e.call(owner, &self.part, at, |part, _, at| part.values[at].clone())
    }

    /// Asks for the element with this index, as [`get`](Self::get) does, and does not wait for it.
    ///
    /// ```
    /// let sums = superstep::Config::new().procs(2).run_all(|g| {
    ///     let vector = g.vector(100, |index| index);
    ///     g.epoch(|e| {
    ///         let asked: Vec<_> = (0..100).map(|index| vector.ask(e, index)).collect();
    ///         asked.into_iter().map(|answer| e.take(answer)).sum::<usize>()
    ///     })
    /// });
    /// assert_eq!(sums.unwrap(), [4950; 2]);
    /// ```
    #[track_caller]
    pub fn ask(&self, e: &Epoch, index: usize) -> Answer<T> {
        let (owner, at) = self.place(&e.core, index, Location::caller());
        e.ask(owner, &self.part, at, |part, _, at| part.values[at].clone())
    }

    /// Writes the element with this index, wherever it is. Returns at once.
    ///
    /// ```
    /// let owned = superstep::Config::new().procs(2).run_all(|g| {
    ///     let vector = g.vector(4, |_| 'x');
    ///     g.epoch(|e| vector.set(e, 3 * (1 - e.rank()), 'y'));
    ///     vector.with(|values| values.to_vec())
    /// });
    /// assert_eq!(owned.unwrap(), [['y', 'x'], ['x', 'y']]);
    /// ```
    #[track_caller]
    pub fn set(&self, e: &Epoch, index: usize, value: T) {
        let (owner, at) = self.place(&e.core, index, Location::caller());
        e.send_by::<Set<T>>(owner, &self.part, (at, value));
    }

    /// Makes the vector `len` elements long and deals it out evenly: what was pushed is numbered first, as
    /// [`settle`](Self::settle) does; then elements behind the new end go, or copies of `value` come there. Collective.
    ///
    /// ```
    /// let owned = superstep::Config::new().procs(2).run_all(|g| {
    ///     let vector = g.vector(2, |index| index);
    ///     if g.is_leader() { (10..14).for_each(|x| vector.push(x)) }
    ///     vector.resize(g, 8, 0);
    ///     vector.with(|values| values.to_vec())
    /// });
    /// assert_eq!(owned.unwrap(), [[0, 10, 11, 12], [13, 1, 0, 0]]);
    /// ```
    ///
    /// # Cost
    ///
    /// g for every element that changes its owner, and 2 l.
    #[track_caller]
    pub fn resize(&self, g: &mut Group, len: usize, value: T) {
        self.settle(g);
        self.home.declare_len(len);
        self.deal_out(g, len);
        let wanted = self.owned().len();
        self.part.with(|part| {
            part.values.resize(wanted, value);
            part.settled = wanted;
        });
    }

    /// Gives each element below `len` to its owner in a vector of that length, and drops the rest. It adds none.
    #[track_caller]
    fn deal_out(&self, g: &mut Group, len: usize) {
        let blocks = Blocks::new(len, g.size());
        let mut parts: Vec<Vec<T>> = (0..g.size()).map(|_| Vec::new()).collect();
        let first = self.owned().start;
        let values = self.part.with(|part| std::mem::take(&mut part.values));
        for (index, value) in (first..len).zip(values) {
            parts[blocks.place(index).0].push(value);
        }
        let parts = g.step(|s| s.exchange(parts));
        self.part.with(|part| {
            part.values = parts.into_iter().flatten().collect();
            part.settled = part.values.len();
        });
        self.starts.replace(starts(&blocks, g.size()));
    }

    /// Deals the elements out evenly, those that were pushed as well. Collective.
    ///
    /// ```
    /// let owned = superstep::Config::new().procs(2).run_all(|g| {
    ///     let vector = g.vector(0, |_| 0);
    ///     if g.is_leader() { (0..4).for_each(|x| vector.push(x)) }
    ///     vector.balance(g);
    ///     vector.with(|values| values.to_vec())
    /// });
    /// assert_eq!(owned.unwrap(), [[0, 1], [2, 3]]);
    /// ```
    ///
    /// # Cost
    ///
    /// That of a [`resize`](Self::resize).
    #[track_caller]
    pub fn balance(&self, g: &mut Group) {
        self.settle(g);
        self.deal_out(g, self.len());
    }
}

impl<T: 'static> Keyed for Part<T> {
    type Key = usize;
    type Element = T;

    #[inline]
    fn element(&mut self, at: usize) -> &mut T {
        &mut self.values[at]
    }
}

struct Set<T>(PhantomData<fn(T)>);

impl<T: Value> Method for Set<T> {
    type On = Part<T>;
    type Args = (usize, T);
    type Answer = ();

    #[inline]
    fn run(part: &mut Part<T>, _: &Epoch, (at, value): (usize, T)) {
        part.values[at] = value;
    }
}

impl<T: 'static> std::fmt::Debug for Vector<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}, of {} elements", self.home.describe(), self.len())
    }
}
