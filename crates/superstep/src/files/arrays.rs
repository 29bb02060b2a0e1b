//! The elements of an array, between its parts and a file.

use super::{
    aside::Aside,
    disk::File,
    together::{named, together},
};
use crate::{
    engine::{Any, Element, Group, Or},
    error::Result,
    memory::{Array, Distribution},
};
use fabric::try_make_room;
use std::{io, ops::Range, panic::Location, path::Path};

/// Where stretches have fewer bytes than this on the average, the array is laid out anew in memory first: a call for
/// each of them would take longer.
const LONG: usize = 64 << 10;

/// Whether some member's part lies in many short stretches. Collective.
#[track_caller]
fn is_fine<T: Element, D: Distribution, const N: usize>(g: &mut Group, a: &Array<T, D, N>) -> Result<bool> {
    let (mut stretches, mut elements) = (0usize, 0usize);
    a.stretches(|_, _, count| {
        stretches += 1;
        elements += count;
    });
    let mine = stretches > 1 && elements * size_of::<T>() < stretches.saturating_mul(LONG);
    g.try_step(|s| s.reduce(mine, Or))
}

/// How many bytes of each processor's share are laid out anew at once. Links keep dozens of buffers of that length.
const SLAB: usize = 1 << 20;

/// How many elements of all processors are laid out anew at once.
pub(super) fn at_once<T>(g: &Group) -> usize {
    (SLAB / size_of::<T>().max(1)).max(1).saturating_mul(g.size())
}

/// Sections of an array that follow each other in the file, each of at most so many elements or of one row.
fn slabs<const N: usize>(shape: [usize; N], most: usize) -> Vec<[Range<usize>; N]> {
    fn cut<const N: usize>(section: &[Range<usize>; N], along: usize, most: usize, into: &mut Vec<[Range<usize>; N]>) {
        let row: usize = section[along + 1..].iter().map(Range::len).product();
        let is_long = along + 1 < N && row > most;
        let rows = if is_long { 1 } else { (most / row).max(1) };
        for first in section[along].clone().step_by(rows) {
            let mut some = section.clone();
            some[along] = first..section[along].end.min(first + rows);
            if is_long { cut(&some, along + 1, most, into) } else { into.push(some) }
        }
    }
    let mut slabs = Vec::new();
    if !shape.contains(&0) {
        cut(&shape.map(|extent| 0..extent), 0, most, &mut slabs);
    }
    slabs
}

/// The part of a slab that a processor reads or writes for all: elements that follow each other in the file, and the
/// index of the first.
fn share_of<const N: usize>(g: &Group, shape: [usize; N], slab: &[Range<usize>; N]) -> ([Range<usize>; N], usize) {
    let mut share = slab.clone();
    // It is cut along the first dimension that can be cut.
    let along = slab.iter().position(|range| range.len() > 1).unwrap_or(0);
    let Range { start, end } = slab[along];
    let cut = |rank: usize| start + ((end - start) as u128 * rank as u128 / g.size() as u128) as usize;
    share[along] = cut(g.rank())..cut(g.rank() + 1);
    let first = shape.iter().zip(&share).fold(0, |first, (&extent, range)| first * extent + range.start);
    (share, first)
}

/// Elements of an array that follow each other in the file.
pub(super) struct Straight<T> {
    /// The index of the first of them.
    pub(super) first: usize,
    pub(super) values: Vec<T>,
}

/// This processor's share of the elements, in few stretches, where parts of the array lie in many short ones.
/// Collective.
#[track_caller]
pub(super) fn straightened<T: Element, D: Distribution, const N: usize>(
    g: &mut Group,
    a: &Array<T, D, N>,
) -> Result<Option<Vec<Straight<T>>>> {
    if !is_fine(g, a)? {
        return Ok(None);
    }
    let mut all = Vec::new();
    for slab in slabs(a.shape(), at_once::<T>(g)) {
        let (share, first) = share_of(g, a.shape(), &slab);
        let values = g.try_step(|s| s.mirror(a, share))?;
        if !values.is_empty() {
            all.push(Straight { first, values });
        }
    }
    Ok(Some(all))
}

