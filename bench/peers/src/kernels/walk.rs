//! Walks through a graph and updates of a table on one processor, against plain code on one thread.

use super::{Sizes, count, group::groups};
use crate::{
    Random,
    contenders::{single, superstep},
    contest::{Contest, Stage, Unit},
    digest,
    failure::Failure,
    mix,
};

/// How many edges are drawn for each vertex; each leads both ways.
const EDGES_PER_VERTEX: usize = 16;

/// A graph: where the neighbours of each vertex begin, and all of them.
pub(crate) struct Graph {
    pub(crate) starts: Vec<usize>,
    pub(crate) targets: Vec<u32>,
}

impl Graph {
    fn random(vertices: usize) -> Self {
        let mut random = Random::of_rank(8, 0);
        let drawn: Vec<[usize; 2]> =
            (0..EDGES_PER_VERTEX * vertices).map(|_| [(); 2].map(|()| random.below(vertices))).collect();
        let both = || drawn.iter().flat_map(|&[a, b]| [(a, b), (b, a)]);
        let mut starts = vec![0; vertices + 1];
        both().for_each(|(from, _)| starts[from + 1] += 1);
        (0..vertices).for_each(|vertex| starts[vertex + 1] += starts[vertex]);
        let (mut ends, mut targets) = (starts.clone(), vec![0; 2 * drawn.len()]);
        for (from, to) in both() {
            targets[ends[from]] = to as u32;
            ends[from] += 1;
        }
        Self { starts, targets }
    }

    pub(crate) fn vertices(&self) -> usize {
        self.starts.len() - 1
    }

    pub(crate) fn of(&self, vertex: usize) -> &[u32] {
        &self.targets[self.starts[vertex]..self.starts[vertex + 1]]
    }
}

pub(super) fn hold(stage: &mut Stage, sizes: &Sizes) -> Result<(), Failure> {
    for &vertices in sizes.vertices {
        let graph = &Graph::random(vertices);
        let title = format!("search of {vertices} vertices");
        let edges = graph.targets.len();
        let expected = digest(0, single::walk::levels(graph));
        let contest = Contest::new("walk", title, Unit::millions("million edges/s"), edges, expected)
            .std("compressed rows", || single::walk::search(graph))
            .superstep("a visit for each edge", || superstep::walk::search_one_by_one(graph))
            .superstep("a visit along each edge", || superstep::walk::search_along(graph));
        stage.hold(contest)?;
    }
    let mut random = Random::of_rank(9, 0);
    let keys: &Vec<u64> = &(0..sizes.updates).map(|_| mix(random.below(sizes.keys) as u64)).collect();
    let title = format!("{} updates of {} keys", count(sizes.updates), count(sizes.keys));
    let expected = groups(single::walk::counts(keys).into_iter());
    let contest = Contest::new("walk", title, Unit::millions("million updates/s"), keys.len(), expected)
        .std("`HashMap` with `FxHasher`", || single::walk::update(keys))
        .superstep("`HashMap::update`", || superstep::walk::update(keys));
    stage.hold(contest)
}
