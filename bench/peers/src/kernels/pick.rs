//! Some of many numbers are picked: those that a function wants, each once, or the largest.

use super::{Sizes, count};
use crate::{
    Random,
    contenders::{rayon, superstep},
    contest::{Contest, Stage, Unit},
    digest,
    failure::Failure,
};

const UNIT: Unit = Unit::millions("million numbers/s");

/// Half of all random numbers.
fn is_kept(number: u64) -> bool {
    number >> 7 & 1 == 1
}

pub(super) fn hold(stage: &mut Stage, sizes: &Sizes) -> Result<(), Failure> {
    for &len in sizes.picked {
        let mut random = Random::of_rank(6, 0);
        let numbers: &Vec<u64> = &(0..len).map(|_| random.next()).collect();
        let kept = numbers.iter().copied().filter(|&number| is_kept(number));
        let contest = Contest::new("pick", format!("filter, {}", count(len)), UNIT, len, digest(0, kept))
            .rayon("`filter` and `collect`", || rayon::pick::filter(numbers, is_kept))
            .rayon("a vector for each thread", || rayon::pick::filter_in_parts(numbers, is_kept))
            .superstep("`filter`", || superstep::pick::filter(numbers, is_kept));
        stage.hold(contest)?;
        largest(stage, numbers, sizes.largest)?;
        let few: &Vec<u64> = &numbers.iter().map(|number| number % sizes.keys as u64).collect();
        let mut once = few.clone();
        once.sort_unstable();
        once.dedup();
        let title = format!("unique, {} of {}", count(len), count(sizes.keys));
        let contest = Contest::new("pick", title, UNIT, len, digest(0, once))
            .rayon("`par_sort_unstable` and `dedup`", || rayon::pick::unique(few))
            .superstep("`unique`", || superstep::pick::unique(few));
        stage.hold(contest)?;
    }
    Ok(())
}

fn largest(stage: &mut Stage, numbers: &[u64], k: usize) -> Result<(), Failure> {
    let mut sorted = numbers.to_vec();
    sorted.sort_unstable_by(|a, b| b.cmp(a));
    sorted.truncate(k);
    let title = format!("the {k} largest of {}", count(numbers.len()));
    let contest = Contest::new("pick", title, UNIT, numbers.len(), digest(0, sorted))
        .rayon("`select_nth_unstable` of chunks", || rayon::pick::top_k(numbers, k))
        .superstep("`top_k`", || superstep::pick::top_k(numbers, k));
    stage.hold(contest)
}
