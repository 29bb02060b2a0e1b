//! Algorithms that go through a list once: scans, reductions, maps, filters.

use crate::{
    algorithms::{FEW, OfArrays, all, array_of, drawn, floats, for_arrays, is_even, joined, lens, lists, share},
    check, failing, is_everybodys, on_sizes,
};
use std::cmp::Reverse;
use superstep::{
    Any, Array, Block, BlockCyclic, Checked, Combine, Cyclic, Distribution, ErrorKind, Group, Irregular, Max, Product,
    Same, Sum, Tiles,
    algorithms::{self, Key},
};

/// Functions x → a x + b by their numbers, one after another: that does not commute, and is associative.
fn compose(first: &mut [u64; 2], then: &[u64; 2]) {
    *first = [first[0].wrapping_mul(then[0]), first[1].wrapping_mul(then[0]).wrapping_add(then[1])];
}

fn functions(len: usize) -> Vec<[u64; 2]> {
    drawn(len).into_iter().map(|x| [x | 1, x >> 7]).collect()
}

/// What plain code makes of a list.
fn scanned<T: Clone, C: Combine<T>>(list: &[T], heads: &[bool], op: C) -> Vec<T> {
    let mut sums: Vec<T> = Vec::new();
    for (value, &is_head) in list.iter().zip(heads) {
        let sum = match sums.last() {
            Some(sum) if !is_head => {
                let mut sum = sum.clone();
                op.combine(&mut sum, value);
                sum
            }
            _ => value.clone(),
        };
        sums.push(sum);
    }
    sums
}

struct Scans;

impl OfArrays for Scans {
    fn holds<D: Distribution>(&self, g: &mut Group, len: usize, d: D) {
        let (list, none) = (functions(len), vec![false; len]);
        let a = array_of(g, d.clone(), &list);
        let expected = scanned(&list, &none, compose);
        let out = algorithms::scan(g, &a, compose);
        assert_eq!(all(g, &out), expected);
        assert_eq!(all(g, &a), list);
        let out = algorithms::scan_exclusive(g, &a, compose);
        let first = [[0; 2]].into_iter();
        assert_eq!(all(g, &out), first.chain(expected.clone()).take(len).collect::<Vec<_>>());
        assert_eq!(algorithms::reduce_array(g, &a, compose), expected.last().copied());
        let numbers = drawn(len);
        let a = array_of(g, d.clone(), &numbers);
        let out = algorithms::scan_exclusive(g, &a, Product);
        let products = [1].into_iter().chain(scanned(&numbers, &none, Product)).take(len);
        assert_eq!(all(g, &out), products.collect::<Vec<_>>());
        let sum = numbers.iter().copied().reduce(u64::wrapping_add);
        assert_eq!(algorithms::reduce_array(g, &a, Sum), sum);
        assert_eq!(algorithms::reduce_array(g, &a, Max), numbers.iter().copied().max());
        assert_eq!(algorithms::reduce_array(g, &a, Any), numbers.first().copied());
        let b = array_of(g, d, &list);
        algorithms::scan_mut(g, &b, compose);
        assert_eq!(all(g, &b), expected);
        algorithms::scan_exclusive_mut(g, &a, Product);
        assert_eq!(all(g, &a), all(g, &out));
    }
}

#[test]
fn scans_and_reductions_keep_the_order_of_elements() {
    on_sizes(&FEW, |g| for_arrays(g, &Scans));
}

struct Segments;

impl OfArrays for Segments {
    fn holds<D: Distribution>(&self, g: &mut Group, len: usize, d: D) {
        let list = functions(len);
        for every in [1, 3, 50, 2000] {
            let flags: Vec<u8> = drawn(len).iter().map(|x| u8::from(x.is_multiple_of(every))).collect();
            let heads: Vec<bool> = flags.iter().map(|&flag| flag != 0).collect();
            let expected = scanned(&list, &heads, compose);
            let (a, alike) = (array_of(g, d.clone(), &list), array_of(g, d.clone(), &flags));
            let out = algorithms::segmented_scan(g, &a, &alike, compose);
            assert_eq!(all(g, &out), expected);
            let otherwise = array_of(g, BlockCyclic::new(2), &flags);
            let out = algorithms::segmented_scan(g, &a, &otherwise, compose);
            assert_eq!(all(g, &out), expected);
        }
    }
}

