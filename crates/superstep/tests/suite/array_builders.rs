//! Long and irregular writes: histograms, builders, and what is too long for one tray (A4).

use crate::{
    array_writes::{all, note},
    arrays::uneven,
    everywhere, on_sizes,
};
use superstep::{Any, Block, BlockCyclic, Cyclic, Distribution, Group, Irregular, Max, Sum, Tiles};

/// A4: an index may come as often as it likes, and counts each time.
#[test]
fn a_histogram_counts_every_index_it_is_given() {
    fn claim<D: Distribution>(g: &mut Group, distribution: D, each: usize) {
        let counts = g.array_with::<u32, _, 1>([37], distribution);
        let keys = |rank: usize| (0..each).map(move |i| (i * i + 3 * rank) % 37);
        let (me, p) = (g.rank(), g.size());
        let mine: Vec<usize> = keys(me).collect();
        g.step(|s| s.scatter_one(&counts, &mine, 1, Sum));
        g.step(|s| {
            let mut count = s.scatterer_one(&counts, 2, Sum);
            for &key in &mine {
                count.push(key);
            }
        });
        g.step(|s| s.scatter(&counts, &mine, &vec![4; each], Sum));
        let mut expected = [0; 37];
        (0..p).flat_map(keys).for_each(|key| expected[key] += 7);
        assert_eq!(all(g, &counts), expected, "{counts:?}");
    }
    everywhere(|g| {
        let p = g.size();
        claim(g, Block::new(), 3000);
        claim(g, Cyclic::new(), 10);
        claim(g, BlockCyclic::new(5), 1000);
        claim(g, uneven(37, p), 100);
        claim(g, Irregular((0..p).map(|rank| if rank == p - 1 { 37 } else { 0 }).collect()), 1000);
        claim(g, Tiles([10]), 100);
    });
}

/// A4 and S3: a builder's writes are issued when it is dropped, so builders may be open side by side.
#[test]
fn builders_are_issued_when_they_are_dropped() {
    everywhere(|g| {
        let a = g.array::<u64, Block>(6);
        g.step(|s| {
            let mut early = s.scatterer(&a, Any);
            let mut late = s.scatterer(&a, Any);
            let mut sums = s.scatterer(&a, note);
            let mut ones = s.scatterer_one(&a, 9, Any);
            for i in 0..5 {
                early.push(i, 1);
                late.push(i, 2);
                sums.push(i, 3);
            }
            late.push(3, 4);
            ones.push(2);
            drop(ones);
            drop(early);
            s.update(&a, 4..5, &[7]);
            s.scatter_one(&a, &[5], 8, note);
            drop(late);
            drop(sums);
            s.scatter(&a, &[0, 5], &[5, 6], Any);
        });
        let mut expected = [5, 2, 2, 4, 2, 6];
        for _ in 0..g.size() {
            expected[..5].iter_mut().for_each(|x| note(x, &3));
            note(&mut expected[5], &8);
        }
        assert_eq!(all(g, &a), expected);
    });
}

/// S3: what was written before a builder was opened stays before whatever is written while it is open.
#[test]
fn builders_do_not_hold_back_what_was_written_before_them() {
    everywhere(|g| {
        let a = g.array::<u64, Block>(40);
        g.step(|s| {
            s.scatter(&a, &[0, 1, 2, 3], &[1; 4], Any);
            let first = s.scatterer(&a, Any);
            let mut second = s.scatterer(&a, Any);
            second.push(0, 2);
            drop(second);
            s.scatter(&a, &[1], &[3], Any);
            s.update(&a, 2.., &[4; 38]);
            drop(first);
        });
        assert_eq!(all(g, &a)[..4], [2, 3, 4, 4]);
        g.step(|s| {
            s.scatter_one(&a, &[0, 1, 2], 5, Any);
            let first = s.scatterer_one(&a, 5, Any);
            s.scatter_one(&a, &[1], 6, Any);
            s.update(&a, 2.., &[7; 38]);
            drop(first);
        });
        assert_eq!(all(g, &a)[..4], [5, 6, 7, 7]);
    });
}

