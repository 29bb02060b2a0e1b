//! Who has which part of the work, and how long all of it takes.

use std::{ops::Range, time::Instant};
use superstep::{Group, Max};

/// The part of `0..len` that a processor has: as much as the others, or one more.
pub(crate) fn part(len: usize, rank: usize, size: usize) -> Range<usize> {
    let begin = |rank: usize| (len as u128 * rank as u128 / size as u128) as usize;
    begin(rank)..begin(rank + 1)
}

/// The part of this processor in batches of at most `most`. All processors have as many batches, of which the last may
/// be empty, so all of them can make a step for each.
pub(crate) fn batches(g: &Group, len: usize, most: usize) -> impl Iterator<Item = Range<usize>> + use<> {
    let mine = part(len, g.rank(), g.size());
    let at = move |number: usize| mine.start.saturating_add(number.saturating_mul(most)).min(mine.end);
    (0..len.div_ceil(g.size()).div_ceil(most)).map(move |number| at(number)..at(number + 1))
}

/// How many seconds some work takes, from when all processors begin until the last one has ended.
pub(crate) fn clocked<R>(g: &mut Group, work: impl FnOnce(&mut Group) -> R) -> (f64, R) {
    g.step(|_| ());
    let start = Instant::now();
    let made = work(g);
    let seconds = start.elapsed().as_secs_f64();
    (g.step(|s| s.reduce(seconds, Max)), made)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_and_batches_cover_everything_once() {
        for (len, size, most) in [(0, 3, 4), (1, 3, 4), (10, 3, 1), (100, 7, 5), (usize::MAX, 2, usize::MAX)] {
            let batches = superstep::Config::new().procs(size).run_all(|g| batches(g, len, most).collect::<Vec<_>>());
            let batches = batches.unwrap();
            assert!(batches.iter().all(|its| its.len() == batches[0].len()), "everybody makes as many steps");
            let mut end = 0;
            for batch in batches.concat() {
                assert!(batch.start == end && batch.len() <= most || batch.is_empty());
                end = batch.end;
            }
            assert_eq!(end, len);
        }
    }
}
