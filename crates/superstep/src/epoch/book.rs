//! The book of questions: what was asked, and the answers that have come.
//!
//! Questions to one processor are numbered as they are asked, and answers come in runs of consecutive numbers. A run is
//! kept as it came until one of its answers is taken, because only then is their type known.

use crate::{
    engine::{Value, damaged, decode_next},
    error::{Error, Result},
};
use std::{any::Any, cell::RefCell, collections::VecDeque, rc::Rc};

/// The answers of a run.
pub(super) enum Answers {
    /// A vector of options, so that each can be taken.
    Moved(Box<dyn Any>),
    Encoded {
        bytes: Rc<Vec<u8>>,
        at: std::ops::Range<usize>,
    },
    /// The method has failed.
    Failed(Error),
}

struct Run {
    first: u64,
    count: u64,
    /// How many have been taken.
    taken: u64,
    answers: Answers,
}

/// The answers that have come and were not taken, by who gave them.
pub(super) struct Book(RefCell<Vec<VecDeque<Run>>>);

impl Book {
    pub(super) fn new(size: usize) -> Self {
        Self(RefCell::new((0..size).map(|_| VecDeque::new()).collect()))
    }

    pub(super) fn enter(&self, from: usize, first: u64, count: u64, answers: Answers) {
        let runs = &mut self.0.borrow_mut()[from];
        let at = runs.partition_point(|run| run.first < first);
        runs.insert(at, Run { first, count, taken: 0, answers });
    }

    /// Whether every answer that came was taken.
    pub(super) fn is_empty(&self) -> bool {
        self.0.borrow().iter().all(VecDeque::is_empty)
    }

    pub(super) fn has(&self, from: usize, ticket: u64) -> bool {
        find(&self.0.borrow()[from], ticket).is_some()
    }

    /// Takes an answer that has come.
    pub(super) fn take<R: Value>(&self, from: usize, ticket: u64) -> Option<Result<R>> {
        let runs = &mut self.0.borrow_mut()[from];
        let at = find(runs, ticket)?;
        let run = &mut runs[at];
        let answer = run.take(ticket);
        run.taken += 1;
        if run.taken == run.count {
            runs.remove(at);
        }
        Some(answer)
    }
}

fn find(runs: &VecDeque<Run>, ticket: u64) -> Option<usize> {
    let at = runs.partition_point(|run| run.first <= ticket).checked_sub(1)?;
    (ticket - runs[at].first < runs[at].count).then_some(at)
}

impl Run {
    fn take<R: Value>(&mut self, ticket: u64) -> Result<R> {
        if let Answers::Encoded { bytes, at } = &self.answers {
            let mut rest = bytes.get(at.clone()).ok_or_else(damaged)?;
            if self.count == 1 {
                return decode_next(&mut rest);
            }
            // The count is not believed before so many answers were there.
            let mut answers = Vec::with_capacity((self.count as usize).min(rest.len()));
            for _ in 0..self.count {
                answers.push(Some(decode_next::<R>(&mut rest)?));
            }
            self.answers = Answers::Moved(Box::new(answers));
        }
        let at = (ticket - self.first) as usize;
        match &mut self.answers {
            Answers::Failed(error) => Err(error.clone()),
            Answers::Moved(moved) => {
                let answers = moved.downcast_mut::<Vec<Option<R>>>().ok_or_else(damaged)?;
                answers.get_mut(at).and_then(Option::take).ok_or_else(damaged)
            }
            Answers::Encoded { .. } => Err(damaged()),
        }
    }
}
