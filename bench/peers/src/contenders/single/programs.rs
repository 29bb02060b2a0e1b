//! Programs on one thread.

use crate::{
    Sample,
    kernels::{
        k_means::{self, DIMENSIONS, Points, ROUNDS},
        words,
    },
};
use rustc_hash::FxHashMap;
use std::time::Instant;

pub(crate) fn words(text: &[u8]) -> Sample {
    let start = Instant::now();
    let mut counts = FxHashMap::<&[u8], u64>::default();
    for word in text.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()) {
        *counts.entry(word).or_default() += 1;
    }
    Sample::of_answer(start.elapsed().as_secs_f64(), words::answer(counts.into_iter()))
}

pub(crate) fn k_means(points: &Points) -> Sample {
    let start = Instant::now();
    let mut centres = points.centres.clone();
    for _ in 0..ROUNDS {
        let (mut sums, mut sizes) = (vec![0.0; centres.len()], vec![0; centres.len() / DIMENSIONS]);
        for point in points.all.chunks_exact(DIMENSIONS) {
            let best = k_means::nearest(point, &centres);
            sizes[best] += 1;
            sums[best * DIMENSIONS..][..DIMENSIONS].iter_mut().zip(point).for_each(|(sum, x)| *sum += x);
        }
        k_means::means(&mut centres, &sums, &sizes);
    }
    Sample::of_answer(start.elapsed().as_secs_f64(), k_means::answer(&centres))
}