#[test]
fn a_segmented_scan_begins_anew_at_every_head() {
    on_sizes(&[1, 3, 7], |g| {
        for len in [0, 1, 7, 100] {
            let p = g.size();
            Segments.holds(g, len, Block::new());
            Segments.holds(g, len, Cyclic::new());
            Segments.holds(g, len, crate::algorithms::uneven(len, p));
        }
    });
}

#[test]
fn vectors_are_scanned_and_reduced_as_one_list() {
    on_sizes(&FEW, |g| {
        for len in lens(g.size()) {
            let list: Vec<String> = (0..len).map(|at| at.to_string()).collect();
            let join = |all: &mut String, next: &String| {
                all.push_str(next);
                all.replace_range(..all.len().saturating_sub(9), "");
            };
            let none = vec![false; len];
            let expected = scanned(&list, &none, join);
            let mine = share(g, &list);
            assert_eq!(algorithms::reduce_vec(g, &mine, join), expected.last().cloned());
            let sums = algorithms::scan_vec(g, mine.clone(), join);
            assert_eq!(joined(g, &sums), expected);
            let sums = algorithms::scan_exclusive_vec(g, mine.clone(), join);
            let mut behind = vec![String::new()];
            behind.extend(expected);
            behind.truncate(len);
            assert_eq!(joined(g, &sums), behind);
            let heads: Vec<bool> = (0..len).map(|at| at % 11 == 5).collect();
            let my_heads = share(g, &heads);
            let sums = algorithms::segmented_scan_vec(g, mine, &my_heads, join);
            assert_eq!(joined(g, &sums), scanned(&list, &heads, join));
        }
    });
}

/// S3: sums of floats have the same bits on every fabric, because they are grouped by runs.
#[test]
fn a_sum_of_floats_is_grouped_by_runs() {
    on_sizes(&FEW, |g| {
        let list: Vec<f64> = drawn(1000).iter().map(|&x| x as f64 * 1e-7).collect();
        let a = array_of(g, Block::new(), &list);
        let block = 1000_usize.div_ceil(g.size());
        let runs: Vec<f64> = list.chunks(block).map(|run| run.iter().copied().reduce(|a, b| a + b).unwrap()).collect();
        let expected = crate::bracketed(&runs, &|a, b| *a += b);
        assert_eq!(algorithms::reduce_array(g, &a, Sum).unwrap().to_bits(), expected.to_bits());
    });
}

struct Looks;

impl OfArrays for Looks {
    fn holds<D: Distribution>(&self, g: &mut Group, len: usize, d: D) {
        for list in &lists(len)[..3] {
            let a = array_of(g, d.clone(), list);
            let ends = list.iter().min().copied().zip(list.iter().max().copied());
            assert_eq!(algorithms::min_max(g, &a), ends);
            let largest = list.iter().copied().enumerate().max_by_key(|&(at, x)| (x, Reverse(at)));
            assert_eq!(algorithms::arg_max(g, &a), largest);
            let least = list.iter().copied().enumerate().min_by_key(|&(at, x)| (x % 10, at));
            assert_eq!(algorithms::arg_max_by_key(g, &a, |x| Reverse(x % 10)), least);
            assert_eq!(algorithms::count(g, &a, |x| x % 3 == 1), list.iter().filter(|x| *x % 3 == 1).count());
            assert_eq!(algorithms::find_first(g, &a, |x| x % 7 == 5), list.iter().position(|x| x % 7 == 5));
            assert_eq!(algorithms::find_first(g, &a, |&x| x > u64::MAX - 1), None);
            let mine = share(g, list);
            assert_eq!(algorithms::min_max_vec(g, &mine), ends);
            assert_eq!(algorithms::arg_max_vec(g, &mine), largest);
            assert_eq!(algorithms::count_vec(g, &mine, |x| x % 3 == 1), algorithms::count(g, &a, |x| x % 3 == 1));
            assert_eq!(algorithms::find_first_vec(g, &mine, |x| x % 7 == 5), list.iter().position(|x| x % 7 == 5));
        }
        let list = floats(len);
        let a = array_of(g, d, &list);
        let largest = list.iter().copied().max_by(f64::total_cmp).map(f64::to_bits);
        assert_eq!(algorithms::min_max(g, &a).map(|ends| ends.1.to_bits()), largest);
        // Of those that compare as equal the first is the least, and the first the largest.
        let ends = algorithms::min_max_by(g, &a, |_, _| std::cmp::Ordering::Equal);
        let bits = |x: &f64| x.to_bits();
        assert_eq!(ends.map(|ends| (bits(&ends.0), bits(&ends.1))), list.first().map(|x| (bits(x), bits(x))));
    }
}

