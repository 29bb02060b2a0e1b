//! Epochs, and operations on paged arrays.

use super::Maker;
use crate::{
    asynchronous::{CellDeed, Epoch, PagedOp, Request, Together, Verb, Work},
    epoch::LEVELS,
    layout::Cut,
    paged::Calls,
    program::Made,
    value::Op,
};

impl Maker<'_> {
    /// Ranks are those inside the epoch, which those who leave do not reach.
    pub(super) fn epoch(&mut self) -> Epoch {
        let size = self.group().stays().len();
        let has_objects = !self.group().objects.is_empty();
        let group = self.group();
        let is_going = |processor: usize| group.leaving.iter().any(|&rank| group.members[rank] == processor);
        let is_sound = |&at: &usize| !group.cells[at].is_lost && !is_going(group.cells[at].owner);
        let sound: Vec<usize> = (0..group.cells.len()).filter(is_sound).collect();
        let mut works = Vec::new();
        for _ in 0..size {
            let count = self.choices.below(5);
            works.push((0..count).filter_map(|_| self.work(size, has_objects, &sound)).collect());
        }
        let mut together = Vec::new();
        for _ in 0..if has_objects { self.choices.below(3) } else { 0 } {
            together.push(if self.choices.one_in(2) {
                let op = self.choices.pick(&[Op::Sum, Op::Max, Op::Note]);
                Together::Reduce { op, values: (0..size).map(|_| self.word()).collect() }
            } else {
                Together::Broadcast { root: self.choices.below(size), value: self.word() }
            });
        }
        Epoch { tuning: self.choices.below(4), works, together, looks: sound }
    }

    fn work(&mut self, size: usize, has_objects: bool, cells: &[usize]) -> Option<Work> {
        let to = self.choices.below(size);
        Some(match self.choices.below(10) {
            0..3 if has_objects => {
                Work::Request(self.request(size, 0, &[Verb::Send, Verb::Call, Verb::Ask, Verb::Text]))
            }
            3 | 4 if has_objects => Work::Log { to, value: self.fresh() },
            5 if has_objects => Work::LogAll { value: self.fresh() },
            6 if !cells.is_empty() => Work::Add { cells: self.choices.pick(cells), value: self.word() },
            7 | 8 if !cells.is_empty() => {
                let (one, other) = (self.choices.below(3) as u64, self.choices.below(3) as u64);
                let deeds = [
                    CellDeed::Load,
                    CellDeed::Store(one),
                    CellDeed::FetchAdd(one),
                    CellDeed::CompareExchange(one, other),
                ];
                Work::Cell { cells: self.choices.pick(cells), deed: self.choices.pick(&deeds) }
            }
            9 if self.choices.one_in(2) => Work::Flush,
            9 => Work::Poll,
            _ => return None,
        })
    }

    fn request(&mut self, size: usize, level: usize, verbs: &[Verb]) -> Request {
        let (to, verb, value) = (self.choices.below(size), self.choices.pick(verbs), self.fresh());
        // Those that are waited for by a method make none of their own, and the last level is theirs.
        let is_leaf = level > 0 && matches!(verb, Verb::Ask | Verb::Call);
        let count = if is_leaf { 0 } else { self.choices.below(3) };
        let verbs: &[Verb] = if level + 2 < LEVELS - 1 {
            &[Verb::Send, Verb::Ask, Verb::Call, Verb::Text]
        } else {
            &[Verb::Ask, Verb::Call]
        };
        let children = (0..count).map(|_| self.request(size, level + 1, verbs)).collect();
        Request { to, verb, value, children }
    }

    pub(super) fn paged(&mut self) -> Made {
        let shape = [1 + self.choices.below(5), 1 + self.choices.below(9)];
        // Rarely lines that are long enough to be lent.
        let shape = if self.choices.one_in(24) { [2, 520] } else { shape };
        let block = match self.choices.below(4) {
            0 => [1 + self.choices.below(shape[0]), shape[1]],
            1 => [shape[0], 1 + self.choices.below(shape[1])],
            2 => [1 + self.choices.below(shape[0]), 1 + self.choices.below(shape[1])],
            _ => [1, 1],
        };
        Made::Paged { shape, block }
    }

    /// Operations in one order that all keep to. All calls are finished in the end.
    pub(super) fn pages(&mut self) -> Vec<PagedOp> {
        let sound: Vec<usize> = (0..self.group().paged.len()).filter(|&at| !self.group().paged[at].is_lost).collect();
        let (mut ops, mut calls) = (Vec::new(), Calls::default());
        // What is chosen here is lived through by the model afterwards, once more.
        let mut arrays = self.group().paged.clone();
        let size = self.size();
        for _ in 0..=self.choices.below(12) {
            let (array, rank) = (self.choices.pick(&sound), self.choices.below(size));
            let shape = arrays[array].shape;
            let mut next = Vec::new();
            match self.choices.below(12) {
                0..4 => {
                    let element = self.choices.below(shape[0] * shape[1]);
                    let value = self.fresh();
                    // A page of others' that was written stays, so most writes are to what the processor owns.
                    let is_own = arrays[array].owners[element] == rank;
                    if is_own && self.choices.one_in(3) {
                        next.push(PagedOp::WriteRun { array, rank, element, value });
                    } else {
                        let rank = if self.choices.one_in(3) { rank } else { arrays[array].owners[element] };
                        next.push(PagedOp::Write { array, rank, element, value });
                    }
                }
                4..8 => {
                    let section = self.sections(shape);
                    let elements = arrays[array].elements(&section);
                    let mut ranks: Vec<usize> = elements.iter().map(|&at| arrays[array].owners[at]).collect();
                    ranks.push(rank);
                    ranks.sort_unstable();
                    ranks.dedup();
                    for element in elements {
                        if let Some((call, rank)) = calls.must_finish(&arrays, array, element) {
                            let finish = PagedOp::Finish { call, rank, is_dropped: false };
                            calls.perform(&mut arrays, &finish);
                            ops.push(finish);
                        }
                    }
                    let waits = ranks.iter().map(|_| self.choices.below(2) == 0).collect();
                    next.push(PagedOp::Call { array, section, ranks, waits });
                }
                8 | 9 => {
                    let open: Vec<usize> = (0..calls.0.len()).filter(|&call| calls.0[call].is_open(rank)).collect();
                    if !open.is_empty() {
                        let (call, is_dropped) = (self.choices.pick(&open), self.choices.one_in(2));
                        next.push(PagedOp::Finish { call, rank, is_dropped });
                    }
                }
                10 => {
                    let section = self.sections(shape);
                    next.push(PagedOp::Forget { array, rank, section });
                }
                _ if self.choices.one_in(2) => {
                    next.push(PagedOp::Limit { array, rank, pages: self.choices.pick(&[None, Some(1), Some(0)]) });
                }
                _ => {
                    let section = self.sections(shape);
                    next.push(PagedOp::Prefetch { array, rank, section });
                }
            }
            for op in next {
                calls.perform(&mut arrays, &op);
                ops.push(op);
            }
        }
        for rank in 0..size {
            loop {
                let open: Vec<usize> = (0..calls.0.len()).filter(|&call| calls.0[call].is_open(rank)).collect();
                if open.is_empty() {
                    break;
                }
                let finish =
                    PagedOp::Finish { call: self.choices.pick(&open), rank, is_dropped: self.choices.one_in(2) };
                calls.perform(&mut arrays, &finish);
                ops.push(finish);
            }
        }
        ops
    }

    fn sections(&mut self, shape: [usize; 2]) -> [Cut; 2] {
        shape.map(|extent| {
            let from = self.choices.below(extent);
            Cut { from, to: from + self.choices.below(extent - from), by: self.choices.pick(&[1, 1, 2, 3]) }
        })
    }
}