/// A4: a value for all that is equal and not the same, and one that follows another.
#[test]
fn each_scatter_of_one_value_keeps_its_own() {
    everywhere(|g| {
        let a = g.array::<f64, Cyclic>(5);
        g.step(|s| {
            s.scatter_one(&a, &[0, 1], 0.0, Any);
            s.scatter_one(&a, &[1, 2], -0.0, Any);
            s.scatter_one(&a, &[3], 1.0, Any);
            s.scatter_one(&a, &[4], f64::NAN, Any);
            s.scatter(&a, &[3], &[2.0], Any);
            s.scatter_one(&a, &[4], 1.0, Any);
        });
        let bits: Vec<u64> = all(g, &a).into_iter().map(f64::to_bits).collect();
        assert_eq!(bits, [0.0, -0.0, -0.0, 2.0, 1.0].map(f64::to_bits));
    });
}

/// A5 and S3: what is long travels apart between processors that share no memory, and is committed in its turn.
#[test]
fn long_writes_are_committed_in_their_turn() {
    const LEN: usize = 30_000;
    const COUNT: usize = 40_000;
    on_sizes(&[1, 2, 3, 4, 5], |g| {
        let places = |rank: usize| -> Vec<usize> { (0..COUNT).map(|k| (k * 7919 + rank * 17) % LEN).collect() };
        let values = |rank: usize| -> Vec<u64> { (0..COUNT).map(|k| (k * 10 + rank) as u64).collect() };
        let (a, b) = (g.array::<u64, Block>(LEN), g.array_with::<u64, _, 1>([LEN], BlockCyclic::new(9000)));
        let (mine, at) = (values(g.rank()), places(g.rank()));
        for round in 0..3 {
            g.step(|s| {
                s.scatter(&a, &at, &mine, note);
                s.scatter_one(&a, &at[round..], 7, note);
                s.scatter(&a, &at[..5], &mine[..5], Max);
                s.update(&b, .., &mine[round..round + LEN]);
                s.scatter_one(&b, &at, 3, Max);
            });
        }
        let mut expected = vec![0; LEN];
        for round in 0..3 {
            for rank in 0..g.size() {
                let (at, values) = (places(rank), values(rank));
                at.iter().zip(&values).for_each(|(&at, value)| note(&mut expected[at], value));
                at[round..].iter().for_each(|&at| note(&mut expected[at], &7));
                at[..5].iter().zip(&values).for_each(|(&at, &value)| expected[at] = expected[at].max(value));
            }
        }
        assert_eq!(all(g, &a), expected);
        let mut expected = values(0)[2..2 + LEN].to_vec();
        (0..g.size()).flat_map(places).for_each(|at| expected[at] = expected[at].max(3));
        assert_eq!(all(g, &b), expected);
    });
}

/// A4: what a builder is extended by counts as what is pushed, in any distribution.
#[test]
fn builders_are_extended_like_any_collection() {
    fn claim<D: Distribution>(g: &mut Group, distribution: D) {
        let a = g.array_with::<u64, _, 1>([40], distribution);
        let (p, me) = (g.size() as u64, g.rank());
        g.step(|s| {
            s.scatterer(&a, Sum).extend((0..40).filter(|i| i % 2 == 1).map(|i| (i, i as u64)));
            s.scatterer_one(&a, 100, Sum).extend([3, 4, 4]);
        });
        let expected = |i: usize| {
            let odd = if i % 2 == 1 { i as u64 } else { 0 };
            p * (odd + [0, 0, 0, 100, 200].get(i).copied().unwrap_or(0))
        };
        let wanted: Vec<usize> = (0..100).map(|i| (7 * i + me) % 40).collect();
        let (pushed, extended) = g.step(|s| {
            let (mut pushed, mut extended) = (s.gatherer(&a), s.gatherer(&a));
            for &i in &wanted {
                pushed.push(i);
            }
            extended.extend(wanted.iter().copied());
            (pushed.finish(), extended.finish())
        });
        let found: Vec<u64> = wanted.iter().map(|&i| expected(i)).collect();
        assert_eq!((&pushed, &extended), (&found, &found), "{a:?}");
    }
    everywhere(|g| {
        let p = g.size();
        claim(g, Block::new());
        claim(g, Cyclic::new());
        claim(g, BlockCyclic::new(3));
        claim(g, uneven(40, p));
        claim(g, Tiles([4]));
    });
}
