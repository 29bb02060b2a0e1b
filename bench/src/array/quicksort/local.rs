//! What each processor does on its own: sorting, and cutting at pivots.
//!
//! Keys are sorted by dealing them into buckets by their highest bits, again and again, until a bucket is so small that
//! the standard library does it in the first-level cache. The bits that all keys of a bucket share are skipped. Where a
//! sample says that most keys would crowd in one bucket, dealing is of no use, and the standard library does all of it:
//! it compares, and does not mind how keys are spread.

use super::keys::{Bits, Key};

/// So many keys are sorted at once.
const SMALL: usize = 128;
/// So many keys should be left in a bucket.
const LEFT: usize = 32;
/// At most so many bits are looked at in one round.
const BITS_MAX: u32 = 10;
/// So many keys are looked at to see whether they crowd.
const SAMPLE: usize = 64;

/// Sorts `keys`. What is in `room` does not matter; it is kept for its memory.
pub(crate) fn sort<K: Key>(keys: &mut [K], room: &mut Vec<K::Bits>) {
    if room.len() < keys.len() {
        room.resize(keys.len(), K::Bits::default());
    }
    let room = &mut room[..keys.len()];
    K::sort_as_bits(keys, |keys| deal(keys, room, true));
}

/// Sorts `keys`, with `other` as room; the result stays where the keys are or goes to `other`.
fn deal<B: Bits>(keys: &mut [B], other: &mut [B], stays: bool) {
    let Some(digit) = (if keys.len() > SMALL { Digit::of(keys) } else { None }) else {
        keys.sort_unstable();
        if !stays {
            other.copy_from_slice(keys);
        }
        return;
    };
    let mut ends = [0; 1 << BITS_MAX];
    for &key in &*keys {
        ends[digit.get(key)] += 1;
    }
    let mut sum = 0;
    for end in &mut ends[..=digit.mask] {
        sum += std::mem::replace(end, sum);
    }
    for &key in &*keys {
        let end = &mut ends[digit.get(key)];
        other[*end] = key;
        *end += 1;
    }
    let mut start = 0;
    for &end in &ends[..=digit.mask] {
        if end > start {
            deal(&mut other[start..end], &mut keys[start..end], !stays);
        }
        start = end;
    }
}

/// Which bits of a key tell its bucket.
#[derive(Clone, Copy)]
struct Digit {
    shift: u32,
    mask: usize,
}

impl Digit {
    /// The highest bits in which keys differ; none if dealing by them is of no use.
    fn of<B: Bits>(keys: &[B]) -> Option<Self> {
        let varying = varying_bits(keys);
        let top = u64::BITS - varying.leading_zeros();
        let bits = (keys.len() / LEFT).ilog2().clamp(1, BITS_MAX).min(top);
        let digit = Self { shift: top - bits, mask: (1 << bits) - 1 };
        (varying != 0 && !digit.crowds(keys)).then_some(digit)
    }

    #[inline]
    fn get<B: Bits>(self, key: B) -> usize {
        (key.into() >> self.shift) as usize & self.mask
    }

    /// Whether more than half of some keys have the same digit.
    fn crowds<B: Bits>(self, keys: &[B]) -> bool {
        let mut sample: Vec<usize> = keys.iter().step_by(keys.len() / SAMPLE).map(|&key| self.get(key)).collect();
        sample.sort_unstable();
        let half = sample.len() / 2;
        sample.iter().zip(&sample[half..]).any(|(low, high)| low == high)
    }
}

/// The bits in which not all keys agree.
fn varying_bits<B: Bits>(keys: &[B]) -> u64 {
    let Some(first) = keys.first().map(|&key| key.into()) else { return 0 };
    keys.iter().fold(0, |varying, &key| varying | key.into() ^ first)
}