#[test]
fn what_is_looked_for_is_found_and_of_equal_ones_the_first() {
    on_sizes(&FEW, |g| for_arrays(g, &Looks));
}

struct Maps;

impl OfArrays for Maps {
    fn holds<D: Distribution>(&self, g: &mut Group, len: usize, d: D) {
        let list = drawn(len);
        let a = array_of(g, d.clone(), &list);
        let halves = algorithms::map(g, &a, |&x| x as f64 / 2.0);
        assert_eq!(all(g, &halves), list.iter().map(|&x| x as f64 / 2.0).collect::<Vec<_>>());
        let expected: Vec<f64> = list.iter().map(|&x| x as f64 / 2.0 - (x % 100) as f64).collect();
        let b = array_of(g, Cyclic::new(), &list);
        let out = algorithms::zip_map(g, &halves, &b, |half, &x| half - (x % 100) as f64);
        assert_eq!(all(g, &out), expected);
        let out = algorithms::zip_map(g, &a, &halves, |&x, half| half - (x % 100) as f64);
        assert_eq!(all(g, &out), expected);
    }
}

#[test]
fn what_is_mapped_lies_as_it_did() {
    on_sizes(&FEW, |g| {
        for_arrays(g, &Maps);
        let sheet = g.array_with::<usize, _, 2>([5, 7], Tiles([2, 3]));
        sheet.forall_mut_in((.., ..), |[i, j], x| *x = 10 * i + j);
        let rows = g.array_with::<usize, _, 2>([5, 7], Block::new());
        rows.forall_mut_in([0..5, 0..7], |[i, j], x| *x = 100 * (10 * i + j));
        let out = algorithms::zip_map(g, &sheet, &rows, |x, y| [*x, *y]);
        assert_eq!(algorithms::count(g, &out, |[x, y]| 100 * x == *y), 35);
    });
}

struct Filters;

impl OfArrays for Filters {
    fn holds<D: Distribution>(&self, g: &mut Group, len: usize, d: D) {
        for list in &lists(len)[..3] {
            let keep = |x: &u64| x % 3 != 1;
            let expected: Vec<u64> = list.iter().copied().filter(keep).collect();
            let a = array_of(g, d.clone(), list);
            let kept = algorithms::filter(g, &a, keep);
            assert_eq!(all(g, &kept), expected);
            let kept = algorithms::filter_balanced(g, &a, keep);
            is_even(g, kept.local().len(), expected.len());
            assert_eq!(all(g, &kept), expected);
            let mut parted = expected.clone();
            parted.extend(list.iter().copied().filter(|x| !keep(x)));
            assert_eq!(algorithms::partition(g, &a, keep), expected.len());
            assert_eq!(all(g, &a), parted);
            let both = algorithms::concat(g, &[&a, &a, &a]);
            assert_eq!(all(g, &both), [&parted[..], &parted, &parted].concat());
        }
    }
}

#[test]
fn what_is_filtered_and_parted_keeps_its_order() {
    on_sizes(&FEW, |g| for_arrays(g, &Filters));
}

#[test]
fn arrays_without_any_make_an_empty_one() {
    on_sizes(&FEW, |g| assert!(algorithms::concat::<u8, Irregular>(g, &[]).is_empty()));
}

