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

/// The section of an array that a processor reads or writes for all: elements that follow each other in the file.
fn section_of<const N: usize>(g: &Group, shape: [usize; N]) -> [Range<usize>; N] {
    let mut section = shape.map(|extent| 0..extent);
    // It is cut along the first dimension that can be cut.
    let along = shape.iter().position(|&extent| extent > 1).unwrap_or(0);
    let cut = |rank: usize| (shape[along] as u128 * rank as u128 / g.size() as u128) as usize;
    section[along] = cut(g.rank())..cut(g.rank() + 1);
    section
}

/// Elements of an array that follow each other in the file.
pub(super) struct Straight<T> {
    /// The index of the first of them.
    pub(super) first: usize,
    pub(super) values: Vec<T>,
}

impl<T> Straight<T> {
    /// Values of the section that begins there.
    fn new<const N: usize>(shape: [usize; N], section: &[Range<usize>; N], values: Vec<T>) -> Self {
        let first = shape.iter().zip(section).fold(0, |first, (&extent, range)| first * extent + range.start);
        Self { first, values }
    }
}

/// This processor's share of the elements, in one stretch, where parts of the array lie in many short ones. Collective.
#[track_caller]
pub(super) fn straightened<T: Element, D: Distribution, const N: usize>(
    g: &mut Group,
    a: &Array<T, D, N>,
) -> Result<Option<Straight<T>>> {
    if !is_fine(g, a)? {
        return Ok(None);
    }
    let section = section_of(g, a.shape());
    let values = g.try_step(|s| s.mirror(a, section.clone()))?;
    Ok(Some(Straight::new(a.shape(), &section, values)))
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
        let section = section_of(g, a.shape());
        let len = section.iter().map(Range::len).product();
        let mut straight = Straight::new(a.shape(), &section, Vec::new());
        let outcome = if try_make_room(&mut straight.values, len) {
            straight.values.resize(len, T::zeroed());
            named(placed.read(file, straight.first, &mut straight.values), "read", path)
        } else {
            Err(format!("there is no memory for {len} elements of {}", path.display()))
        };
        together(g, outcome)?;
        return g.try_step(|s| s.update_with(a, section.clone(), &straight.values, Any));
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
    if let Some(Straight { first, values }) = straight {
        write(first, &values);
    } else {
        let local = a.local();
        a.stretches(|offset, index, count| write(index, &local[offset..offset + count]));
    }
    aside.finish(g, outcome)
}
