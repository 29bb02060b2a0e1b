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

#[cfg(test)]
mod tests {
    use super::*;

    /// A seed that was written down means the same run in every later version.
    #[test]
    fn a_seed_deals_the_same_numbers_for_ever() {
        let deal = |seed: u64| {
            let mut dice = Dice::new(seed);
            [0; 4].map(|_| dice.below(1_000_000))
        };
        assert_eq!(deal(0), deal(0));
        assert_ne!(deal(0), deal(1));
        // The first words of SplitMix64 from 0, as its author has them.
        let words = [0xE220_A839_7B1D_CDAF, 0x6E78_9E6A_A1B9_65F4, 0x06C4_5D18_8009_454F, 0xF88B_B8A8_724C_81EC_u64];
        assert_eq!(deal(0), words.map(|word| (word % 1_000_000) as usize));
        let mut dice = Dice::new(5);
        let struck = (0..1000).filter(|_| dice.strikes(4)).count();
        assert!((150..350).contains(&struck), "{struck} of 1000");
        let mut powers: Vec<usize> = (0..100).map(|_| dice.power(2..5)).collect();
        powers.sort_unstable();
        powers.dedup();
        assert_eq!(powers, [4, 8, 16]);
    }
}
