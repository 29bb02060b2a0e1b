//! The random numbers of the suite: x ← a x mod 2⁴⁶.

/// 5¹³, by which every kernel multiplies.
pub(super) const A: u64 = 1_220_703_125;

const MASK: u64 = (1 << 46) - 1;

/// One after the other, from a seed.
#[derive(Clone, Copy)]
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The state after so many numbers, in as many steps as that has digits.
    pub(super) fn skip(self, mut count: u64) -> Self {
        let (mut x, mut factor) = (self.0, A);
        while count > 0 {
            if count & 1 == 1 {
                x = x.wrapping_mul(factor) & MASK;
            }
            factor = factor.wrapping_mul(factor) & MASK;
            count >>= 1;
        }
        Self(x)
    }

    /// The next number between 0 and 1.
    #[inline]
    pub(super) fn next(&mut self) -> f64 {
        // The low bits of a product depend on the low bits of its factors alone.
        self.0 = self.0.wrapping_mul(A) & MASK;
        self.0 as f64 * (0.5f64).powi(46)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn skipping_is_as_drawing() {
        let mut drawn = Random::new(314_159_265);
        for count in 0..100 {
            assert_eq!(Random::new(314_159_265).skip(count).0, drawn.0);
            drawn.next();
        }
    }
}
