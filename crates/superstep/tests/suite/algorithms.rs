//! Algorithms: what their claims have in common, and sorting.
//!
//! Each is held against plain sequential code on the whole list.

use crate::{SEVERAL, check, failing, on_sizes};
use superstep::{
    Array, Block, BlockCyclic, Cyclic, Distribution, Element, ErrorKind, Group, Irregular, Tiles, Value,
    algorithms::{self, Key},
};

/// Sizes of groups for claims with many steps.
pub(crate) const FEW: [usize; 4] = [1, 2, 3, 7];

/// Lengths of lists, for a group of `p`.
pub(crate) fn lens(p: usize) -> [usize; 5] {
    [0, 1, p - 1, p, 1000]
}

/// Something that holds for arrays of every distribution.
pub(crate) trait OfArrays {
    fn holds<D: Distribution>(&self, g: &mut Group, len: usize, d: D);
}

/// Sizes that leave some processors with nothing.
pub(crate) fn uneven(len: usize, p: usize) -> Irregular {
    let mut sizes = vec![0; p];
    for index in 0..len {
        sizes[p - 1 - index % p.div_ceil(2)] += 1;
    }
    Irregular(sizes)
}

/// Holds a claim against every distribution and every length.
pub(crate) fn for_arrays(g: &mut Group, claim: &impl OfArrays) {
    let p = g.size();
    for len in lens(p) {
        claim.holds(g, len, Block::new());
        claim.holds(g, len, Cyclic::new());
        claim.holds(g, len, BlockCyclic::new(3));
        claim.holds(g, len, uneven(len, p));
        claim.holds(g, len, Tiles([4]));
    }
}

/// An array with these elements.
pub(crate) fn array_of<T: Element, D: Distribution>(g: &mut Group, d: D, list: &[T]) -> Array<T, D> {
    let a = g.array_with([list.len()], d);
    a.forall_mut(|index, x| *x = list[index]);
    a
}

/// All elements of an array.
pub(crate) fn all<T: Element, D: Distribution>(g: &mut Group, a: &Array<T, D>) -> Vec<T> {
    g.step(|s| s.mirror(a, ..))
}

/// All values of the vectors of all processors.
pub(crate) fn joined<T: Value>(g: &mut Group, mine: &[T]) -> Vec<T> {
    let mine = mine.to_vec();
    g.step(|s| s.collect(mine)).concat()
}

/// This processor's share of a list, where some have nothing.
pub(crate) fn share<T: Clone>(g: &Group, list: &[T]) -> Vec<T> {
    let mut rest = list;
    for (rank, len) in uneven(list.len(), g.size()).0.into_iter().enumerate() {
        let (here, behind) = rest.split_at(len);
        if rank == g.rank() {
            return here.to_vec();
        }
        rest = behind;
    }
    unreachable!("every rank has a share")
}

/// Makes sure that runs are blocks of ⌈len / p⌉.
#[track_caller]
pub(crate) fn is_even(g: &Group, mine: usize, len: usize) {
    let (me, block) = (g.rank(), len.div_ceil(g.size()));
    assert_eq!(mine, ((me + 1) * block).min(len) - (me * block).min(len));
}

/// Numbers that look drawn.
pub(crate) fn drawn(len: usize) -> Vec<u64> {
    let mut x = 88_172_645_463_325_252_u64;
    let next = |_| {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        x
    };
    (0..len).map(next).collect()
}

/// Lists of numbers of every kind that is known to be hard.
pub(crate) fn lists(len: usize) -> [Vec<u64>; 6] {
    let any = drawn(len);
    [
        any.iter().map(|x| x % 3).collect(),
        any.iter().map(|x| x >> (x % 64)).collect(),
        any,
        vec![7; len],
        (0..len as u64).collect(),
        (0..len as u64).rev().collect(),
    ]
}

/// Floats, with all that have no place in the usual order.
pub(crate) fn floats(len: usize) -> Vec<f64> {
    let odd = [f64::NAN, -f64::NAN, 0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY, f64::MIN_POSITIVE, -1e300];
    drawn(len).iter().map(|x| if x % 5 == 0 { odd[(x >> 8) as usize % 8] } else { *x as i64 as f64 }).collect()
}

struct Sorts;

