//! Numbers that look random and are the same in every run.

/// A generator of numbers: a counter, mixed.
pub struct Random(u64);

impl Random {
    /// One of many generators.
    pub fn new(seed: u64) -> Self {
        Self(mix(seed))
    }

    /// The generator of one processor for one purpose.
    pub fn of_rank(purpose: u64, rank: usize) -> Self {
        Self::new(purpose << 32 | rank as u64)
    }

    /// Any number.
    #[expect(clippy::should_implement_trait, reason = "there is no end to them")]
    #[inline]
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.0)
    }

    /// A number below `end`, each about as often as any other.
    #[inline]
    pub fn below(&mut self, end: usize) -> usize {
        ((u128::from(self.next()) * end as u128) >> 64) as usize
    }
}

/// Scatters the bits of a number; different numbers stay different.
#[inline]
pub fn mix(number: u64) -> u64 {
    let number = (number ^ number >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ number >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ number >> 31
}

/// For each of `procs` processors, `count` indices below `len`.
pub(crate) fn indices(procs: usize, count: usize, len: usize) -> Vec<Vec<usize>> {
    let of_rank = |rank: usize| {
        let mut random = Random::new(rank as u64);
        (0..count).map(|_| random.below(len)).collect()
    };
    (0..procs).map(of_rank).collect()
}

/// The numbers below `len` in a random order.
pub(crate) fn permutation(len: usize) -> Vec<usize> {
    let mut random = Random::new(len as u64);
    let mut all: Vec<usize> = (0..len).collect();
    for at in (1..len).rev() {
        all.swap(at, random.below(at + 1));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indices_are_in_range_and_a_permutation_has_each_once() {
        assert!(indices(2, 1000, 7).iter().flatten().all(|&index| index < 7));
        let mut all = permutation(1000);
        assert!(!all.is_sorted());
        all.sort_unstable();
        assert!(all.into_iter().eq(0..1000));
    }
}
