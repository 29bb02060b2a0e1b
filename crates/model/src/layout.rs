//! How arrays lie over a group, and which elements a section has (A1, A2, A4).

use crate::value::Kind;

/// The sort of a distribution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "each is the library's distribution of that name")]
pub enum Form {
    Block,
    Cyclic,
    BlockCyclic,
    Irregular,
    Tiles,
}

/// What an array is of, how it is distributed, how many dimensions it has and how many of them are distributed.
pub type Frame = (Kind, Form, usize, usize);

/// The frames that programs use. One more is one more of everything for the compiler, so that not all are here; those
/// of one dimension and whole numbers come first, and are those that subgroups can work on a part of.
pub const FRAMES: [Frame; 17] = [
    (Kind::Whole, Form::Block, 1, 1),
    (Kind::Whole, Form::Cyclic, 1, 1),
    (Kind::Whole, Form::BlockCyclic, 1, 1),
    (Kind::Whole, Form::Irregular, 1, 1),
    (Kind::Whole, Form::Tiles, 1, 1),
    (Kind::Float, Form::Block, 1, 1),
    (Kind::Short, Form::Cyclic, 1, 1),
    (Kind::Pair, Form::Irregular, 1, 1),
    (Kind::Float, Form::Block, 2, 1),
    (Kind::Pair, Form::Cyclic, 2, 2),
    (Kind::Short, Form::BlockCyclic, 2, 1),
    (Kind::Float, Form::Irregular, 2, 1),
    (Kind::Short, Form::Tiles, 2, 2),
    (Kind::Pair, Form::Block, 3, 2),
    (Kind::Float, Form::BlockCyclic, 3, 3),
    (Kind::Short, Form::Block, 4, 3),
    (Kind::Float, Form::Tiles, 5, 2),
];

/// How many of the frames have one dimension and whole numbers.
pub(crate) const LINES: usize = 5;

/// What there is to know about an array.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the fields are what the distributions take")]
pub struct Design {
    pub frame: Frame,
    pub shape: Vec<usize>,
    /// The length of blocks.
    pub block: usize,
    /// The extents of tiles.
    pub tile: [usize; 3],
    /// The sizes of irregular parts.
    pub sizes: Vec<usize>,
}

impl Design {
    /// How many elements it has.
    pub(crate) fn len(&self) -> usize {
        self.shape.iter().product()
    }

    /// A1 and A2: the rank that owns an element, in a group of `size`.
    pub(crate) fn owner(&self, index: usize, size: usize) -> usize {
        let (_, form, _, distributed) = self.frame;
        let (outer, inner) = self.shape.split_at(distributed);
        let (units, unit) = (outer.iter().product::<usize>(), index / inner.iter().product::<usize>());
        match form {
            Form::Block => unit / units.div_ceil(size),
            Form::Cyclic => unit % size,
            Form::BlockCyclic => unit / self.block % size,
            Form::Irregular => (0..size).find(|&rank| unit < self.sizes[..=rank].iter().sum()).expect("they add up"),
            Form::Tiles => {
                let (mut rest, mut number, mut weight) = (unit, 0, 1);
                for (extent, tile) in outer.iter().zip(&self.tile).rev() {
                    number += rest % extent / tile * weight;
                    weight *= extent.div_ceil(*tile);
                    rest /= extent;
                }
                number % size
            }
        }
    }

    /// G7: the same sort of array for a part of it, over another group.
    pub(crate) fn resized(&self, len: usize, size: usize) -> Self {
        let sizes = (0..size).map(|rank| len / size + usize::from(rank < len % size)).collect();
        Self { shape: vec![len], sizes, ..self.clone() }
    }
}

/// Indices from one to another, both included, with a stride of either sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "a range has nothing else")]
pub struct Cut {
    pub from: usize,
    pub to: usize,
    pub by: isize,
}

/// A range in each dimension; `None` is empty.
pub type Section = Vec<Option<Cut>>;

pub(crate) fn indices(cut: Option<Cut>) -> Vec<usize> {
    match cut {
        None => Vec::new(),
        Some(Cut { from, to, by }) if by > 0 => (from..=to).step_by(by as usize).collect(),
        Some(Cut { from, to, by }) => (to..=from).rev().step_by(by.unsigned_abs()).collect(),
    }
}

/// How many elements a section has.
///
/// ```
/// use superstep_model::{Cut, count};
///
/// assert_eq!(count(&[Some(Cut { from: 8, to: 2, by: -3 }), Some(Cut { from: 0, to: 3, by: 1 })]), 12);
/// ```
pub fn count(section: &[Option<Cut>]) -> usize {
    section.iter().map(|&cut| indices(cut).len()).product()
}

/// The elements of a section, in its order.
pub(crate) fn elements(shape: &[usize], section: &[Option<Cut>]) -> Vec<usize> {
    let mut found = vec![0];
    for (extent, &cut) in shape.iter().zip(section) {
        let indices = indices(cut);
        found = found.iter().flat_map(|index| indices.iter().map(move |more| index * extent + more)).collect();
    }
    found
}
