//! Kernel `histogram-async`: random increments of a table that is spread over all processors, one request for each.
//!
//! The limit is that of `histogram`: each thread sorts its increments by owner, and each owner applies what is for it.
//! Beside it Lamellar's best safe way reaches a quarter; twice that is what is asked for.

use super::PROCS;
use crate::{
    array::{
        histogram::{job::Updates, one},
        job::{count_name, job},
    },
    clock::{WARM_UP, clocked, on_all},
    contest::{Contest, Sample},
    digest::digest,
    options::Options,
    report::Target,
};
use std::rc::Rc;
use superstep::{Config, Epoch, Method, Result};

const KERNEL: &str = "histogram-async";

/// How many updates each processor makes.
const UPDATES: usize = 10_000_000;

/// Increments an element.
struct Increment;

impl Method for Increment {
    type On = Vec<u64>;
    type Args = u32;
    type Answer = ();

    #[inline]
    fn run(table: &mut Vec<u64>, _: &Epoch, at: u32) {
        table[at as usize] += 1;
    }
}

/// Rounds of one request per increment.
fn requests(config: &Config, updates: &Updates, rounds: u64) -> Result<Sample> {
    on_all(config, |g| {
        let (rank, part) = (g.rank(), updates.len as u32);
        // On huge pages, as all memory that it is held against.
        let mut zeros = Vec::new();
        fabric::make_room(&mut zeros, updates.len);
        zeros.resize(updates.len, 0_u64);
        let table = g.object(zeros);
        let seconds = clocked(rounds, |_| {
            g.epoch(|e| {
                for &index in &updates.indices[rank] {
                    let index = index as u32;
                    e.send_by::<Increment>((index / part) as usize, &table, index % part);
                }
            });
        });
        table.with(|table| (seconds, updates.are_counted(table, rank, WARM_UP + rounds), digest(table)))
    })
}

/// Plans a contest for each size of the table.
pub(crate) fn plan(options: &Options) -> Vec<Contest> {
    let procs = options.procs.unwrap_or(PROCS);
    let sizes = options.sizes(&[1_000_000], &[1_000_000, 10_000_000]);
    sizes.into_iter().map(|len| contest(procs, len, options)).collect()
}

/// Tables of `len` elements per processor.
fn contest(procs: usize, len: usize, options: &Options) -> Contest {
    let (count, size) = (options.shrunk(UPDATES), count_name(len));
    let updates = job(move || Updates::new(procs, len, count));
    let (of_limit, of_ours, config) = (Rc::clone(&updates), updates, options.config(procs));
    let (limit, ours) = (format!("{size}/raw-buckets"), format!("{size}/request-per-increment"));
    Contest::of_elements(KERNEL, procs, (procs * count) as u64)
        .raw(&limit, move |rounds| one(&of_limit, rounds))
        .superstep(&ours, options, move |rounds| requests(&config, &of_ours, rounds))
        .claim(ours, [limit], Target::AtLeast(0.5))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_count_right() {
        for procs in [1, 2, 3] {
            let updates = Updates::new(procs, 100, 1000);
            assert!(requests(&Config::new().procs(procs), &updates, 2).expect("the run succeeds").verified);
        }
    }
}
