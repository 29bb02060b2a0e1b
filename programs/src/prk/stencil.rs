//! Stencil: each point of a grid gets a sum of its neighbours, in a star of radius 2.
//!
//! A grid of n² points has `i + j` at row i and column j. An iteration adds to each inner point of a second grid a sum
//! of the eight points that are one or two steps away from it in the first one, with weights that make a derivative of
//! it; and then 1 to every point of the first one, so that nobody can keep what it has of others.
//!
//! # The program
//!
//! Rows lie in blocks. Before each iteration a processor mirrors the two rows above its block and the two below,
//! whoever has them, and the rest is a loop over rows.
//!
//! # Its supersteps
//!
//! One in each iteration: 19 n² / p operations, h = 4 n words, and l. On threads the words are copied from the
//! neighbours' memory at the boundary, and nothing else waits.
//!
//! # How it scales
//!
//! Work shrinks with p and what travels does not, as blocks of rows have the same border however low they are. With
//! n / p rows of n points on each it is 4 words for 19 n / p operations: at n = 10,000 this is still 0.2 % at p = 100,
//! so rows are enough, and square blocks, whose border shrinks with √p, pay only beyond that.
//!
//! # What peers do
//!
//! The suite's versions in C with MPI have square blocks, and send their borders packed in both directions. With rayon
//! rows are chunks, and the borders are the other chunks' memory. `superstep bench jacobi` has the same pattern on
//! paged arrays, where only neighbours wait for each other, beside threads on plain memory.
//!
//! # Its check
//!
//! The sum of all points of the second grid is known: 2 for each inner one and each iteration, within 1e-8.

use super::{EPSILON, timed};
use crate::{Summary, Trouble, asked::at_least_one};
use superstep::{Array, Block, Group, Sum};

/// How large a grid, and how often.
#[derive(Clone, Debug, clap::Args)]
pub struct Stencil {
    /// How many rows and columns the grid has; 5 are the least.
    #[arg(long, default_value_t = 2000, value_parser = at_least_one)]
    pub size: usize,
    /// How often its points get their sums.
    #[arg(long, default_value_t = 50, value_parser = at_least_one)]
    pub iterations: usize,
}

/// How far the star reaches.
const RADIUS: usize = 2;
/// Additions and multiplications for each point.
const OPERATIONS: f64 = (2 * (4 * RADIUS + 1) + 1) as f64;

type Grid = Array<f64, Block, 2>;

pub(super) fn run(g: &mut Group, asked: &Stencil) -> Result<Summary, Trouble> {
    let n = asked.size;
    if n <= 2 * RADIUS {
        return Err(format!("a star of radius {RADIUS} does not fit into a grid of size {n}").into());
    }
    let grid = g.try_array_with([n, n], Block)?;
    grid.forall_mut_in((.., ..), |[i, j], x| *x = (i + j) as f64);
    let mut sums = vec![0.0; grid.local().len()];
    let seconds = timed(g, asked.iterations, |g| iterate(g, &grid, &mut sums));
    let norm = sums.iter().map(|x: &f64| x.abs()).sum::<f64>();
    let inner = (n - 2 * RADIUS) as f64 * (n - 2 * RADIUS) as f64;
    let norm = g.step(|s| s.reduce(norm, Sum)) / inner;
    let reference = 2.0 * (asked.iterations + 1) as f64;
    Ok(Summary::new("prk stencil", seconds * asked.iterations as f64)
        .with("size", n)
        .with("iterations", asked.iterations)
        .with("norm", norm)
        .with("reference", reference)
        .rate(OPERATIONS * inner / seconds / 1e6, "MFlops/s")
        .checked((norm - reference).abs() <= EPSILON))
}

fn iterate(g: &mut Group, grid: &Grid, sums: &mut [f64]) {
    let [n, _] = grid.shape();
    let first = grid.global(0).unwrap_or(0) / n;
    let end = first + sums.len() / n;
    let above = first.saturating_sub(RADIUS)..first;
    // Who has no rows needs none.
    let below = if first == end { end..end } else { end..(end + RADIUS).min(n) };
    let (start, (above, below)) = (above.start, g.step(|s| (s.mirror(grid, (above, ..)), s.mirror(grid, (below, ..)))));
    let mut here = grid.local_mut();
    let row = |i: usize| match i {
        i if i < first => &above[(i - start) * n..][..n],
        i if i < end => &here[(i - first) * n..][..n],
        i => &below[(i - end) * n..][..n],
    };
    let weights = [1.0 / (2 * RADIUS) as f64, 1.0 / (4 * RADIUS) as f64];
    for i in first.max(RADIUS)..end.min(n - RADIUS) {
        let [up, north, middle, south, down] = [i - 2, i - 1, i, i + 1, i + 2].map(row);
        let sums = &mut sums[(i - first) * n..][..n];
        for j in RADIUS..n - RADIUS {
            sums[j] += weights[0] * (middle[j + 1] - middle[j - 1] + south[j] - north[j])
                + weights[1] * (middle[j + 2] - middle[j - 2] + down[j] - up[j]);
        }
    }
    here.iter_mut().for_each(|x| *x += 1.0);
}
