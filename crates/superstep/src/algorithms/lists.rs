//! Lists that values are dealt to, kept for the next call.
//!
//! The system clears all memory that it hands out, which takes about as long as to deal values to it. So a group keeps
//! the large lists of a call that is over.

use crate::engine::{Group, zeros};
use std::{cell::RefCell, cmp::Reverse, rc::Rc};

/// Lists of so many bytes are kept.
const LARGE: usize = 1 << 20;
/// So many are kept at most: the largest.
const MOST: usize = 64;
/// Room for one in so many values more, because the lists of the next call are not exactly as long.
const SPARE: usize = 64;

/// Lists with values in them, none of which matters.
pub(super) struct Lists<T>(RefCell<Vec<Vec<T>>>);

impl<T> Default for Lists<T> {
    fn default() -> Self {
        Self(RefCell::default())
    }
}

impl<T: Clone + 'static> Lists<T> {
    /// Those that this group keeps.
    pub(super) fn of(g: &Group) -> Rc<Self> {
        let core = g.core();
        core.state().unwrap_or_else(|| {
            let lists = Rc::new(Self::default());
            core.keep_state(Rc::clone(&lists));
            lists
        })
    }

    /// A list of so many values, none of which matters: copies of this one, or whatever there is.
    pub(super) fn filled(&self, len: usize, value: Option<&T>) -> Vec<T> {
        let kept = fabric::fitting(&mut self.0.borrow_mut(), len);
        let mut list = if kept.capacity() < len { made(len + len / SPARE, value) } else { kept };
        list.truncate(len);
        if let Some(value) = value {
            list.resize(len, value.clone());
        }
        list
    }

    /// An empty list with room for so many values.
    pub(super) fn empty(&self, len: usize) -> Vec<T> {
        let mut list = fabric::fitting(&mut self.0.borrow_mut(), len);
        list.clear();
        fabric::make_room(&mut list, len);
        list
    }

    /// Keeps lists for the next call.
    pub(super) fn keep(&self, lists: Vec<Vec<T>>) {
        let mut kept = self.0.borrow_mut();
        kept.extend(lists.into_iter().filter(|list| list.capacity() * size_of::<T>() >= LARGE));
        kept.sort_unstable_by_key(|list| Reverse(list.capacity()));
        kept.truncate(MOST);
    }
}

/// A list with room for so many values: of zeros that cost nothing yet, or without values.
fn made<T: 'static>(len: usize, value: Option<&T>) -> Vec<T> {
    value.and_then(|_| zeros(len)).unwrap_or_else(|| {
        let mut list = Vec::new();
        fabric::make_room(&mut list, len);
        list
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_used_again_and_have_the_length_that_is_asked_for() {
        let lists = Lists::<u64>::default();
        let first = lists.filled(LARGE, Some(&7));
        assert_eq!(first.len(), LARGE);
        let start = first.as_ptr();
        lists.keep(vec![first, vec![0; 5]]);
        assert_eq!(lists.0.borrow().len(), 1);
        for len in [LARGE + 5, LARGE - 5, LARGE + 9] {
            let again = lists.filled(len, Some(&7));
            assert_eq!((again.len(), again.as_ptr()), (len, start));
            lists.keep(vec![again]);
        }
        assert_eq!(lists.filled(3 * LARGE, Some(&7)).len(), 3 * LARGE);
        assert!(lists.0.borrow().is_empty());
        assert_eq!(Lists::<(u8, u64)>::default().filled(3, Some(&(1, 2))), [(1, 2); 3]);
        assert!(Lists::<u8>::default().filled(0, None).is_empty());
    }

    #[test]
    fn the_largest_are_kept_and_no_more_than_the_bound() {
        let lists = Lists::<u8>::default();
        lists.keep((0..2 * MOST).map(|more| Vec::with_capacity(LARGE + more)).collect());
        assert_eq!(lists.0.borrow().len(), MOST);
        assert!(lists.0.borrow().iter().all(|list| list.capacity() >= LARGE + MOST));
    }
}
