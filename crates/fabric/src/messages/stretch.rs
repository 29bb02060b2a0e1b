//! What neighbouring ranks contributed, melded as far as the one grouping allows.
//!
//! A stretch of ranks need not be a subtree of the [tree](crate::tree). Then it is a list of them, as few as there can
//! be: ranks 2 to 4 of six are `(2 3)` and `4`. Two stretches that follow each other make one; whichever subtrees
//! become whole by that are melded.

use super::wave::Reader;
use crate::{circle::Meld, failure::Failure, tree};

/// A subtree's contribution.
#[derive(Clone, Debug)]
struct Node {
    first: usize,
    end: usize,
    melded: Vec<u8>,
}

/// The contributions of ranks that follow each other, in a circle of `size`.
#[derive(Clone, Debug)]
pub(super) struct Stretch {
    size: usize,
    nodes: Vec<Node>,
}

/// Whether the ranks from `first` up to `end` are a subtree.
fn is_subtree(first: usize, end: usize, size: usize) -> bool {
    let count = end - first;
    first.is_multiple_of(count.next_power_of_two()) && (count.is_power_of_two() || end == size)
}

impl Stretch {
    /// Of no ranks.
    pub(super) fn new(size: usize) -> Self {
        Self { size, nodes: Vec::new() }
    }

    /// Whether it is of no ranks.
    pub(super) fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Adds what the rank behind the last one contributed; `rank` is its number.
    pub(super) fn push(&mut self, rank: usize, contribution: &[u8], how: &mut dyn Meld) {
        self.add(Node { first: rank, end: rank + 1, melded: contribution.to_vec() }, how);
    }

    /// Adds what follows.
    pub(super) fn append(&mut self, more: Self, how: &mut dyn Meld) {
        for node in more.nodes {
            self.add(node, how);
        }
    }

    fn add(&mut self, mut node: Node, how: &mut dyn Meld) {
        while let Some(left) = self.nodes.last()
            && is_subtree(left.first, node.end, self.size)
            && tree::cut(node.end - left.first) == node.first - left.first
        {
            let mut melded = Vec::new();
            how.meld(&left.melded, &node.melded, &mut melded);
            node = Node { first: left.first, end: node.end, melded };
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
    pub(super) fn fold(&self, how: &mut dyn Meld, scratch: &mut tree::Scratch, out: &mut Vec<u8>) {
        out.clear();
        for node in &self.nodes {
            tree::append(&node.melded, how, scratch, out);
        }
    }

    /// Appends it to a packet.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&(self.nodes.len() as u32).to_le_bytes());
        for node in &self.nodes {
            out.extend_from_slice(&(node.first as u32).to_le_bytes());
            out.extend_from_slice(&(node.end as u32).to_le_bytes());
            out.extend_from_slice(&(node.melded.len() as u64).to_le_bytes());
            out.extend_from_slice(&node.melded);
        }
    }

    /// Reads one that must cover the ranks below `end`, or none.
    pub(super) fn read_or_nothing(reader: &mut Reader<'_>, size: usize, end: usize) -> Result<Self, Failure> {
        let ahead = Reader { bytes: reader.bytes, rank: reader.rank }.number()?;
        Self::read(reader, size, 0, if ahead == 0 { 0 } else { end })
    }

    /// Reads one that must cover the ranks from `first` up to `end`.
    pub(super) fn read(reader: &mut Reader<'_>, size: usize, first: usize, end: usize) -> Result<Self, Failure> {
        let mut stretch = Self::new(size);
        let mut next = first;
        for _ in 0..reader.number()? {
            let (first, end) = (reader.number()? as usize, reader.number()? as usize);
            if first != next || end <= first || end > size || !is_subtree(first, end, size) {
                return Err(reader.damaged());
            }
            next = end;
            stretch.nodes.push(Node { first, end, melded: reader.part()?.to_vec() });
        }
        if next == end { Ok(stretch) } else { Err(reader.damaged()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes the brackets it makes.
    struct Brackets;
    impl Meld for Brackets {
        fn meld(&mut self, left: &[u8], right: &[u8], out: &mut Vec<u8>) {
            out.extend([b"(", left, b" ", right, b")"].concat());
        }
    }

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
        for size in 1..20usize {
            let leaves: Vec<String> = (0..size).map(|rank| rank.to_string()).collect();
            let leaf = |rank: usize| leaves[rank].as_bytes();
            let (mut expected, mut scratch) = (Vec::new(), tree::Scratch::default());
            tree::fold(0, size, &leaf, &mut Brackets, &mut scratch, &mut expected);
            for first in 0..=size {
                for second in first..=size {
                    let mut whole = of(0, first, size);
                    whole.append(of(first, second, size), &mut Brackets);
                    whole.append(of(second, size, size), &mut Brackets);
                    assert_eq!(whole.into_total(), expected, "{size} cut at {first} and {second}");
                }
                if first < size {
                    let (mut before, mut found) = (Vec::new(), Vec::new());
                    tree::fold_before(first, size, &leaf, &mut Brackets, &mut scratch, &mut before);
                    of(0, first, size).fold(&mut Brackets, &mut scratch, &mut found);
                    assert_eq!(found, before, "before {first} of {size}");
                }
            }
        }
    }

    #[test]
    fn a_stretch_comes_back_as_it_went_and_no_other_is_believed() {
        let mut bytes = Vec::new();
        of(2, 5, 6).write(&mut bytes);
        let read = |bytes: &[u8], first, end| Stretch::read(&mut Reader { bytes, rank: 7 }, 6, first, end);
        assert_eq!(read(&bytes, 2, 5).unwrap().nodes.len(), 2);
        assert!(read(&bytes, 2, 6).is_err() && read(&bytes, 1, 5).is_err());
        for cut in 0..bytes.len() {
            assert!(read(&bytes[..cut], 2, 5).is_err(), "cut at {cut}");
        }
    }
}
