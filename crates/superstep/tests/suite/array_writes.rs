//! Writing to arrays: updates, scatters and their order (A4, A5, S1, S3).

use crate::{SIZES, arrays::uneven, everywhere, on_sizes};
use superstep::{
    Any, Array, Block, BlockCyclic, Checked, Cyclic, Distribution, Each, Element, Group, Leader, Max, Min, Same, Sum,
    Tiles, strided,
};

/// What everybody sees of an array, in row-major order.
pub(crate) fn all<T: Element, D: Distribution, const N: usize>(g: &mut Group, a: &Array<T, D, N>) -> Vec<T> {
    let indices: Vec<usize> = (0..a.len()).collect();
    g.step(|s| s.gather(a, &indices))
}

/// An operator for which every difference in order shows.
#[allow(clippy::trivially_copy_pass_by_ref, reason = "operators take references")]
pub(crate) fn note(x: &mut u64, y: &u64) {
    *x = x.wrapping_mul(31).wrapping_add(*y);
}

/// A5, S3: a section whose rows do not follow each other comes in the order of a section whose rows do.
#[test]
fn columns_of_a_matrix_are_written_like_any_section() {
    const WIDE: usize = 70;
    fn claim<D: Distribution, const ROWS: usize>(g: &mut Group, distribution: D) {
        let a = g.array_with::<u64, _, 2>([ROWS, WIDE], distribution);
        a.local_mut().fill(1);
        let value = |rank: usize, row: usize, column: usize| (1000 * rank + 100 * row + column) as u64;
        // Each writes columns of its own, and 20 that all write.
        let sections = |rank: usize| [40..60, rank % 2 * 20..rank % 2 * 20 + 20, 41..58];
        g.step(|s| {
            for columns in sections(s.rank()) {
                let rows = (0..ROWS).flat_map(|row| columns.clone().map(move |column| (row, column)));
                let values: Vec<u64> = rows.map(|(row, column)| value(s.rank(), row, column)).collect();
                s.update_with(&a, (.., columns.clone()), &values, note);
                s.update(&a, (ROWS - 1..ROWS, columns.start..columns.start + 16), &values[..16]);
            }
        });
        let mut expected = vec![1; ROWS * WIDE];
        for rank in (0..g.size()).rev() {
            for columns in sections(rank) {
                for at in 0..16 {
                    expected[(ROWS - 1) * WIDE + columns.start + at] = value(rank, 0, columns.start + at);
                }
            }
        }
        for rank in 0..g.size() {
            for columns in sections(rank) {
                for row in 0..ROWS {
                    let at = |column| row * WIDE + column;
                    columns.clone().for_each(|column| note(&mut expected[at(column)], &value(rank, row, column)));
                }
            }
        }
        assert_eq!(all(g, &a), expected);
    }
    on_sizes(&SIZES, |g| {
        claim::<_, 5>(g, Block::<1>);
        claim::<_, 5>(g, Cyclic::<1>);
        claim::<_, 1>(g, Block::<1>);
        claim::<_, 4>(g, Tiles([2, 32]));
    });
}

/// S1: the owner sees its old values until the boundary, whoever writes and however.
#[test]
fn nothing_is_written_before_the_boundary() {
    everywhere(|g| {
        let (a, p) = (g.array::<usize, Block>(12), g.size());
        a.local_mut().fill(9);
        g.step(|s| {
            s.update(&a, 0..4, &[1; 4]);
            s.scatter(&a, &[4, 5], &[1, 1], Sum);
            s.scatter_one(&a, &[6, 6], 1, Sum);
            s.scatterer(&a, Max).push(7, 10);
            s.scatterer_one(&a, 1, Min).push(8);
            s.update_with(&a, 9..=10, &[2, 2], Sum);
            assert!(a.local().iter().all(|&value| value == 9));
        });
        assert_eq!(all(g, &a), [1, 1, 1, 1, 9 + p, 9 + p, 9 + 2 * p, 10, 1, 9 + 2 * p, 9 + 2 * p, 9]);
    });
}

/// S1: what is written is what was there at the call.
#[test]
fn what_changes_after_the_call_is_not_written() {
    everywhere(|g| {
        let a = g.array::<usize, Cyclic>(4);
        g.step(|s| {
            let (mut values, mut at) = (vec![1, 2], vec![2, 3]);
            s.update(&a, ..2, &values);
            s.scatter(&a, &at, &values, Any);
            values.fill(7);
            at.fill(0);
            assert_eq!((values, at), (vec![7, 7], vec![0, 0]));
        });
        assert_eq!(all(g, &a), [1, 2, 1, 2]);
    });
}

/// S1 and S2: what the owner writes itself during the step is there before what others write.
#[test]
fn writes_of_others_come_onto_what_the_owner_has_written_meanwhile() {
    everywhere(|g| {
        let (a, p) = (g.array::<usize, Block>(10), g.size());
        g.step(|s| {
            s.scatter_one(&a, &[0, 9], 1, Sum);
            a.forall_mut(|i, x| *x = 100 * (i + 1));
        });
        let expected: Vec<usize> = (0..10).map(|i| 100 * (i + 1) + if i % 9 == 0 { p } else { 0 }).collect();
        assert_eq!(all(g, &a), expected);
    });
}

