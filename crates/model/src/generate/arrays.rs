//! Arrays: how they lie, and what is done with them.

use super::Maker;
use crate::{
    layout::{Design, FRAMES, Form, LINES, Section},
    program::{Act, Call, Deed, Halo, Stage, Writes},
    value::{Kind, Op},
};
use std::ops::Range;

impl Design {
    /// Whether it is one of whole numbers in one dimension, of which subgroups can have parts.
    pub(crate) fn is_line(&self) -> bool {
        FRAMES[..LINES].contains(&self.frame)
    }
}

impl Maker<'_> {
    pub(super) fn design(&mut self) -> Design {
        let frame = FRAMES[self.choices.below(FRAMES.len())];
        // So that there are a few dozen elements, and rarely none.
        let most = [24, 7, 5, 3, 3][frame.2 - 1];
        let mut shape: Vec<usize> =
            (0..frame.2).map(|_| if self.choices.one_in(20) { 0 } else { 1 + self.choices.below(most) }).collect();
        // Rows that are long travel in a way of their own.
        if frame.2 > 1 && self.choices.one_in(4) {
            shape[frame.2 - 1] = 16 + self.choices.below(24);
        }
        let mut cuts: Vec<usize> = (1..self.size()).map(|_| self.choices.below(shape[0] + 1)).collect();
        cuts.extend([0, shape[0]]);
        cuts.sort_unstable();
        let sizes = cuts.windows(2).map(|cut| cut[1] - cut[0]).collect();
        let tile = [3, 4, 3].map(|most| 1 + self.choices.below(most));
        Design { frame, shape, block: 1 + self.choices.below(5), tile, sizes }
    }

    /// An array of whole numbers in one dimension of which nobody has left.
    pub(super) fn line(&mut self) -> Option<usize> {
        let is_usable = |array: usize| {
            let array = &self.group().arrays[array];
            array.design.is_line() && !array.is_lost && !array.values.is_empty()
        };
        let lines: Vec<usize> = (0..self.group().arrays.len()).filter(|&array| is_usable(array)).collect();
        (!lines.is_empty()).then(|| self.choices.pick(&lines))
    }

    /// Another one of the same length that a permutation or assignment can be from.
    fn source(&mut self, of: usize) -> usize {
        let arrays = &self.group().arrays;
        let is_alike = |&other: &usize| {
            let form = arrays[other].design.frame.1;
            let is_plain = arrays[other].design.is_line() && matches!(form, Form::Block | Form::Cyclic);
            is_plain && !arrays[other].is_lost && arrays[other].values.len() == arrays[of].values.len()
        };
        let alike: Vec<usize> = (0..arrays.len()).filter(is_alike).collect();
        if alike.is_empty() { of } else { self.choices.pick(&alike) }
    }

    /// Elements, some of them several times.
    fn places(&mut self, len: usize) -> Vec<usize> {
        if len == 0 {
            return Vec::new();
        }
        let count = [0, 1, 2, 5, 9, 40][self.choices.below(6)];
        let (start, stride) = (self.choices.below(len), self.choices.below(len));
        (0..count).map(|at| (start + at * (stride + at % 3)) % len).collect()
    }

    fn writes(&mut self, len: usize, kind: Kind) -> Writes {
        let ops: &[Op] = match kind {
            Kind::Whole => {
                &[Op::Any, Op::Sum, Op::Note, Op::Leader, Op::Max, Op::Xor, Op::Min, Op::Product, Op::And, Op::Or]
            }
            Kind::Float => &[Op::Any, Op::Sum, Op::Note, Op::Leader, Op::Max],
            Kind::Short | Kind::Pair => &[Op::Any, Op::Sum, Op::Note, Op::Leader],
        };
        Writes { at: self.places(len), number: self.fresh(), op: self.choices.pick(ops) }
    }

    fn section(&mut self, shape: &[usize]) -> Section {
        shape.iter().map(|&extent| self.cut(extent)).collect()
    }

    /// What a rank does with an array. Nobody reads one that somebody leaves with.
    pub(super) fn deed(&mut self, rank: usize) -> Option<Act> {
        let (me, is_leaving) = (self.group().members[rank], self.is_leaving());
        let array = self.choices.below(self.group().arrays.len());
        let found = &self.group().arrays[array];
        let (shape, kind, is_lost) = (found.design.shape.clone(), found.design.frame.0, found.is_lost);
        let (len, number) = (found.values.len(), self.number + 1);
        let deed = match self.choices.below(12) {
            10 => {
                let owners = &self.group().arrays[array].owners;
                let owned: Vec<usize> = (0..len).filter(|&index| owners[index] == me).collect();
                if owned.is_empty() {
                    return None;
                }
                Deed::Own { index: self.choices.pick(&owned), number }
            }
            11 => Deed::Forall { section: self.section(&shape), number },
            _ if is_lost => return None,
            0 => Deed::Update { section: self.section(&shape), number, op: None },
            1 => Deed::Update { section: self.section(&shape), number, op: Some(self.writes(0, kind).op) },
            2 => Deed::Scatter(self.writes(len, kind)),
            3 => Deed::ScatterOne(self.writes(len, kind)),
            4 => {
                let (first, mut second) = (self.writes(len, kind), self.writes(len, kind));
                second.at = first.at.iter().rev().copied().collect();
                Deed::Builders(first, second)
            }
            5 => Deed::OneBuilder(self.writes(len, kind)),
            _ if is_leaving => return None,
            6 | 7 => Deed::Mirror(self.section(&shape)),
            8 => Deed::Gather(self.places(len)),
            _ => Deed::GatherBuilder(self.places(len)),
        };
        self.fresh();
        Some(Act::Array { array, deed })
    }

    /// A call about a whole array.
    pub(super) fn whole(&mut self) -> Option<Call> {
        if self.is_leaving() {
            return None;
        }
        let (array, root) = (self.line()?, self.stayer());
        Some(match self.choices.below(3) {
            0 => {
                let src = self.source(array);
                Call::Assign { dst: array, src }
            }
            1 => Call::GatherTo { array, root },
            _ => Call::ScatterFrom { array, root, number: self.fresh() },
        })
        .filter(|call| match call {
            Call::Assign { src, .. } => matches!(self.group().arrays[*src].design.frame.1, Form::Block | Form::Cyclic),
            _ => true,
        })
    }

    /// A permutation, in which some numbers may come twice.
    pub(super) fn permute(&mut self) -> Stage {
        let Some(dst) = self.line() else { return Stage::Step(self.step()) };
        let src = self.source(dst);
        if !matches!(self.group().arrays[src].design.frame.1, Form::Block | Form::Cyclic) {
            return Stage::Step(self.step());
        }
        let len = self.group().arrays[dst].values.len();
        let mut to: Vec<usize> = (0..len).collect();
        for at in 0..len {
            to.swap(at, at + self.choices.below(len - at));
        }
        if self.choices.one_in(3) {
            to[0] = to[len - 1];
        }
        Stage::Permute { dst, src, to }
    }

    /// A halo of an array that lies in blocks, of which there is one: mostly narrow, sometimes wider than the array.
    pub(super) fn halo(&mut self) -> Halo {
        let group = self.group();
        let in_blocks = (0..group.arrays.len()).filter(|&array| group.is_in_blocks(&group.arrays[array]));
        let array = self.choices.pick(&in_blocks.collect::<Vec<_>>());
        let dimensions = self.group().arrays[array].design.shape.len();
        let most = if self.choices.one_in(6) { 9 } else { 2 };
        let width = (0..dimensions).map(|_| self.choices.below(most + 1)).collect();
        let len = self.group().arrays[array].values.len();
        let written = (len > 0).then(|| (self.choices.below(len), self.fresh()));
        Halo { array, width, is_periodic: self.choices.one_in(2), written }
    }

    /// Sections of an array for so many subgroups, which do not overlap.
    pub(super) fn imports(&mut self, count: usize) -> Option<(usize, Vec<Range<usize>>)> {
        if self.is_leaving() || !self.choices.one_in(3) {
            return None;
        }
        let array = self.line()?;
        let len = self.group().arrays[array].values.len();
        let mut cuts: Vec<usize> = (0..=count).map(|_| self.choices.below(len + 1)).collect();
        cuts.sort_unstable();
        Some((array, cuts.windows(2).map(|cut| cut[0]..cut[1]).collect()))
    }
}
