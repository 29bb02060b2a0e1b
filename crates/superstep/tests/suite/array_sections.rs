//! Sections of arrays: what is written and read through them is what a plain vector says (A2, A4).

use crate::{
    arrays::{fill, uneven},
    on_sizes,
};
use superstep::{Array, Block, BlockCyclic, Cyclic, Distribution, Group, Leader, Max, Section, Sum, Tiles, strided};

/// The numbers of the elements at every combination of these indices, the last dimension fastest.
fn numbers(shape: &[usize], indices: &[Vec<usize>]) -> Vec<usize> {
    let mut numbers = vec![0];
    for (extent, indices) in shape.iter().zip(indices) {
        numbers = numbers.iter().flat_map(|number| indices.iter().map(move |index| number * extent + index)).collect();
    }
    numbers
}

/// Reads a section; then one member writes to it and all add to it. `indices` are those it has in each dimension.
fn check<D: Distribution, const N: usize>(
    g: &mut Group,
    a: &Array<u64, D, N>,
    section: impl Section<N> + Copy,
    indices: [Vec<usize>; N],
) {
    let numbers = numbers(&a.shape(), &indices);
    let words = format!("{section:?} of {a:?}");
    let (me, p) = (g.rank(), g.size());
    let value = |number: usize| 1000 + number as u64;
    fill(a, value);
    let read = g.step(|s| s.mirror(a, section));
    assert_eq!(read, numbers.iter().map(|&number| value(number)).collect::<Vec<_>>(), "{words}");

    let writer = numbers.len() % p;
    let fresh: Vec<u64> = (0..numbers.len() as u64).collect();
    let sums: Vec<u64> = fresh.iter().map(|value| (p as u64 + 1) * value).collect();
    let mut expected: Vec<u64> = (0..a.len()).map(value).collect();
    numbers.iter().zip(&sums).for_each(|(&number, &value)| expected[number] = value);
    let everything: Vec<usize> = (0..a.len()).collect();
    let (part, whole) = g.step(|s| {
        s.update_with(a, section, &fresh, Sum);
        if me == writer {
            s.update(a, section, &fresh);
        }
        (s.mirror(a, section), s.gather(a, &everything))
    });
    assert_eq!((part, whole), (sums, expected), "{words}");
}

/// A section in one dimension that is written as a start, an end and a stride, with its indices.
fn evenly(from: usize, last: usize, by: isize) -> (superstep::Strided, Vec<usize>) {
    let step = by.unsigned_abs();
    let indices =
        if by > 0 { (from..=last).step_by(step).collect() } else { (last..=from).rev().step_by(step).collect() };
    (strided(std::ops::RangeInclusive::new(from, last), by), indices)
}

/// A4: the section of the paper, and what is like it.
#[test]
fn sections_of_one_dimension_are_read_and_written() {
    fn claim<D: Distribution>(g: &mut Group, distribution: D) {
        let a = g.array_with::<u64, _, 1>([26], distribution);
        let lists: [(usize, usize, isize); 9] = [
            (6, 18, 2),
            (0, 25, 1),
            (25, 0, -1),
            (18, 6, -2),
            (1, 25, 7),
            (24, 3, -5),
            (13, 13, 4),
            (0, 25, 25),
            (25, 0, -25),
        ];
        for (from, last, by) in lists {
            let (section, indices) = evenly(from, last, by);
            check(g, &a, section, [indices]);
        }
        check(g, &a, .., [(0..26).collect()]);
        check(g, &a, ..=7, [(0..8).collect()]);
        check(g, &a, strided(.., 3), [(0..26).step_by(3).collect()]);
        check(g, &a, strided(.., -3), [(0..26).rev().step_by(3).collect()]);
        check(g, &a, ..0, [vec![]]);
    }
    on_sizes(&[1, 2, 4, 7], |g| {
        claim(g, Block::new());
        claim(g, Cyclic::new());
        claim(g, BlockCyclic::new(4));
        claim(g, uneven(26, g.size()));
        claim(g, Tiles([5]));
    });
}

