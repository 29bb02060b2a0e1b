//! What the paper that distributed arrays come from measured.
//!
//! C. Kessler, "Managing irregular remote accesses to distributed shared arrays in a bulk-synchronous parallel
//! programming environment", section 5: NestStep-C over MPICH, on PCs that shared an Ethernet; wall-clock seconds.

use crate::report::Paper;

/// A row of one of its tables: how many elements, and how long with one processor, two, three and so on.
type Row = (usize, &'static [f64]);

const PREFIX: [Row; 2] =
    [(1_000_000, &[0.790, 0.397, 0.268, 0.205, 0.165]), (10_000_000, &[7.90, 4.00, 2.70, 1.98, 1.59])];

const QUICKSORT: [Row; 2] =
    [(80_000, &[0.641, 0.393, 0.428, 0.437, 0.391, 0.375]), (120_000, &[0.991, 0.622, 0.582, 0.564, 0.502, 0.485])];

/// What it says about prefix sums of so many numbers on so many processors, if it does.
pub(super) fn prefix(count: usize, procs: usize) -> Option<Paper> {
    look_up(&PREFIX, count, procs)
}

/// What it says about sorting so many numbers on so many processors, if it does.
pub(super) fn quicksort(count: usize, procs: usize) -> Option<Paper> {
    look_up(&QUICKSORT, count, procs)
}

fn look_up(rows: &[Row], count: usize, procs: usize) -> Option<Paper> {
    let (_, seconds) = rows.iter().find(|(size, _)| *size == count)?;
    // With one processor its runtime system had nothing to do: that is the sequential program.
    let at = procs.checked_sub(1).filter(|&at| at > 0)?;
    Some(Paper { alone_seconds: seconds[0], seconds: *seconds.get(at)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_are_read_by_size_and_number_of_processors() {
        assert_eq!(prefix(10_000_000, 2), Some(Paper { alone_seconds: 7.90, seconds: 4.00 }));
        assert_eq!(quicksort(80_000, 6), Some(Paper { alone_seconds: 0.641, seconds: 0.375 }));
        assert_eq!((prefix(1, 2), prefix(1_000_000, 1), prefix(1_000_000, 6)), (None, None, None));
    }
}
