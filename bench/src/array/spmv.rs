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
    random::Random,
    raw::{
        barrier::{Barrier, Gate},
        memory::{areas, lent, slices, with_group},
        team::team_of,
    },
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

/// Some rows of a matrix, compressed: where each row begins, and the elements with their columns.
struct Csr {
    starts: Vec<usize>,
    columns: Vec<usize>,
    values: Vec<f64>,
}

impl Csr {
    /// Multiplies the rows from `first` on, as many as there are results; `element` returns the vector's element for an
    /// entry of the matrix.
    #[inline]
    fn multiply(&self, first: usize, results: &mut [f64], element: impl Fn(usize) -> f64) {
        for (result, ends) in results.iter_mut().zip(self.starts[first..].windows(2)) {
            let entries = ends[0]..ends[1];
            let values = &self.values[entries.clone()];
            *result = entries.zip(values).map(|(entry, value)| value * element(entry)).sum();
        }
    }
}

/// A matrix in blocks of rows, one for each processor, a vector, and their product.
struct Product {
    rows: usize,
    parts: Vec<Csr>,
    vector: Vec<f64>,
    result: Vec<f64>,
}

impl Product {
    fn new(procs: usize, rows: usize) -> Self {
        let mut random = Random::new(5);
        let block = rows.div_ceil(procs);
        // Small whole numbers: their sums are exact, in whatever order they are added.
        let mut part = |rank: usize| {
            let here = block.min(rows.saturating_sub(rank * block));
            Csr {
                starts: (0..=here).map(|row| row * PER_ROW).collect(),
                columns: (0..here * PER_ROW).map(|_| random.below(rows)).collect(),
                values: (0..here * PER_ROW).map(|_| random.below(100) as f64).collect(),
            }
        };
        let parts: Vec<Csr> = (0..procs).map(&mut part).collect();
        let vector: Vec<f64> = (0..rows).map(|_| random.below(100) as f64).collect();
        let mut result = Vec::with_capacity(rows);
        for part in &parts {
            for row in 0..part.starts.len() - 1 {
                let entries = part.starts[row]..part.starts[row + 1];
                result.push(entries.map(|entry| part.values[entry] * vector[part.columns[entry]]).sum());
            }
        }
        Self { rows, parts, vector, result }
    }

    /// Which rows belong to `rank`.
    fn range(&self, rank: usize) -> std::ops::Range<usize> {
        let block = self.rows.div_ceil(self.parts.len());
        (rank * block).min(self.rows)..((rank + 1) * block).min(self.rows)
    }
}

type Verb = fn(&Config, &Product, u64) -> Result<Sample>;

const VERBS: [(&str, Verb); 2] = [("gather", gather), ("mirror", mirror)];

/// Plans the one contest of the kernel.
pub(crate) fn plan(options: &Options) -> Vec<Contest> {
    let (procs, rows) = (options.procs.unwrap_or(PROCS), options.shrunk(ROWS));
    let (job, size) = (job(move || Product::new(procs, rows)), count_name(rows));
    let (limit, of_limit) = (format!("{size}/raw-loads"), Rc::clone(&job));
    let mut contest = Contest::of_elements(KERNEL, procs, (rows * PER_ROW) as u64)
        .raw(&limit, move |rounds| by_hand(&of_limit, rounds));
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
fn gather(config: &Config, job: &Product, rounds: u64) -> Result<Sample> {
    on_all(config, |g| {
        let (rank, p) = (g.rank(), g.size());
        let (part, range) = (&job.parts[rank], job.range(rank));
        let (x, y) = (g.array::<f64, Block>(job.rows), g.array::<f64, Block>(job.rows));
        x.local_mut().copy_from_slice(&job.vector[range.clone()]);
        let steps = job.rows.div_ceil(p).div_ceil(ROWS_PER_STEP);
        let mut elements = Vec::new();
        let seconds = clocked(rounds, |_| {
            for step in 0..steps {
                let rows = (step * ROWS_PER_STEP).min(range.len())..((step + 1) * ROWS_PER_STEP).min(range.len());
                let entries = part.starts[rows.start]..part.starts[rows.end];
                let room = std::mem::take(&mut elements);
                elements = g.step(|s| s.gather_into(&x, &part.columns[entries.clone()], room));
                part.multiply(rows.start, &mut y.local_mut()[rows], |entry| elements[entry - entries.start]);
            }
        });
        (seconds, *y.local() == job.result[range], digest(&y.local()))
    })
}

/// `mirror_into` of the whole vector.
fn mirror(config: &Config, job: &Product, rounds: u64) -> Result<Sample> {
    on_all(config, |g| {
        let (part, range) = (&job.parts[g.rank()], job.range(g.rank()));
        let (x, y) = (g.array::<f64, Block>(job.rows), g.array::<f64, Block>(job.rows));
        x.local_mut().copy_from_slice(&job.vector[range.clone()]);
        let mut vector = Vec::new();
        let seconds = clocked(rounds, |_| {
            let room = std::mem::take(&mut vector);
            vector = g.step(|s| s.mirror_into(&x, .., room));
            part.multiply(0, &mut y.local_mut(), |entry| vector[part.columns[entry]]);
        });
        (seconds, *y.local() == job.result[range], digest(&y.local()))
    })
}

/// Each loads what it needs directly.
fn by_hand(job: &Product, rounds: u64) -> Result<Sample> {
    let procs = job.parts.len();
    with_group(|g| {
        let (vector, results) = (g.area::<f64>(job.rows), areas::<f64>(g, procs, job.rows.div_ceil(procs)));
        vector.local_mut().copy_from_slice(&job.vector);
        let (vector, mut results, gate) = (vector.local(), lent(&results), Gate::for_team(procs));
        let vector = &*vector;
        team_of(slices(&mut results), |rank, results| {
            let (part, range) = (&job.parts[rank], job.range(rank));
            let results = &mut results[..range.len()];
            let seconds = clocked(rounds, |round| {
                part.multiply(0, results, |entry| vector[part.columns[entry]]);
                gate.wait(rank, round);
            });
            Sample::by_hand(seconds, *results == job.result[range])
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_multiplies_right() {
        for (procs, rows) in [(1, 10), (2, 5000), (3, 2)] {
            let (config, job) = (Config::new().procs(procs), Product::new(procs, rows));
            assert!(gather(&config, &job, 1).expect("the run succeeds").verified);
            assert!(mirror(&config, &job, 1).expect("the run succeeds").verified);
            assert!(by_hand(&job, 1).expect("the run succeeds").verified);
        }
    }
}
