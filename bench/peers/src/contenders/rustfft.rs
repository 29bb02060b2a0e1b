//! FT on one thread with the transforms of rustfft.

use super::huge;
use crate::Sample;
use rustfft::{FftPlanner, num_complex::Complex64};
use std::time::Instant;
use superstep_programs::nas::{Class, Value, ft, random::Random};

const SEED: u64 = 314_159_265;
const ALPHA: f64 = 1e-6;
/// So many columns are taken out at once.
const STRIP: usize = 16;

pub(crate) fn run(class: Class) -> Sample {
    let (extents, iterations) = ft::size(class);
    let count = extents.iter().product();
    let zero = Complex64::new(0.0, 0.0);
    let [mut there, mut values] = [(); 2].map(|()| huge::made(count, |_| zero));
    let start = Instant::now();
    let mut planner = FftPlanner::new();
    let mut random = Random::new(SEED);
    there.fill_with(|| Complex64::new(random.next(), random.next()));
    // The suite's forward transform has a positive exponent.
    (0..3).for_each(|direction| along(&mut there, extents, direction, &*planner.plan_fft_inverse(extents[direction])));
    let factors = huge::made(count, |at| factor(extents, at));
    let mut sums = Vec::new();
    for _ in 0..iterations {
        for ((there, value), factor) in there.iter_mut().zip(&mut values).zip(&factors) {
            *there *= factor;
            *value = *there;
        }
        let back = |direction: usize| planner.plan_fft_forward(extents[direction]);
        let plans = [0, 1, 2].map(back);
        (0..3).for_each(|direction| along(&mut values, extents, direction, &*plans[direction]));
        sums.push(checksum(&values, extents));
    }
    let seconds = start.elapsed().as_secs_f64();
    Sample::of_answer(seconds, u64::from(ft::values(class, &sums).iter().all(Value::is_right)))
}

/// Transforms along one direction: as it lies along columns, and some columns at a time along the others.
fn along(values: &mut [Complex64], extents: [usize; 3], direction: usize, plan: &dyn rustfft::Fft<f64>) {
    let mut scratch = vec![Complex64::new(0.0, 0.0); plan.get_inplace_scratch_len()];
    if direction == 0 {
        plan.process_with_scratch(values, &mut scratch);
        return;
    }
    let (len, stride): (usize, usize) = (extents[direction], extents[..direction].iter().product());
    let width = STRIP.min(stride);
    let mut strip = vec![Complex64::new(0.0, 0.0); len * width];
    for block in values.chunks_exact_mut(len * stride) {
        for first in (0..stride).step_by(width) {
            for (i, row) in block.chunks_exact(stride).enumerate() {
                row[first..first + width].iter().enumerate().for_each(|(j, value)| strip[j * len + i] = *value);
            }
            plan.process_with_scratch(&mut strip, &mut scratch);
            for (i, row) in block.chunks_exact_mut(stride).enumerate() {
                row[first..first + width].iter_mut().enumerate().for_each(|(j, value)| *value = strip[j * len + i]);
            }
        }
    }
}

/// What an element is multiplied with in each iteration.
fn factor([columns, rows, planes]: [usize; 3], at: usize) -> f64 {
    let square = |i: usize, count: usize| {
        let i = if i < count / 2 { i as f64 } else { i as f64 - count as f64 };
        i * i
    };
    let sum = square(at % columns, columns) + square(at / columns % rows, rows) + square(at / columns / rows, planes);
    (-4.0 * ALPHA * std::f64::consts::PI.powi(2) * sum).exp()
}

fn checksum(values: &[Complex64], [columns, rows, planes]: [usize; 3]) -> [f64; 2] {
    let place = |j: usize| (5 * j % planes * rows + 3 * j % rows) * columns + j % columns;
    let sum: Complex64 = (1..=1024).map(|j| values[place(j)]).sum();
    [sum.re / values.len() as f64, sum.im / values.len() as f64]
}
