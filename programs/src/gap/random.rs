//! Numbers that look drawn and that everybody can work out: each is a function of a seed and of where it is needed.

/// Scatters the bits of a number; different numbers stay different.
#[inline]
pub(super) const fn mixed(number: u64) -> u64 {
    let x = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ x >> 31
}

/// One number after the other, for one purpose.
pub(super) struct Random(u64);

impl Random {
    /// The numbers for the `at`-th of something.
    pub(super) fn of(seed: u64, at: u64) -> Self {
        Self(mixed(mixed(seed) ^ at))
    }

    #[inline]
    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mixed(self.0)
    }

    /// A number below `end`.
    #[inline]
    pub(super) fn below(&mut self, end: usize) -> usize {
        (u128::from(self.next()) * end as u128 >> 64) as usize
    }
}

/// The numbers of so many bits in another order, of which each can be asked for alone.
pub(super) struct Shuffle {
    bits: u32,
    keys: [u64; 4],
}

impl Shuffle {
    pub(super) fn new(bits: u32, seed: u64) -> Self {
        Self { bits, keys: [1, 2, 3, 4].map(|round| mixed(mixed(seed) ^ round)) }
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