fn transposes<D: Distribution>(g: &mut Group, [rows, columns]: [usize; 2], d: D) {
    let a: Array<usize, D, 2> = g.array_with([rows, columns], d);
    a.forall_mut_in((.., ..), |[i, j], x| *x = 1000 * i + j);
    let out = algorithms::transpose(g, &a);
    assert_eq!(out.shape(), [columns, rows]);
    let expected: Vec<usize> = (0..columns).flat_map(|j| (0..rows).map(move |i| 1000 * i + j)).collect();
    assert_eq!(g.step(|s| s.mirror(&out, (.., ..))), expected);
}

#[test]
fn a_transposed_array_has_columns_for_rows() {
    on_sizes(&FEW, |g| {
        for shape in [[0, 3], [3, 0], [1, 1], [1, 9], [5, 7], [40, 70]] {
            let mut sizes = vec![0; g.size()];
            sizes[g.size() - 1] = shape[0];
            transposes(g, shape, Block::new());
            transposes(g, shape, Block::<2>);
            transposes(g, shape, Cyclic::new());
            transposes(g, shape, BlockCyclic::new(2));
            transposes(g, shape, Irregular(sizes));
            transposes(g, shape, Tiles([3, 4]));
        }
    });
}

/// The same for every number of processors: the first numbers are written down here.
#[test]
fn a_permutation_depends_on_its_seed_alone() {
    on_sizes(&FEW, |g| {
        for len in lens(g.size()) {
            let numbers = algorithms::random_permutation(g, len, 5);
            let numbers = all(g, &numbers);
            let mine = algorithms::random_permutation_vec(g, len, 5);
            is_even(g, mine.len(), len);
            assert_eq!(joined(g, &mine), numbers);
            let mut sorted = numbers.clone();
            sorted.sort_unstable();
            assert!(sorted.into_iter().eq(0..len));
            if len == 1000 {
                assert_eq!(numbers[..6], FIRST);
                let other = algorithms::random_permutation_vec(g, len, 6);
                assert_ne!(joined(g, &other), numbers);
            }
        }
    });
}

const FIRST: [usize; 6] = [608, 758, 149, 704, 909, 400];

/// S4: the documentation of the module has a table.
#[test]
fn no_algorithm_takes_more_steps_than_its_table_says() {
    on_sizes(&FEW, |g| {
        let (a, heads) = (array_of(g, Block::new(), &drawn(5000)), g.array::<u8, Block>(5000));
        let sheet = g.array_with::<u64, _, 2>([10, 20], Block::new());
        let rare = |x: &u64| x.is_multiple_of(5);
        let calls: [(u64, &dyn Fn(&mut Group)); 24] = [
            (1, &|g| _ = algorithms::is_sorted(g, &a)),
            (2, &|g| drop(algorithms::scan(g, &a, Sum))),
            (2, &|g| drop(algorithms::scan_exclusive(g, &a, Sum))),
            (2, &|g| drop(algorithms::segmented_scan(g, &a, &heads, Sum))),
            (1, &|g| _ = algorithms::reduce_array(g, &a, Sum)),
            (1, &|g| _ = algorithms::count(g, &a, rare)),
            (1, &|g| _ = algorithms::find_first(g, &a, rare)),
            (1, &|g| _ = algorithms::min_max(g, &a)),
            (1, &|g| _ = algorithms::arg_max(g, &a)),
            (1, &|g| drop(algorithms::map(g, &a, |x| *x))),
            (1, &|g| drop(algorithms::zip_map(g, &a, &heads, |x, _| *x))),
            (2, &|g| drop(algorithms::filter(g, &a, rare))),
            (3, &|g| drop(algorithms::filter_balanced(g, &a, rare))),
            (3, &|g| drop(algorithms::dedup(g, &a, |x, y| x == y))),
            (4, &|g| drop(algorithms::unique(g, &a))),
            (5, &|g| drop(algorithms::group_by_key(g, &a, &a, Sum))),
            (4, &|g| drop(algorithms::join(g, (&a, &a), (&a, &a), |x, _, _| *x))),
            (1, &|g| drop(algorithms::histogram(g, &a, &[0, 5, u64::MAX]))),
            (1, &|g| drop(algorithms::top_k(g, &a, 5))),
            (2, &|g| drop(algorithms::rebalance(g, &a))),
            (2, &|g| drop(algorithms::concat(g, &[&a, &a]))),
            (4, &|g| drop(algorithms::random_permutation(g, 5000, 5))),
            (2, &|g| drop(algorithms::transpose(g, &sheet))),
            (3, &|g| algorithms::sort(g, &a)),
        ];
        for (number, (most, call)) in calls.into_iter().enumerate() {
            let before = g.steps();
            call(g);
            let steps = g.steps() - before;
            assert!(steps <= most, "call {number} took {steps} steps");
        }
        let before = g.steps();
        algorithms::partition(g, &a, rare);
        assert_eq!(g.steps() - before, 2);
    });
}

