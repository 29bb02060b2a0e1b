//! The GAP suite: six kernels on a graph whose degrees differ widely.

use super::Sizes;
use crate::{
    Sample,
    contenders::{graph, mpi, petgraph, single, superstep},
    contest::{Contest, Stage, Unit},
    digest,
    failure::Failure,
};
use superstep_programs::gap::{Kernel, NONE, Options, drawn, length};

const EDGES: Unit = Unit::millions("million edges/s");
/// What PageRank stops at.
pub(crate) const TOLERANCE: f64 = 1e-4;
pub(crate) const ITERATIONS: usize = 20;
/// How many of those with the highest scores must be the same.
const TOP: usize = 5;

/// Which graph it is.
pub(crate) fn options(scale: u32) -> Options {
    Options { scale, ..Options::new(Kernel::Bfs) }
}

/// A graph in compressed rows: each edge leads both ways, none is there twice, and neighbours stand by rising number.
pub(crate) struct Rows {
    pub(crate) options: Options,
    pub(crate) starts: Vec<usize>,
    pub(crate) targets: Vec<u32>,
    /// Of edges.
    pub(crate) lengths: Vec<u32>,
    pub(crate) source: usize,
}

impl Rows {
    fn new(scale: u32) -> Self {
        let options = options(scale);
        let drawn = drawn(&options, 0, 1);
        let mut both: Vec<(u32, u32)> = drawn
            .into_iter()
            .filter(|(a, b)| a != b)
            .flat_map(|(a, b)| [(a as u32, b as u32), (b as u32, a as u32)])
            .collect();
        both.sort_unstable();
        both.dedup();
        let mut starts = vec![0; (1 << scale) + 1];
        both.iter().for_each(|&(from, _)| starts[from as usize + 1] += 1);
        (0..1 << scale).for_each(|vertex| starts[vertex + 1] += starts[vertex]);
        let lengths = both.iter().map(|&(a, b)| length(options.seed, &(a as usize, b as usize))).collect();
        let source = both[both.len() / 2].0 as usize;
        Self { options, starts, targets: both.into_iter().map(|(_, to)| to).collect(), lengths, source }
    }

    pub(crate) fn vertices(&self) -> usize {
        self.starts.len() - 1
    }

    pub(crate) fn of(&self, vertex: usize) -> &[u32] {
        &self.targets[self.starts[vertex]..self.starts[vertex + 1]]
    }

    pub(crate) fn degree(&self, vertex: usize) -> usize {
        self.starts[vertex + 1] - self.starts[vertex]
    }

    /// The edges of a vertex, and their lengths.
    pub(crate) fn with_lengths(&self, vertex: usize) -> impl Iterator<Item = (u32, u32)> {
        let lengths = &self.lengths[self.starts[vertex]..self.starts[vertex + 1]];
        self.of(vertex).iter().copied().zip(lengths.iter().copied())
    }

    pub(crate) fn edges(&self) -> impl Iterator<Item = (usize, u32, u32)> {
        (0..self.vertices()).flat_map(|from| self.with_lengths(from).map(move |(to, length)| (from, to, length)))
    }
}

/// How far each vertex is from the root of a tree of parents.
pub(crate) fn levels(parents: &[u32]) -> Vec<u32> {
    let mut levels = vec![NONE; parents.len()];
    for vertex in 0..parents.len() {
        let (mut way, mut at) = (Vec::new(), vertex);
        while levels[at] == NONE && parents[at] != NONE && parents[at] as usize != at {
            way.push(at);
            at = parents[at] as usize;
        }
        let mut level = match levels[at] {
            NONE if parents[at] == NONE => continue,
            NONE => 0,
            level => level,
        };
        levels[at] = level;
        for at in way.into_iter().rev() {
            level += 1;
            levels[at] = level;
        }
    }
    levels
}