/// S3: `Any` takes the last write of the lowest rank that wrote, whatever the verbs.
#[test]
fn the_last_write_of_the_lowest_rank_stands() {
    on_sizes(&SIZES, |g| {
        let (a, me, p) = (g.array::<usize, Cyclic>(40), g.rank(), g.size());
        a.local_mut().fill(7);
        let writes = |i: usize, rank: usize| rank >= i % (p + 1);
        let mine: Vec<usize> = (0..40).filter(|&i| writes(i, me)).collect();
        g.step(|s| {
            s.scatter_one(&a, &mine, 5000 + me, Any);
            let mut first = s.scatterer(&a, Any);
            for &i in &mine {
                first.push(i, 6000 + i);
            }
            drop(first);
            for &i in &mine {
                match i % 3 {
                    0 => s.update(&a, i..=i, &[100 * me + i]),
                    1 => s.scatter(&a, &[i, i], &[1, 100 * me + i], Any),
                    _ => s.scatter_one(&a, &[i], 100 * me + i, Any),
                }
            }
        });
        let expected = |i: usize| (0..p).find(|&rank| writes(i, rank)).map_or(7, |rank| 100 * rank + i);
        assert_eq!(all(g, &a), (0..40).map(expected).collect::<Vec<_>>());
    });
}

/// S3 and A5: by source rank and then by order of issue, onto what is there.
#[test]
fn writes_that_combine_do_so_by_rank_and_then_by_order_of_issue() {
    fn claim<D: Distribution>(g: &mut Group, distribution: D) {
        let (a, me, p) = (g.array_with::<u64, _, 1>([9], distribution), g.rank() as u64, g.size() as u64);
        a.forall_mut(|i, x| *x = i as u64);
        g.step(|s| {
            s.update_with(&a, 2..8, &[10 * me + 1; 6], note);
            s.scatter(&a, &[7, 0, 7], &[10 * me + 2, 10 * me + 3, 10 * me + 4], note);
            s.scatter_one(&a, &[3, 8, 3], 10 * me + 5, note);
            s.update_with(&a, strided(8..=0, -4), &[10 * me + 6; 3], note);
            let mut writes = s.scatterer(&a, note);
            (0..9).for_each(|i| writes.push(8 - i, 10 * me + 7));
        });
        let written: [&[u64]; 9] = [&[3, 6], &[], &[1], &[1, 5, 5], &[1, 6], &[1], &[1], &[1, 2, 4], &[5, 6]];
        let expected = written.iter().enumerate().map(|(i, numbers)| {
            let mut value = i as u64;
            for rank in 0..p {
                numbers.iter().chain(&[7]).for_each(|number| note(&mut value, &(10 * rank + number)));
            }
            value
        });
        assert_eq!(all(g, &a), expected.collect::<Vec<_>>(), "{a:?}");
    }
    on_sizes(&SIZES, |g| {
        claim(g, Block::new());
        claim(g, Cyclic::new());
        claim(g, BlockCyclic::new(2));
        claim(g, uneven(9, g.size()));
        claim(g, Tiles([4]));
    });
}

/// S3: floats are no exception: everywhere the bits of one loop over the ranks.
#[test]
fn sums_of_floats_are_the_same_bits_on_every_fabric() {
    on_sizes(&SIZES, |g| {
        let (a, me, p) = (g.array::<f64, Block>(5), g.rank(), g.size());
        let value = |rank: usize, number: usize| (rank as f64 - 2.3) * 10f64.powi((rank * 7 + number * 5) as i32 % 19);
        a.local_mut().fill(0.1);
        g.step(|s| {
            for number in 0..6 {
                s.scatter_one(&a, &[0, 4, 0], value(me, number), Sum);
                s.update_with(&a, 1..4, &[value(me, number); 3], Sum);
            }
        });
        let sum = |times: usize| {
            let mut sum = 0.1f64;
            for (rank, number) in (0..p).flat_map(|rank| (0..6).map(move |number| (rank, number))) {
                (0..times).for_each(|_| sum += value(rank, number));
            }
            sum.to_bits()
        };
        let found: Vec<u64> = all(g, &a).into_iter().map(f64::to_bits).collect();
        assert_eq!(found, [sum(2), sum(1), sum(1), sum(1), sum(1)]);
    });
}

/// S3: where both meet at one element, assignments come before what combines, whoever issued them and when.
#[test]
fn assignments_come_before_what_combines() {
    on_sizes(&SIZES, |g| {
        let (a, me, p) = (g.array::<u64, Block>(4), g.rank() as u64, g.size() as u64);
        a.local_mut().fill(50);
        g.step(|s| {
            s.scatter(&a, &[0, 1], &[me + 1, me + 1], note);
            if me == p - 1 {
                s.update(&a, ..2, &[1000, 2000]);
            }
            s.update_with(&a, 1..3, &[7, 7], Sum);
        });
        let mut noted = 1000;
        (0..p).for_each(|rank| note(&mut noted, &(rank + 1)));
        let mut both = 2000;
        (0..p).for_each(|rank| {
            note(&mut both, &(rank + 1));
            both += 7;
        });
        assert_eq!(all(g, &a), [noted, both, 50 + 7 * p, 50]);
    });
}

