//! A random permutation and what is permuted: the input of `permute`.

use super::access::element;
use crate::{PROCS, Random};
use std::ops::Range;

/// A permutation, distributed by blocks.
///
/// - **P1** Every number below the length stands in it exactly once; nothing but [`Permutation::random`] makes one.
pub(crate) struct Permutation {
    block: usize,
    targets: Vec<usize>,
}

impl Permutation {
    /// A permutation of so many elements per processor.
    pub(crate) fn random(block: usize) -> Self {
        let mut targets: Vec<usize> = (0..block * PROCS).collect();
        let mut random = Random::of_rank(3, 0);
        for at in (1..targets.len()).rev() {
            targets.swap(at, random.below(at + 1));
        }
        Self { block, targets }
    }

    /// Where all elements go.
    pub(crate) fn all(&self) -> &[usize] {
        &self.targets
    }

    /// What a processor has.
    pub(crate) fn range(&self, rank: usize) -> Range<usize> {
        rank * self.block..(rank + 1) * self.block
    }

    /// How many elements each processor has.
    pub(crate) fn block(&self) -> usize {
        self.block
    }

    /// Where elements go and what they are, by processor.
    pub(crate) fn parts(&self) -> ([&[usize]; PROCS], [Vec<u64>; PROCS]) {
        (std::array::from_fn(|rank| self.targets(rank)), std::array::from_fn(|rank| self.source(rank)))
    }

    /// Where a processor's elements go.
    pub(crate) fn targets(&self, rank: usize) -> &[usize] {
        &self.targets[self.range(rank)]
    }

    /// What a processor's elements are.
    pub(crate) fn source(&self, rank: usize) -> Vec<u64> {
        self.range(rank).map(element).collect()
    }
}
