//! Sorting what one processor has.
//!
//! Values whose order has digits are dealt into classes, each so small that it is then sorted in a cache; see
//! `classes.rs` and `passes.rs`. All of that keeps the order of equal values. Anything else is compared by the standard
//! library.

use super::{
    classes::Classes,
    deal::{deal, is_dealt, sort_classes},
    lists::Lists,
    order::{Order, Ties, compare, is_in_order},
    passes::Passes,
};
use fabric::Ahead;

/// So many values, or fewer, are sorted by comparing them.
const SMALL: usize = 128;
/// So many bytes are sorted in the cache.
const CACHED_BYTES: usize = 1 << 18;
/// So many values are looked at to find classes.
const SAMPLE: usize = 4096;

/// Sorts values that lie here.
pub(super) fn sort<T: Clone + 'static, O: Order<T>>(values: &mut [T], order: &O, ties: Ties) {
    if !is_dealt::<T, O>() || values.len() <= SMALL {
        compare(values, order, ties);
    } else if is_in_order(values, order) {
    } else if values.is_sorted_by(|a, b| order.order(a, b).is_gt()) {
        values.reverse();
    } else if size_of_val(values) <= CACHED_BYTES {
        let Some(mut passes) = Passes::new(&[values], None, order) else { return compare(values, order, ties) };
        let mut room = values.to_vec();
        passes.deal_low(&[values], &mut room, Ahead::of(values), order);
        passes.deal_high(&room, values, order, ties);
    } else {
        let step = values.len().div_ceil(SAMPLE);
        let mut sample: Vec<u64> = values.iter().step_by(step).map(|value| order.digits(value)).collect();
        sample.sort_unstable();
        let classes = Classes::of(&sample, values.len(), 1);
        let lists = deal(values, &classes, order, &[], &Lists::default(), |_, _, _, _| 0);
        sort_classes(&lists, &classes, 0..classes.count(), order, ties, values);
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

    fn check<T: Clone + PartialEq + std::fmt::Debug + 'static, O: Order<T>>(mut values: Vec<T>, order: &O) {
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