/// Copies `keys` to `sliced`, cut at the pivots: slice i has the keys above pivot i - 1 and not above pivot i. Returns
/// the lengths of the slices.
pub(crate) fn cut<K: Key>(keys: &[K], pivots: &[K], sliced: &mut Vec<K>) -> Vec<usize> {
    if sliced.len() != keys.len() {
        sliced.resize(keys.len(), K::default());
    }
    match pivots {
        [] => {
            sliced.copy_from_slice(keys);
            vec![keys.len()]
        }
        [pivot] => cut_in_two(keys, *pivot, sliced),
        _ => cut_in_many(keys, pivots, sliced),
    }
}

/// Fills `sliced` from both ends: each key is written at both, and only one of them moves on. That needs no branch.
fn cut_in_two<K: Key>(keys: &[K], pivot: K, sliced: &mut [K]) -> Vec<usize> {
    let pivot = pivot.rank();
    let (mut low, mut high) = (0, keys.len());
    for &key in keys {
        let is_high = key.rank() > pivot;
        sliced[low] = key;
        sliced[high - 1] = key;
        low += usize::from(!is_high);
        high -= usize::from(is_high);
    }
    vec![low, keys.len() - low]
}

/// Counts, then copies.
fn cut_in_many<K: Key>(keys: &[K], pivots: &[K], sliced: &mut [K]) -> Vec<usize> {
    let pivots: Vec<K::Bits> = pivots.iter().map(|pivot| pivot.rank()).collect();
    let slice = |key: K| pivots.partition_point(|&pivot| pivot < key.rank());
    let mut lens = vec![0; pivots.len() + 1];
    for &key in keys {
        lens[slice(key)] += 1;
    }
    let mut ends: Vec<usize> = lens.iter().scan(0, |sum, len| Some(std::mem::replace(sum, *sum + len))).collect();
    for &key in keys {
        let end = &mut ends[slice(key)];
        sliced[*end] = key;
        *end += 1;
    }
    lens
}

#[cfg(test)]
mod tests {
    use super::{
        super::keys::{any, below_a_million, skewed},
        *,
    };
    use crate::random::Random;

    fn check<K: Key + std::fmt::Debug>(mut keys: Vec<K>) {
        let mut expected = keys.clone();
        K::sort(&mut expected);
        sort(&mut keys, &mut Vec::new());
        assert_eq!(keys, expected);
    }

    #[test]
    fn keys_of_every_kind_are_sorted() {
        for len in [0, 1, 2, SMALL, SMALL + 1, 1000, 30_000] {
            check(any(len));
            check(skewed(len));
            check(below_a_million(len));
            check(vec![7u64; len]);
            check((0..len as u64).collect());
            check((0..len as u64).rev().map(|key| key << 40).collect());
            check((0..len).map(|at| if at % 1000 == 7 { u64::MAX - at as u64 } else { at as u64 % 3 }).collect());
            let mut random = Random::new(4);
            check((0..len).map(|_| f32::from_bits(random.next() as u32)).filter(|key| !key.is_nan()).collect());
            check((0..len).map(|at| (random.next() >> (at % 64)) as f32 - 1e9).collect());
        }
    }

    #[test]
    fn slices_hold_what_lies_between_their_pivots() {
        for pivots in [&[][..], &[500], &[300, 300, 600], &[0, 2000]] {
            let keys: Vec<u64> = (0..1000).map(|at| at * 7 % 1000).collect();
            let mut sliced = vec![9; 3];
            let lens = cut(&keys, pivots, &mut sliced);
            assert_eq!((lens.len(), lens.iter().sum()), (pivots.len() + 1, keys.len()));
            let mut rest = &sliced[..];
            for (slice, len) in lens.into_iter().enumerate() {
                let (here, behind) = rest.split_at(len);
                assert!(here.iter().all(|key| pivots.partition_point(|pivot| pivot < key) == slice));
                rest = behind;
            }
            sliced.sort_unstable();
            assert!(sliced.into_iter().eq(0..1000));
        }
    }
}
