//! The random numbers of the suite: x ← a x mod 2⁴⁶.

/// 5¹³, by which every kernel multiplies.
const A: u64 = 1_220_703_125;

const MASK: u64 = (1 << 46) - 1;

/// One after the other, from a seed.
///
/// ```
/// use superstep_programs::nas::random::Random;
///
/// let [mut drawn, mut skipped] = [Random::new(7), Random::new(7).skip(1)];
/// drawn.next();
/// assert_eq!(drawn.next(), skipped.next());
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Random(u64);

impl Random {
    /// All numbers that follow from this seed.
    ///
    /// ```
    /// assert!(superstep_programs::nas::random::Random::new(314_159_265).next() < 1.0);
    /// ```
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The state after so many numbers, in as many steps as that has digits.
    ///
    /// ```
    /// use superstep_programs::nas::random::Random;
    ///
    /// assert_eq!(Random::new(5).skip(6).skip(4).next(), Random::new(5).skip(10).next());
    /// ```
    #[must_use]
    pub fn skip(self, mut count: u64) -> Self {
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
    ///
    /// ```
    /// let first = superstep_programs::nas::random::Random::new(1).next();
    /// assert_eq!(first, 1_220_703_125.0 / 2f64.powi(46));       // 5¹³
    /// ```
    #[allow(clippy::should_implement_trait, reason = "there is always a next one")]
    #[inline]
    pub fn next(&mut self) -> f64 {
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