/// A2 and A4: a range for each dimension, with strides of either sign.
#[test]
fn sections_of_two_dimensions_are_read_and_written() {
    fn sections<D: Distribution>(g: &mut Group, distribution: D) {
        let a = g.array_with::<u64, _, 2>([7, 6], distribution);
        let rows = [evenly(0, 6, 1), evenly(1, 6, 2), evenly(6, 0, -1), evenly(5, 1, -2), evenly(3, 3, 1)];
        let columns = [evenly(0, 5, 1), evenly(2, 4, 1), evenly(0, 5, 3), evenly(5, 0, -1), evenly(4, 0, -3)];
        for (at, (row, i)) in rows.iter().enumerate() {
            for (column, j) in [&columns[at], &columns[(at + 2) % 5]] {
                check(g, &a, (*row, *column), [i.clone(), j.clone()]);
            }
        }
    }
    on_sizes(&[1, 2, 3, 7], |g| {
        sections(g, Block::new());
        sections(g, Block::<2>);
        sections(g, Cyclic::new());
        sections(g, Cyclic::<2>);
        sections(g, BlockCyclic::<2>(4));
        sections(g, uneven(7, g.size()));
        sections(g, Tiles([2]));
        sections(g, Tiles([3, 4]));
    });
}

/// A2 and A4: in three, four and five dimensions, of which one to three are distributed.
#[test]
fn sections_of_up_to_five_dimensions_are_read_and_written() {
    fn three<D: Distribution>(g: &mut Group, distribution: D) {
        let a = g.array_with::<u64, _, 3>([4, 3, 5], distribution);
        let some = [evenly(0, 3, 1), evenly(2, 0, -2), evenly(1, 4, 3)];
        let whole = [evenly(1, 2, 1), evenly(0, 2, 1), evenly(0, 4, 1)];
        let down = [evenly(3, 0, -1), evenly(2, 0, -1), evenly(4, 0, -1)];
        for [(x, i), (y, j), (z, k)] in [some, whole, down] {
            check(g, &a, (x, y, z), [i, j, k]);
        }
    }
    fn four<D: Distribution>(g: &mut Group, distribution: D) {
        let a = g.array_with::<u64, _, 4>([3, 2, 4, 3], distribution);
        let [(w, h), (x, i)] = [evenly(2, 0, -2), evenly(0, 1, 1)];
        let [(y, j), (z, k)] = [evenly(3, 0, -3), evenly(0, 2, 2)];
        check(g, &a, (w, x, y, z), [h, i, j, k]);
        check(g, &a, (.., .., .., ..), [0..3, 0..2, 0..4, 0..3].map(Iterator::collect));
    }
    fn five<D: Distribution>(g: &mut Group, distribution: D) {
        let a = g.array_with::<u64, _, 5>([3, 2, 4, 2, 3], distribution);
        let [(v, f), (w, h), (x, i)] = [evenly(0, 2, 2), evenly(1, 0, -1), evenly(3, 1, -1)];
        let [(y, j), (z, k)] = [evenly(0, 1, 1), evenly(0, 2, 1)];
        check(g, &a, (v, w, x, y, z), [f, h, i, j, k]);
        check(g, &a, (.., .., .., .., ..), [0..3, 0..2, 0..4, 0..2, 0..3].map(Iterator::collect));
    }
    on_sizes(&[1, 2, 3, 7], |g| {
        let p = g.size();
        three(g, Block::new());
        three(g, Cyclic::<3>);
        three(g, BlockCyclic::<2>(5));
        three(g, uneven(4, p));
        three(g, Tiles([2, 2, 2]));
        three(g, Tiles([3, 2]));
        four(g, Block::<2>);
        four(g, Cyclic::new());
        four(g, BlockCyclic::<3>(3));
        four(g, uneven(3, p));
        four(g, Tiles([2, 1, 3]));
        five(g, Block::<3>);
        five(g, Cyclic::<2>);
        five(g, BlockCyclic::new(2));
        five(g, uneven(3, p));
        five(g, Tiles([2, 2, 3]));
    });
}

