//! A few indices, pushed by a loop that has no time for more.
//!
//! They are cells, and not a vector in a `RefCell`: its flag would be written twice for each index, and each loop would
//! wait for the one before.

use std::{array, cell::Cell};

/// Room for `N` indices.
#[derive(Debug)]
pub(super) struct Chunk<const N: usize> {
    at: [Cell<usize>; N],
    filled: Cell<usize>,
}

impl<const N: usize> Chunk<N> {
    pub(super) fn new() -> Self {
        Self { at: array::from_fn(|_| Cell::new(0)), filled: Cell::new(0) }
    }

    /// Takes an index; false if there is no room.
    #[inline]
    pub(super) fn push(&self, index: usize) -> bool {
        let number = self.filled.get();
        let Some(place) = self.at.get(number) else { return false };
        place.set(index);
        self.filled.set(number + 1);
        true
    }

    /// All of its room, and how many indices there are in it.
    pub(super) fn room(&self) -> (&[Cell<usize>; N], usize) {
        (&self.at, self.filled.get())
    }

    /// Says how many there are, where somebody has put them into the room.
    #[inline]
    pub(super) fn fill(&self, count: usize) {
        self.filled.set(count.min(N));
    }

    pub(super) fn len(&self) -> usize {
        self.filled.get()
    }

    /// All of them, and is empty then.
    pub(super) fn drain(&self) -> impl Iterator<Item = usize> {
        self.at[..self.filled.take()].iter().map(Cell::get)
    }
}
