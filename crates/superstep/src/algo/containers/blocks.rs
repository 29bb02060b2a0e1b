//! Numbers dealt out in blocks of the same length, one for each processor.

use crate::memory::Divisor;
use std::ops::Range;

/// The numbers below `len`, of which each of so many processors has a block of ⌈len / p⌉; the last ones may have less.
#[derive(Clone, Copy, Debug)]
pub(super) struct Blocks {
    pub(super) len: usize,
    block: usize,
    divisor: Divisor,
}

impl Blocks {
    pub(super) fn new(len: usize, procs: usize) -> Self {
        let block = len.div_ceil(procs).max(1);
        Self { len, block, divisor: Divisor::new(block) }
    }

    /// Who has a number, and which of its own it is.
    #[inline]
    pub(super) fn place(&self, number: usize) -> (usize, usize) {
        self.divisor.divide(number)
    }

    /// What a processor has.
    pub(super) fn range(&self, rank: usize) -> Range<usize> {
        let start = rank.saturating_mul(self.block).min(self.len);
        start..start.saturating_add(self.block).min(self.len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_has_one_place_and_blocks_cover_them_in_order() {
        for len in [0, 1, 2, 5, 10, 100] {
            for procs in [1, 2, 3, 7, 8] {
                let blocks = Blocks::new(len, procs);
                let all: Vec<usize> = (0..procs).flat_map(|rank| blocks.range(rank)).collect();
                assert!(all.iter().copied().eq(0..blocks.len), "{len} on {procs}");
                for number in 0..len {
                    let (owner, at) = blocks.place(number);
                    assert_eq!(blocks.range(owner).nth(at), Some(number), "{len} on {procs}");
                }
            }
        }
    }
}
