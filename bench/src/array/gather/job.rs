//! What is to be read.

use crate::random::mix;

/// Reads of a table: how many elements of it each processor has, and which ones each of them wants.
pub(super) struct Reads {
    pub(super) len: usize,
    pub(super) indices: Vec<Vec<usize>>,
}

impl Reads {
    pub(super) fn procs(&self) -> usize {
        self.indices.len()
    }

    /// What the table holds at an index.
    pub(super) fn at(index: usize) -> u64 {
        mix(index as u64)
    }

    /// Whether these are the values that `rank` wants.
    pub(super) fn are_right(&self, values: &[u64], rank: usize) -> bool {
        let wanted = &self.indices[rank];
        values.len() == wanted.len() && values.iter().zip(wanted).all(|(&value, &index)| value == Self::at(index))
    }
}
