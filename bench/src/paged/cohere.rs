//! Kernel `cohere`: what it costs to make rows coherent between two processors.
//!
//! In each round each of two processors writes a row of its own, and both make the two rows coherent, as neighbours on
//! a grid do. The limit is threads that write their rows, raise a flag for each other, and copy the other's row.
//! The lines `pieces` have the same amount in pieces of different lengths: short ones move in one buffer, long ones are
//! copied where they lie, and the limit between the two is right if neither side of it is slow.

use crate::{
    clock::{clocked, on_all},
    contest::{Contest, Sample},
    digest::digest,
    options::Options,
    raw::{
        barrier::{Barrier, EpochFlags, Spin},
        team::{lock, team},
    },
    report::Target,
};
use std::sync::Mutex;
use superstep::{Config, Result};

const KERNEL: &str = "cohere";

/// How many elements the row has: 16 KiB.
const ROW: usize = 2048;
/// How many bytes pieces have.
const PIECES: [usize; 4] = [128, 256, 512, 1024];

/// Plans a contest for the row, and one for its pieces.
pub(crate) fn plan(options: &Options) -> Vec<Contest> {
    let procs = options.procs.unwrap_or(2);
    let config = options.config(procs);
    let row = {
        let config = config.clone();
        move |rounds| by_superstep(&config, 1, ROW, rounds)
    };
    let rows = Contest::of_times(KERNEL, procs)
        .raw("row-16KiB/raw", |rounds| Ok(by_threads(rounds)))
        .superstep("row-16KiB", options, row)
        .claim("row-16KiB", ["row-16KiB/raw"], Target::AtMost(1.5));
    let mut pieces = Contest::of_times(KERNEL, procs);
    for bytes in PIECES {
        let (config, count) = (config.clone(), ROW * size_of::<u64>() / bytes);
        let work = move |rounds| by_superstep(&config, count, ROW / count, rounds);
        pieces = pieces.superstep(format!("pieces-{bytes}B"), options, work);
    }
    for pair in PIECES.windows(2) {
        let [shorter, longer] = [pair[0], pair[1]].map(|bytes| format!("pieces-{bytes}B"));
        pieces = pieces.claim(longer, [shorter], Target::AtMost(1.1));
    }
    vec![rows, pieces]
}

/// Makes so many rows of each of the first two processors coherent, of so many elements. Nobody else waits.
fn by_superstep(config: &Config, rows: usize, len: usize, rounds: u64) -> Result<Sample> {
    on_all(config, |g| {
        // Pages run along the rows, which are no shorter than there are rows in a block.
        let width = len.max(rows);
        let a = g.paged::<u64, 2>([2 * rows, width], [rows, width]);
        if g.rank() > 1 {
            return (0.0, true, 0);
        }
        let mine = rows * g.rank()..rows * (g.rank() + 1);
        let seconds = clocked(rounds, |round| {
            for i in mine.clone() {
                a.run_mut([i, 0], len).fill(round);
            }
            g.cohere(&a, (.., ..len), &[0, 1]);
        });
        let found = a.read_section((.., ..len));
        let last = found[0];
        (seconds, found.iter().all(|&x| x == last) && last >= rounds, digest(&[last]))
    })
}

fn by_threads(rounds: u64) -> Sample {
    // Two rows for each, by turns, so that nobody writes what the other may still be reading.
    let rows = [(); 2].map(|()| [(); 2].map(|()| Mutex::new(vec![0; ROW])));
    let gate = EpochFlags::<Spin>::for_team(2);
    team(2, |rank| {
        let (mut copy, mut last) = (vec![0; ROW], 0);
        let seconds = clocked(rounds, |round| {
            let turn = (round % 2) as usize;
            lock(&rows[rank][turn]).fill(round);
            gate.wait(rank, round);
            copy.copy_from_slice(&lock(&rows[1 - rank][turn]));
            last = round;
        });
        Sample::by_hand(seconds, copy.iter().all(|&x| x == last))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_row_arrives() {
        assert!(by_superstep(&Config::new().procs(2), 3, 5, 2).expect("the run succeeds").verified);
        assert!(by_threads(2).verified);
    }
}