/// A5: `Leader` takes what rank 0 wrote, and nothing where it did not.
#[test]
fn with_leader_only_what_rank_0_writes_counts() {
    everywhere(|g| {
        let (a, me) = (g.array::<usize, Cyclic>(6).combining(Leader), g.rank());
        a.local_mut().fill(3);
        g.step(|s| {
            s.update(&a, ..2, &[me + 10; 2]);
            s.scatter(&a, &[2], &[me + 20], Leader);
            s.scatter_one(&a, &[3], me + 30, Leader);
            s.scatterer(&a, Leader).push(4, me + 40);
            if me > 0 {
                s.update(&a, 4.., &[1, 1]);
                s.scatter_one(&a, &[5], 1, Leader);
            }
            s.scatter_one(&a, &[0], 1, Sum);
        });
        assert_eq!(all(g, &a), [10 + g.size(), 10, 20, 30, 40, 3]);
    });
}

/// A5: `Same` takes writes that agree, from as many as there are.
#[test]
fn writes_that_agree_are_taken_by_same() {
    everywhere(|g| {
        let a = g.array::<f32, Block>(5).combining(Same);
        g.step(|s| {
            s.update(&a, 1..3, &[f32::NAN, 2.5]);
            s.scatter(&a, &[2, 4], &[2.5, -0.0], Same);
            s.scatter_one(&a, &[2], 2.5, Same);
        });
        let bits: Vec<u32> = all(g, &a).into_iter().map(f32::to_bits).collect();
        assert_eq!(bits, [0.0, f32::NAN, 2.5, 0.0, -0.0].map(f32::to_bits));
    });
}

/// A5: the array's operator is that of `update`, and a step may replace it.
#[test]
fn an_array_declares_how_updates_combine_and_a_step_may_replace_it() {
    everywhere(|g| {
        let (me, p) = (g.rank() as i32, g.size() as i32);
        let a = g.array::<i32, Block>(4).combining(Max);
        let plain = g.array::<i32, Block>(4);
        g.step(|s| {
            s.update(&a, ..3, &[me, -1, me - 100]);
            s.update_with(&a, 3.., &[me + 1], Sum);
            s.update(&plain, .., &[me + 1; 4]);
        });
        assert_eq!(all(g, &a), [p - 1, 0, 0, p * (p + 1) / 2]);
        assert_eq!(all(g, &plain), [1; 4]);
        // It may be declared anew.
        let a = a.combining(|x: &mut i32, y: &i32| *x -= y);
        g.step(|s| s.update(&a, 1..2, &[me + 1]));
        assert_eq!(all(g, &a)[1], -p * (p + 1) / 2);
    });
}

/// A5: two closures may have one name; they are two operators all the same.
#[test]
fn operators_are_told_apart_even_in_one_function() {
    everywhere(|g| {
        let (a, p) = (g.array::<u32, Cyclic>(3), g.size() as u32);
        a.local_mut().fill(64);
        g.step(|s| {
            s.scatter_one(&a, &[0], 3, |x: &mut u32, y: &u32| *x += y);
            s.scatter_one(&a, &[1], 3, |x: &mut u32, y: &u32| *x -= y);
            s.scatter_one(&a, &[2], 3, |x: &mut u32, y: &u32| *x ^= y);
        });
        assert_eq!(all(g, &a), [64 + 3 * p, 64 - 3 * p, 64 + 3 * (p % 2)]);
    });
}

/// A5: every operator that the library has, and one for elements that are arrays.
#[test]
fn every_operator_works_on_elements() {
    everywhere(|g| {
        let (a, me, p) = (g.array::<u16, Block>(9), g.rank() as u16, g.size() as u16);
        let b = g.array::<[u16; 2], Cyclic>(2);
        a.local_mut().fill(5);
        g.step(|s| {
            s.scatter_one(&a, &[0], me + 4, Max);
            s.scatter_one(&a, &[1], me + 4, Min);
            s.scatter_one(&a, &[2], 2, superstep::Product);
            s.scatter_one(&a, &[3], 4 + me % 2, superstep::And);
            s.scatter_one(&a, &[4], 8 * (me + 1), superstep::Or);
            s.scatter_one(&a, &[5], 1, superstep::Xor);
            s.scatter_one(&a, &[6], me, Checked(Sum));
            s.scatter_one(&a, &[7], u16::MAX, Sum);
            s.scatter_one(&b, &[1], [me, 1], Each(Sum));
        });
        let or = (0..p).fold(5, |or, rank| or | (8 * (rank + 1)));
        let expected = [(p + 3).max(5), 4, 5 << p, 4, or, 5 ^ (p % 2), 5 + p * (p - 1) / 2, 5u16.wrapping_sub(p), 5];
        assert_eq!(all(g, &a), expected);
        assert_eq!(all(g, &b), [[0, 0], [p * (p - 1) / 2, p]]);
    });
}
