//! The elements of an array, between its parts and a file.

use super::{
    aside::Aside,
    disk::File,
    together::{Trouble, named, together},
};
use crate::{
    engine::{Element, Group, Or},
    error::Result,
    memory::{Array, Block, Distribution},
};
use std::{panic::Location, path::Path};

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

/// An array of the same shape that lies in one stretch on each processor.
#[track_caller]
fn blocks<T: Element, D: Distribution, const N: usize>(
    g: &mut Group,
    a: &Array<T, D, N>,
) -> Result<Array<T, Block, N>> {
    g.try_array_with(a.shape(), Block::new())
}

/// A copy that lies in one stretch on each processor, where parts of the array lie in many short ones. Collective.
#[track_caller]
pub(super) fn straightened<T: Element, D: Distribution, const N: usize>(
    g: &mut Group,
    a: &Array<T, D, N>,
) -> Result<Option<Array<T, Block, N>>> {
    if !is_fine(g, a)? {
        return Ok(None);
    }
    let straight = blocks(g, a)?;
    g.try_step(|s| s.assign(&straight, a))?;
    Ok(Some(straight))
}

/// Where the elements of an array lie in a file, and how.
#[derive(Clone, Copy)]
pub(super) struct Placed {
    /// The offset of the first.
    pub(super) begin: u64,
    /// Whether the bytes of each number are in the other order; its length then.
    pub(super) turned: Option<usize>,
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
        let straight = blocks(g, a)?;
        let mine = read_parts((path, file), placed, &straight);
        together(g, mine)?;
        return g.try_step(|s| s.assign(a, &straight));
    }
    let mine = read_parts((path, file), placed, a);
    together(g, mine)
}

fn read_parts<T: Element, D: Distribution, const N: usize>(
    (path, file): (&Path, &File),
    placed: Placed,
    a: &Array<T, D, N>,
) -> Result<(), Trouble> {
    let mut outcome = Ok(());
    let mut local = a.local_mut();
    a.stretches(|offset, index, count| {
        if outcome.is_ok() {
            let bytes = bytemuck::cast_slice_mut(&mut local[offset..offset + count]);
            outcome = file.read(bytes, placed.begin + index as u64 * size_of::<T>() as u64);
            if let Some(len) = placed.turned {
                bytes.chunks_exact_mut(len).for_each(<[u8]>::reverse);
            }
        }
    });
    named(outcome, "read", path)
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
    match straightened(g, a)? {
        Some(straight) => write_parts(g, path, head, &straight),
        None => write_parts(g, path, head, a),
    }
}

#[track_caller]
fn write_parts<T: Element, D: Distribution, const N: usize>(
    g: &mut Group,
    path: &Path,
    head: &[u8],
    a: &Array<T, D, N>,
) -> Result {
    let size = size_of::<T>() as u64;
    let aside = Aside::begin(g, path, head.len() as u64 + a.len() as u64 * size)?;
    let mut outcome = if g.is_leader() { aside.write(head, 0) } else { Ok(()) };
    let local = a.local();
    a.stretches(|offset, index, count| {
        if outcome.is_ok() {
            let bytes = bytemuck::cast_slice(&local[offset..offset + count]);
            outcome = aside.write(bytes, head.len() as u64 + index as u64 * size);
        }
    });
    drop(local);
    aside.finish(g, outcome)
}
