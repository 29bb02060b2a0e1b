//! Numbers that a seed decides.

/// Deals numbers from a seed (`SplitMix64`).
pub(super) struct Dice(u64);

impl Dice {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A number below `bound`, which is not 0.
    pub(super) fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) % bound as u64) as usize
    }

    /// True once in `odds` times.
    pub(super) fn strikes(&mut self, odds: usize) -> bool {
        self.below(odds) == 0
    }

    /// A power of two whose exponent is one of these, each as likely as the other.
    pub(super) fn power(&mut self, exponents: std::ops::Range<usize>) -> usize {
        1 << (exponents.start + self.below(exponents.len()))
    }
}
