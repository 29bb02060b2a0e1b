//! What is sorted.

use crate::random::Random;
use bytemuck::NoUninit;
use rayon::slice::ParallelSliceMut;
use superstep::{Element, algorithms};

/// A whole number that keys are sorted as.
pub trait Bits: Copy + Default + Ord + Into<u64> {}

impl Bits for u32 {}
impl Bits for u64 {}

/// A key with a total order.
pub trait Key: Element + Default + PartialEq + NoUninit + algorithms::Key {
    /// Whole numbers of the same size.
    type Bits: Bits;

    /// A whole number that is in the same order.
    fn rank(self) -> Self::Bits;

    /// Turns keys into their ranks where they are, and lets `sort` put those in order.
    fn sort_as_bits(keys: &mut [Self], sort: impl FnOnce(&mut [Self::Bits]));

    /// Sorts as the standard library does.
    fn sort(keys: &mut [Self]);

    /// Sorts as rayon does.
    fn sort_by_rayon(keys: &mut [Self]);
}

impl Key for u64 {
    type Bits = Self;

    #[inline]
    fn rank(self) -> Self {
        self
    }

    fn sort_as_bits(keys: &mut [Self], sort: impl FnOnce(&mut [Self])) {
        sort(keys);
    }

    fn sort(keys: &mut [Self]) {
        keys.sort_unstable();
    }

    fn sort_by_rayon(keys: &mut [Self]) {
        keys.par_sort_unstable();
    }
}

const SIGN: u32 = 1 << 31;

/// In the order of `total_cmp`. Of a number with a sign all bits are turned, of one without the sign alone.
impl Key for f32 {
    type Bits = u32;

    #[inline]
    fn rank(self) -> u32 {
        let bits = self.to_bits();
        bits ^ ((bits as i32 >> 31) as u32 | SIGN)
    }

    fn sort_as_bits(keys: &mut [Self], sort: impl FnOnce(&mut [u32])) {
        let bits: &mut [u32] = bytemuck::cast_slice_mut(keys);
        for bits in &mut *bits {
            *bits = Self::from_bits(*bits).rank();
        }
        sort(bits);
        for bits in bits {
            *bits ^= (!*bits as i32 >> 31) as u32 | SIGN;
        }
    }

    fn sort(keys: &mut [Self]) {
        keys.sort_unstable_by(f32::total_cmp);
    }

    fn sort_by_rayon(keys: &mut [Self]) {
        keys.par_sort_unstable_by(f32::total_cmp);
    }
}

/// Keys, and the same in order.
pub(crate) struct Input<K> {
    pub(crate) keys: Vec<K>,
    pub(crate) sorted: Vec<K>,
}

impl<K: Key> Input<K> {
    pub(crate) fn new(keys: Vec<K>) -> Self {
        let mut sorted = keys.clone();
        K::sort(&mut sorted);
        Self { keys, sorted }
    }
}

/// Whole numbers below a million, as the paper sorts them.
pub(crate) fn below_a_million(len: usize) -> Vec<f32> {
    let mut random = Random::new(1);
    (0..len).map(|_| random.below(1_000_000) as f32).collect()
}

/// Any numbers.
pub(crate) fn any(len: usize) -> Vec<u64> {
    let mut random = Random::new(2);
    (0..len).map(|_| random.next()).collect()
}

/// Numbers of every length in bits alike.
pub(crate) fn skewed(len: usize) -> Vec<u64> {
    let mut random = Random::new(3);
    (0..len).map(|_| random.next() >> random.below(64)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_in_the_order_of_the_keys() {
        let floats = [f32::NEG_INFINITY, -1.5, -0.0, 0.0, 1e-40, 2.0, f32::INFINITY, f32::NAN];
        assert!(floats.is_sorted_by(|a, b| a.total_cmp(b).is_lt()));
        assert!(floats.is_sorted_by(|a, b| a.rank() < b.rank()));
        let mut same = floats;
        f32::sort_as_bits(&mut same, |bits| assert!(bits.is_sorted()));
        assert_eq!(same.map(f32::to_bits), floats.map(f32::to_bits));
    }
}
