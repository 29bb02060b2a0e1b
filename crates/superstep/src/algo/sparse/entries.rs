//! Entries of a matrix on their way to the owners of their rows, and how they become compressed rows there.

use crate::{
    engine::{Element, Group},
    memory::{Array, Distribution},
};
use std::panic::Location;

/// An entry: its row, its column and its value.
pub(super) type Entry<T> = (usize, usize, T);

/// This processor's rows, one after another. The entries of a row stand by rising column, and each column comes once.
pub(super) struct Rows<T> {
    /// Where each row begins, and where the last one ends.
    pub(super) starts: Vec<usize>,
    pub(super) columns: Vec<usize>,
    pub(super) values: Vec<T>,
}

/// Compresses entries of `count` rows. Those that meet are combined in the order in which they come; `combine` is told
/// where.
pub(super) fn compress<T: Element>(
    count: usize,
    mut entries: Vec<Entry<T>>,
    mut combine: impl FnMut([usize; 2], &mut T, &T),
) -> Rows<T> {
    // The order of those that meet is kept.
    entries.sort_by_key(|&(row, column, _)| (row, column));
    let mut rows = Rows { starts: vec![0; count + 1], columns: Vec::new(), values: Vec::<T>::new() };
    let mut last = None;
    for (row, column, value) in entries {
        match rows.values.last_mut() {
            Some(there) if last == Some((row, column)) => combine([row, column], there, &value),
            _ => {
                rows.columns.push(column);
                rows.values.push(value);
                rows.starts[row + 1] = rows.columns.len();
            }
        }
        last = Some((row, column));
    }
    for row in 0..count {
        rows.starts[row + 1] = rows.starts[row + 1].max(rows.starts[row]);
    }
    rows
}

/// Hands entries to the owners of their rows, which lie like `rows`. Returns those that came here, with places in this
/// processor's part for rows; by the rank of who had them, and then in the order in which they were given. Collective.
#[track_caller]
pub(super) fn send<T: Element, A: Element, D: Distribution>(
    g: &mut Group,
    rows: &Array<A, D>,
    entries: impl Iterator<Item = Entry<T>>,
) -> Vec<Entry<T>> {
    let mut lots: Vec<Lot<T>> = (0..g.size()).map(|_| Lot::default()).collect();
    for (row, column, value) in entries {
        let lot = &mut lots[rows.owner(row)];
        lot.places.push(rows.offset(row) as u64);
        lot.columns.push(column as u64);
        lot.values.push(value);
    }
    let places: Vec<&[u64]> = lots.iter().map(|lot| &lot.places[..]).collect();
    let columns: Vec<&[u64]> = lots.iter().map(|lot| &lot.columns[..]).collect();
    let values: Vec<&[T]> = lots.iter().map(|lot| &lot.values[..]).collect();
    let (places, columns, values) =
        g.step(|s| (s.exchange_slices(&places), s.exchange_slices(&columns), s.exchange_slices(&values)));
    let came = places.into_iter().flatten().zip(columns.into_iter().flatten()).zip(values.into_iter().flatten());
    came.map(|((place, column), value)| (place as usize, column as usize, value)).collect()
}

/// Entries for one owner.
struct Lot<T> {
    places: Vec<u64>,
    columns: Vec<u64>,
    values: Vec<T>,
}

impl<T> Default for Lot<T> {
    fn default() -> Self {
        Self { places: Vec::new(), columns: Vec::new(), values: Vec::new() }
    }
}

/// Refuses an array of another group, and an index that it does not have.
#[track_caller]
pub(super) fn check<A: Element, D: Distribution>(
    g: &Group,
    array: &Array<A, D>,
    mut indices: impl Iterator<Item = usize>,
) {
    array.check_whole(g.core(), Location::caller()).unwrap_or_else(|error| error.raise());
    if let Some(index) = indices.find(|&index| index >= array.len()) {
        array.bad_index(index, Location::caller()).raise();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_that_meet_are_combined_in_their_order_and_rows_may_be_empty() {
        let entries = vec![(3, 7, 1u32), (1, 9, 2), (3, 7, 3), (1, 2, 4), (3, 0, 5), (3, 7, 6)];
        let rows = compress(5, entries, |_, x: &mut u32, y: &u32| *x = 10 * *x + y);
        assert_eq!(rows.starts, [0, 0, 2, 2, 4, 4]);
        assert_eq!((rows.columns, rows.values), (vec![2, 9, 0, 7], vec![4, 2, 5, 136]));
        assert_eq!(compress(2, Vec::<Entry<u8>>::new(), |_, _, _| ()).starts, [0, 0, 0]);
    }
}
