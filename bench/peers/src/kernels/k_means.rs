//! Points are divided into clusters. Coordinates are whole numbers, so sums do not depend on their order.

use super::{Sizes, count};
use crate::{
    Random,
    contenders::{rayon, single, superstep},
    contest::{Contest, Stage, Unit},
    digest,
    failure::Failure,
};

/// Coordinates of a point.
pub(crate) const DIMENSIONS: usize = 8;
const CLUSTERS: usize = 16;
/// So many rounds, in which points still move.
pub(crate) const ROUNDS: usize = 5;

/// Points, and where their centres begin.
pub(crate) struct Points {
    pub(crate) all: Vec<f64>,
    pub(crate) centres: Vec<f64>,
}

impl Points {
    fn random(count: usize) -> Self {
        let mut random = Random::of_rank(22, 0);
        let all: Vec<f64> = (0..count * DIMENSIONS).map(|_| random.below(1000) as f64).collect();
        let centres = all[..CLUSTERS * DIMENSIONS].to_vec();
        Self { all, centres }
    }
}

/// What centres come to.
pub(crate) fn answer(centres: &[f64]) -> u64 {
    digest(0, centres.iter().copied())
}

/// The means of what the points of each centre add up to. A centre without points stays.
pub(crate) fn means(centres: &mut [f64], coordinates: &[f64], sizes: &[u64]) {
    let each = centres.chunks_exact_mut(DIMENSIONS).zip(coordinates.chunks_exact(DIMENSIONS)).zip(sizes);
    for ((centre, sums), &size) in each.filter(|(_, size)| **size > 0) {
        centre.iter_mut().zip(sums).for_each(|(x, sum)| *x = sum / size as f64);
    }
}

/// The centre that is nearest, found as one would write it.
pub(crate) fn nearest(point: &[f64], centres: &[f64]) -> usize {
    let (mut best, mut least) = (0, f64::INFINITY);
    for (at, centre) in centres.chunks_exact(DIMENSIONS).enumerate() {
        let distance = point.iter().zip(centre).map(|(x, y)| (x - y) * (x - y)).sum::<f64>();
        if distance < least {
            (best, least) = (at, distance);
        }
    }
    best
}

pub(super) fn hold(stage: &mut Stage, sizes: &Sizes) -> Result<(), Failure> {
    let points = &Points::random(sizes.points);
    let title = format!("{} points of {DIMENSIONS} coordinates, {CLUSTERS} clusters", count(sizes.points));
    let work = sizes.points * CLUSTERS * ROUNDS;
    let expected = single::programs::k_means(points).digest;
    let contest = Contest::new("k-means", title, Unit::millions("million distances/s"), work, expected)
        .std("plain loops", || single::programs::k_means(points))
        .rayon("`fold` and `reduce` over points, plain loops", || rayon::programs::k_means(points))
        .rayon("the program's loop, on parts", || rayon::programs::k_means_in_parts(points))
        .superstep("the program", || superstep::programs::k_means(points));
    stage.hold(contest)
}
