//! What is drawn for a graph: each number is a function of a seed and of where it is needed.

use crate::random::{Random, mix};

/// The numbers for the `at`-th of something.
pub(super) fn drawn_for(seed: u64, at: u64) -> Random {
    Random::new(mix(seed.wrapping_add(1)) ^ at)
}

/// The numbers of so many bits in another order, of which each can be asked for alone.
pub(super) struct Shuffle {
    bits: u32,
    keys: [u64; 4],
}

impl Shuffle {
    pub(super) fn new(bits: u32, seed: u64) -> Self {
        let mut keys = drawn_for(seed, u64::MAX);
        Self { bits, keys: [(); 4].map(|()| keys.next()) }
    }

    /// Where a number goes. Each step can be undone, so no two go to one place.
    #[inline]
    pub(super) fn place(&self, number: u64) -> u64 {
        let (mask, half) = ((1u64 << self.bits) - 1, self.bits.div_ceil(2));
        let mut x = number;
        for key in self.keys {
            x = x.wrapping_add(key) & mask;
            x = x.wrapping_mul(key | 1) & mask;
            x ^= x >> half;
        }
        x
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shuffle_has_each_number_once() {
        for bits in 0..12 {
            let shuffle = Shuffle::new(bits, 7);
            let mut all: Vec<u64> = (0..1 << bits).map(|number| shuffle.place(number)).collect();
            assert!(bits < 5 || !all.is_sorted());
            all.sort_unstable();
            assert!(all.into_iter().eq(0..1 << bits), "{bits} bits");
        }
    }
}
