//! What the step at hand has asked of its boundary.

use super::{
    fingerprint::{mix, type_hash},
    items::{Item, Items},
    membership::StepMark,
    tenant::Contributes,
    watch::Watch,
};
use crate::error::Error;
use std::{
    cell::{Cell, RefCell},
    rc::Rc,
};

/// What a step has asked for so far: its items, the terms that all members must agree on, and what it says of itself.
#[derive(Default)]
pub(crate) struct Log {
    pub(super) items: RefCell<Items>,
    /// A fingerprint of what this step's boundary is about, besides its items: a split's form, replaced operators.
    terms: Cell<u64>,
    /// The same in words, for errors.
    terms_in_words: RefCell<Vec<String>>,
    /// Those that count once in a step, however often they are added.
    terms_once: RefCell<Vec<u64>>,
    /// Whether anything was asked for since the last boundary: a step of which this is false is an empty one.
    pub(super) is_stirred: Cell<bool>,
    /// What this step's contribution says; see [`super::flags`].
    pub(super) flags: Cell<u32>,
    /// Why the boundary at hand is to fail for all.
    pub(super) failing: RefCell<Option<Error>>,
    /// What was noted for the check of conflicts.
    pub(crate) watch: Watch,
    /// What of outer groups the body of a step has written, and which step that was.
    outer: RefCell<(StepMark, Vec<Rc<dyn Contributes>>)>,
}

impl Log {
    #[inline]
    pub(super) fn begin(&self) {
        self.terms.set(0);
        self.flags.set(0);
        let mut items = self.items.borrow_mut();
        if !items.is_empty() {
            items.clear();
        }
    }

    /// Forgets a step that will not reach its boundary.
    pub(super) fn abandon(&self) {
        self.failing.take();
        self.items.borrow_mut().clear();
        self.watch.clear();
    }

    /// Notes that the body of `step` has written something of an outer group.
    pub(super) fn note_outer(&self, step: StepMark, written: Rc<dyn Contributes>) {
        let mut outer = self.outer.borrow_mut();
        if outer.0 != step {
            *outer = (step, Vec::new());
        }
        outer.1.push(written);
    }

    /// What of outer groups the body of `step` has written.
    pub(super) fn take_outer(&self, step: StepMark) -> Vec<Rc<dyn Contributes>> {
        let (of, written) = self.outer.take();
        if of == step { written } else { Vec::new() }
    }

    /// Places an item that every member has, and returns its number. `argument` is what must agree on all members
    /// besides the verb, which is known by the item's type.
    #[inline]
    pub(super) fn place<I: Item>(&self, item: I, argument: u64) -> u32 {
        let mut items = self.items.borrow_mut();
        // What was there from a step before is dropped first, and that may unwind.
        let number = items.place(item);
        items.verbs = mix(items.verbs, mix(type_hash::<I>(), argument));
        number
    }

    /// A fingerprint of the step's verbs and terms.
    #[inline]
    pub(super) fn mark(&self) -> u64 {
        self.items.borrow().verbs.wrapping_add(self.terms.get().rotate_left(31))
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

    /// The terms in words, sorted.
    pub(super) fn terms(&self) -> Vec<String> {
        let mut terms = if self.terms.get() == 0 { Vec::new() } else { self.terms_in_words.borrow().clone() };
        terms.sort();
        terms
    }
}

#[cfg(test)]
mod tests {
    use super::{super::items::Tally, *};
    use crate::error::ErrorKind;

    #[test]
    fn nothing_is_left_of_a_step_that_is_abandoned() {
        let log = Log::default();
        log.place(Tally::new(1), 0);
        *log.failing.borrow_mut() = Some(Error::new(ErrorKind::Overflow, "too much"));
        log.abandon();
        assert!(log.items.borrow().is_empty() && log.failing.borrow().is_none());
    }

    #[test]
    fn all_terms_of_a_step_are_said_and_none_of_the_step_before() {
        let log = Log::default();
        log.add_term(1, "one".to_owned());
        log.add_term(2, "another".to_owned());
        assert_eq!(log.terms(), ["another", "one"]);
        log.begin();
        assert!(log.terms().is_empty());
        log.add_term(3, "a third".to_owned());
        assert_eq!(log.terms(), ["a third"]);
    }

    #[test]
    fn a_term_that_counts_once_does_so_in_every_step() {
        let log = Log::default();
        for _ in 0..2 {
            log.begin();
            for (term, words) in [(1, "one"), (2, "two"), (1, "one"), (2, "two")] {
                log.add_term_once(term, || words.to_owned());
            }
            assert_eq!(log.terms(), ["one", "two"]);
        }
    }
}
