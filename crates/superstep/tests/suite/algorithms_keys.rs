//! Algorithms about keys: every value once, groups, joins, bins, the largest.

use crate::{
    algorithms::{FEW, OfArrays, all, array_of, drawn, floats, for_arrays, joined, lens, lists, share},
    check, failing, on_sizes,
};
use std::{cmp::Reverse, collections::BTreeMap};
use superstep::{
    Block, Cyclic, Distribution, ErrorKind, Group, Sum,
    algorithms::{self, Key},
};

/// An operator that does not commute.
#[allow(clippy::ptr_arg, reason = "an operator has two values of one type")]
fn append(all: &mut String, next: &String) {
    all.push_str(next);
}

struct Uniques;

impl OfArrays for Uniques {
    fn holds<D: Distribution>(&self, g: &mut Group, len: usize, d: D) {
        for list in lists(len) {
            let a = array_of(g, d.clone(), &list);
            let mut expected = list.clone();
            expected.dedup();
            let kept = algorithms::dedup(g, &a, |x, y| x == y);
            assert_eq!(all(g, &kept), expected);
            expected.sort_unstable();
            expected.dedup();
            let kept = algorithms::unique(g, &a);
            assert_eq!(all(g, &kept), expected);
        }
    }
}

#[test]
fn what_is_unique_is_there_once() {
    on_sizes(&FEW, |g| for_arrays(g, &Uniques));
}

#[test]
fn values_of_vectors_are_there_once() {
    on_sizes(&FEW, |g| {
        for len in lens(g.size()) {
            let list: Vec<String> = lists(len)[0].iter().map(|x| format!("{x} times")).collect();
            let mut expected = list.clone();
            expected.dedup();
            let mine = share(g, &list);
            let kept = algorithms::dedup_vec(g, mine.clone(), |x, y| x == y);
            assert_eq!(joined(g, &kept), expected);
            expected.sort();
            expected.dedup();
            let kept = algorithms::unique_vec(g, mine);
            assert_eq!(joined(g, &kept), expected);
            let floats = floats(len);
            let mut bits: Vec<u64> = floats.iter().map(|x| x.to_bits()).collect();
            bits.sort_by(|x, y| f64::from_bits(*x).order(&f64::from_bits(*y)));
            bits.dedup();
            let mine = share(g, &floats);
            let kept = algorithms::unique_vec(g, mine);
            assert_eq!(joined(g, &kept).into_iter().map(f64::to_bits).collect::<Vec<_>>(), bits);
        }
    });
}

/// What plain code makes of rows.
fn grouped<K: Ord + Clone, V: Clone>(rows: &[(K, V)], combine: impl Fn(&mut V, &V)) -> BTreeMap<K, V> {
    let mut groups = BTreeMap::new();
    for (key, value) in rows {
        groups.entry(key.clone()).and_modify(|sum| combine(sum, value)).or_insert_with(|| value.clone());
    }
    groups
}

struct Groups;

impl OfArrays for Groups {
    fn holds<D: Distribution>(&self, g: &mut Group, len: usize, d: D) {
        for list in &lists(len)[..3] {
            let values: Vec<[u64; 2]> = (0..len as u64).map(|at| [2 * at + 1, at]).collect();
            let rows: Vec<(u64, [u64; 2])> = list.iter().map(|x| x % 100).zip(values.iter().copied()).collect();
            // Functions x → a x + b, one after another.
            let compose = |f: &mut [u64; 2], h: &[u64; 2]| {
                *f = [f[0].wrapping_mul(h[0]), f[1].wrapping_mul(h[0]).wrapping_add(h[1])];
            };
            let expected = grouped(&rows, compose);
            let keys: Vec<u64> = rows.iter().map(|row| row.0).collect();
            let (of_keys, of_values) = (array_of(g, d.clone(), &keys), array_of(g, Cyclic::new(), &values));
            let (keys, sums) = algorithms::group_by_key(g, &of_keys, &of_values, compose);
            assert_eq!(all(g, &keys), expected.keys().copied().collect::<Vec<_>>());
            assert_eq!(all(g, &sums), expected.values().copied().collect::<Vec<_>>());
        }
    }
}

#[test]
fn groups_are_combined_in_the_order_of_rows() {
    on_sizes(&FEW, |g| for_arrays(g, &Groups));
}

#[test]
fn rows_of_vectors_are_grouped_by_keys_of_every_kind() {
    on_sizes(&FEW, |g| {
        for len in lens(g.size()) {
            let list = &lists(len)[1];
            let rows: Vec<((u64, char), String)> =
                list.iter().zip(0..).map(|(x, at)| ((x % 10, 'k'), format!("{at} "))).collect();
            let expected = grouped(&rows, append);
            let (keys, values) = share(g, &rows).into_iter().unzip();
            let (keys, sums) = algorithms::group_by_key_vec(g, keys, values, append);
            assert_eq!(joined(g, &keys), expected.keys().copied().collect::<Vec<_>>());
            assert_eq!(joined(g, &sums), expected.values().cloned().collect::<Vec<_>>());
        }
    });
}

/// What plain code makes of two tables.
fn paired(left: &[(u64, u64)], right: &[(u64, u64)]) -> Vec<[u64; 3]> {
    let mut pairs: Vec<[u64; 3]> = Vec::new();
    for &(key, a) in left {
        pairs.extend(right.iter().filter(|row| row.0 == key).map(|&(_, b)| [key, a, b]));
    }
    pairs.sort_by_key(|pair| pair[0]);
    pairs
}

fn table(len: usize, keys: u64, shift: u32) -> Vec<(u64, u64)> {
    drawn(len).into_iter().zip(0..).map(|(x, at)| ((x >> shift) % keys, at)).collect()
}

