//! Kernel `spmv`: a sparse matrix in rows times a vector.
//!
//! Each processor has some rows and the same part of both vectors. `gather` reads the elements that its rows need, a
//! thousand rows in each step, so that what came is still in the cache when it is used. `mirror` reads the whole
//! vector, once, and then has everything there is. The limit is threads that load what they need directly.

use super::{
    PROCS,
    job::{count_name, job},
};
use crate::{
    clock::{clocked, on_all},
    contest::{Contest, Sample},
    digest::digest,
    options::Options,
    raw::Sparse,
    report::Target,
};
use std::rc::Rc;
use superstep::{Block, Config, Result};

const KERNEL: &str = "spmv";

/// How many rows and columns the matrix has.
const ROWS: usize = 1_000_000;
/// How many elements of each row are not zero.
const PER_ROW: usize = 16;
/// How many rows are computed in each step.
const ROWS_PER_STEP: usize = 1024;

type Verb = fn(&Config, &Sparse, u64) -> Result<Sample>;

const VERBS: [(&str, Verb); 2] = [("gather", gather), ("mirror", mirror)];

/// Plans the one contest of the kernel.
pub(crate) fn plan(options: &Options) -> Vec<Contest> {
    let (procs, rows) = (options.procs.unwrap_or(PROCS), options.shrunk(ROWS));
    let (job, size) = (job(move || Sparse::random(rows, PER_ROW)), count_name(rows));
    let (limit, of_limit) = (format!("{size}/raw-loads"), Rc::clone(&job));
    let mut contest = Contest::of_elements(KERNEL, procs, (rows * PER_ROW) as u64)
        .raw(&limit, move |rounds| by_hand(&of_limit, procs, rounds));
    for (name, verb) in VERBS {
        let (config, job, variant) = (options.config(procs), Rc::clone(&job), format!("{size}/{name}"));
        contest = contest.superstep(&variant, options, move |rounds| verb(&config, &job, rounds)).claim(
            variant,
            [&limit],
            Target::AtLeast(0.85),
        );
    }
    vec![contest]
}

/// `gather_into`, a block of rows in each step.
fn gather(config: &Config, job: &Sparse, rounds: u64) -> Result<Sample> {
    on_all(config, |g| {
        let (block, p) = (job.block(g.rank(), g.size()), g.size());
        let (x, y) = (g.array::<f64, Block>(job.rows()), g.array::<f64, Block>(job.rows()));
        x.local_mut().copy_from_slice(&job.vector()[block.clone()]);
        let steps = job.rows().div_ceil(p).div_ceil(ROWS_PER_STEP);
        let mut elements = Vec::new();
        let seconds = clocked(rounds, |_| {
            for step in 0..steps {
                let here = (step * ROWS_PER_STEP).min(block.len())..((step + 1) * ROWS_PER_STEP).min(block.len());
                let rows = block.start + here.start..block.start + here.end;
                let room = std::mem::take(&mut elements);
                elements = g.step(|s| s.gather_into(&x, job.columns(rows.clone()), room));
                job.multiply_gathered(rows, &elements, &mut y.local_mut()[here]);
            }
        });
        (seconds, *y.local() == job.product()[block], digest(&y.local()))
    })
}

/// `mirror_into` of the whole vector.
fn mirror(config: &Config, job: &Sparse, rounds: u64) -> Result<Sample> {
    on_all(config, |g| {
        let block = job.block(g.rank(), g.size());
        let (x, y) = (g.array::<f64, Block>(job.rows()), g.array::<f64, Block>(job.rows()));
        x.local_mut().copy_from_slice(&job.vector()[block.clone()]);
        let mut vector = Vec::new();
        let seconds = clocked(rounds, |_| {
            let room = std::mem::take(&mut vector);
            vector = g.step(|s| s.mirror_into(&x, .., room));
            job.multiply(block.clone(), &vector, &mut y.local_mut());
        });
        (seconds, *y.local() == job.product()[block], digest(&y.local()))
    })
}

fn by_hand(job: &Sparse, procs: usize, rounds: u64) -> Result<Sample> {
    job.by_rows(procs, rounds, |seconds, first, part| {
        Sample::by_hand(seconds, *part == job.product()[first..first + part.len()])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_multiplies_right() {
        for (procs, rows) in [(1, 10), (2, 5000), (3, 2)] {
            let (config, job) = (Config::new().procs(procs), Sparse::random(rows, PER_ROW));
            assert!(gather(&config, &job, 1).expect("the run succeeds").verified);
            assert!(mirror(&config, &job, 1).expect("the run succeeds").verified);
            assert!(by_hand(&job, procs, 1).expect("the run succeeds").verified);
        }
    }
}
