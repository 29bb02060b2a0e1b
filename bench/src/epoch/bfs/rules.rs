//! The five rules that the answer of a search is held to.

use super::kronecker::Kronecker;
use std::ops::Range;

/// Stands for no parent, and for no level.
pub(super) const NONE: u32 = u32::MAX;

/// A tree of all that was reached: the parent of each vertex, which of the root is itself, and how far from there it is
/// by way of the parents.
pub(super) struct Tree {
    pub(super) parents: Vec<u32>,
    pub(super) levels: Vec<u32>,
}

impl Tree {
    fn has(&self, vertex: usize) -> bool {
        self.parents[vertex] != NONE
    }

    /// The edges of this processor, and the vertices, are held against the rules; all processors together must find
    /// nothing wrong. Returns whether that is so, and for each of the vertices whether the edge to its parent is one of
    /// these edges.
    pub(super) fn check(&self, graph: &Kronecker, root: usize, vertices: Range<usize>, edges: Range<usize>) -> Checked {
        let mut is_right = self.parents[root] == root as u32 && self.levels[root] == 0;
        for vertex in vertices {
            // Rules 1 and 2: going from parent to parent the level falls by one each time, so there is no cycle.
            is_right &= self.has(vertex) == (self.levels[vertex] != NONE);
            if self.has(vertex) && vertex != root {
                let parent = self.parents[vertex] as usize;
                is_right &=
                    self.levels.get(parent).is_some_and(|level| level.checked_add(1) == Some(self.levels[vertex]));
            }
        }
        let mut joined = vec![false; self.parents.len()];
        joined[root] = true;
        for &[a, b] in &graph.edges[edges] {
            let [a, b] = [a, b].map(|vertex| vertex as usize);
            // Rule 4: a component is in the tree as a whole, or not at all.
            is_right &= self.has(a) == self.has(b);
            // Rule 3: levels of neighbours differ by one at most.
            is_right &= !self.has(a) || self.levels[a].abs_diff(self.levels[b]) <= 1;
            // Rule 5: a vertex and its parent are neighbours.
            joined[a] |= self.parents[a] == b as u32;
            joined[b] |= self.parents[b] == a as u32;
        }
        Checked { is_right, joined }
    }
}

/// What came of it.
pub(super) struct Checked {
    pub(super) is_right: bool,
    pub(super) joined: Vec<bool>,
}

impl Checked {
    /// Whether every vertex of the tree is a neighbour of its parent.
    pub(super) fn joins(&self, tree: &Tree) -> bool {
        self.joined.iter().zip(&tree.parents).all(|(&joined, &parent)| joined || parent == NONE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_right(parents: &[u32], levels: &[u32]) -> bool {
        // A way 0-1-2-3, a short cut 0-2, and two vertices apart.
        let edges = vec![[0, 1], [2, 1], [2, 3], [0, 2], [4, 5], [1, 1]];
        let graph = Kronecker { vertices: 6, edges, roots: vec![0] };
        let tree = Tree { parents: parents.to_vec(), levels: levels.to_vec() };
        let checked = tree.check(&graph, 0, 0..6, 0..6);
        checked.is_right && checked.joins(&tree)
    }

    #[test]
    fn every_rule_can_be_broken() {
        let n = NONE;
        assert!(is_right(&[0, 0, 0, 2, n, n], &[0, 1, 1, 2, n, n]));
        assert!(!is_right(&[0, 2, 1, 2, n, n], &[0, 1, 1, 2, n, n]), "1: a cycle");
        assert!(!is_right(&[0, 0, 0, 2, n, n], &[0, 1, 1, 3, n, n]), "2: a level too many");
        assert!(!is_right(&[0, 0, 1, 2, n, n], &[0, 1, 2, 3, n, n]), "3: a longer way than there is");
        assert!(!is_right(&[0, 0, 0, n, n, n], &[0, 1, 1, n, n, n]), "4: a vertex is missing");
        assert!(!is_right(&[0, 0, 0, 2, 0, n], &[0, 1, 1, 2, 1, n]), "4: a vertex of another component");
        assert!(!is_right(&[0, 0, 0, 1, n, n], &[0, 1, 1, 2, n, n]), "5: a parent that is no neighbour");
    }
}
