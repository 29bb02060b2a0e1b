//! EP: pairs of uniform numbers become pairs of Gaussian deviates, which are added up and counted by size.
//!
//! One superstep. Each processor makes the numbers of its own share of the pairs, since any of them is found at once,
//! and all add up what they have.

use super::{Class, Kernel, Outcome, Value, random::Random};
use std::time::Instant;
use superstep::{Each, Group, Max, Sum};

const SEED: u64 = 271_828_183;
/// Pairs are made in batches of so many.
const BATCH: u64 = 1 << 16;

pub(super) fn run(g: &mut Group, class: Class) -> Outcome {
    let pairs = 1u64 << class.pick([24, 25, 28, 30]);
    g.step(|_| ());
    let start = Instant::now();
    let (me, p) = (g.rank() as u64, g.size() as u64);
    let batches = pairs / BATCH;
    let (mut sums, mut counts) = (vec![0.0; 2], vec![0u64; 10]);
    for batch in batches * me / p..batches * (me + 1) / p {
        add(batch, &mut sums, &mut counts);
    }
    let taken = start.elapsed().as_secs_f64();
    // The one superstep.
    let (sums, counts, seconds) =
        g.step(|s| (s.reduce(sums, Each(Sum)), s.reduce(counts, Each(Sum)), s.reduce(taken, Max)));
    let official = match class {
        Class::S => [Some(-3.247_834_652_034_74e3), Some(-6.958_407_078_382_297e3)],
        Class::W => [Some(-2.863_319_731_645_753e3), Some(-6.320_053_679_109_499e3)],
        _ => [None; 2],
    };
    let value = |name: &str, at: usize| Value {
        name: name.into(),
        found: sums[at],
        official: official[at].map(|official| (official, 1e-8)),
    };
    let values = vec![value("sum of x", 0), value("sum of y", 1)];
    // Of a disc in a square, the share is the area's: a check that needs no official value.
    let inside: u64 = counts.iter().sum();
    let share = inside as f64 / pairs as f64;
    Outcome { kernel: Kernel::Ep, class, values, is_sound: (share - std::f64::consts::FRAC_PI_4).abs() < 1e-3, seconds }
}

/// Adds a batch of pairs up, and counts them by the larger of their two absolute values.
fn add(batch: u64, sums: &mut [f64], counts: &mut [u64]) {
    let mut random = Random::new(SEED).skip(2 * BATCH * batch);
    let (mut sum_x, mut sum_y) = (0.0, 0.0);
    for _ in 0..BATCH {
        let (x, y) = (2.0 * random.next() - 1.0, 2.0 * random.next() - 1.0);
        let t = x * x + y * y;
        if t <= 1.0 {
            let factor = (-2.0 * t.ln() / t).sqrt();
            let (x, y) = (x * factor, y * factor);
            counts[x.abs().max(y.abs()) as usize] += 1;
            sum_x += x;
            sum_y += y;
        }
    }
    sums[0] += sum_x;
    sums[1] += sum_y;
}
