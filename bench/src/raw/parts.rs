//! Threads that each fill a part of an answer on their own.

use super::{
    barrier::{Barrier, Gate},
    memory::with_buffers,
    team::team_of,
};
use crate::{clock::clocked, sample::Sample};
use fabric::Ahead;
use superstep::{Element, Result};

/// Lets each of `procs` threads `fill` a part of `len` elements in each round, which ends when all have, and `judge`
/// how long it took and what is in the part.
pub fn fill_parts<T: Element>(
    procs: usize,
    len: usize,
    rounds: u64,
    fill: impl Fn(usize, &mut [T]) + Sync,
    judge: impl Fn(f64, usize, &[T]) -> Sample + Sync,
) -> Result<Sample> {
    with_buffers(procs, len, |parts| {
        let gate = Gate::for_team(procs);
        team_of(parts, |rank, part| {
            let seconds = clocked(rounds, |round| {
                fill(rank, part);
                gate.wait(rank, round);
            });
            judge(seconds, rank, part)
        })
    })
}

/// How many elements ahead memory is asked for: measured, and flat around the best.
const AHEAD: usize = 64;

/// Calls `visit` with all `indices` in turn and their numbers, while what is at those to come is asked for.
#[inline]
pub(crate) fn visit<T>(indices: &[usize], data: &[T], mut visit: impl FnMut(usize, usize)) {
    let (ahead, later) = (Ahead::of(data), indices.get(AHEAD..).unwrap_or_default());
    for (at, (&index, &next)) in indices.iter().zip(later).enumerate() {
        ahead.ask(next);
        visit(at, index);
    }
    for (at, &index) in indices.iter().enumerate().skip(later.len()) {
        visit(at, index);
    }
}

/// Each thread loads what it wants out of one table: `indices` says what, by thread, for all as much.
pub fn loads<I: AsRef<[usize]> + Sync>(
    table: &[u64],
    indices: &[I],
    rounds: u64,
    judge: impl Fn(f64, usize, &[u64]) -> Sample + Sync,
) -> Result<Sample> {
    let load = |rank: usize, values: &mut [u64]| {
        visit(indices[rank].as_ref(), table, |at, index| values[at] = table[index]);
    };
    fill_parts(indices.len(), indices[0].as_ref().len(), rounds, load, judge)
}
