//! Rows that become columns.

use super::runs::{check, enter, even_starts, refuse};
use crate::{
    engine::{AsValue, Element, Group, Value},
    error::ErrorKind,
    memory::{Array, Distribution},
};
use std::panic::Location;

/// Rows and columns are turned in squares of this side, which stay in the nearest cache.
const SIDE: usize = 32;

/// Makes an array with the columns of `a` as rows, and the same sort of distribution. Collective.
///
/// ```
/// use superstep::{Block, Config, algorithms};
///
/// let turned = Config::new().procs(2).run(|g| {
///     let a = g.array_with::<usize, _, 2>([2, 3], Block::new());
///     a.forall_mut_in((.., ..), |[i, j], x| *x = 10 * i + j);
///     let turned = algorithms::transpose(g, &a);
///     g.step(|s| s.mirror(&turned, (.., ..)))
/// });
/// assert_eq!(turned.unwrap(), [0, 10, 1, 11, 2, 12]);
/// ```
///
/// # Cost
///
/// 2 steps, one of which makes the array; n / p g for n words where rows are distributed, and as much again for indices
/// where both dimensions are.
///
/// # Panics
///
/// If another group made the array, or if it is borrowed for writing.
#[track_caller]
pub fn transpose<T: Element, D: Distribution>(g: &mut Group, a: &Array<T, D, 2>) -> Array<T, D, 2> {
    enter(g, a, Location::caller());
    let [rows, columns] = a.shape();
    let out = g.array_with([columns, rows], a.distribution().resized(columns, g.size()));
    check(g, a, Location::caller());
    let mut stretches = Vec::new();
    out.stretches(|at, index, count| stretches.push((at, index, count)));
    if D::DISTRIBUTED == 1 {
        // Each stretch is whole rows: columns of the other.
        let bands = g.step(|s| {
            let band =
                |&(_, index, count): &(usize, usize, usize)| s.mirror(a, (.., index / rows..(index + count) / rows));
            stretches.iter().map(band).collect::<Vec<_>>()
        });
        let mut local = out.local_mut();
        for (&(at, _, count), band) in stretches.iter().zip(&bands) {
            turn(band, &mut local[at..at + count], rows, count / rows);
        }
    } else {
        let sources = stretches.iter().flat_map(|&(_, index, count)| index..index + count);
        let sources: Vec<usize> = sources.map(|index| index % rows * columns + index / rows).collect();
        let mut values = &g.step(|s| s.gather(a, &sources))[..];
        let mut local = out.local_mut();
        for &(at, _, count) in &stretches {
            let (here, rest) = values.split_at(count);
            local[at..at + count].copy_from_slice(here);
            values = rest;
        }
    }
    out
}

/// Turns the rows that all processors have, one behind the other, into columns. Each processor gives whole rows of
/// `columns` values, and gets ⌈columns / p⌉ of the columns, or what is left of them, each as a row. Collective.
///
/// ```
/// let turned = superstep::Config::new().procs(2).run_all(|g| {
///     let mine = if g.is_leader() { vec![0, 1, 2, 10, 11, 12] } else { vec![20, 21, 22] };
///     superstep::algorithms::transpose_vec(g, mine, 3)
/// });
/// assert_eq!(turned.unwrap(), [vec![0, 10, 20, 1, 11, 21], vec![2, 12, 22]]);
/// ```
///
/// # Cost
///
/// 2 steps, the first to see that the lengths fit; n / p g for n words, and n / p work.
///
/// # Panics
///
/// If somebody gives another number of columns, or values that are no whole rows (`BadLength`, on all members).
#[track_caller]
pub fn transpose_vec<T: Value>(g: &mut Group, values: Vec<T>, columns: usize) -> Vec<T> {
    let (site, len) = (Location::caller(), values.len());
    let given = g.step(|s| s.collect([len, columns]));
    let fits = |&[len, columns]: &[usize; 2]| columns == given[0][1] && len.checked_rem(columns).unwrap_or(len) == 0;
    if let Some(rank) = given.iter().position(|given| !fits(given)) {
        let [len, columns] = given[rank];
        let what = format!("{len} values in {columns} columns on rank {rank}; give whole rows, with as many columns");
        refuse(g, ErrorKind::BadLength, &what, site);
    }
    let blocks = even_starts(columns, g.size());
    let part = |block: &[usize]| {
        let places = (block[0]..block[1]).flat_map(|column| (column..len).step_by(columns));
        places.map(|at| values[at].clone()).collect()
    };
    let parts: Vec<Vec<T>> = blocks.windows(2).map(part).collect();
    let came = g.step(|s| s.exchange_lists::<T, AsValue>(parts, site));
    let mut rests: Vec<_> = came.into_iter().zip(&given).map(|(part, given)| (part.into_iter(), given[0])).collect();
    let mut turned = Vec::new();
    for _ in blocks[g.rank()]..blocks[g.rank() + 1] {
        for (rest, len) in &mut rests {
            turned.extend(rest.take(*len / columns));
        }
    }
    turned
}

/// Writes `rows` rows of `columns` elements as columns.
fn turn<T: Copy>(from: &[T], to: &mut [T], rows: usize, columns: usize) {
    for row in (0..rows).step_by(SIDE) {
        for column in (0..columns).step_by(SIDE) {
            for j in column..columns.min(column + SIDE) {
                for i in row..rows.min(row + SIDE) {
                    to[j * rows + i] = from[i * columns + j];
                }
            }
        }
    }
}
