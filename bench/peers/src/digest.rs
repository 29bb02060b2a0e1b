//! An answer in 64 bits, so that answers of other processes can be checked as well.

use crate::random::mix;

/// What can be digested.
pub(crate) trait Bits: Copy {
    fn bits(self) -> u64;
}

impl Bits for u64 {
    fn bits(self) -> u64 {
        self
    }
}

impl Bits for i64 {
    fn bits(self) -> u64 {
        self.cast_unsigned()
    }
}

impl Bits for f32 {
    fn bits(self) -> u64 {
        u64::from(self.to_bits())
    }
}

impl Bits for f64 {
    fn bits(self) -> u64 {
        self.to_bits()
    }
}

/// Digests `values`, the first of which has place `first` in the whole. The digests of all parts add up, wrapping, to
/// that of the whole.
pub(crate) fn digest<T: Bits>(first: usize, values: impl IntoIterator<Item = T>) -> u64 {
    let place = |(at, value): (usize, T)| mix(mix((first + at) as u64 + 1) ^ value.bits());
    values.into_iter().enumerate().map(place).fold(0, u64::wrapping_add)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_add_up_and_places_matter() {
        let whole = digest(0, [5u64, 6, 7]);
        assert_eq!(whole, digest(0, [5u64]).wrapping_add(digest(1, [6u64, 7])));
        assert_ne!(whole, digest(0, [6u64, 5, 7]));
    }
}
