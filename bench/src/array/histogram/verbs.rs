//! The histogram by each verb that writes by index.

use super::job::Updates;
use crate::{
    clock::{WARM_UP, clocked, on_all},
    contest::Sample,
    digest::digest,
};
use superstep::{Block, Config, Result, Sum};

/// `scatter_one`: the increment travels once.
pub(super) fn scatter_one(config: &Config, updates: &Updates, rounds: u64) -> Result<Sample> {
    on_all(config, |g| {
        let (rank, table) = (g.rank(), g.array::<u64, Block>(updates.procs() * updates.len));
        let at = &updates.indices[rank];
        let seconds = clocked(rounds, |_| g.step(|s| s.scatter_one(&table, at, 1, Sum)));
        (seconds, updates.are_counted(&table.local(), rank, WARM_UP + rounds), digest(&table.local()))
    })
}

/// `scatter`: a value for each update.
pub(super) fn scatter(config: &Config, updates: &Updates, rounds: u64) -> Result<Sample> {
    on_all(config, |g| {
        let (rank, table) = (g.rank(), g.array::<u64, Block>(updates.procs() * updates.len));
        let (at, values) = (&updates.indices[rank], &updates.values[rank]);
        let seconds = clocked(rounds, |_| g.step(|s| s.scatter(&table, at, values, Sum)));
        (seconds, updates.are_summed(&table.local(), rank, WARM_UP + rounds), digest(&table.local()))
    })
}

/// `scatterer_one`: a loop pushes index by index.
pub(super) fn scatterer_one(config: &Config, updates: &Updates, rounds: u64) -> Result<Sample> {
    on_all(config, |g| {
        let (rank, table) = (g.rank(), g.array::<u64, Block>(updates.procs() * updates.len));
        let seconds = clocked(rounds, |_| {
            g.step(|s| {
                let mut count = s.scatterer_one(&table, 1, Sum);
                for &index in &updates.indices[rank] {
                    count.push(index);
                }
            });
        });
        (seconds, updates.are_counted(&table.local(), rank, WARM_UP + rounds), digest(&table.local()))
    })
}

/// `scatterer`: a loop pushes index by index, with a value each.
pub(super) fn scatterer(config: &Config, updates: &Updates, rounds: u64) -> Result<Sample> {
    on_all(config, |g| {
        let (rank, table) = (g.rank(), g.array::<u64, Block>(updates.procs() * updates.len));
        let seconds = clocked(rounds, |_| {
            g.step(|s| {
                let mut add = s.scatterer(&table, Sum);
                for (&index, &value) in updates.indices[rank].iter().zip(&updates.values[rank]) {
                    add.push(index, value);
                }
            });
        });
        (seconds, updates.are_summed(&table.local(), rank, WARM_UP + rounds), digest(&table.local()))
    })
}
