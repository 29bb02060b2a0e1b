//! What a processor has made of elements in a step, for steps that read what they write, or that both assign elements
//! of an array and combine them.
//!
//! Both on one element is fine if one processor does it: what it combines goes onto what it has assigned. If two do it,
//! nobody could say which came first, so that is an error. It is found at the boundary, where everybody says what it
//! has written.

use crate::{
    engine::Combine,
    error::{Error, ErrorKind, place},
};
use rustc_hash::FxHashMap;
use std::{collections::BTreeMap, panic::Location};

/// What was written to an element in this step.
pub(super) struct Own<T> {
    assigned: Option<T>,
    /// Contributions since then, onto that or onto what is there.
    added: Vec<T>,
    site: &'static Location<'static>,
}

impl<T: Copy> Own<T> {
    pub(super) fn assigned(value: T, site: &'static Location<'static>) -> Self {
        Self { assigned: Some(value), added: Vec::new(), site }
    }

    /// Nothing yet.
    pub(super) fn at(site: &'static Location<'static>) -> Self {
        Self { assigned: None, added: Vec::new(), site }
    }

    pub(super) fn add(&mut self, value: T) {
        self.added.push(value);
    }

    /// The element as this processor sees it.
    pub(super) fn value(&self, op: impl Combine<T>, before: impl FnOnce() -> T) -> T {
        let mut sum = self.assigned.unwrap_or_else(before);
        for value in &self.added {
            op.combine(&mut sum, value);
        }
        sum
    }
}

/// The elements that a processor has written, by place in the program and by whether they were assigned.
pub type Marks = BTreeMap<(String, bool), Vec<usize>>;

pub(super) fn marks<T>(own: &FxHashMap<usize, Own<T>>) -> Marks {
    let mut marks = Marks::new();
    for (&index, one) in own {
        marks.entry((place(one.site), one.assigned.is_some())).or_default().push(index);
    }
    marks
}

/// Refuses elements that one processor has assigned and another has combined.
pub(super) fn check(name: &str, all: &[Marks]) {
    let kind = |is_assigned: bool| {
        let ranks = all.iter().enumerate();
        ranks.flat_map(move |(rank, marks)| {
            let marks = marks.iter().filter(move |((_, kind), _)| *kind == is_assigned);
            marks.flat_map(move |((site, _), at)| at.iter().map(move |&index| (index, (rank, site))))
        })
    };
    let assigned: FxHashMap<usize, (usize, &String)> = kind(true).collect();
    let both = kind(false).filter(|(index, _)| assigned.contains_key(index)).min();
    if let Some((index, (rank, site))) = both {
        let (other, line) = assigned[&index];
        let what = format!(
            "element {index} of `{name}` is assigned by rank {other} ({line}) and combined by rank {rank} ({site}) in \
             one step; give each its own step"
        );
        Error::placed(ErrorKind::Conflict, what).raise();
    }
}

/// What goes to the owners: values that replace, and contributions in the order of issue.
pub(super) struct Sorted<T> {
    pub(super) assigned: (Vec<usize>, Vec<T>),
    pub(super) added: (Vec<usize>, Vec<T>),
}

/// Sorts what was written to an array that is both assigned and combined.
pub(super) fn sort_out<T: Copy>(own: &FxHashMap<usize, Own<T>>, op: impl Combine<T>) -> Sorted<T> {
    let mut sorted = Sorted { assigned: (Vec::new(), Vec::new()), added: (Vec::new(), Vec::new()) };
    let mut all: Vec<(&usize, &Own<T>)> = own.iter().collect();
    all.sort_unstable_by_key(|(index, _)| **index);
    for (&index, one) in all {
        if let Some(value) = one.assigned {
            sorted.assigned.0.push(index);
            sorted.assigned.1.push(one.value(op, || value));
        } else {
            sorted.added.0.extend(one.added.iter().map(|_| index));
            sorted.added.1.extend_from_slice(&one.added);
        }
    }
    sorted
}