/// Where the elements of an array lie in a file, and how.
#[derive(Clone, Copy)]
pub(super) struct Placed {
    /// The offset of the first.
    pub(super) begin: u64,
    /// Whether the bytes of each number are in the other order; its length then.
    pub(super) turned: Option<usize>,
}

impl Placed {
    /// Reads elements from this index on.
    fn read<T: Element>(self, file: &File, index: usize, values: &mut [T]) -> io::Result<()> {
        let bytes = bytemuck::cast_slice_mut(values);
        file.read(bytes, self.begin + index as u64 * size_of::<T>() as u64)?;
        if let Some(len) = self.turned {
            bytes.chunks_exact_mut(len).for_each(<[u8]>::reverse);
        }
        Ok(())
    }
}

/// Reads the elements of an array. Collective.
#[track_caller]
pub(super) fn read<T: Element, D: Distribution, const N: usize>(
    g: &mut Group,
    (path, file): (&Path, &File),
    placed: Placed,
    a: &Array<T, D, N>,
) -> Result {
    a.check_whole(g.core(), Location::caller())?;
    if is_fine(g, a)? {
        let mut values = Vec::new();
        for slab in slabs(a.shape(), at_once::<T>(g)) {
            let (share, first) = share_of(g, a.shape(), &slab);
            let len = share.iter().map(Range::len).product();
            values.clear();
            let outcome = if try_make_room(&mut values, len) {
                values.resize(len, T::zeroed());
                named(placed.read(file, first, &mut values), "read", path)
            } else {
                Err(format!("there is no memory for {len} elements of {}", path.display()))
            };
            together(g, outcome)?;
            g.try_step(|s| s.update_with(a, share, &values, Any))?;
        }
        return Ok(());
    }
    let (mut outcome, mut local) = (Ok(()), a.local_mut());
    a.stretches(|offset, index, count| {
        if outcome.is_ok() {
            outcome = placed.read(file, index, &mut local[offset..offset + count]);
        }
    });
    drop(local);
    together(g, named(outcome, "read", path))
}

/// Writes the elements of an array to a file that begins with `head`. Collective.
#[track_caller]
pub(super) fn write<T: Element, D: Distribution, const N: usize>(
    g: &mut Group,
    path: &Path,
    head: &[u8],
    a: &Array<T, D, N>,
) -> Result {
    a.check_whole(g.core(), Location::caller())?;
    let (straight, size) = (straightened(g, a)?, size_of::<T>() as u64);
    let aside = Aside::begin(g, path, head.len() as u64 + a.len() as u64 * size)?;
    let mut outcome = if g.is_leader() { aside.write(head, 0) } else { Ok(()) };
    let mut write = |index: usize, values: &[T]| {
        if outcome.is_ok() {
            outcome = aside.write(bytemuck::cast_slice(values), head.len() as u64 + index as u64 * size);
        }
    };
    if let Some(straight) = straight {
        for Straight { first, values } in &straight {
            write(*first, values);
        }
    } else {
        let local = a.local();
        a.stretches(|offset, index, count| write(index, &local[offset..offset + count]));
    }
    aside.finish(g, outcome)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slabs_follow_each_other_and_leave_nothing_out() {
        for (shape, most) in [([1, 1, 1], 1), ([7, 3, 5], 1), ([7, 3, 5], 4), ([7, 3, 5], 16), ([7, 3, 5], 1000)] {
            let mut next = 0;
            for slab in slabs(shape, most) {
                let first = shape.iter().zip(&slab).fold(0, |first, (&extent, range)| first * extent + range.start);
                let len: usize = slab.iter().map(Range::len).product();
                assert!(first == next && (1..=most).contains(&len), "{slab:?} of {shape:?}");
                next += len;
            }
            assert_eq!(next, shape.iter().product::<usize>(), "{shape:?} by {most}");
        }
        assert!(slabs([1 << 40, 0], 5).is_empty());
    }
}
