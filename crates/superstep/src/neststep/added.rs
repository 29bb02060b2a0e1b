//! Contributions to the elements of an array, in the order of issue.
//!
//! They are collected in chunks that stay in the cache, and each chunk is sorted by owner. So a loop over millions of
//! keys writes each of them to memory once, as a scatter of them does.

use super::chunk::Chunk;
use crate::{
    engine::{Combine, Element, Step},
    memory::{Array, Distribution, Loose},
};
use std::cell::{Cell, RefCell};

/// How many contributions are sorted together.
pub(super) const ROOM: usize = 256;

pub(super) struct Added<T: Element> {
    pub(super) at: Box<Chunk<ROOM>>,
    /// What is contributed to all, as long as it is the same.
    pub(super) one: Cell<Option<T>>,
    rest: RefCell<Rest<T>>,
}

struct Rest<T: Element> {
    /// And from then on, to each of the chunk.
    values: Vec<T>,
    /// Chunks before this one, sorted by owner.
    sorted: Vec<Loose<T>>,
    /// Whether the last of them takes further chunks.
    is_open: bool,
    /// How many contributions are in them, and for how many there is room.
    count: usize,
    room: usize,
}

impl<T: Element> Rest<T> {
    fn sort<D: Distribution, const N: usize>(
        &mut self,
        a: &Array<T, D, N>,
        at: &Chunk<ROOM>,
        one: Option<T>,
        op: impl Combine<T>,
    ) {
        if !std::mem::replace(&mut self.is_open, true) {
            self.sorted.push(a.loose(op, one));
        }
        if let Some(last) = self.sorted.last_mut() {
            if self.count >= self.room {
                // As many again may follow.
                self.room = 2 * self.count.max(ROOM);
                last.make_room(self.room - self.count);
            }
            self.count += at.len();
            a.collect_loose(last, at.drain(), &self.values);
        }
        self.values.clear();
    }
}

/// Whether a value is the one for all.
#[inline]
pub(super) fn is_same<T: Element>(one: Option<T>, value: T) -> bool {
    one.is_some_and(|one| bytemuck::bytes_of(&one) == bytemuck::bytes_of(&value))
}

impl<T: Element> Added<T> {
    pub(super) fn new() -> Self {
        let rest = Rest { values: Vec::new(), sorted: Vec::new(), is_open: false, count: 0, room: 0 };
        Self { at: Box::new(Chunk::new()), one: Cell::new(None), rest: RefCell::new(rest) }
    }

    pub(super) fn len(&self) -> usize {
        self.rest.borrow().count + self.at.len()
    }

    #[inline]
    pub(super) fn push<D: Distribution, const N: usize>(
        &self,
        a: &Array<T, D, N>,
        index: usize,
        value: T,
        op: impl Combine<T>,
    ) {
        let is_same = is_same(self.one.get(), value);
        if !is_same || !self.at.push(index) {
            self.push_other(a, index, value, is_same, op);
        }
    }

    /// Takes the first of a chunk, or a value that is not the one for all.
    #[inline(never)]
    fn push_other<D: Distribution, const N: usize>(
        &self,
        a: &Array<T, D, N>,
        index: usize,
        value: T,
        is_same: bool,
        op: impl Combine<T>,
    ) {
        let is_first = self.len() == 0;
        let mut rest = self.rest.borrow_mut();
        if is_first {
            self.one.set(Some(value));
        } else if !is_same && self.one.get().is_some() {
            rest.sort(a, &self.at, self.one.take(), op);
            rest.is_open = false;
        }
        if !self.at.push(index) {
            rest.sort(a, &self.at, self.one.get(), op);
            self.at.push(index);
        }
        if self.one.get().is_none() {
            rest.values.push(value);
        }
    }

    /// Hands everything to the boundary of `s`.
    #[track_caller]
    pub(super) fn send<D: Distribution, const N: usize>(&self, s: &Step, a: &Array<T, D, N>, op: impl Combine<T>) {
        let mut rest = self.rest.borrow_mut();
        if rest.sorted.is_empty() {
            let at: Vec<usize> = self.at.drain().collect();
            match self.one.get() {
                Some(one) => s.scatter_one(a, &at, one, op),
                None => s.scatter(a, &at, &rest.values, op),
            }
        } else {
            rest.sort(a, &self.at, self.one.get(), op);
            for sorted in rest.sorted.drain(..) {
                s.scatter_loose(a, sorted);
            }
        }
        drop(rest);
        self.clear();
    }

    pub(super) fn clear(&self) {
        let mut rest = self.rest.borrow_mut();
        rest.values.clear();
        rest.sorted.clear();
        (rest.is_open, rest.count, rest.room) = (false, 0, 0);
        self.one.set(None);
        drop(self.at.drain());
    }
}
