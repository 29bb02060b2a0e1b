//! Rows and columns of a matrix are put in an order in which it is upper triangular, as it once was.
//!
//! The matrix is made upper triangular, with ones on its diagonal and others above it at random, and then its rows and
//! columns are permuted. In a triangular matrix the last row has one element; without it and its column, the last row
//! that is left has one again. So rows with one element are taken out, level by level:
//!
//! 1. all know by a prefix how many rows of this level others have, and so which places theirs get, from the end on;
//! 2. rows tell their place to the one column they have left;
//! 3. columns tell all their rows that they are gone. Rows that have one element now are the next level.
//!
//! A row knows how many elements it has left and the sum of their columns, which is the last one's number when there is
//! one. A level is 3 supersteps; all of them together send each element once: 3 l for each level, and n d / p g for n
//! rows of d elements. In such a matrix there are about e d levels, so it scales until a level's rows are too few.

use crate::{
    Summary, Trouble,
    asked::{at_least_one, below_32_bits},
    parts::clocked,
    random::Random,
    summary::checksum,
};
use superstep::{Array, Block, Group, Sum, algorithms::random_permutation};

/// How large a matrix, and which one.
#[derive(Clone, Debug, clap::Args)]
pub struct Toposort {
    /// How many rows and columns the matrix has.
    #[arg(long, default_value_t = 1_000_000, value_parser = below_32_bits)]
    pub rows: usize,
    /// How many elements the first row has above the diagonal, about; further ones have less.
    #[arg(long, default_value_t = 10, value_parser = at_least_one)]
    pub degree: usize,
    /// Which random numbers say where.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
}

/// The element of a permuted matrix, by its row and its column.
type Entry = [u32; 2];

/// The permuted matrix: the elements of the rows that lie here, and those of the columns that do.
struct Matrix {
    by_row: Vec<Entry>,
    by_column: Vec<Entry>,
}

/// Where rows and columns go.
struct Order {
    rows: Array<u64, Block>,
    columns: Array<u64, Block>,
    levels: usize,
}

pub(super) fn run(g: &mut Group, asked: &Toposort) -> Result<Summary, Trouble> {
    // Both lie as the permutations do, and say who owns which row and which column.
    let rows = g.try_array::<u64, Block>(asked.rows)?;
    let columns = g.try_array::<u64, Block>(asked.rows)?;
    let matrix = permuted(g, asked, &rows);
    let (seconds, levels) = clocked(g, |g| sort(g, &matrix, &rows, &columns));
    let order = Order { rows, columns, levels };
    let is_right = is_triangular(g, &matrix, &order);
    let first = order.rows.global(0).unwrap_or(0);
    let here = checksum(first, order.rows.local().iter().copied());
    let entries = matrix.by_row.len();
    let (entries, checksum) = g.step(|s| (s.reduce(entries, Sum), s.reduce(here, Sum)));
    Ok(Summary::new("bale toposort", seconds)
        .with("rows", asked.rows)
        .with("elements", entries)
        .with("levels", order.levels)
        .with("checksum", checksum)
        .rate(entries as f64 / seconds / 1e6, "million elements/s")
        .checked(is_right))
}

/// Sends each element to whom it belongs.
fn sent(g: &mut Group, like: &Array<u64, Block>, elements: &[Entry], owned: impl Fn(&Entry) -> u32) -> Vec<Entry> {
    let mut outgoing = vec![Vec::new(); g.size()];
    for element in elements {
        outgoing[like.owner(owned(element) as usize)].push(*element);
    }
    let slices: Vec<&[Entry]> = outgoing.iter().map(Vec::as_slice).collect();
    g.step(|s| s.exchange_slices(&slices)).concat()
}