impl OfArrays for Sorts {
    fn holds<D: Distribution>(&self, g: &mut Group, len: usize, d: D) {
        for list in lists(len) {
            let mut expected = list.clone();
            expected.sort_unstable();
            let a = array_of(g, d.clone(), &list);
            algorithms::sort(g, &a);
            assert_eq!(all(g, &a), expected);
            assert!(algorithms::is_sorted(g, &a));
        }
        let list = &lists(len)[0];
        // Pairs of a key and a place: places of equal keys must still rise.
        let pairs: Vec<[u64; 2]> = list.iter().zip(0..).map(|(&key, at)| [key, at]).collect();
        let mut expected = pairs.clone();
        expected.sort_by_key(|pair| pair[0]);
        let a = array_of(g, d.clone(), &pairs);
        algorithms::sort_by_key(g, &a, |pair| pair[0]);
        assert_eq!(all(g, &a), expected);
        algorithms::sort_by(g, &a, |x, y| y[0].cmp(&x[0]));
        expected.sort_by_key(|pair| std::cmp::Reverse(pair[0]));
        assert_eq!(all(g, &a), expected);
        algorithms::sort_unstable(g, &a);
        expected.sort_unstable();
        assert_eq!(all(g, &a), expected);
        algorithms::sort_unstable_by(g, &a, |x, y| y[1].cmp(&x[1]));
        expected.sort_by_key(|x| std::cmp::Reverse(x[1]));
        assert_eq!(all(g, &a), expected);
        algorithms::sort_unstable_by_key(g, &a, |x| x[1]);
        expected.reverse();
        assert_eq!(all(g, &a), expected);
        assert_eq!(algorithms::is_sorted_by(g, &a, |x, y| y[1].cmp(&x[1])), len < 2);
    }
}

#[test]
fn an_array_is_sorted_whatever_it_holds_and_however_it_lies() {
    on_sizes(&FEW, |g| for_arrays(g, &Sorts));
}

/// S3: floats are in one order, and every bit of them is kept.
#[test]
fn floats_are_sorted_in_their_total_order() {
    on_sizes(&FEW, |g| {
        for len in lens(g.size()) {
            let list = floats(len);
            let mut expected = list.clone();
            expected.sort_by(f64::total_cmp);
            let bits = |list: Vec<f64>| list.into_iter().map(f64::to_bits).collect::<Vec<_>>();
            let a = array_of(g, Cyclic::new(), &list);
            algorithms::sort(g, &a);
            assert_eq!(bits(all(g, &a)), bits(expected.clone()));
            let mine = share(g, &list);
            let mine = algorithms::sort_unstable_vec(g, mine);
            assert_eq!(bits(joined(g, &mine)), bits(expected));
        }
    });
}

fn sorts_vectors<T: Value + Key + PartialEq + std::fmt::Debug>(g: &mut Group, list: &[T]) {
    let mut expected = list.to_vec();
    expected.sort_by(Key::order);
    let mine = share(g, list);
    assert_eq!(algorithms::is_sorted_vec(g, &mine), list == expected);
    let mine = algorithms::sort_vec(g, mine);
    is_even(g, mine.len(), list.len());
    assert_eq!(joined(g, &mine), expected);
    assert!(algorithms::is_sorted_vec(g, &mine));
}

#[test]
fn vectors_are_sorted_and_dealt_out_evenly() {
    on_sizes(&FEW, |g| {
        for len in lens(g.size()) {
            for list in lists(len) {
                sorts_vectors(g, &list);
            }
            let list = &lists(len)[0];
            sorts_vectors(g, &list.iter().map(|x| format!("{:x}", x * 7919)).collect::<Vec<_>>());
            let pairs: Vec<(u64, String)> = list.iter().zip(0..).map(|(&x, at)| (x, at.to_string())).collect();
            sorts_vectors(g, &pairs);
            let mut expected = pairs.clone();
            expected.sort_by_key(|pair| pair.0);
            let mine = share(g, &pairs);
            let mine = algorithms::sort_by_key_vec(g, mine, |pair| pair.0);
            assert_eq!(joined(g, &mine), expected);
            expected.sort_by_key(|pair| std::cmp::Reverse(pair.0));
            let mine = algorithms::sort_by_vec(g, mine, |x, y| y.0.cmp(&x.0));
            assert_eq!(joined(g, &mine), expected);
            is_even(g, mine.len(), len);
        }
    });
}

struct Rebalances;

impl OfArrays for Rebalances {
    fn holds<D: Distribution>(&self, g: &mut Group, len: usize, d: D) {
        let list = drawn(len);
        let a = array_of(g, d, &list);
        let even = algorithms::rebalance(g, &a);
        is_even(g, even.local().len(), len);
        assert_eq!(all(g, &even), list);
        let mine = share(g, &list);
        let mine = algorithms::rebalance_vec(g, mine);
        is_even(g, mine.len(), len);
        assert_eq!(joined(g, &mine), list);
    }
}

#[test]
fn what_is_rebalanced_is_even_and_in_the_same_order() {
    on_sizes(&FEW, |g| for_arrays(g, &Rebalances));
}

/// G7: an array belongs to the group that made it.
#[test]
fn an_algorithm_refuses_an_array_of_another_group() {
    failing(
        &SEVERAL,
        |g| {
            let a = g.array::<u64, Block>(10);
            g.split(1, |sub| algorithms::sort(sub, &a));
        },
        |_, error| check(&error, ErrorKind::NotMember, &["this array belongs to group 0", file!()]),
    );
}
