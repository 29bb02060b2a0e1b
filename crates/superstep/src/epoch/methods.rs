//! Methods, as letters name them.
//!
//! A letter names a method by a number of 64 bits, which `fabric::code` knows. Both ends remember what they have looked
//! up there of late, because the next request often has one of the same methods.

use crate::{engine::damaged, error::Result};
use fabric::code::{Description, Entry, Refusal};
use std::cell::{Cell, RefCell};

/// The task of every method: to work off a series of requests. `work.rs` says what it is called with.
pub(super) struct Serving;

/// The entry of a method.
pub(super) type Entrance = Entry<Serving>;

/// What stands for a method whose code this process does not have.
pub(super) struct Absent;

/// What was looked up of late, by key. A key has two places: two that are used in turn must not drive each other out.
pub(super) struct Recent<K, V>([Cell<Option<(K, V)>>; 16]);

impl<K, V> Default for Recent<K, V> {
    fn default() -> Self {
        Self([const { Cell::new(None) }; 16])
    }
}

impl<K: Copy + PartialEq, V: Copy> Recent<K, V> {
    /// The value of a key with this hash, looked up if it is not here.
    #[inline]
    pub(super) fn find(&self, key: K, hash: u64, look_up: impl FnOnce() -> Result<V>) -> Result<V> {
        let places = [hash, hash >> 32].map(|hash| &self.0[hash as usize % self.0.len()]);
        match places.map(Cell::get) {
            [Some((known, value)), _] | [_, Some((known, value))] if known == key => Ok(value),
            [first, _] => {
                let value = look_up()?;
                places[usize::from(first.is_some())].set(Some((key, value)));
                Ok(value)
            }
        }
    }

    pub(super) fn clear(&self) {
        self.0.iter().for_each(|place| place.set(None));
    }
}

/// The methods that other processors have named.
#[derive(Default)]
pub(super) struct Methods {
    found: Recent<u64, Entrance>,
    /// Those that were described, and whose code is not here.
    absent: RefCell<Vec<u64>>,
}

impl Methods {
    #[inline]
    pub(super) fn find(&self, name: u64) -> Result<Entrance> {
        self.found.find(name, name, || self.look_up(name).ok_or_else(damaged))
    }

    #[cold]
    fn look_up(&self, name: u64) -> Option<Entrance> {
        let is_absent = || self.absent.borrow().contains(&name).then(|| Entrance::new::<Absent>(()));
        Entrance::find(name).or_else(is_absent)
    }

    pub(super) fn learn(&self, description: Description) -> Result {
        match Entrance::learn(description) {
            Ok(_) => Ok(()),
            Err(Refusal::Damaged) => Err(damaged()),
            Err(Refusal::Missing) => {
                self.note_absent(description[0]);
                Ok(())
            }
        }
    }

    pub(super) fn note_absent(&self, name: u64) {
        self.absent.borrow_mut().push(name);
    }

    /// Begins an epoch: libraries may have been loaded since.
    pub(super) fn begin(&self) {
        if !self.absent.borrow().is_empty() {
            self.found.clear();
            self.absent.borrow_mut().clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whatever two keys share, each has its own value, and what was found is not looked up again at once.
    #[test]
    fn each_key_has_its_own_value_and_is_looked_up_once() {
        let (recent, looked) = (Recent::<u64, u64>::default(), Cell::new(0));
        let find = |key: u64, hash: u64| {
            let look_up = || {
                looked.set(looked.get() + 1);
                Ok(key + 100)
            };
            recent.find(key, hash, look_up).expect("it is found")
        };
        // Pairs in turn that share the first place only: they do not drive each other out.
        for _ in 0..5 {
            assert_eq!([find(1, 3 | 5 << 32), find(2, 3 | 6 << 32)], [101, 102]);
            assert_eq!([find(3, 4 | 10 << 32), find(4, 4 | 11 << 32)], [103, 104]);
        }
        assert_eq!(looked.get(), 4);
        // Of three in the same two places none has the value of another.
        for turn in 0..20 {
            assert_eq!(find(turn % 3, 7 | 9 << 32), turn % 3 + 100);
        }
        assert_eq!(find(1, 3 | 5 << 32), 101);
        looked.set(0);
        recent.clear();
        assert_eq!((find(1, 3 | 5 << 32), looked.get()), (101, 1));
        let refused = recent.find(8, 8, || Err(damaged()));
        assert!(refused.is_err());
        assert_eq!(find(8, 8), 108, "a refusal is not kept");
    }
}