#[test]
fn a_join_has_every_pair_of_rows_with_one_key_in_order() {
    on_sizes(&FEW, |g| {
        for (len, other, keys) in [(0, 5, 3), (5, 0, 3), (1, 1, 1), (300, 100, 40), (30, 50, 1), (50, 50, u64::MAX)] {
            let (left, right) = (table(len, keys, 5), table(other, keys, 9));
            let expected = paired(&left, &right);
            let (ka, va): (Vec<_>, Vec<_>) = left.iter().copied().unzip();
            let (kb, vb): (Vec<_>, Vec<_>) = right.iter().copied().unzip();
            let (a, b) = (array_of(g, Cyclic::new(), &ka), array_of(g, Block::new(), &va));
            let (c, d) = (array_of(g, Block::new(), &kb), array_of(g, Block::new(), &vb));
            let pairs = algorithms::join(g, (&a, &b), (&c, &d), |&key, &a, &b| [key, a, b]);
            assert_eq!(all(g, &pairs), expected);
            let mine = share(g, &left).into_iter().map(|(key, a)| (key.to_string(), a)).unzip();
            let theirs = share(g, &right).into_iter().map(|(key, b)| (key.to_string(), b)).unzip();
            let pairs = algorithms::join_vec(g, mine, theirs, |key, &a, &b| [key.parse().unwrap(), a, b]);
            let mut expected = expected;
            expected.sort_by_key(|pair| pair[0].to_string());
            assert_eq!(joined(g, &pairs), expected);
        }
    });
}

struct Bins;

impl OfArrays for Bins {
    fn holds<D: Distribution>(&self, g: &mut Group, len: usize, d: D) {
        let list = floats(len);
        let a = array_of(g, d.clone(), &list);
        for edges in [&[-1e18, -0.0, 0.0, 1e18, f64::INFINITY][..], &[0.0, 0.0], &[-f64::NAN, f64::NAN]] {
            let is_in = |x: f64, bin: usize| {
                let is_last = bin + 2 == edges.len() && x.order(&edges[bin + 1]).is_eq();
                x.order(&edges[bin]).is_ge() && (x.order(&edges[bin + 1]).is_lt() || is_last)
            };
            let count = |bin| list.iter().filter(|&&x| is_in(x, bin)).count() as u64;
            let expected: Vec<u64> = (0..edges.len() - 1).map(count).collect();
            assert_eq!(algorithms::histogram(g, &a, edges), expected);
            let mine = share(g, &list);
            assert_eq!(algorithms::histogram_vec(g, &mine, edges), expected);
        }
        for list in &lists(len)[..3] {
            let rows: Vec<[u64; 2]> = list.iter().zip(0..).map(|(&x, at)| [x, at]).collect();
            let a = array_of(g, d.clone(), &rows);
            let (mut by_first, mut by_both) = (rows.clone(), rows.clone());
            by_first.sort_by_key(|row| Reverse(row[0]));
            by_both.sort_unstable_by(|x, y| y.cmp(x));
            for k in [0, 5, 2000] {
                // Of equal ones the first.
                assert_eq!(algorithms::top_k_by(g, &a, k, |x, y| x[0].cmp(&y[0])), by_first[..k.min(len)]);
                assert_eq!(algorithms::top_k(g, &a, k), by_both[..k.min(len)]);
            }
            let mine = share(g, list);
            let mut expected = list.clone();
            expected.sort_unstable_by(|x, y| y.cmp(x));
            expected.truncate(7);
            assert_eq!(algorithms::top_k_vec(g, &mine, 7), expected);
        }
    }
}

#[test]
fn bins_have_their_elements_and_the_largest_come_first() {
    on_sizes(&FEW, |g| for_arrays(g, &Bins));
}

/// X2: what is wrong about a call is one error on all members.
#[test]
fn calls_about_keys_that_make_no_sense_are_everybodys_error() {
    let claims: [(fn(&mut Group), ErrorKind, &str); 7] = [
        (
            |g| {
                let (keys, values) = (g.array::<u64, Block>(10), g.array::<u64, Cyclic>(9));
                algorithms::group_by_key(g, &keys, &values, Sum);
            },
            ErrorKind::BadLength,
            "keys and values of a grouping: 10 elements and 9",
        ),
        (
            |g| {
                let keys = vec![1u64; g.rank()];
                algorithms::group_by_key_vec(g, keys, vec![1], Sum);
            },
            ErrorKind::BadLength,
            "keys and values of a grouping: 0 and 1 on rank 0",
        ),
        (
            |g| {
                let (keys, values) = (g.array::<u64, Block>(10), g.array::<u64, Cyclic>(9));
                algorithms::join(g, (&keys, &keys), (&keys, &values), |&key, _, _| key);
            },
            ErrorKind::BadLength,
            "keys and values on the right of a join: 10 elements and 9",
        ),
        (|g| drop(algorithms::histogram_vec(g, &[1], &[1])), ErrorKind::BadLength, "a histogram with 1 edges"),
        (
            |g| drop(algorithms::histogram_vec(g, &[1], &[1, 5, 4])),
            ErrorKind::BadSection,
            "edge 2 of a histogram is below the one before it",
        ),
        (
            |g| {
                let last = 5 + g.rank();
                algorithms::histogram_vec(g, &[1], &[1, last]);
            },
            ErrorKind::DeclMismatch,
            "a histogram with 2 edges",
        ),
        (
            |g| {
                let k = 5 + g.rank();
                algorithms::top_k_vec(g, &[1], k);
            },
            ErrorKind::DeclMismatch,
            "the 5 largest",
        ),
    ];
    for (claim, kind, words) in claims {
        failing(&[2, 3, 8], claim, |_, error| check(&error, kind, &[words, file!()]));
    }
}
