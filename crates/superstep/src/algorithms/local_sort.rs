//! Sorting what one processor has.
//!
//! Values whose order has digits are dealt into buckets by their highest digits, again and again, until a bucket is so
//! small that the standard library is faster. Digits that all values of a bucket share are skipped. Dealing keeps the
//! order of equal values. Where a sample says that most values would crowd in one bucket, it is of no use, and the
//! standard library does all of it: it compares, and does not mind how values are spread.

use super::{key::Digits, order::Order};
use std::mem::needs_drop;

/// So many values, or fewer, are sorted by comparing them.
const SMALL: usize = 128;
/// About so many values should be left in a bucket.
const LEFT: usize = 32;
/// At most so many bits are looked at in one round.
const BITS_MAX: u32 = 10;
/// So many values are looked at to see whether they crowd.
const SAMPLE: usize = 64;

/// What becomes of values that are equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ties {
    /// They keep their order.
    Kept,
    /// They come in any order, which is the same in every run.
    Free,
}

/// Sorts values that lie here.
pub(super) fn sort<T: Clone, O: Order<T>>(values: &mut [T], order: &O, ties: Ties) {
    // What owns memory would be cloned by dealing, and is only moved by the standard library.
    let is_dealt = !needs_drop::<T>() && O::DIGITS != Digits::None && values.len() > SMALL;
    if !is_dealt || values.is_sorted_by(|a, b| order.order(a, b).is_le()) {
        compare(values, order, ties);
    } else if values.is_sorted_by(|a, b| order.order(a, b).is_gt()) {
        values.reverse();
    } else {
        let mut room = Vec::new();
        fabric::make_room(&mut room, values.len());
        room.extend_from_slice(values);
        deal(values, &mut room, order, ties, true);
    }
}

fn compare<T, O: Order<T>>(values: &mut [T], order: &O, ties: Ties) {
    match ties {
        Ties::Kept => values.sort_by(|a, b| order.order(a, b)),
        Ties::Free => values.sort_unstable_by(|a, b| order.order(a, b)),
    }
}

/// Sorts `values`, with `room` for as many; the result stays where the values are, or goes to the room.
fn deal<T: Clone, O: Order<T>>(values: &mut [T], room: &mut [T], order: &O, ties: Ties, stays: bool) {
    let turn = if values.len() > SMALL { Turn::of(values, order) } else { Turn::Compare };
    let Turn::Deal(place) = turn else {
        if matches!(turn, Turn::Compare) {
            compare(values, order, ties);
        }
        if !stays {
            room.clone_from_slice(values);
        }
        return;
    };
    let mut ends = [0; 1 << BITS_MAX];
    for value in &*values {
        ends[place.bucket(order.digits(value))] += 1;
    }
    let mut sum = 0;
    for end in &mut ends[..=place.mask] {
        sum += std::mem::replace(end, sum);
    }
    for value in &*values {
        let end = &mut ends[place.bucket(order.digits(value))];
        room[*end] = value.clone();
        *end += 1;
    }
    let mut start = 0;
    for &end in &ends[..=place.mask] {
        if end > start {
            deal(&mut room[start..end], &mut values[start..end], order, ties, !stays);
        }
        start = end;
    }
}

/// What is done next with some values.
enum Turn {
    /// They are all the same.
    Rest,
    Compare,
    Deal(Place),
}

impl Turn {
    fn of<T, O: Order<T>>(values: &[T], order: &O) -> Self {
        let first = order.digits(&values[0]);
        let varying = values.iter().fold(0, |varying, value| varying | order.digits(value) ^ first);
        if varying == 0 {
            return if O::DIGITS == Digits::All { Self::Rest } else { Self::Compare };
        }
        let top = u64::BITS - varying.leading_zeros();
        let bits = (values.len() / LEFT).ilog2().clamp(1, BITS_MAX).min(top);
        let place = Place { shift: top - bits, mask: (1 << bits) - 1 };
        let mut sample: Vec<usize> =
            values.iter().step_by(values.len() / SAMPLE).map(|value| place.bucket(order.digits(value))).collect();
        sample.sort_unstable();
        let half = sample.len() / 2;
        let crowds = sample.iter().zip(&sample[half..]).any(|(low, high)| low == high);
        if crowds { Self::Compare } else { Self::Deal(place) }
    }
}

/// Which of its digits tell the bucket of a value.
#[derive(Clone, Copy)]
struct Place {
    shift: u32,
    mask: usize,
}

impl Place {
    #[inline]
    fn bucket(self, digits: u64) -> usize {
        (digits >> self.shift) as usize & self.mask
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::{
            order::{By, ByKey, Natural},
            random::mixed,
        },
        *,
    };

    fn check<T: Clone + PartialEq + std::fmt::Debug, O: Order<T>>(mut values: Vec<T>, order: &O) {
        let (mut expected, mut free) = (values.clone(), values.clone());
        expected.sort_by(|a, b| order.order(a, b));
        sort(&mut values, order, Ties::Kept);
        assert!(values == expected, "{} values", values.len());
        sort(&mut free, order, Ties::Free);
        assert!(free.is_sorted_by(|a, b| order.order(a, b).is_le()), "{} values", free.len());
    }

    #[test]
    fn values_of_every_kind_are_sorted_and_equal_ones_keep_their_order() {
        for len in [0, 1, 2, SMALL as u64, SMALL as u64 + 1, 1000, 30_000] {
            let random: Vec<u64> = (0..len).map(mixed).collect();
            check(random.clone(), &Natural);
            check(random.iter().map(|&x| x as i64).collect(), &Natural);
            check(random.iter().map(|&x| x as u8).collect(), &Natural);
            check(random.iter().map(|&x| x >> (x % 64)).collect(), &Natural);
            check(random.iter().map(|&x| [x % 3, x]).collect(), &Natural);
            check(random.iter().map(|&x| (x as i64) as f64 * 1e-3).collect(), &Natural);
            check(random.iter().map(ToString::to_string).collect(), &Natural);
            check(vec![7u64; len as usize], &Natural);
            check((0..len).collect(), &Natural);
            check((0..len).rev().map(|x| x << 40).collect(), &Natural);
            let crowded = |x| if x % 1000 == 7 { u64::MAX - x } else { x % 3 };
            check((0..len).map(crowded).collect(), &Natural);
            let pairs: Vec<(u64, u64)> = random.iter().zip(0..).map(|(x, at)| (x % 50, at)).collect();
            check(pairs.clone(), &ByKey(|pair: &(u64, u64)| pair.0));
            check(pairs, &By(|a: &(u64, u64), b: &(u64, u64)| b.0.cmp(&a.0)));
        }
    }
}
