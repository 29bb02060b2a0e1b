//! Elements of a distributed table are read at random: bale's index gather.
//!
//! A superstep is one call for a batch of n / p of the reads. Where memory is shared, readers load what they asked for
//! from its owner: h = n / p. Elsewhere indices travel there and elements back: h = 2 n / p.

use super::BATCH;
use crate::{
    Summary, Trouble,
    asked::at_least_one,
    parts::{batches, clocked},
    random::{Random, mix},
    summary::checksum,
};
use superstep::{Block, Group, Sum};

/// What is read, and how often.
#[derive(Clone, Debug, clap::Args)]
pub struct Gather {
    /// How many elements the table has.
    #[arg(long, default_value_t = 2_000_000, value_parser = at_least_one)]
    pub table: usize,
    /// How many of them are read.
    #[arg(long, default_value_t = 50_000_000)]
    pub reads: usize,
    /// Which random numbers say where.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
}

/// What the table holds.
fn element(at: usize) -> u64 {
    mix(at as u64)
}

pub(super) fn run(g: &mut Group, asked: &Gather) -> Result<Summary, Trouble> {
    let table = g.try_array::<u64, Block>(asked.table)?;
    table.forall_mut(|at, value| *value = element(at));
    let (mut wrong, mut here) = (0usize, 0u64);
    let (mut seconds, mut places, mut values) = (0.0, Vec::new(), Vec::new());
    for batch in batches(g, asked.reads, BATCH) {
        let mut random = Random::new(asked.seed).skip(batch.start);
        places.clear();
        places.extend(batch.clone().map(|_| random.below(asked.table)));
        let (taken, found) = clocked(g, |g| g.step(|s| s.gather_into(&table, &places, values)));
        seconds += taken;
        // What is checked is not measured: it is as much work as the reading.
        wrong += places.iter().zip(&found).filter(|&(&at, &found)| found != element(at)).count();
        here = here.wrapping_add(checksum(batch.start, found.iter().copied()));
        values = found;
    }
    let (wrong, checksum) = g.step(|s| (s.reduce(wrong, Sum), s.reduce(here, Sum)));
    Ok(Summary::new("bale gather", seconds)
        .with("table", asked.table)
        .with("reads", asked.reads)
        .with("checksum", checksum)
        .rate(asked.reads as f64 / seconds / 1e6, "million reads/s")
        .checked(wrong == 0))
}
