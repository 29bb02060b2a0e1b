//! Replicated arrays: combined element by element, and of each element only the copies that were written.

use super::state::Copied;
use crate::{
    engine::{Combine, Group, Pending, Rule, Step, Value, encode},
    error::{Error, ErrorKind},
    memory::Shared,
};
use std::{
    fmt,
    ops::{Deref, DerefMut},
};

/// A replicated array: this processor's copy, and the variable of the group by which copies are combined.
pub struct Cells<T: Value> {
    /// What was written by whom, combined.
    news: Shared<Vec<Option<T>>>,
    /// What the group agreed on.
    agreed: Vec<T>,
    mine: Vec<T>,
    is_written: Vec<bool>,
    /// Whether the copy was lent as a whole, so that any element may have been written.
    is_lent: bool,
    copied: Copied,
}

/// Combines what was written of each element.
#[derive(Clone, Copy)]
struct Written<C>(C);

impl<T: Value, C: Combine<T>> Combine<Vec<Option<T>>> for Written<C> {
    fn combine(&self, acc: &mut Vec<Option<T>>, with: &Vec<Option<T>>) {
        if acc.len() < with.len() {
            acc.resize_with(with.len(), || None);
        }
        for (acc, with) in acc.iter_mut().zip(with) {
            match (&mut *acc, with) {
                (_, None) => {}
                (None, Some(with)) => *acc = Some(with.clone()),
                (Some(acc), Some(with)) if self.0.rule() == Rule::Same => agree(acc, with),
                (Some(acc), Some(with)) => self.0.combine(acc, with),
            }
        }
    }

    fn rule(&self) -> Rule {
        if self.0.rule() == Rule::Leader { Rule::Leader } else { Rule::Fold }
    }

    fn may_fail(&self) -> bool {
        self.0.rule() == Rule::Same || self.0.may_fail()
    }

    fn mark(&self) -> u64 {
        self.0.mark()
    }
}

/// Refuses copies that were said to be the same and are not.
fn agree<T: Value>(one: &T, other: &T) {
    let bytes = |value: &T| {
        let mut bytes = Vec::new();
        encode(value, &mut bytes).map(|()| bytes)
    };
    match (bytes(one), bytes(other)) {
        (Ok(one), Ok(other)) if one == other => {}
        (Err(error), _) | (_, Err(error)) => error.raise(),
        _ => {
            let what = "copies of an element that should be the same differ";
            Error::new(ErrorKind::ReplicaDiverged, what).raise()
        }
    }
}

impl<T: Value> Cells<T> {
    /// Declares it. Collective.
    #[track_caller]
    pub fn new<C: Combine<T>>(group: &mut Group, init: Vec<T>, op: C, name: &'static str) -> Self {
        Self {
            news: group.shared(Vec::new(), Written(op)),
            agreed: init.clone(),
            is_written: vec![false; init.len()],
            mine: init,
            is_lent: false,
            copied: Copied::new(group, name),
        }
    }

    /// An element that is written now.
    #[inline]
    #[track_caller]
    pub fn at(&mut self, index: usize) -> &mut T {
        self.copied.write();
        if let Some(is_written) = self.is_written.get_mut(index) {
            *is_written = true;
        }
        &mut self.mine[index]
    }

    /// Contributes what was written to the step's boundary.
    #[track_caller]
    pub fn send(&self, s: &Step) {
        if self.copied.is_of(s.core.depth) {
            self.send_up();
        }
    }

    /// The same with another operator.
    #[track_caller]
    pub fn send_with<C: Combine<T>>(&self, s: &Step, op: C) {
        self.send_up();
        s.combine(&self.news, Written(op));
    }

    /// The same, and what the ranks below contribute to each element.
    #[track_caller]
    pub fn send_prefix<C: Combine<T>>(&self, s: &Step, op: C) -> Pending<Vec<Option<T>>> {
        self.send_up();
        s.combine_prefix(&self.news, Written(op))
    }

    /// What the ranks below have contributed, with the operator's identity where they have not.
    pub fn prefix<C: Combine<T>>(&self, below: Vec<Option<T>>, op: C) -> Vec<T>
    where
        T: Default,
    {
        let none = || op.identity().unwrap_or_default();
        let mut below: Vec<T> = below.into_iter().map(|value| value.unwrap_or_else(none)).collect();
        below.resize_with(self.mine.len().max(below.len()), none);
        below
    }

    /// Contributes what was written to the end of the split in whose body this is.
    #[track_caller]
    pub fn send_up(&self) {
        if self.copied.is_written {
            let is_written = |at: usize| self.is_lent || self.is_written.get(at).copied().unwrap_or(true);
            let news = self.mine.iter().enumerate().map(|(at, value)| is_written(at).then(|| value.clone()));
            self.news.set(news.collect());
        }
    }

    /// Begins a step. Nothing is left of a step that has not ended (X6).
    #[track_caller]
    pub fn begin(&mut self, group: &Group) {
        if self.copied.is_left(group) {
            self.settle(group);
        }
    }

    /// Refuses a write that the translator has not seen.
    #[track_caller]
    pub fn check(&self, group: &Group) {
        self.copied.check(group);
    }

    /// Takes what the copies have been combined to. In a subgroup they have not been yet.
    #[track_caller]
    pub fn settle(&mut self, group: &Group) {
        if !self.copied.is_of(group.depth()) {
            return;
        }
        let news = self.news.read();
        // Nobody has written yet where there are none.
        self.agreed.truncate(if news.is_empty() { usize::MAX } else { news.len() });
        for (at, value) in news.iter().enumerate() {
            match (value, at < self.agreed.len()) {
                (Some(value), true) => self.agreed[at] = value.clone(),
                (Some(value), false) => self.agreed.push(value.clone()),
                (None, _) => {}
            }
        }
        drop(news);
        self.mine.clone_from(&self.agreed);
        self.is_written.clear();
        self.is_written.resize(self.mine.len(), false);
        (self.is_lent, self.copied.is_written) = (false, false);
    }
}

impl<T: Value> Deref for Cells<T> {
    type Target = Vec<T>;

    #[inline]
    fn deref(&self) -> &Vec<T> {
        &self.mine
    }
}

impl<T: Value> DerefMut for Cells<T> {
    #[track_caller]
    fn deref_mut(&mut self) -> &mut Vec<T> {
        self.copied.write();
        self.is_lent = true;
        &mut self.mine
    }
}

impl<T: Value + fmt::Debug> fmt::Debug for Cells<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.mine.fmt(f)
    }
}
