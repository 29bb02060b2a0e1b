//! Programs in NestStep beside the same on the API: how much of the latter's speed the former has.
//!
//! `cargo run --release -p superstep-nest`

#[path = "../../../crates/neststep/tests/suite/figure3.rs"]
mod figure3;

use neststep::neststep;
use std::{hint::black_box, time::Instant};
use superstep::{Array, Block, Config, Group, Sum};

/// Elements of each array.
const LEN: usize = 1 << 20;
/// Keys of each processor.
const KEYS: usize = 1 << 20;
/// How often each contender runs; the best time counts.
const ROUNDS: usize = 9;

neststep! {
    fn prefix_nested(sh a: [i64]</>) {
        let mut pre = Vec::with_capacity(a.local().len());
        let mut myoffset = 0;
        sh sum: i64 = 0;
        step {
            let mut all = 0;
            forall (i, a) { pre.push(all); all += a[i]; }
            sum = all;
        } combine (sum<+ : myoffset>)
        let mut j = 0;
        step forall (i, a) { a[i] = pre[j] + myoffset; j += 1 }
    }

    fn histogram_nested(sh<+> counts: [u64]</>, keys: &[usize]) {
        step for &k in keys { counts[k] += 1; }
    }

    fn gather_nested(sh a: [u64]</>, keys: &[usize], out: &mut [u64]) {
        step for (i, &k) in keys.iter().enumerate() { out[i] = a[k]; }
    }
}

fn prefix_by_hand(g: &mut Group, a: &Array<i64, Block>) {
    let mut before = Vec::with_capacity(a.local().len());
    let offset = g.step(|s| {
        let mut sum = 0;
        for &x in a.local().iter() {
            before.push(sum);
            sum += x;
        }
        s.prefix(sum, Sum)
    });
    for (x, b) in a.local_mut().iter_mut().zip(&before) {
        *x = b + offset;
    }
    g.step(|_| ());
}

/// The best time of several rounds, by the slowest processor.
fn best(g: &mut Group, mut run: impl FnMut(&mut Group)) -> f64 {
    let mut best = f64::INFINITY;
    for _ in 0..ROUNDS {
        g.step(|_| ());
        let start = Instant::now();
        run(g);
        let taken = start.elapsed().as_secs_f64();
        best = best.min(g.step(|s| s.reduce(taken, superstep::Max)));
    }
    best
}

fn report(g: &Group, name: &str, by_hand: f64, nested: f64) {
    if g.is_leader() {
        let (hand, nest) = (1e3 * by_hand, 1e3 * nested);
        println!("{name:<10} API {hand:8.3} ms   NestStep {nest:8.3} ms   {:5.2} of it", by_hand / nested);
    }
}

fn main() -> superstep::Result {
    Config::new().run(|g| {
        let a = g.array::<i64, Block>(LEN);
        a.forall_mut(|i, x| *x = (i % 7) as i64);
        let by_hand = best(g, |g| prefix_by_hand(g, &a));
        let nested = best(g, |g| prefix_nested(g, &a));
        report(g, "parprefix", by_hand, nested);

        let rank = g.rank();
        let keys: Vec<usize> = (0..KEYS).map(|i| (i + rank).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 44).collect();
        let counts = g.array::<u64, Block>(LEN).combining(Sum);
        let by_hand = best(g, |g| g.step(|s| s.scatter_one(&counts, &keys, 1, Sum)));
        let nested = best(g, |g| histogram_nested(g, &counts, &keys));
        report(g, "histogram", by_hand, nested);
        let total = g.step(|s| s.reduce(counts.local().iter().sum::<u64>(), Sum));
        assert_eq!(total as usize, 2 * ROUNDS * KEYS * g.size());

        let mut out = vec![0; KEYS];
        let values = g.array::<u64, Block>(LEN);
        values.forall_mut(|i, x| *x = i as u64);
        let mut found = Vec::new();
        let by_hand = best(g, |g| {
            found = g.step(|s| s.gather_into(&values, &keys, std::mem::take(&mut found)));
            out.copy_from_slice(&found);
            g.step(|_| ());
        });
        let nested = best(g, |g| gather_nested(g, &values, &keys, &mut out));
        assert_eq!(black_box(&out), &found);
        report(g, "gather", by_hand, nested);

        let keys = g.array::<f32, Block>(LEN);
        keys.forall_mut(|i, x| *x = (figure3::rand(i) % LEN) as f32);
        let (sorted, expected) = (g.array::<f32, Block>(LEN), g.array::<f32, Block>(LEN));
        let by_hand = best(g, |g| figure3::quicksort_by_hand(g, &keys, &expected));
        let nested = best(g, |g| figure3::quicksort(g, &keys, &sorted));
        assert_eq!(*sorted.local(), *expected.local());
        assert!(sorted.local().is_sorted());
        report(g, "quicksort", by_hand, nested);
    })
}