/// What components come to, however they are called.
pub(crate) fn components(names: impl Iterator<Item = usize>) -> u64 {
    let mut lowest = std::collections::BTreeMap::new();
    let named: Vec<u32> = names.enumerate().map(|(at, name)| *lowest.entry(name).or_insert(at as u32)).collect();
    digest(0, named)
}

/// The vertices with the highest scores, which floats of all kinds agree upon, by rising number.
pub(crate) fn highest(scores: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]).then(a.cmp(&b)));
    order.truncate(TOP);
    order.sort_unstable();
    order
}

pub(super) fn hold(stage: &mut Stage, sizes: &Sizes) -> Result<(), Failure> {
    let rows = &Rows::new(sizes.scale);
    let contest = |name: &str, right: Sample| {
        let title = format!("{name}, 2^{} vertices", sizes.scale);
        Contest::new("gap", title, EDGES, rows.targets.len(), right.digest)
    };
    let of_petgraph = &petgraph::csr(rows);
    let search = contest("bfs", petgraph::search(of_petgraph, rows))
        .std("direction-optimising", || single::gap::search(rows))
        .peer("petgraph", "`Bfs` of a `Csr`", || petgraph::search(of_petgraph, rows))
        .superstep("`gap::bfs`", || superstep::gap::search(rows));
    stage.hold(search)?;
    let of_graph = &graph::directed(rows);
    let weighted = &graph::weighted(rows);
    let ways = contest("sssp", petgraph::distances(of_petgraph, rows))
        .std("delta-stepping", || single::gap::distances(rows))
        .peer("petgraph", "`dijkstra` of a `Csr`", || petgraph::distances(of_petgraph, rows))
        .peer("graph", "`delta_stepping`", || graph::distances(weighted, rows))
        .superstep("`gap::sssp`", || superstep::gap::distances(rows));
    stage.hold(ways)?;
    let best = &single::gap::ranked(rows).1;
    let ranks = contest("pr", graph::ranks(of_graph))
        .std("pull", || single::gap::ranks(rows))
        .peer("graph", "`page_rank`", || graph::ranks(of_graph))
        .superstep("`gap::pr`", || superstep::gap::ranks(rows));
    stage.hold(ranks)?;
    launched(stage, rows, best)?;
    let parts = contest("cc", single::gap::components_by_search(rows))
        .std("Afforest", || single::gap::components(rows))
        .peer("graph", "`wcc_afforest`", || graph::components(of_graph))
        .superstep("`gap::cc`", || superstep::gap::components(rows));
    stage.hold(parts)?;
    let scores = contest("bc", single::gap::scores(rows))
        .std("Brandes", || single::gap::scores(rows))
        .superstep("`gap::bc`", || superstep::gap::scores(rows));
    stage.hold(scores)?;
    let ordered = &graph::ordered(rows);
    let triangles = contest("tc", graph::triangles(ordered))
        .std("forward, by degree", || single::gap::triangles(rows))
        .peer("graph", "`global_triangle_count`", || graph::triangles(ordered))
        .superstep("`gap::tc`", || superstep::gap::triangles(rows));
    stage.hold(triangles)
}

/// PageRank on two processes, where `best` have the highest ranks.
fn launched(stage: &mut Stage, rows: &Rows, best: &[usize]) -> Result<(), Failure> {
    let (title, unit) = (format!("pr, 2^{} vertices, two processes under Open MPI", rows.options.scale), EDGES);
    let (file, expected) = (&mpi::gap::File::new(rows)?, digest(0, best.to_vec()));
    let by_hand = move || {
        let sample = mpi::gap::by_hand(rows, file, best)?;
        Ok(Sample { digest: if sample.digest == 1 { expected } else { 0 }, ..sample })
    };
    let contest = Contest::new("gap", title, unit, rows.targets.len(), expected)
        .by_hand("C and `MPI_Allgatherv`", by_hand)
        .processes("`gap::pr`", || mpi::gap::superstep(rows));
    stage.hold(contest)
}
