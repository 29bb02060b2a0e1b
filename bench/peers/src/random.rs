//! Random numbers that are the same in every process and every run.

/// Scrambles a number; different numbers stay different.
pub(crate) fn mix(number: u64) -> u64 {
    let number = (number ^ (number >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    number ^ (number >> 31)
}

/// The generator `SplitMix64`.
pub(crate) struct Random(u64);

impl Random {
    /// A stream of its own for each use and each processor.
    pub(crate) fn new(stream: u64, rank: usize) -> Self {
        Self(mix(stream << 32 | rank as u64))
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        mix(self.0)
    }

    /// A number below `bound`.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.next()) * bound as u128) >> 64) as usize
    }
}
