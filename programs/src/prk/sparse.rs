//! Sparse: a sparse matrix, whose rows are a star on a grid, is multiplied with a vector.
//!
//! The grid has 2ˡ points on a side and no edge: what leaves it on one side comes in on the other. A row has an element
//! for its point and for those that are up to r steps away in each direction. Points are numbered along rows, and
//! columns have these numbers with their bits in reverse order, so a row's elements lie far apart. Who needs what of
//! the vector is worked out once, in a plan; then an iteration is one superstep, with h = what a processor's rows need
//! of others, at most (4 r + 1) 4ˡ / p. The check is the suite's sum of the result, which it compares by an absolute
//! error: here it is relative, as sums of millions of rounded numbers depend on how they are grouped.

use super::{EPSILON, timed};
use crate::{Summary, Trouble, asked::at_least_one};
use superstep::{Block, Group, Sum};

/// How large a grid and a star, and how often.
#[derive(Clone, Debug, clap::Args)]
pub struct Sparse {
    /// The grid has two to the power of this points on each side.
    #[arg(long, default_value_t = 9, value_parser = clap::value_parser!(u32).range(0..=15))]
    pub log2: u32,
    /// How many steps the star reaches.
    #[arg(long, default_value_t = 4)]
    pub radius: usize,
    /// How often the matrix is multiplied.
    #[arg(long, default_value_t = 30, value_parser = at_least_one)]
    pub iterations: usize,
}

/// The columns of a row: its point, and those in a star around it.
fn columns(row: usize, log2: u32, radius: usize) -> impl Iterator<Item = usize> {
    let side = 1usize << log2;
    let (i, j) = (row % side, row / side);
    let arms = (1..=radius).flat_map(move |r| {
        [((i + r) % side, j), ((i + side - r) % side, j), (i, (j + r) % side), (i, (j + side - r) % side)]
    });
    // A grid of one point has no bits to reverse.
    let reversed = move |(i, j): (usize, usize)| (i + j * side).reverse_bits().checked_shr(usize::BITS - 2 * log2);
    std::iter::once((i, j)).chain(arms).map(move |point| reversed(point).unwrap_or(0))
}

pub(super) fn run(g: &mut Group, asked: &Sparse) -> Result<Summary, Trouble> {
    let (side, radius) = (1usize << asked.log2, asked.radius);
    if radius >= side.div_ceil(2) {
        return Err(format!("a star of radius {radius} overlaps with itself in a grid of size {side}").into());
    }
    let (rows, width) = (side * side, 4 * radius + 1);
    let x = g.try_array::<f64, Block>(rows)?;
    let y = g.try_array::<f64, Block>(rows)?;
    let element = |column: usize| (column, 1.0 / (column + 1) as f64);
    let matrix = g.sparse_rows(&y, &x, |row| columns(row, asked.log2, radius).map(element), Sum);
    let mut result = vec![0.0; x.local().len()];
    let seconds = timed(g, asked.iterations, |g| {
        x.forall_mut(|at, x| *x += (at + 1) as f64);
        matrix.spmv(g, &x, &y);
        result.iter_mut().zip(y.local().iter()).for_each(|(result, y)| *result += y);
    });
    let elements = (rows * width) as f64;
    let reference = 0.5 * elements * (asked.iterations + 1) as f64 * (asked.iterations + 2) as f64;
    let sum = result.iter().sum::<f64>();
    let sum = g.step(|s| s.reduce(sum, Sum));
    Ok(Summary::new("prk sparse", seconds * asked.iterations as f64)
        .with("rows", rows)
        .with("elements", rows * width)
        .with("iterations", asked.iterations)
        .with("sum", sum)
        .with("reference", reference)
        .rate(2.0 * elements / seconds / 1e6, "MFlops/s")
        .checked(((sum - reference) / reference).abs() <= EPSILON))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_has_its_star_with_bits_reversed() {
        // A grid of 4 times 4: row 6 is the point (2, 1), and 0110 stays what it is.
        let mut found: Vec<usize> = columns(6, 2, 1).collect();
        found.sort_unstable();
        let numbers = [6usize, 5, 7, 2, 10];
        let mut expected = numbers.map(|x| (0..4).map(|bit| (x >> bit & 1) << (3 - bit)).sum::<usize>());
        expected.sort_unstable();
        assert_eq!(found, expected);
        assert!(columns(0, 0, 0).eq([0]));
    }
}
