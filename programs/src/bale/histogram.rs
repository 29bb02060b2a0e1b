//! Counters of a distributed table are increased at random.
//!
//! A superstep is one call for a batch of n / p of the updates: h = n / p indices, of which each goes to its owner
//! once, and their owners apply them. So the whole takes n / p g, and l for each batch.

use super::BATCH;
use crate::{
    Summary, Trouble,
    asked::at_least_one,
    parts::{batches, clocked},
    random::Random,
    summary::checksum,
};
use superstep::{Array, Block, Group, Max, Sum};

/// What is increased, and how often.
#[derive(Clone, Debug, clap::Args)]
pub struct Histogram {
    /// How many counters the table has.
    #[arg(long, default_value_t = 2_000_000, value_parser = at_least_one)]
    pub table: usize,
    /// How many of them are increased, by one each.
    #[arg(long, default_value_t = 50_000_000)]
    pub updates: usize,
    /// Which random numbers say where.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
}

pub(super) fn run(g: &mut Group, asked: &Histogram) -> Result<Summary, Trouble> {
    let table = g.try_array::<u64, Block>(asked.table)?;
    let (seconds, ()) = clocked(g, |g| count(g, asked, &table));
    let is_right = is_counted(asked, &table);
    let first = table.global(0).unwrap_or(0);
    let here = checksum(first, table.local().iter().copied());
    let (total, most) = (table.local().iter().sum::<u64>(), table.local().iter().copied().max().unwrap_or(0));
    let (total, most, checksum, wrong) = g.step(|s| {
        (s.reduce(total, Sum), s.reduce(most, Max), s.reduce(here, Sum), s.reduce(u32::from(!is_right), Sum))
    });
    Ok(Summary::new("bale histogram", seconds)
        .with("table", asked.table)
        .with("updates", total)
        .with("most", most)
        .with("checksum", checksum)
        .rate(asked.updates as f64 / seconds / 1e6, "million updates/s")
        .checked(wrong == 0 && total == asked.updates as u64))
}

fn count(g: &mut Group, asked: &Histogram, table: &Array<u64, Block>) {
    let mut places = Vec::new();
    for batch in batches(g, asked.updates, BATCH) {
        let mut random = Random::new(asked.seed).skip(batch.start);
        places.clear();
        places.extend(batch.map(|_| random.below(asked.table)));
        g.step(|s| s.scatter_one(table, &places, 1, Sum));
    }
}

/// Whether each counter here is what its owner finds that goes through all updates alone.
fn is_counted(asked: &Histogram, table: &Array<u64, Block>) -> bool {
    let (first, mut left) = (table.global(0).unwrap_or(0), table.local().to_vec());
    let mut random = Random::new(asked.seed);
    for _ in 0..asked.updates {
        if let Some(counter) = left.get_mut(random.below(asked.table).wrapping_sub(first)) {
            *counter = counter.wrapping_sub(1);
        }
    }
    left.iter().all(|&left| left == 0)
}
