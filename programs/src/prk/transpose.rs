//! Transpose: a matrix is turned over and added to another.
//!
//! Both lie in blocks of rows. An iteration is one superstep: each processor mirrors the columns of the first matrix
//! that are its rows of the second, h = n² / p words, and adds them there, in squares that stay in the cache. Then 1 is
//! added to the first matrix. The check is the suite's: every element of the second one is known.

use super::{EPSILON, timed};
use crate::{Summary, Trouble, asked::at_least_one};
use superstep::{Block, Group, Sum};

/// How large matrices, and how often.
#[derive(Clone, Debug, clap::Args)]
pub struct Transpose {
    /// How many rows and columns the matrices have.
    #[arg(long, default_value_t = 2000, value_parser = at_least_one)]
    pub order: usize,
    /// How often the one is added to the other.
    #[arg(long, default_value_t = 30, value_parser = at_least_one)]
    pub iterations: usize,
}

/// Rows and columns are turned in squares of this side.
const SIDE: usize = 32;

pub(super) fn run(g: &mut Group, asked: &Transpose) -> Result<Summary, Trouble> {
    let n = asked.order;
    let a = g.try_array_with::<f64, _, 2>([n, n], Block::new())?;
    let b = g.try_array_with::<f64, _, 2>([n, n], Block::new())?;
    a.forall_mut_in((.., ..), |[i, j], x| *x = (n * i + j) as f64);
    let first = b.global(0).unwrap_or(0) / n;
    let mine = first..first + b.local().len() / n;
    let (mut band, width) = (Vec::new(), mine.len());
    let seconds = timed(g, asked.iterations, |g| {
        let room = std::mem::take(&mut band);
        band = g.step(|s| s.mirror_into(&a, (.., mine.clone()), room));
        add_turned(&band, width, &mut b.local_mut(), n);
        a.local_mut().iter_mut().for_each(|x| *x += 1.0);
    });
    let count = (asked.iterations + 1) as f64;
    let added = count * asked.iterations as f64 / 2.0;
    let mut error = 0.0;
    for (i, row) in mine.zip(b.local().chunks_exact(n)) {
        error += row.iter().enumerate().map(|(j, x)| (x - (n * j + i) as f64 * count - added).abs()).sum::<f64>();
    }
    let error = g.step(|s| s.reduce(error, Sum));
    Ok(Summary::new("prk transpose", seconds * asked.iterations as f64)
        .with("order", n)
        .with("iterations", asked.iterations)
        .with("error", error)
        .rate(2.0 * size_of::<f64>() as f64 * (n as f64 * n as f64) / seconds / 1e6, "MB/s")
        .checked(error <= EPSILON))
}

/// Adds rows of `width` elements to columns of rows of `n`.
fn add_turned(band: &[f64], width: usize, rows: &mut [f64], n: usize) {
    for top in (0..n).step_by(SIDE) {
        for left in (0..width).step_by(SIDE) {
            for i in left..(left + SIDE).min(width) {
                for j in top..(top + SIDE).min(n) {
                    rows[i * n + j] += band[j * width + i];
                }
            }
        }
    }
}
