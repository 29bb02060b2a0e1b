//! A square mesh, with edges that lead one way or both.

use super::tarjan;
use crate::random::Random;

/// Of a thousand neighbours so many are joined both ways: then a mesh of 10,000 vertices has about as many edges as
/// that of the paper, 29,114.
const BOTH_WAYS: usize = 470;

/// A mesh, and what its components are.
pub(super) struct Mesh {
    pub(super) vertices: usize,
    /// Where each edge comes from and leads to.
    pub(super) edges: Vec<(usize, usize)>,
    /// A number for each vertex; those of one component have the same.
    pub(super) components: Vec<usize>,
    pub(super) count: usize,
}

impl Mesh {
    pub(super) fn new(side: usize) -> Self {
        let mut random = Random::new(side as u64);
        let mut edges = Vec::new();
        let mut join = |a: usize, b: usize| {
            let draw = random.below(1000);
            let (is_both, is_there) = (draw < BOTH_WAYS, draw.is_multiple_of(2));
            if is_both || is_there {
                edges.push((a, b));
            }
            if is_both || !is_there {
                edges.push((b, a));
            }
        };
        for row in 0..side {
            for column in 0..side {
                let here = row * side + column;
                if column + 1 < side {
                    join(here, here + 1);
                }
                if row + 1 < side {
                    join(here, here + side);
                }
            }
        }
        Self::of(side * side, edges)
    }

    /// Any graph.
    pub(super) fn of(vertices: usize, edges: Vec<(usize, usize)>) -> Self {
        let (components, count) = tarjan::components(&tarjan::Rows::new(vertices, &edges));
        Self { vertices, edges, components, count }
    }
}