/// A4: parts so large that memory changes hands instead of being copied, next to writes that are small.
#[test]
fn whole_parts_are_replaced_in_their_turn() {
    // 64 KiB on each of eight processors, and more on fewer.
    let len = 8 << 13;
    on_sizes(&[1, 2, 3, 8], |g| {
        let (me, p) = (g.rank() as u64, g.size() as u64);
        let a = g.array::<u64, Block>(len);
        for round in 0..3 {
            let own = |rank: u64, i: usize| 1_000_000 * (rank + 1) + 100 * round + i as u64;
            let values: Vec<u64> = (0..len).map(|i| own(me, i)).collect();
            let (all, before) = g.step(|s| {
                s.scatter_one(&a, &[5], 1, Sum);
                s.update(&a, 2..4, &[77, 77]);
                if me > 0 || p == 1 {
                    s.update(&a, .., &values);
                    s.update(&a, 3..4, &[88]);
                }
                if me == 0 {
                    s.scatter_one(&a, &[len - 1], 99, superstep::Any);
                }
                (s.mirror(&a, ..), superstep::Local(a.local().to_vec()))
            });
            let lowest = u64::from(p > 1);
            let mut expected: Vec<u64> = (0..len).map(|i| own(lowest, i)).collect();
            expected[5] += p;
            expected[len - 1] = 99;
            if p > 1 {
                expected[2..4].fill(77);
            } else {
                expected[3] = 88;
            }
            assert!(all == expected, "round {round}");
            a.forall(|i, x| assert_eq!(x, expected[i]));
            assert_eq!(before.iter().all(|&value| value == 0), round == 0, "S1");
        }
    });
}

/// A5: what several calls write to rows of one part may be more than the part has.
#[test]
fn rows_are_written_again_and_again() {
    on_sizes(&[1, 2, 3], |g| {
        let (p, me) = (g.size() as u64, g.rank() as u64);
        let a = g.array_with::<u64, _, 2>([6, 40], Block::new());
        let everything: Vec<u64> = (0..240).collect();
        let columns: Vec<u64> = (0..6 * 39).map(|x| x + me).collect();
        let read = g.step(|s| {
            for _ in 0..3 {
                s.update_with(&a, (.., ..), &everything, Sum);
                s.update_with(&a, (.., 1..), &columns, Sum);
            }
            s.mirror(&a, (.., ..))
        });
        let expected = everything.iter().map(|&x| {
            let (row, column) = (x / 40, x % 40);
            let narrow = if column == 0 { 0 } else { p * (row * 39 + column - 1) + p * (p - 1) / 2 };
            3 * (p * x + narrow)
        });
        assert_eq!(read, expected.collect::<Vec<_>>());
    });
}

/// A5: sections that are long enough to travel as they are keep their operators, where they follow each other too.
#[test]
fn long_updates_keep_their_operators() {
    on_sizes(&[1, 2, 3, 8], |g| {
        let (a, p) = (g.array::<u64, Block>(400), g.size() as u64);
        let me = g.rank() as u64;
        a.local_mut().fill(5);
        let read = g.step(|s| {
            s.update(&a, 0..16, &[me + 1; 16]);
            s.update_with(&a, 16..32, &[2; 16], Sum);
            s.update_with(&a, 32..48, &[me + 7; 16], Leader);
            s.update_with(&a, 0..16, &[1; 16], Sum);
            if me > 0 {
                s.update_with(&a, 48.., &[9; 352], Leader);
            }
            s.mirror(&a, ..)
        });
        let expected = [(16, 1 + p), (16, 5 + 2 * p), (16, 7), (352, 5)];
        let expected: Vec<u64> = expected.into_iter().flat_map(|(count, value)| vec![value; count]).collect();
        assert_eq!(read, expected);

        // Whole parts of 64 KiB and more.
        let large = g.array::<u64, Block>(8 << 13);
        large.local_mut().fill(5);
        let values = vec![3; 8 << 13];
        let read = g.step(|s| {
            s.update_with(&large, .., &values, Sum);
            s.mirror(&large, ..)
        });
        assert!(read.iter().all(|&value| value == 5 + 3 * p));
        let read = g.step(|s| {
            s.update_with(&large, .., &values, Max);
            s.update_with(&large, .., &vec![me + 100; 8 << 13], Leader);
            s.mirror(&large, ..)
        });
        assert!(read.iter().all(|&value| value == 100));
    });
}
