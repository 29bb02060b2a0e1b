//! The graph of the Graph500 benchmark.

use crate::random::{Random, permutation};

/// How many edges there are for each vertex.
const EDGES_PER_VERTEX: usize = 16;
/// Of a hundred edges so many fall into each quarter of the matrix but the last.
const QUARTERS: [usize; 3] = [57, 19, 19];
/// From how many vertices searches begin.
const ROOTS: usize = 64;

/// How many edges a graph of 2^scale vertices has.
pub(super) fn edges(scale: u32) -> usize {
    EDGES_PER_VERTEX << scale
}

/// An undirected graph, as a list of edges; some are there more than once, and some lead from a vertex to itself.
pub(super) struct Kronecker {
    pub(super) vertices: usize,
    pub(super) edges: Vec<[u32; 2]>,
    /// Vertices with edges, from which searches begin.
    pub(super) roots: Vec<usize>,
}

impl Kronecker {
    pub(super) fn new(scale: u32) -> Self {
        let vertices = 1 << scale;
        let mut random = Random::new(u64::from(scale));
        // Numbers say nothing about degrees.
        let names = permutation(vertices);
        let edges = (0..edges(scale)).map(|_| {
            let (mut from, mut to) = (0, 0);
            for _ in 0..scale {
                let draw = random.below(100);
                let [a, b, c] = QUARTERS;
                from = from << 1 | usize::from(draw >= a + b);
                to = to << 1 | usize::from((a..a + b).contains(&draw) || draw >= a + b + c);
            }
            [names[from] as u32, names[to] as u32]
        });
        let edges: Vec<[u32; 2]> = edges.collect();
        let is_real = |edge: &[u32; 2]| edge[0] != edge[1];
        let drawn: Vec<[u32; 2]> = (0..16 * ROOTS).map(|_| edges[random.below(edges.len())]).collect();
        let roots = drawn.into_iter().filter(is_real).take(ROOTS).map(|edge| edge[0] as usize).collect();
        Self { vertices, edges, roots }
    }

    /// The root of a search, by its number.
    pub(super) fn root(&self, search: u64) -> usize {
        self.roots.get(search as usize % self.roots.len().max(1)).copied().unwrap_or_default()
    }
}
