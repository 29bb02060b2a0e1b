//! What a processor notes of a step for the check of conflicts; [`super::conflicts`] says what that is.

use crate::error::place;
use fabric::Touch;
use serde::{Deserialize, Serialize};
use std::{
    cell::{Cell, RefCell},
    panic::Location,
};

/// Whether conflicts are looked for, and what this processor has noted in the step at hand.
#[derive(Default)]
pub(crate) struct Watch {
    is_on: Cell<bool>,
    notes: RefCell<Vec<Note>>,
    /// What all members do to this one's areas; kept for its room.
    pub(super) touched: RefCell<Vec<Touch>>,
}

/// One call that writes or reads, or several that follow each other on one line.
struct Note {
    site: &'static Location<'static>,
    /// Of a permutation: which elements go into each lane, in the order of the lane.
    sources: Option<Vec<Vec<usize>>>,
}

/// Set in the number of a note whose call is a permutation, so that an owner knows.
const PERMUTES: u32 = 1 << 31;

/// Whether the call of a note is a permutation.
pub(crate) fn permutes(note: u32) -> bool {
    note & PERMUTES != 0
}

/// A member that has a part in a conflict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Party {
    pub(crate) rank: usize,
    /// The number of its note, or 0 if it has none.
    pub(crate) note: u32,
    /// Of a write to an array: the lane, and how many writes come before it there.
    pub(crate) at: (usize, usize),
}

/// What a call does to elements of somebody's part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum How {
    /// Reads them, in an area.
    Read,
    /// Writes them when all have read, in an area.
    Put,
    /// Writes them from memory to memory, in an area: no copy keeps that apart from what is read.
    Transfer,
    /// Writes them without an operator, in an array.
    Assign,
}

/// Two members that get in each other's way, as an owner finds them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Clash {
    /// What both of them touch, in words.
    pub(crate) what: String,
    /// What the first and the second do to it.
    pub(crate) how: [How; 2],
    pub(crate) parties: [Party; 2],
}

impl Clash {
    /// What goes to the others, behind a byte that says what it is.
    pub(super) fn report(&self, tag: u8) -> Vec<u8> {
        postcard::to_extend(self, vec![tag]).expect("numbers and texts can be encoded")
    }
}

impl Watch {
    pub(super) fn set(&self, is_on: bool) {
        self.is_on.set(is_on);
    }

    #[inline]
    pub(crate) fn is_on(&self) -> bool {
        self.is_on.get()
    }

    /// Notes a call, and returns the number of its note, which is never 0.
    pub(super) fn note(&self, site: &'static Location<'static>) -> u32 {
        let mut notes = self.notes.borrow_mut();
        let is_known = notes
            .last()
            .is_some_and(|last| (std::ptr::eq(last.site, site) || last.site == site) && last.sources.is_none());
        if !is_known {
            notes.push(Note { site, sources: None });
        }
        notes.len() as u32 & !PERMUTES
    }

    /// Notes a permutation, by the elements that go into each lane.
    #[cold]
    pub(super) fn note_permutation(&self, site: &'static Location<'static>, sources: Vec<Vec<usize>>) -> u32 {
        let mut notes = self.notes.borrow_mut();
        notes.push(Note { site, sources: Some(sources) });
        notes.len() as u32 | PERMUTES
    }

    /// Forgets what was noted.
    pub(super) fn clear(&self) {
        self.notes.borrow_mut().clear();
    }

    /// What a party of a conflict, which is this processor, has to say of itself.
    pub(super) fn words(&self, party: &Party) -> Words {
        let notes = self.notes.borrow();
        let at = ((party.note & !PERMUTES) as usize).checked_sub(1).filter(|&at| at < notes.len());
        let note = at.map(|at| &notes[at]);
        let (lane, before) = party.at;
        let permutations = |notes: &[Note]| notes.iter().filter(|note| note.sources.is_some()).count();
        Words {
            site: note.map_or_else(|| "an unknown place".to_owned(), |note| place(note.site)),
            source: note.and_then(|note| note.sources.as_ref()?.get(lane)?.get(before).copied()),
            before: at.map_or(0, |at| permutations(&notes[..at])),
        }
    }
}

/// Where a party of a conflict made its call, and for which element if that is a permutation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Words {
    pub(super) site: String,
    pub(super) source: Option<usize>,
    /// How many permutations it has made in the step before: two calls of one line are two permutations.
    pub(super) before: usize,
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::OnceLock;

    fn words(watch: &Watch, note: u32, at: (usize, usize)) -> Words {
        watch.words(&Party { rank: 0, note, at })
    }

    #[test]
    fn calls_that_follow_each_other_on_one_line_are_one_note() {
        let (watch, first, second) = (Watch::default(), Location::caller(), here());
        assert_eq!([first, first, second, first].map(|site| watch.note(site)), [1, 1, 2, 3]);
        assert_eq!(words(&watch, 2, (0, 0)), Words { site: place(second), source: None, before: 0 });
        assert_eq!(words(&watch, 3, (0, 0)).site, place(first));
        for unknown in [0, 4, u32::MAX] {
            assert_eq!(words(&watch, unknown, (0, 0)).site, "an unknown place");
        }
        watch.clear();
        assert_eq!(watch.note(second), 1);
    }

    /// Code may be compiled several times, and its lines are the same.
    #[test]
    fn a_line_that_lies_in_memory_twice_is_one_line() {
        static OTHER: OnceLock<Location<'static>> = OnceLock::new();
        let (watch, site) = (Watch::default(), here());
        let other = OTHER.get_or_init(|| *site);
        assert_eq!([site, other, site].map(|site| watch.note(site)), [1; 3]);
    }

    #[test]
    fn each_permutation_is_a_note_and_knows_its_elements() {
        let (watch, site) = (Watch::default(), Location::caller());
        assert_eq!(watch.note(site), 1);
        let permutations = [vec![vec![7, 8], vec![9]], vec![vec![5]]].map(|lanes| watch.note_permutation(site, lanes));
        assert_eq!(permutations, [2 | PERMUTES, 3 | PERMUTES]);
        assert!(permutations.into_iter().all(permutes) && !permutes(1));
        // What follows on its line is none.
        assert_eq!(watch.note(site), 4);
        let of = |note: u32, at| (words(&watch, note, at).source, words(&watch, note, at).before);
        assert_eq!(of(permutations[0], (0, 1)), (Some(8), 0));
        assert_eq!(of(permutations[0], (1, 0)), (Some(9), 0));
        assert_eq!(of(permutations[0], (1, 1)), (None, 0));
        assert_eq!(of(permutations[1], (0, 0)), (Some(5), 1));
        assert_eq!(of(4, (0, 0)), (None, 2));
    }

    #[track_caller]
    fn here() -> &'static Location<'static> {
        Location::caller()
    }
}
