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
/// Keys of each processor: as many as there are elements, and many more.
const KEYS: [usize; 2] = [1 << 20, 1 << 22];
/// How often each contender runs, by turns; the best time counts.
const ROUNDS: usize = 9;

neststep! {
    fn prefix_nested(sh a: [i64]</>) {
        let mut pre = Vec::with_capacity(a.local().len());
        let mut myoffset = 0;
        sh sum: i64 = 0;
        step {
            forall (i, a) { pre.push(sum); sum += a[i]; }
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

/// Holds both against each other, each by its slowest processor.
fn compare<S>(
    g: &mut Group,
    name: &str,
    state: &mut S,
    by_hand: impl Fn(&mut Group, &mut S),
    nested: impl Fn(&mut Group, &mut S),
) {
    let mut best = [f64::INFINITY; 2];
    for _ in 0..ROUNDS {
        for (best, run) in best.iter_mut().zip([&by_hand as &dyn Fn(&mut Group, &mut S), &nested]) {
            g.step(|_| ());
            let start = Instant::now();
            run(g, state);
            let taken = start.elapsed().as_secs_f64();
            *best = best.min(g.step(|s| s.reduce(taken, superstep::Max)));
        }
    }
    if g.is_leader() {
        let [hand, nest] = best.map(|time| 1e3 * time);
        println!("{name:<16} API {hand:8.3} ms   NestStep {nest:8.3} ms   {:5.2} of it", hand / nest);
    }
}

/// What a loop over keys gathers.
struct Gathered {
    found: Vec<u64>,
    by_hand: Vec<u64>,
    nested: Vec<u64>,
}

fn with_keys(g: &mut Group, count: usize) {
    let rank = g.rank();
    let keys: Vec<usize> = (0..count).map(|i| (i + rank).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 44).collect();
    let mut counts = g.array::<u64, Block>(LEN).combining(Sum);
    compare(
        g,
        &format!("histogram, 2^{}", count.ilog2()),
        &mut counts,
        |g, counts| g.step(|s| s.scatter_one(counts, &keys, 1, Sum)),
        |g, counts| histogram_nested(g, counts, &keys),
    );
    let total = g.step(|s| s.reduce(counts.local().iter().sum::<u64>(), Sum));
    assert_eq!(total as usize, 2 * ROUNDS * count * g.size());

    let values = g.array::<u64, Block>(LEN);
    values.forall_mut(|i, x| *x = i as u64);
    let mut out = Gathered { found: Vec::new(), by_hand: vec![0; count], nested: vec![0; count] };
    compare(
        g,
        &format!("gather, 2^{}", count.ilog2()),
        &mut out,
        |g, out| {
            out.found = g.step(|s| s.gather_into(&values, &keys, std::mem::take(&mut out.found)));
            out.by_hand.copy_from_slice(&out.found);
            g.step(|_| ());
        },
        |g, out| gather_nested(g, &values, &keys, &mut out.nested),
    );
    assert_eq!(black_box(&out.nested), &out.by_hand);
}

fn main() -> superstep::Result {
    Config::new().run(|g| {
        let [a, b] = [(); 2].map(|()| {
            let a = g.array::<i64, Block>(LEN);
            a.forall_mut(|i, x| *x = (i % 7) as i64);
            a
        });
        compare(g, "parprefix", &mut (), |g, ()| prefix_by_hand(g, &a), |g, ()| prefix_nested(g, &b));
        assert_eq!(*a.local(), *b.local());
        for count in KEYS {
            with_keys(g, count);
        }
        let keys = g.array::<f32, Block>(LEN);
        keys.forall_mut(|i, x| *x = (figure3::rand(i) % LEN) as f32);
        let (sorted, expected) = (g.array::<f32, Block>(LEN), g.array::<f32, Block>(LEN));
        compare(
            g,
            "quicksort",
            &mut (),
            |g, ()| figure3::quicksort_by_hand(g, &keys, &expected),
            |g, ()| figure3::quicksort(g, &keys, &sorted),
        );
        assert_eq!(*sorted.local(), *expected.local());
        assert!(sorted.local().is_sorted());
    })
}
