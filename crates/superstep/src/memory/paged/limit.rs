//! From how many bytes on a piece is lent to a member that shares memory.
//!
//! A piece that is not lent is copied into a buffer, which costs `g` for each of its bytes; a loan costs its part of
//! `l`, however long the piece is. So a loan pays from where the two are equal. Both are measured on this machine, once
//! in a process, on pages of the same kind. The lines `pieces` of `superstep bench cohere` show both sides of it.

use fabric::{Lines, Pages};
use std::{
    hint::black_box,
    sync::atomic::{AtomicUsize, Ordering},
    time::Instant,
};

/// The limit in bytes, the same for all threads of a process. Simulated processors have one that does not depend on the
/// machine, so that their runs can be repeated.
pub(super) fn lent_from() -> usize {
    // Nobody waits for whoever measures: that one may be a thread which a forked process has not.
    static LIMIT: AtomicUsize = AtomicUsize::new(0);
    if fabric::sim::is_here() {
        return SIMULATED;
    }
    match LIMIT.load(Ordering::Acquire) {
        0 => {
            let found = measured();
            LIMIT.compare_exchange(0, found, Ordering::AcqRel, Ordering::Acquire).map_or_else(|first| first, |_| found)
        }
        known => known,
    }
}

/// Pieces of a page each that are copied and lent, and how often.
const PIECES: usize = 32;
const ROUNDS: usize = 8;
/// How many elements of 8 bytes a short and a long piece have.
const SHORT: usize = 8;
const LONG: usize = 512;
/// The limit lies between these, whatever a disturbed clock says. Without memory to measure it is the upper one.
const LEAST: usize = 64;
const MOST: usize = 4096;
const SIMULATED: usize = 256;

fn measured() -> usize {
    let all: Vec<usize> = (0..PIECES).collect();
    let lines = Lines { page: LONG, line: LONG, numbers: 1 };
    let Some(pages) = Pages::<u64>::new(PIECES, lines, &all) else { return MOST };
    let runs: Vec<(usize, usize, usize)> = all.iter().map(|&page| (page, 0, LONG)).collect();
    let loan = fastest(|| {
        drop(black_box(pages.lend(&runs)));
        pages.reclaim();
    });
    let mut buffer = Vec::with_capacity(PIECES * LONG);
    let mut copy = |len| {
        fastest(|| {
            buffer.clear();
            for page in 0..PIECES {
                pages.copy_out(page, 0..len, &mut buffer);
            }
            black_box(&buffer);
        })
    };
    limit(loan, copy(SHORT), copy(LONG))
}

/// The fewest nanoseconds of some rounds.
fn fastest(mut round: impl FnMut()) -> f64 {
    let mut fewest = f64::INFINITY;
    for _ in 0..ROUNDS {
        let start = Instant::now();
        round();
        fewest = fewest.min(start.elapsed().as_nanos() as f64);
    }
    fewest
}

/// Where a copy takes as long as a loan, from what a loan, a short and a long copy take.
fn limit(loan: f64, short: f64, long: f64) -> usize {
    let bytes = |elements: usize| (elements * size_of::<u64>()) as f64;
    let per_byte = (long - short).max(f64::MIN_POSITIVE) / bytes(LONG - SHORT);
    let equal = bytes(SHORT) + (loan - short) / per_byte;
    (equal.clamp(LEAST as f64, MOST as f64) as usize).next_power_of_two()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_is_where_a_copy_takes_as_long_as_a_loan() {
        // 100 for a short one and 1 for each byte beyond it.
        let long = 100.0 + 8.0 * (LONG - SHORT) as f64;
        assert_eq!(limit(100.0 + 256.0 - 64.0, 100.0, long), 256);
        assert_eq!(limit(100.0 + 300.0 - 64.0, 100.0, long), 512);
        assert_eq!(limit(0.0, 100.0, long), LEAST);
        assert_eq!(limit(1e9, 100.0, long), MOST);
        assert_eq!(limit(200.0, 100.0, 100.0), MOST);
        assert!((LEAST..=MOST).contains(&lent_from()) && lent_from() == lent_from());
    }
}
