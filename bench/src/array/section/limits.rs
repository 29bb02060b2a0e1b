//! The blocks by hand, on bare threads.

use super::block::{fill, is_block};
use crate::{
    clock::clocked,
    contest::Sample,
    raw::{
        barrier::{Barrier, Gate},
        memory::with_buffers,
        team::{team, team_of},
    },
};
use superstep::Result;

/// Each copies the next one's block into a buffer that it has.
pub(super) fn memcpy(procs: usize, words: usize, rounds: u64) -> Result<Sample> {
    with_buffers(2 * procs, words, |mut sources| {
        let targets = sources.split_off(procs);
        for (rank, source) in sources.iter_mut().enumerate() {
            fill(source, rank);
        }
        let (sources, gate) = (&sources, Gate::for_team(procs));
        team_of(targets, |rank, target| {
            let next = (rank + 1) % procs;
            let seconds = clocked(rounds, |round| {
                target.copy_from_slice(sources[next]);
                gate.wait(rank, round);
            });
            Sample::by_hand(seconds, is_block(target, words, next, (next as u64) << 32))
        })
    })
}

/// Each copies the next one's block into a new buffer.
pub(super) fn fresh(procs: usize, words: usize, rounds: u64) -> Result<Sample> {
    with_buffers(procs, words, |mut sources| {
        for (rank, source) in sources.iter_mut().enumerate() {
            fill(source, rank);
        }
        let (sources, gate) = (&sources, Gate::for_team(procs));
        team(procs, |rank| {
            let (next, mut block) = ((rank + 1) % procs, Vec::new());
            let seconds = clocked(rounds, |round| {
                block = Vec::new();
                block = sources[next].to_vec();
                gate.wait(rank, round);
            });
            Sample::by_hand(seconds, is_block(&block, words, next, (next as u64) << 32))
        })
    })
}
