//! Halos: a block and what lies around it (A4).

use crate::{
    model::{Array, Group, Model},
    program::Halo,
    told::Told,
    value::{Op, Write},
};
use std::ops::Range;

impl Array {
    /// The place of an element in each dimension.
    fn place(&self, index: usize) -> Vec<usize> {
        let mut rest = index;
        let mut place: Vec<usize> =
            self.design.shape.iter().rev().map(|extent| (rest % extent, rest /= extent).0).collect();
        place.reverse();
        place
    }

    /// The range in each dimension that what a processor owns spans, if that is all it spans.
    fn block(&self, processor: usize) -> Option<Vec<Range<usize>>> {
        let places: Vec<Vec<usize>> = (0..self.owners.len())
            .filter(|&index| self.owners[index] == processor)
            .map(|index| self.place(index))
            .collect();
        let span = |dimension: usize| {
            let along = || places.iter().map(|place| place[dimension]);
            along().min().unwrap_or(0)..along().max().map_or(0, |last| last + 1)
        };
        let block: Vec<Range<usize>> = (0..self.design.shape.len()).map(span).collect();
        (block.iter().map(Range::len).product::<usize>() == places.len()).then_some(block)
    }

    /// What lies around a processor's block, in row-major order.
    fn around(&self, processor: usize, width: &[usize], is_periodic: bool) -> Vec<u64> {
        let block = self.block(processor).expect("only blocks have a halo");
        if block.iter().any(Range::is_empty) {
            return Vec::new();
        }
        let mut found = vec![0];
        for ((owned, &width), &extent) in block.iter().zip(width).zip(&self.design.shape) {
            let wide = owned.start as isize - width as isize..(owned.end + width) as isize;
            let line = wide.filter(|at| is_periodic || (0..extent as isize).contains(at));
            let line: Vec<usize> = line.map(|at| at.rem_euclid(extent as isize) as usize).collect();
            found = found.iter().flat_map(|index| line.iter().map(move |more| index * extent + more)).collect();
        }
        found.into_iter().map(|index| self.values[index]).collect()
    }
}

impl Group {
    /// Whether everybody's part of an array is a block.
    pub(crate) fn is_in_blocks(&self, array: &Array) -> bool {
        !array.is_lost && self.members.iter().all(|&member| array.block(member).is_some())
    }
}

impl Model {
    /// A step in which everybody reads its halo, after the write.
    pub(crate) fn halo(&mut self, Halo { array, width, is_periodic, written }: &Halo) {
        let group = self.group_mut();
        let kind = group.arrays[*array].design.frame.0;
        let mut writes: Vec<Vec<Write>> = vec![Vec::new(); group.members.len()];
        writes[0].extend(written.map(|(index, number)| (index, kind.of(number), Op::Any)));
        group.commit(*array, &writes);
        for member in group.members.clone() {
            let around = self.group().arrays[*array].around(member, width, *is_periodic);
            self.tell(member, Told::Elements(around));
        }
        self.group_mut().close();
        self.tell_place();
        self.tell_state();
    }
}
