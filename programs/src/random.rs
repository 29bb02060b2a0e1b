//! Numbers that look random and are the same in every run, on however many processors.

const STRIDE: u64 = 0x9e37_79b9_7f4a_7c15;

/// A generator of numbers: a counter, mixed.
///
/// ```
/// use superstep_programs::random::Random;
///
/// let mut all = Random::new(7);
/// let (first, second) = (all.next(), all.next());
/// assert_eq!(Random::new(7).skip(1).next(), second);
/// assert!(first != second && all.below(10) < 10);
/// ```
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// One of many generators.
    ///
    /// ```
    /// use superstep_programs::random::Random;
    ///
    /// assert_ne!(Random::new(1).next(), Random::new(2).next());
    /// ```
    pub fn new(seed: u64) -> Self {
        Self(mix(seed))
    }

    /// The generator of one processor for one purpose.
    ///
    /// ```
    /// use superstep_programs::random::Random;
    ///
    /// assert_ne!(Random::of_rank(1, 0).next(), Random::of_rank(1, 1).next());
    /// ```
    pub fn of_rank(purpose: u64, rank: usize) -> Self {
        Self::new(purpose << 32 | rank as u64)
    }

    /// The generator after so many numbers, at once: so each processor begins where its part does.
    ///
    /// ```
    /// use superstep_programs::random::Random;
    ///
    /// let mut drawn = Random::new(5);
    /// (0..1000).for_each(|_| drop(drawn.next()));
    /// assert_eq!(drawn.next(), Random::new(5).skip(1000).next());
    /// ```
    #[must_use]
    pub fn skip(self, count: usize) -> Self {
        Self(self.0.wrapping_add(STRIDE.wrapping_mul(count as u64)))
    }

    /// Any number.
    ///
    /// ```
    /// let mut random = superstep_programs::random::Random::new(1);
    /// assert_ne!(random.next(), random.next());
    /// ```
    #[expect(clippy::should_implement_trait, reason = "there is no end to them")]
    #[inline]
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(STRIDE);
        mix(self.0)
    }

    /// A number below `end`, each about as often as any other.
    ///
    /// ```
    /// let mut random = superstep_programs::random::Random::new(1);
    /// assert!((0..100).all(|_| random.below(3) < 3));
    /// ```
    #[inline]
    pub fn below(&mut self, end: usize) -> usize {
        ((u128::from(self.next()) * end as u128) >> 64) as usize
    }

    /// A number from 0 to 1, without 1.
    ///
    /// ```
    /// let mut random = superstep_programs::random::Random::new(1);
    /// assert!((0..100).all(|_| (0.0..1.0).contains(&random.unit())));
    /// ```
    #[inline]
    pub fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 * 0.5f64.powi(53)
    }
}

/// Scatters the bits of a number; different numbers stay different.
///
/// ```
/// assert_ne!(superstep_programs::random::mix(1), superstep_programs::random::mix(2));
/// ```
#[inline]
pub fn mix(number: u64) -> u64 {
    let number = (number ^ number >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ number >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ number >> 31
}