/// X2: what is wrong about a call is one error on all members.
#[test]
fn lengths_that_do_not_fit_are_everybodys_error() {
    let claims: [(fn(&mut Group), &str); 3] = [
        (
            |g| {
                let (a, heads) = (g.array::<u64, Block>(10), g.array::<u8, Cyclic>(9));
                algorithms::segmented_scan(g, &a, &heads, Sum);
            },
            "values and heads of a segmented scan: 10 elements and 9",
        ),
        (
            |g| {
                let heads = vec![true; g.rank()];
                algorithms::segmented_scan_vec(g, vec![1; 0], &heads, Sum);
            },
            "values and heads of a segmented scan: 0 and 1 on rank 1",
        ),
        (
            |g| {
                let (a, b) = (g.array::<u64, Block>(10), g.array::<u64, Block>(9));
                algorithms::zip_map(g, &a, &b, |x, y| x + y);
            },
            "arrays of shape [10] and [9]",
        ),
    ];
    for (claim, words) in claims {
        failing(&[2, 3, 8], claim, |_, error| check(&error, ErrorKind::BadLength, &[words, file!()]));
    }
}

/// X2: members that ask for different permutations.
#[test]
fn seeds_that_differ_are_everybodys_error() {
    failing(
        &[2, 3, 8],
        |g| {
            let seed = g.rank() as u64 / 2 + u64::from(g.rank() == 1);
            algorithms::random_permutation(g, 100, seed);
        },
        |_, error| check(&error, ErrorKind::DeclMismatch, &["a permutation of 100 by seed", file!()]),
    );
}

/// R1: operators say what is wrong about elements.
#[test]
fn operators_refuse_elements_as_they_refuse_contributions() {
    failing(
        &FEW,
        |g| {
            let a = g.array::<u8, Block>(10);
            a.forall_mut(|i, x| *x = 30 * u8::from(i > 0));
            algorithms::reduce_array(g, &a, Checked(Sum));
        },
        |_, error| check(&error, ErrorKind::Overflow, &["overflows u8"]),
    );
    on_sizes(&FEW, |g| {
        let a = g.array::<u8, Block>(10);
        assert_eq!(algorithms::reduce_array(g, &a, Same), Some(0));
    });
    failing(
        &FEW,
        |g| {
            let a = g.array::<usize, Block>(10);
            a.forall_mut(|i, x| *x = i / 9);
            algorithms::reduce_array(g, &a, Same);
        },
        |_, error| check(&error, ErrorKind::ReplicaDiverged, &["that should be the same differ"]),
    );
}

/// X6: a group goes on after what it refused.
#[test]
fn a_group_goes_on_after_a_borrow_that_was_in_the_way() {
    on_sizes(&FEW, |g| {
        let a = array_of(g, Block::new(), &drawn(20));
        let held = a.local();
        let error = g.try_step(|_| ()).unwrap_err();
        drop(held);
        is_everybodys(g, &error);
        algorithms::sort(g, &a);
        assert!(all(g, &a).is_sorted_by(|x, y| x.order(y).is_le()));
    });
}
