//! What is to be counted, and what comes out.

use crate::random::{indices, mix};

/// Updates of a table: where, by how much, and what the table holds after one round of them.
pub(crate) struct Updates {
    /// How many elements of the table each processor has.
    pub(crate) len: usize,
    /// By processor.
    pub(crate) indices: Vec<Vec<usize>>,
    pub(crate) values: Vec<Vec<u64>>,
    counts: Vec<u64>,
    sums: Vec<u64>,
}

impl Updates {
    /// `count` updates by each processor, of tables of `len` elements per processor.
    pub(crate) fn new(procs: usize, len: usize, count: usize) -> Self {
        let indices = indices(procs, count, procs * len);
        let values: Vec<Vec<u64>> =
            (0..procs).map(|rank| (0..count).map(|at| mix((at * procs + rank) as u64) & 0xffff).collect()).collect();
        let (mut counts, mut sums) = (vec![0; procs * len], vec![0; procs * len]);
        for (&index, value) in indices.iter().flatten().zip(values.iter().flatten()) {
            counts[index] += 1;
            sums[index] += value;
        }
        Self { len, indices, values, counts, sums }
    }

    pub(crate) fn procs(&self) -> usize {
        self.indices.len()
    }

    /// Whether this is the part of `rank` after so many rounds that count.
    pub(crate) fn are_counted(&self, part: &[u64], rank: usize, rounds: u64) -> bool {
        is_multiple(part, &self.counts[rank * self.len..][..self.len], rounds)
    }

    /// Whether this is the part of `rank` after so many rounds that add up values.
    pub(crate) fn are_summed(&self, part: &[u64], rank: usize, rounds: u64) -> bool {
        is_multiple(part, &self.sums[rank * self.len..][..self.len], rounds)
    }
}

fn is_multiple(part: &[u64], once: &[u64], times: u64) -> bool {
    part.len() == once.len() && part.iter().zip(once).all(|(&found, &once)| found == times * once)
}