/// Makes the matrix. What is drawn depends on the row alone, and not on who draws it.
fn permuted(g: &mut Group, asked: &Toposort, like: &Array<u64, Block>) -> Matrix {
    let (n, degree) = (asked.rows, asked.degree);
    let to_row = random_permutation(g, n, asked.seed);
    let to_column = random_permutation(g, n, asked.seed ^ u64::MAX);
    let first = to_row.global(0).unwrap_or(0);
    let (mut rows, mut columns, mut drawn) = (Vec::new(), Vec::new(), Vec::new());
    for (row, &place) in (first..).zip(to_row.local().iter()) {
        let mut random = Random::new(asked.seed).skip(row.wrapping_mul(degree));
        drawn.clear();
        drawn.push(row);
        drawn.extend((0..degree).map(|_| random.below(n)).filter(|&column| column > row));
        drawn.sort_unstable();
        drawn.dedup();
        rows.extend(drawn.iter().map(|_| place as u32));
        columns.extend_from_slice(&drawn);
    }
    let columns = g.step(|s| s.gather(&to_column, &columns));
    let elements: Vec<Entry> = rows.iter().zip(columns).map(|(&row, column)| [row, column as u32]).collect();
    let by_row = sent(g, like, &elements, |&[row, _]| row);
    let mut by_column = sent(g, like, &elements, |&[_, column]| column);
    by_column.sort_unstable_by_key(|&[row, column]| (column, row));
    Matrix { by_row, by_column }
}

/// Finds the places; says in how many levels.
fn sort(g: &mut Group, matrix: &Matrix, rows: &Array<u64, Block>, columns: &Array<u64, Block>) -> usize {
    let (n, first, len) = (rows.len(), rows.global(0).unwrap_or(0), rows.local().len());
    // How many elements each row has left, and the sum of their columns.
    let mut left = vec![(0u32, 0u64); len];
    for &[row, column] in &matrix.by_row {
        let (count, sum) = &mut left[row as usize - first];
        *count += 1;
        *sum += u64::from(column);
    }
    // Where the elements of each column begin.
    let mut starts = vec![0; len + 1];
    matrix.by_column.iter().for_each(|&[_, column]| starts[column as usize - first + 1] += 1);
    (0..len).for_each(|at| starts[at + 1] += starts[at]);

    let mut level: Vec<usize> = (0..len).filter(|&row| left[row].0 == 1).collect();
    let (mut placed, mut levels) = (0, 0);
    loop {
        let here = level.len();
        let (before, count) = g.step(|s| (s.prefix(here, Sum), s.reduce(here, Sum)));
        if count == 0 {
            return levels;
        }
        let place = |at: usize| (n - 1 - (placed + before + at)) as u32;
        let mut leaving = Vec::with_capacity(here);
        for (at, &row) in level.iter().enumerate() {
            rows.local_mut()[row] = u64::from(place(at));
            leaving.push([place(at), left[row].1 as u32]);
        }
        placed += count;
        levels += 1;
        let taken = sent(g, columns, &leaving, |&[_, column]| column);
        let mut struck = Vec::new();
        for [place, column] in taken {
            let at = column as usize - first;
            columns.local_mut()[at] = u64::from(place);
            struck.extend_from_slice(&matrix.by_column[starts[at]..starts[at + 1]]);
        }
        level.clear();
        for [row, column] in sent(g, rows, &struck, |&[row, _]| row) {
            let row = row as usize - first;
            left[row].0 -= 1;
            left[row].1 -= u64::from(column);
            if left[row].0 == 1 {
                level.push(row);
            }
        }
        // In the order of their numbers, places do not depend on how many processors there are.
        level.sort_unstable();
    }
}

/// Whether all places are taken once, by rows and by columns, and no element is below the diagonal.
fn is_triangular(g: &mut Group, matrix: &Matrix, order: &Order) -> bool {
    let mut is_right = true;
    for places in [&order.rows, &order.columns] {
        let seen = g.array::<u32, Block>(places.len());
        let here: Vec<usize> = places.local().iter().map(|&place| place as usize).collect();
        g.step(|s| s.scatter_one(&seen, &here, 1, Sum));
        is_right &= seen.local().iter().all(|&count| count == 1);
    }
    let (rows, columns): (Vec<usize>, Vec<usize>) =
        matrix.by_row.iter().map(|&[row, column]| (row as usize, column as usize)).unzip();
    let (rows, columns) = g.step(|s| (s.gather(&order.rows, &rows), s.gather(&order.columns, &columns)));
    is_right &= rows.iter().zip(&columns).all(|(row, column)| row <= column);
    g.step(|s| s.reduce(u32::from(!is_right), Sum)) == 0
}
