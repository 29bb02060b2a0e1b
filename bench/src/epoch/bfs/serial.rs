//! The search on one thread.

use super::{
    kronecker::Kronecker,
    rules::{NONE, Tree},
};
use crate::{clock::watched, contest::Sample};

/// The neighbours of each vertex, one list after another.
struct Rows {
    starts: Vec<usize>,
    targets: Vec<u32>,
}

impl Rows {
    fn new(graph: &Kronecker) -> Self {
        let mut starts = vec![0; graph.vertices + 1];
        let both = || graph.edges.iter().filter(|[a, b]| a != b).flat_map(|&[a, b]| [(a, b), (b, a)]);
        both().for_each(|(from, _)| starts[from as usize + 1] += 1);
        for vertex in 0..graph.vertices {
            starts[vertex + 1] += starts[vertex];
        }
        let (mut ends, mut targets) = (starts.clone(), vec![0; starts[graph.vertices]]);
        for (from, to) in both() {
            targets[ends[from as usize]] = to;
            ends[from as usize] += 1;
        }
        Self { starts, targets }
    }

    fn search(&self, root: usize) -> Tree {
        let vertices = self.starts.len() - 1;
        let mut tree = Tree { parents: vec![NONE; vertices], levels: vec![NONE; vertices] };
        (tree.parents[root], tree.levels[root]) = (root as u32, 0);
        let mut queue = vec![root as u32];
        let mut next = 0;
        while let Some(&vertex) = queue.get(next) {
            next += 1;
            let level = tree.levels[vertex as usize] + 1;
            for &to in &self.targets[self.starts[vertex as usize]..self.starts[vertex as usize + 1]] {
                if tree.parents[to as usize] == NONE {
                    (tree.parents[to as usize], tree.levels[to as usize]) = (vertex, level);
                    queue.push(to);
                }
            }
        }
        tree
    }
}

/// Searches from one root after another.
pub(super) fn measure(graph: &Kronecker, searches: u64) -> Sample {
    let rows = Rows::new(graph);
    let (mut is_right, mut search) = (true, 0);
    let seconds = watched(searches, |watch| {
        let root = graph.root(search);
        search += 1;
        let tree = watch.time(|| rows.search(root));
        let checked = tree.check(graph, root, 0..graph.vertices, 0..graph.edges.len());
        is_right &= checked.is_right && checked.joins(&tree);
    });
    Sample::by_hand(seconds, is_right)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_on_one_thread_keeps_the_rules() {
        assert!(measure(&Kronecker::new(8), 5).verified);
    }
}
