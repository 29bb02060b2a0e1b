//! Keys in several orders: the input of `sort`.

use crate::{NoUninit, PROCS, Random};
use ::rayon::slice::ParallelSliceMut;
use ::rdst::RadixSort as _;
use ::superstep::{Element, algorithms};
use bytemuck::TransparentWrapper;
use voracious_radix_sort::{RadixSort as _, Radixable};

/// What is sorted, and how each peer does it.
pub(crate) trait Key: Element + NoUninit + algorithms::Key {
    const NAME: &'static str;
    /// A key that rises with the first number.
    fn new(first: u64, second: u64) -> Self;
    fn sort(keys: &mut [Self]);
    fn sort_by_rayon(keys: &mut [Self]);
    fn sort_by_rdst(keys: &mut [Self]);
    fn sort_by_voracious(keys: &mut [Self]);
}

impl Key for u64 {
    const NAME: &'static str = "u64";

    fn new(first: u64, _: u64) -> Self {
        first
    }

    fn sort(keys: &mut [Self]) {
        keys.sort_unstable();
    }

    fn sort_by_rayon(keys: &mut [Self]) {
        keys.par_sort_unstable();
    }

    fn sort_by_rdst(keys: &mut [Self]) {
        keys.radix_sort_unstable();
    }

    fn sort_by_voracious(keys: &mut [Self]) {
        keys.voracious_mt_sort(PROCS);
    }
}

impl Key for f64 {
    const NAME: &'static str = "f64";

    /// Of either sign, between -1 and 1.
    fn new(first: u64, _: u64) -> Self {
        first.wrapping_sub(1 << 63) as i64 as Self / -(i64::MIN as Self)
    }

    fn sort(keys: &mut [Self]) {
        keys.sort_unstable_by(Self::total_cmp);
    }

    fn sort_by_rayon(keys: &mut [Self]) {
        keys.par_sort_unstable_by(Self::total_cmp);
    }

    fn sort_by_rdst(keys: &mut [Self]) {
        keys.radix_sort_unstable();
    }

    fn sort_by_voracious(keys: &mut [Self]) {
        keys.voracious_mt_sort(PROCS);
    }
}

/// A pair of numbers, for peers that have to be told how pairs are sorted.
#[derive(Clone, Copy, PartialEq, PartialOrd, TransparentWrapper)]
#[repr(transparent)]
struct Pair([u64; 2]);

impl ::rdst::RadixKey for Pair {
    const LEVELS: usize = 16;

    #[inline]
    fn get_level(&self, level: usize) -> u8 {
        (self.0[1 - level / 8] >> (level % 8 * 8)) as u8
    }
}

impl Radixable<u128> for Pair {
    type Key = u128;

    #[inline]
    fn key(&self) -> u128 {
        u128::from(self.0[0]) << 64 | u128::from(self.0[1])
    }
}

/// A tuple of two numbers, as elements of arrays have it.
impl Key for [u64; 2] {
    const NAME: &'static str = "(u64, u64)";

    fn new(first: u64, second: u64) -> Self {
        [first, second]
    }

    fn sort(keys: &mut [Self]) {
        keys.sort_unstable();
    }

    fn sort_by_rayon(keys: &mut [Self]) {
        keys.par_sort_unstable();
    }

    fn sort_by_rdst(keys: &mut [Self]) {
        Pair::wrap_slice_mut(keys).radix_sort_unstable();
    }

    fn sort_by_voracious(keys: &mut [Self]) {
        Pair::wrap_slice_mut(keys).voracious_mt_sort(PROCS);
    }
}

/// The order that keys are in, and what they are.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Order {
    /// Any numbers.
    Random,
    /// Numbers of every length in bits alike, so that most are small.
    Skewed,
    /// Any numbers, from the lowest to the highest.
    Sorted,
    /// One number.
    Equal,
}

impl Order {
    pub(crate) const ALL: [Self; 4] = [Self::Random, Self::Skewed, Self::Sorted, Self::Equal];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Random => "random",
            Self::Skewed => "skewed",
            Self::Sorted => "sorted",
            Self::Equal => "equal",
        }
    }

    /// So many keys.
    pub(crate) fn keys<K: Key>(self, len: usize) -> Vec<K> {
        let mut random = Random::of_rank(4, 0);
        let mut number = || match self {
            Self::Random | Self::Sorted => random.next(),
            Self::Skewed => random.next() >> random.below(64),
            Self::Equal => 7,
        };
        let mut keys: Vec<K> = (0..len).map(|_| K::new(number(), number())).collect();
        if matches!(self, Self::Sorted) {
            K::sort(&mut keys);
        }
        keys
    }
}
