//! EP: pairs of uniform random numbers become pairs of Gaussian deviates, which are added up and counted by size.
//!
//! A pair in the unit square, both ways around 0, is taken if it lies in the disc, which is π / 4 of them; then a
//! logarithm and a root make two deviates of it.
//!
//! # The program
//!
//! Each processor makes the numbers of its own share of the pairs, since any of them is found at once by multiplying
//! powers, in batches of 65536. All add up what they have.
//!
//! # Supersteps
//!
//! One: for n pairs, some 50 n / p operations, 12 words, and l.
//!
//! # How it scales
//!
//! As far as there are batches: it is in the suite to say how fast processors are when they leave each other alone.
//! Sums of floats are rounded otherwise on another number of processors, and the counts are always the same.
//!
//! # What the peers do
//!
//! The same: there is nothing to do better but the random numbers and the logarithm.

use super::{Class, Figures, Kernel, Outcome, Value, official, random::Random};
use std::time::Instant;
use superstep::{Each, Group, Max, Sum};

const SEED: u64 = 271_828_183;
/// Pairs are made in batches of so many.
const BATCH: u64 = 1 << 16;

/// How many pairs there are.
///
/// ```
/// use superstep_programs::nas::{Class, ep};
///
/// assert_eq!(ep::pairs(Class::S), 1 << 24);
/// ```
pub fn pairs(class: Class) -> u64 {
    1 << class.pick([24, 25, 28, 30])
}

pub(super) fn run(g: &mut Group, class: Class) -> Outcome {
    let pairs = pairs(class);
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
    let [x, y] = official::SUMS[class as usize];
    let values = vec![Value::new("sum of x", sums[0], x, 1e-8), Value::new("sum of y", sums[1], y, 1e-8)];
    // Of a disc in a square, the share is the area's: a check of the counts, which have no official value.
    let share = counts.iter().sum::<u64>() as f64 / pairs as f64;
    let is_sound = (share - std::f64::consts::FRAC_PI_4).abs() < 1e-3;
    let figures = Figures::of(Kernel::Ep, class, seconds);
    Outcome { kernel: Kernel::Ep, class, values, is_sound, figures }
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
