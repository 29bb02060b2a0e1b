//! Whole programs on rayon's threads.

use super::timed;
use crate::{
    PROCS, Sample,
    kernels::{
        k_means::{self, DIMENSIONS, Points, ROUNDS},
        words,
    },
};
use ::rayon::prelude::*;
use rustc_hash::FxHashMap;
use superstep_programs::data::kmeans::joined;

type Counts<'a> = FxHashMap<&'a [u8], u64>;

/// The smaller one goes into the larger one.
fn merged<'a>(a: Counts<'a>, b: Counts<'a>) -> Counts<'a> {
    let (mut into, from) = if a.len() < b.len() { (b, a) } else { (a, b) };
    for (word, count) in from {
        *into.entry(word).or_default() += count;
    }
    into
}

fn counted<'a>(mut counts: Counts<'a>, word: &'a [u8]) -> Counts<'a> {
    *counts.entry(word).or_default() += 1;
    counts
}

pub(crate) fn words_folded(text: &[u8]) -> Sample {
    let mut counts = Counts::default();
    let seconds = timed(|| {
        let words = text.par_split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
        counts = words.fold(Counts::default, counted).reduce(Counts::default, merged);
    });
    Sample::of_answer(seconds, words::answer(counts.into_iter()))
}

pub(crate) fn words_in_parts(text: &[u8]) -> Sample {
    let mut counts = Counts::default();
    let seconds = timed(|| {
        let part = |rank: usize| &text[words::begin(text, rank)..words::begin(text, rank + 1)];
        let words = |rank| part(rank).split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
        let count = |rank| words(rank).fold(Counts::default(), counted);
        counts = (0..PROCS).into_par_iter().map(count).reduce(Counts::default, merged);
    });
    Sample::of_answer(seconds, words::answer(counts.into_iter()))
}

/// Sums of coordinates, and how many points they are of.
type Sums = (Vec<f64>, Vec<u64>);

fn added(mut sums: Sums, more: Sums) -> Sums {
    sums.0.iter_mut().zip(more.0).for_each(|(sum, x)| *sum += x);
    sums.1.iter_mut().zip(more.1).for_each(|(size, more)| *size += more);
    sums
}

fn rounds(points: &Points, mut add_up: impl FnMut(&[f64]) -> Sums) -> Sample {
    let mut centres = points.centres.clone();
    let seconds = timed(|| {
        for _ in 0..ROUNDS {
            let (sums, sizes) = add_up(&centres);
            k_means::means(&mut centres, &sums, &sizes);
        }
    });
    Sample::of_answer(seconds, k_means::answer(&centres))
}

pub(crate) fn k_means(points: &Points) -> Sample {
    let none = || (vec![0.0; points.centres.len()], vec![0; points.centres.len() / DIMENSIONS]);
    rounds(points, |centres| {
        let add = |(mut sums, mut sizes): Sums, point: &[f64]| {
            let best = k_means::nearest(point, centres);
            sizes[best] += 1;
            sums[best * DIMENSIONS..][..DIMENSIONS].iter_mut().zip(point).for_each(|(sum, x)| *sum += x);
            (sums, sizes)
        };
        points.all.par_chunks_exact(DIMENSIONS).fold(none, add).reduce(none, added)
    })
}

pub(crate) fn k_means_in_parts(points: &Points) -> Sample {
    let none = || (vec![0.0; points.centres.len()], vec![0; points.centres.len() / DIMENSIONS]);
    let count = points.all.len() / DIMENSIONS;
    let mut nearest = vec![0; count];
    rounds(points, |centres| {
        let parts = points
            .all
            .par_chunks(count.div_ceil(PROCS) * DIMENSIONS)
            .zip(nearest.par_chunks_mut(count.div_ceil(PROCS)));
        let add_up = |(points, nearest): (&[f64], &mut [u32])| {
            let sums = joined(points, DIMENSIONS, centres, nearest);
            (sums.coordinates, sums.sizes)
        };
        parts.map(add_up).reduce(none, added)
    })
}
