//! Determinism (S3): the same bits in every run and on every fabric.

use crate::{bracketed, bracketed_below, everywhere, on_sizes};
use superstep::{Config, Each, Fabric, Group, Max, Min, Product, Sum};

/// Sizes on both sides of every power of two up to 17.
const SIZES: [usize; 12] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 15, 16, 17];

/// Numbers of very different sizes, so that every bracketing of their sum has other bits.
fn number(rank: usize, salt: usize) -> f64 {
    let mixed = (rank * 2_654_435_761 + salt * 40_503 + 12_345) % 1_000_003;
    (mixed as f64 / 1_000_003.0 - 0.5) * 10f64.powi((mixed % 13) as i32 - 6)
}

/// S3: floats are no exception, and the grouping depends on the size of the group alone.
#[test]
fn sums_of_floats_have_the_bits_of_the_one_bracketing() {
    on_sizes(&SIZES, |g| {
        let (me, p) = (g.rank(), g.size());
        let x = g.shared(0.0, Sum);
        for salt in 0..4 {
            let values: Vec<f64> = (0..p).map(|rank| number(rank, salt)).collect();
            let (sum, below, upto, product, to) = g.step(|s| {
                x.set(values[me]);
                let (sum, below) = (s.reduce(values[me], Sum), s.prefix(values[me], Sum));
                let product = s.reduce(values[me] as f32, Product);
                (sum, below, s.prefix_inclusive(values[me], Sum), product, s.reduce_to(p - 1, values[me], Sum))
            });
            let add = |acc: &mut f64, with: &f64| *acc += with;
            let expected = bracketed(&values, &add);
            assert_eq!(sum.to_bits(), expected.to_bits());
            assert_eq!(x.get().to_bits(), expected.to_bits());
            assert_eq!(to.map(f64::to_bits), (me == p - 1).then_some(expected.to_bits()));
            let expected = bracketed_below(&values, me, &add);
            assert_eq!(below.to_bits(), expected.unwrap_or(0.0).to_bits());
            assert_eq!(upto.to_bits(), expected.map_or(values[me], |below| below + values[me]).to_bits());
            let factors: Vec<f32> = values.iter().map(|&value| value as f32).collect();
            let expected = bracketed(&factors, &|acc, with| *acc *= with);
            assert_eq!(product.to_bits(), expected.to_bits());
        }
    });
}

/// S3: the test above would mean nothing if every bracketing gave the same.
#[test]
fn another_bracketing_has_other_bits() {
    let differs = |salt: usize| {
        let values: Vec<f64> = (0..17).map(|rank| number(rank, salt)).collect();
        bracketed(&values, &|acc, with| *acc += with).to_bits() != values.iter().sum::<f64>().to_bits()
    };
    assert!((0..4).any(differs));
}

/// S3: element by element as well.
#[test]
fn vectors_of_floats_combine_like_floats() {
    on_sizes(&SIZES, |g| {
        let p = g.size();
        let row = |rank: usize| -> Vec<f64> { (0..5).map(|salt| number(rank, salt)).collect() };
        let rows: Vec<Vec<f64>> = (0..p).map(row).collect();
        let (sum, array) = g.step(|s| {
            let mine = &rows[s.rank()];
            (s.reduce(mine.clone(), Each(Sum)), s.reduce([mine[0], mine[1]], Each(Sum)))
        });
        for at in 0..5 {
            let column: Vec<f64> = rows.iter().map(|row| row[at]).collect();
            let expected = bracketed(&column, &|acc, with| *acc += with);
            assert_eq!(sum[at].to_bits(), expected.to_bits());
            assert!(at > 1 || array[at].to_bits() == expected.to_bits());
        }
    });
}

/// S3: what is neither less nor more is decided by rank.
#[test]
fn no_numbers_and_both_zeros_are_decided_by_rank() {
    everywhere(|g| {
        let me = g.rank();
        let zero = if me == 0 { -0.0 } else { 0.0 };
        let (least, most) = g.step(|s| (s.reduce(zero, Min), s.reduce(zero, Max)));
        assert_eq!((f64::to_bits(least), f64::to_bits(most)), ((-0.0f64).to_bits(), (-0.0f64).to_bits()));
        let first = if me == 0 { f64::NAN } else { me as f64 };
        let kept = g.step(|s| s.reduce(first, Max));
        assert!(kept.is_nan());
    });
}

/// A program with a bit of everything, as bytes.
fn trace(g: &mut Group) -> Vec<u64> {
    let (me, p) = (g.rank(), g.size());
    let (area, sum, queue) = (g.area::<f64>(8), g.shared(0.0, Sum), g.queue::<usize, f64>());
    let mut trace = Vec::new();
    for round in 0..6 {
        let mine = number(me, round);
        let (got, below) = g.step(|s| {
            for at in 0..8 {
                s.put((me * 3 + at) % p, &[mine * at as f64], &area, (at * 5 + me) % 8);
                s.send((me + at * round) % p, &queue, at, mine);
            }
            sum.set(mine);
            s.hp_put((me + round) % p, (&area, 2..5), &area, round % 4);
            (s.get((me + 1) % p, &area, ..), s.prefix(mine, Sum))
        });
        trace.extend(got.iter().map(|value| value.to_bits()));
        trace.push(below.to_bits());
        trace.extend(queue.drain().flat_map(|(tag, value)| [tag as u64, value.to_bits()]));
        let inner = g.split(1 + round % 3, |sub| {
            if sub.rank() == 1 {
                return 0.0;
            }
            sub.step(|s| s.reduce(mine, Sum))
        });
        trace.push(inner.map_or(7, f64::to_bits));
        trace.extend(area.local().iter().map(|value| value.to_bits()));
        trace.push(sum.get().to_bits());
    }
    trace
}

/// S3.
#[test]
fn a_program_has_the_same_bits_on_every_fabric_and_in_every_run() {
    for procs in [1, 2, 3, 8, 9, 17] {
        let config = Config::new().procs(procs);
        let first = config.clone().fabric(Fabric::Threads).run_all(trace).unwrap();
        for _ in 0..5 {
            assert!(config.clone().fabric(Fabric::Threads).run_all(trace).unwrap() == first, "{procs} threads");
        }
        for seed in 0..10 {
            for shares_memory in [false, true] {
                let fabric = Fabric::Sim { seed, shares_memory };
                assert!(config.clone().fabric(fabric).run_all(trace).unwrap() == first, "{procs} on {fabric:?}");
            }
        }
    }
}
