//! What neighbouring ranks contributed, melded as far as the one grouping allows.
//!
//! A stretch of ranks need not be a subtree of the [`tree`]. Then it is a list of them, as few as there can
//! be: ranks 2 to 4 of six are `(2 3)` and `4`. Two stretches that follow each other make one; whichever subtrees
//! become whole by that are melded.

use crate::{
    circle::Meld,
    spares::Spares,
    tree,
    wire::{Damaged, Reader, Writer as _},
};
use std::ops::Range;

/// A subtree's contribution.
#[derive(Clone, Debug)]
struct Node {
    ranks: Range<usize>,
    melded: Vec<u8>,
}

/// The contributions of ranks that follow each other, in a circle of `size`.
#[derive(Clone, Debug)]
pub(super) struct Stretch {
    size: usize,
    nodes: Vec<Node>,
}

impl Stretch {
    pub(super) fn new(size: usize) -> Self {
        Self { size, nodes: Vec::new() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Adds what the rank behind the last one contributed; `rank` is its number.
    pub(super) fn push(&mut self, rank: usize, contribution: &[u8], how: &mut dyn Meld) {
        self.add(Node { ranks: rank..rank + 1, melded: contribution.to_vec() }, how);
    }

    /// Adds what follows.
    pub(super) fn append(&mut self, more: Self, how: &mut dyn Meld) {
        for node in more.nodes {
            self.add(node, how);
        }
    }

    /// The subtree that two neighbours make, if they are its halves.
    fn joined(&self, left: &Range<usize>, right: &Range<usize>) -> Option<Range<usize>> {
        let ranks = left.start..right.end;
        (tree::is_subtree(&ranks, self.size) && tree::cut(ranks.len()) == left.len()).then_some(ranks)
    }

    fn add(&mut self, mut node: Node, how: &mut dyn Meld) {
        while let Some(left) = self.nodes.last()
            && let Some(ranks) = self.joined(&left.ranks, &node.ranks)
        {
            let mut melded = Vec::new();
            how.meld(&left.melded, &node.melded, &mut melded);
            node = Node { ranks, melded };
            self.nodes.pop();
        }
        self.nodes.push(node);
    }

    /// What all ranks contributed; the stretch must be of all of them.
    pub(super) fn into_total(mut self) -> Vec<u8> {
        debug_assert_eq!(self.nodes.len(), 1, "all ranks together are one subtree");
        self.nodes.pop().map(|node| node.melded).unwrap_or_default()
    }

    /// Melds its subtrees from the left: what the ranks below the one behind its end contributed.
    pub(super) fn fold(&self, how: &mut dyn Meld, spares: &mut Spares<u8>, out: &mut Vec<u8>) {
        out.clear();
        for node in &self.nodes {
            tree::append(&node.melded, how, spares, out);
        }
    }

    /// Appends it to a packet.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        out.put(self.nodes.len());
        for Node { ranks, melded } in &self.nodes {
            out.put([ranks.start, ranks.end]);
            out.part(melded);
        }
    }

    /// Reads a stretch of all ranks below `end`, or of none.
    pub(super) fn read_or_nothing(reader: &mut Reader<'_>, size: usize, end: usize) -> Result<Self, Damaged> {
        let nodes: usize = reader.clone().get()?;
        Self::read(reader, size, if nodes == 0 { 0..0 } else { 0..end })
    }

    /// Reads a stretch of just these ranks.
    pub(super) fn read(reader: &mut Reader<'_>, size: usize, covered: Range<usize>) -> Result<Self, Damaged> {
        let mut stretch = Self::new(size);
        let mut next = covered.start;
        for _ in 0..reader.get::<usize>()? {
            let [first, end] = reader.get()?;
            if first != next || end <= first || end > size || !tree::is_subtree(&(first..end), size) {
                return Err(Damaged);
            }
            // Its sender would have melded two halves of a subtree.
            if stretch.nodes.last().is_some_and(|left| stretch.joined(&left.ranks, &(first..end)).is_some()) {
                return Err(Damaged);
            }
            next = end;
            stretch.nodes.push(Node { ranks: first..end, melded: reader.part()?.to_vec() });
        }
        if next == covered.end { Ok(stretch) } else { Err(Damaged) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::tests::Brackets;

    fn of(first: usize, end: usize, size: usize) -> Stretch {
        let mut stretch = Stretch::new(size);
        for rank in first..end {
            stretch.push(rank, rank.to_string().as_bytes(), &mut Brackets);
        }
        stretch
    }

    #[test]
    fn a_stretch_is_as_few_subtrees_as_there_can_be() {
        let words = |stretch: Stretch| -> Vec<String> {
            stretch.nodes.into_iter().map(|node| String::from_utf8(node.melded).unwrap()).collect()
        };
        assert_eq!(words(of(2, 5, 6)), ["(2 3)", "4"]);
        assert_eq!(words(of(1, 4, 6)), ["1", "(2 3)"]);
        assert_eq!(words(of(4, 7, 7)), ["((4 5) 6)"]);
        assert_eq!(words(of(0, 3, 4)), ["(0 1)", "2"]);
    }

    #[test]
    fn however_it_is_cut_the_total_and_what_comes_before_are_those_of_the_tree() {
        for size in 1..if cfg!(miri) { 5usize } else { 20 } {
            let leaves: Vec<String> = (0..size).map(|rank| rank.to_string()).collect();
            let leaf = |rank: usize| leaves[rank].as_bytes();
            let (mut expected, mut spares) = (Vec::new(), Spares::default());
            tree::fold(0, size, &leaf, &mut Brackets, &mut spares, &mut expected);
            for first in 0..=size {
                for second in first..=size {
                    let mut whole = of(0, first, size);
                    whole.append(of(first, second, size), &mut Brackets);
                    whole.append(of(second, size, size), &mut Brackets);
                    assert_eq!(whole.into_total(), expected, "{size} cut at {first} and {second}");
                }
                if first < size {
                    let (mut before, mut found) = (Vec::new(), Vec::new());
                    tree::fold_before(first, size, &leaf, &mut Brackets, &mut spares, &mut before);
                    of(0, first, size).fold(&mut Brackets, &mut spares, &mut found);
                    assert_eq!(found, before, "before {first} of {size}");
                }
            }
        }
    }

    #[test]
    fn a_stretch_comes_back_as_it_went_and_no_other_is_believed() {
        let mut bytes = Vec::new();
        of(2, 5, 6).write(&mut bytes);
        let read = |bytes: &[u8], covered| Stretch::read(&mut Reader::new(bytes), 6, covered);
        assert_eq!(read(&bytes, 2..5).unwrap().nodes.len(), 2);
        assert!(read(&bytes, 2..6).is_err() && read(&bytes, 1..5).is_err());
        for cut in 0..bytes.len() {
            assert!(read(&bytes[..cut], 2..5).is_err(), "cut at {cut}");
        }
        let node = |rank| Node { ranks: rank..rank + 1, melded: Vec::new() };
        let mut halves = Vec::new();
        Stretch { size: 6, nodes: vec![node(2), node(3)] }.write(&mut halves);
        assert!(read(&halves, 2..4).is_err(), "both halves of a subtree are there, and it is not");
    }

    #[test]
    fn ranks_that_are_no_subtree_are_not_believed() {
        let lone = |ranks: Range<usize>| {
            let mut bytes = Vec::new();
            Stretch { size: 6, nodes: vec![Node { ranks: ranks.clone(), melded: Vec::new() }] }.write(&mut bytes);
            Stretch::read(&mut Reader::new(&bytes), 6, ranks).is_ok()
        };
        assert!(lone(0..4) && lone(4..6) && lone(0..6));
        assert!(!lone(1..3), "halves of different subtrees");
        assert!(!lone(6..6), "nobody");
    }
}
