//! All of a paged array on one processor.

use super::{access::Paged, layout::Layout};
use crate::{
    engine::{Address, AsElements, Codec, Core, Element, Item, Payload, Pending, Step, Tag, damaged, hash_numbers},
    error::{Error, ErrorKind, Result, place},
    memory::whole::Whole,
};
use std::{any::Any, ops::Range, panic::Location};

/// What the owners send to `root`: each its elements, block by block.
struct Bring<T, const N: usize> {
    root: usize,
    words: String,
    /// What has come, by rank; nothing but on `root`.
    parts: Vec<Option<Vec<T>>>,
    layout: Layout<N>,
    all: Option<Vec<T>>,
    site: &'static Location<'static>,
}

impl<T, const N: usize> Bring<T, N> {
    fn departed(&self, rank: usize) -> Error {
        let message = format!("rank {rank} left the group with its part of {} ({})", self.words, place(self.site));
        Error::new(ErrorKind::Departed, message)
    }
}

impl<T: Element, const N: usize> Item for Bring<T, N> {
    fn describe(&self) -> String {
        format!("all of {} for rank {}", self.words, self.root)
    }

    fn deliver(&mut self, from: usize, payload: Payload<'_>) -> Result {
        let part = match payload {
            Payload::Bytes(bytes) => AsElements::decode(bytes)?,
            Payload::Moved(part) => *part.downcast::<Vec<T>>().map_err(|_| damaged())?,
        };
        *self.parts.get_mut(from).ok_or_else(damaged)? = Some(part);
        Ok(())
    }

    fn finish(&mut self, left: &[usize]) -> Result {
        // All who stay know who has left, and hear the same of it.
        if let Some(&rank) = left.iter().find(|&&rank| self.layout.blocks(rank).next().is_some()) {
            return Err(self.departed(rank));
        }
        if self.parts.is_empty() {
            return Ok(());
        }
        let shape = self.layout.locator.shape;
        let mut all = vec![T::zeroed(); shape.iter().product()];
        for (rank, part) in self.parts.iter_mut().enumerate() {
            let part = match part.take() {
                Some(part) => part,
                None if left.contains(&rank) => continue,
                None => return Err(damaged()),
            };
            let mut rest = part.as_slice();
            for block in self.layout.blocks(rank) {
                let (here, more) = rest.split_at_checked(elements(&block)).ok_or_else(damaged)?;
                lay(here, &block, &shape, &mut all);
                rest = more;
            }
            if !rest.is_empty() {
                return Err(damaged());
            }
        }
        self.all = Some(all);
        Ok(())
    }

    fn outcome(&mut self) -> &mut dyn Any {
        &mut self.all
    }
}

fn elements<const N: usize>(block: &[Range<usize>; N]) -> usize {
    block.iter().map(Range::len).product()
}

/// Puts the values of a block, row by row, where they lie in all of the array.
fn lay<T: Element, const N: usize>(values: &[T], block: &[Range<usize>; N], shape: &[usize; N], all: &mut [T]) {
    for (number, row) in values.chunks_exact(block[N - 1].len()).enumerate() {
        let (mut rest, mut place, mut stride) = (number, block[N - 1].start, shape[N - 1]);
        for dimension in (0..N - 1).rev() {
            place += (block[dimension].start + rest % block[dimension].len()) * stride;
            rest /= block[dimension].len();
            stride *= shape[dimension];
        }
        all[place..place + row.len()].copy_from_slice(row);
    }
}

impl<T: Element, const N: usize> Whole for Paged<T, N> {
    type Element = T;

    fn bring(&self, step: &Step, root: usize, site: &'static Location<'static>) -> Result<Option<Pending<Vec<T>>>> {
        let core = &step.core;
        self.check_home(core, site)?;
        core.check_rank(root, site)?;
        let (mut mine, is_root) = (Vec::new(), step.rank() == root);
        for block in self.owned() {
            let spans = self.check_section(&block, site)?;
            self.check_readable(&spans, site)?;
            self.append(&spans, &mut mine, site);
        }
        let mut parts: Vec<Option<Vec<T>>> = Vec::new();
        if is_root {
            parts.resize_with(step.size(), || None);
        }
        let (number, layout) = (self.core.number, self.part.layout);
        let words = format!("paged array {number}");
        let item = Bring { root, words, parts, layout, all: None, site };
        let pending = core.place(item, hash_numbers([number.into(), root as u64]));
        let address = Address::Item(pending.item);
        if core.wire.circle().shares(root) {
            step.outbox().push_moved(root, address, Box::new(mine));
        } else {
            step.outbox().push(root, address, Tag::Data, |out| AsElements::encode(&mine, out))?;
        }
        Ok(is_root.then_some(pending))
    }
}

impl<T: Element, const N: usize> Paged<T, N> {
    /// Refuses another group than the one that made it, and one of which an owner has left.
    pub(crate) fn check_home(&self, core: &Core, site: &Location<'_>) -> Result {
        core.check_member(&self.core, "paged array", site)?;
        self.check_whole(site)
    }

    /// Refuses to communicate about an array of which an owner has left.
    pub(super) fn check_whole(&self, site: &Location<'_>) -> Result {
        let Some(rank) = self.part.lost.get() else { return Ok(()) };
        let what = format!("rank {rank} of the group that made this array has left with its part of it");
        Err(self.core.error(ErrorKind::Departed, what, site))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is made of these parts of an array of which ranks 0 and 1 have two elements each, and rank 2 has none.
    fn brought(parts: [Option<Vec<u8>>; 3], left: &[usize]) -> Result<Option<Vec<u8>>> {
        let layout = Layout::new([4], [2], 3).expect("it can be counted");
        let (words, site) = ("paged array 7".to_owned(), Location::caller());
        let mut item = Bring { root: 0, words, parts: parts.into(), layout, all: None, site };
        item.finish(left)?;
        Ok(item.all)
    }

    #[test]
    fn a_part_that_has_not_come_was_lost_unless_its_owner_has_left() {
        let all = Some(vec![1, 2, 3, 4]);
        let two = |first: u8| Some(vec![first, first + 1]);
        assert_eq!(brought([two(1), two(3), Some(Vec::new())], &[]).expect("all is there"), all);
        assert_eq!(brought([two(1), two(3), None], &[2]).expect("rank 2 has nothing"), all);
        let kind = |parts, left: &[usize]| brought(parts, left).unwrap_err().kind();
        assert_eq!(kind([two(1), None, None], &[1, 2]), ErrorKind::Departed);
        assert_eq!(kind([two(1), None, None], &[2]), ErrorKind::Damaged);
        assert_eq!(kind([two(1), two(3), None], &[]), ErrorKind::Damaged);
        for wrong in [Some(vec![3]), Some(vec![3, 4, 5])] {
            assert_eq!(kind([two(1), wrong, None], &[2]), ErrorKind::Damaged);
        }
    }
}
