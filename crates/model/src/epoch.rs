//! Epochs: remote methods and volatile cells (E1 to E5, E7).
//!
//! Requests of different sources run in any order, so what a representative keeps of them does not depend on it: counts
//! and sums. What one source sends to one target runs in the order of sending, and is kept in that order.

use crate::asynchronous::{CellDeed, Request, Verb};
use std::collections::BTreeMap;

/// How deep requests go. Each level has an object of its own; the last one's methods do not wait, and only they are
/// waited for by methods, so nobody can wait for itself.
pub const LEVELS: usize = 5;

/// What a processor's representatives have seen.
#[derive(Clone, Default)]
pub(crate) struct Seen {
    pub(crate) levels: [(u64, u64); LEVELS],
    /// What each processor has sent, in order.
    pub(crate) log: BTreeMap<usize, Vec<u64>>,
    pub(crate) tally: u64,
}

/// The objects of a group, by rank.
pub(crate) struct Objects {
    pub(crate) seen: Vec<Seen>,
}

impl Objects {
    pub(crate) fn new(size: usize) -> Self {
        Self { seen: vec![Seen::default(); size] }
    }

    /// Runs a request with all that it leads to, and returns its answer: its number, and those of the children that it
    /// waits for.
    pub(crate) fn run(&mut self, request: &Request, level: usize) -> u64 {
        let (count, sum) = &mut self.seen[request.to].levels[level];
        *count += 1;
        *sum = sum.wrapping_add(blur(request.value));
        let mut answer = request.value;
        for child in &request.children {
            if matches!(child.verb, Verb::Ask | Verb::Call) {
                answer = answer.wrapping_add(self.run(child, LEVELS - 1));
            } else {
                self.run(child, level + 1);
            }
        }
        answer
    }
}

/// What a representative adds up for a request: sums of numbers would be the same for too many of them.
///
/// ```
/// use superstep_model::blur;
///
/// assert_ne!(blur(1).wrapping_add(blur(3)), blur(2).wrapping_add(blur(2)));
/// ```
pub fn blur(value: u64) -> u64 {
    (value ^ value >> 29).wrapping_mul(0xBF58_476D_1CE4_E5B9).rotate_left(31)
}

/// Volatile cells: one that all add to, and one for each processor, by its rank when they were made.
pub(crate) struct Cells {
    pub(crate) owner: usize,
    pub(crate) values: Vec<u64>,
    makers: Vec<usize>,
    pub(crate) is_lost: bool,
}

impl Cells {
    pub(crate) fn new(owner: usize, makers: &[usize]) -> Self {
        Self { owner, values: vec![0; 1 + makers.len()], makers: makers.to_vec(), is_lost: false }
    }

    /// Does something to a processor's own cell, and returns what it was before.
    pub(crate) fn change(&mut self, processor: usize, deed: CellDeed) -> u64 {
        let at = self.makers.iter().position(|&maker| maker == processor).expect("nobody joins a group");
        let cell = &mut self.values[1 + at];
        let before = *cell;
        match deed {
            CellDeed::Store(value) => *cell = value,
            CellDeed::FetchAdd(value) => *cell = cell.wrapping_add(value),
            CellDeed::CompareExchange(current, new) if before == current => *cell = new,
            CellDeed::Load | CellDeed::CompareExchange(..) => {}
        }
        before
    }
}
