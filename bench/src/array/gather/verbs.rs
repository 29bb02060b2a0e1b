//! The reads by each verb that reads by index.

use super::job::Reads;
use crate::{
    clock::{clocked, on_all},
    contest::Sample,
    digest::digest,
};
use superstep::{Array, Block, Config, Group, Result};

fn table(g: &mut Group, reads: &Reads) -> Array<u64, Block> {
    let table = g.array::<u64, Block>(reads.procs() * reads.len);
    table.forall_mut(|index, value| *value = Reads::at(index));
    table
}

/// `gather`: the result is a new vector every time.
pub(super) fn gather(config: &Config, reads: &Reads, rounds: u64) -> Result<Sample> {
    on_all(config, |g| {
        let (rank, table) = (g.rank(), table(g, reads));
        let (at, mut values) = (&reads.indices[rank], Vec::new());
        let seconds = clocked(rounds, |_| {
            // Freed before the next is made, as in a loop whose body keeps nothing.
            values = Vec::new();
            values = g.step(|s| s.gather(&table, at));
        });
        (seconds, reads.are_right(&values, rank), digest(&values))
    })
}

/// `gather_into`: the result uses the room of the last.
pub(super) fn gather_into(config: &Config, reads: &Reads, rounds: u64) -> Result<Sample> {
    on_all(config, |g| {
        let (rank, table) = (g.rank(), table(g, reads));
        let (at, mut values) = (&reads.indices[rank], Vec::new());
        let seconds = clocked(rounds, |_| {
            let room = std::mem::take(&mut values);
            values = g.step(|s| s.gather_into(&table, at, room));
        });
        (seconds, reads.are_right(&values, rank), digest(&values))
    })
}

/// `gatherer`: a loop pushes index by index.
pub(super) fn gatherer(config: &Config, reads: &Reads, rounds: u64) -> Result<Sample> {
    on_all(config, |g| {
        let (rank, table) = (g.rank(), table(g, reads));
        let mut values = Vec::new();
        let seconds = clocked(rounds, |_| {
            values = Vec::new();
            values = g.step(|s| {
                let mut wanted = s.gatherer(&table);
                for &index in &reads.indices[rank] {
                    wanted.push(index);
                }
                wanted.finish()
            });
        });
        (seconds, reads.are_right(&values, rank), digest(&values))
    })
}
