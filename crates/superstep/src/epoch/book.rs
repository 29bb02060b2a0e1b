//! What others have told this processor: answers to its questions, and notes of collectives.
//!
//! Questions to one processor are numbered as they are asked, and answers come in series of consecutive numbers. A
//! series is kept as it came until one of its answers is taken, because only then is their type known.

use super::letter::Content;
use crate::{
    engine::{Value, damaged, decode_next},
    error::Result,
};
use std::{
    cell::{Cell, RefCell},
    collections::{BTreeMap, VecDeque},
};

struct Series {
    first: u64,
    count: u64,
    /// How many have been taken.
    taken: u64,
    /// A vector of options once one was taken, so that each can be.
    answers: Result<Content>,
}

/// The answers that have come and were not taken, by who gave them.
pub(super) struct Book(RefCell<Vec<VecDeque<Series>>>);

impl Book {
    pub(super) fn new(size: usize) -> Self {
        Self(RefCell::new((0..size).map(|_| VecDeque::new()).collect()))
    }

    pub(super) fn enter(&self, from: usize, first: u64, count: u64, answers: Result<Content>) {
        let all = &mut self.0.borrow_mut()[from];
        let at = all.partition_point(|series| series.first < first);
        all.insert(at, Series { first, count, taken: 0, answers });
    }

    /// Whether every answer that came was taken.
    pub(super) fn is_empty(&self) -> bool {
        self.0.borrow().iter().all(VecDeque::is_empty)
    }

    pub(super) fn has(&self, from: usize, ticket: u64) -> bool {
        find(&self.0.borrow()[from], ticket).is_some()
    }

    pub(super) fn take<R: Value>(&self, from: usize, ticket: u64) -> Option<Result<R>> {
        let all = &mut self.0.borrow_mut()[from];
        let at = find(all, ticket)?;
        let series = &mut all[at];
        let answer = series.take(ticket);
        series.taken += 1;
        if series.taken == series.count {
            all.remove(at);
        }
        Some(answer)
    }
}

fn find(all: &VecDeque<Series>, ticket: u64) -> Option<usize> {
    let at = all.partition_point(|series| series.first <= ticket).checked_sub(1)?;
    (ticket - all[at].first < all[at].count).then_some(at)
}

impl Series {
    fn take<R: Value>(&mut self, ticket: u64) -> Result<R> {
        if let Ok(Content::Written(excerpt)) = &self.answers {
            let mut rest = excerpt.bytes()?;
            if self.count == 1 {
                return decode_next(&mut rest);
            }
            // The count is not believed before so many answers were there.
            let mut answers = Vec::with_capacity((self.count as usize).min(rest.len()));
            for _ in 0..self.count {
                answers.push(Some(decode_next::<R>(&mut rest)?));
            }
            self.answers = Ok(Content::Moved(Box::new(answers)));
        }
        let at = (ticket - self.first) as usize;
        match &mut self.answers {
            Err(error) => Err(error.clone()),
            Ok(Content::Moved(moved)) => {
                let answers = moved.downcast_mut::<Vec<Option<R>>>().ok_or_else(damaged)?;
                answers.get_mut(at).and_then(Option::take).ok_or_else(damaged)
            }
            Ok(Content::Written(_)) => Err(damaged()),
        }
    }
}

/// What members have told this one in collectives, and has not been heard.
#[derive(Default)]
pub(super) struct Notes {
    /// By the collective's number and who told it: what it is about, and the note.
    told: RefCell<BTreeMap<(u64, usize), (u64, Content)>>,
    next: Cell<u64>,
}

impl Notes {
    pub(super) fn next_number(&self) -> u64 {
        self.next.replace(self.next.get() + 1)
    }

    pub(super) fn enter(&self, number: u64, from: usize, about: u64, note: Content) {
        self.told.borrow_mut().insert((number, from), (about, note));
    }

    pub(super) fn take(&self, number: u64, from: usize) -> Option<(u64, Content)> {
        self.told.borrow_mut().remove(&(number, from))
    }

    /// Who has told something in the first collective that this processor did not come to.
    pub(super) fn missed(&self) -> Option<usize> {
        self.told.borrow().keys().next().map(|&(_, from)| from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_there_from_when_they_came_until_they_are_taken() {
        let book = Book::new(2);
        let there = |from| (4..8).filter(|&ticket| book.has(from, ticket)).collect::<Vec<u64>>();
        assert!(there(1).is_empty() && book.is_empty());
        book.enter(1, 5, 2, Ok(Content::Moved(Box::new(vec![Some(10u8), Some(20)]))));
        assert_eq!((there(0), there(1)), (vec![], vec![5, 6]));
        assert!(book.take::<u8>(1, 7).is_none());
        assert_eq!(book.take::<u8>(1, 6).unwrap().unwrap(), 20);
        assert_eq!(book.take::<u8>(1, 5).unwrap().unwrap(), 10);
        assert!(there(1).is_empty() && book.is_empty());
    }
}
