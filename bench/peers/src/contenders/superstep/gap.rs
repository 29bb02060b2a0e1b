//! The programs of the GAP suite. Graphs are made before the clock runs.

use super::{on_all, timed};
use crate::{
    PROCS, Sample, digest,
    kernels::gap::{ITERATIONS, Rows, TOLERANCE, highest, levels},
};
use ::superstep::{Group, Result, values::Value};
use superstep_programs::gap::{Graph, Options, Weighted, bc, bfs, cc, drawn, length, pr, sssp, tc};

/// How often the work is done; the last time counts.
const TIMES: usize = 3;

/// What all processors have found together, and how long it took.
fn whole<T: Value>(g: &mut Group, mut work: impl FnMut(&mut Group) -> Vec<T>) -> (f64, Vec<T>) {
    let (mut seconds, mut found) = timed(g, &mut work);
    for _ in 1..TIMES {
        (seconds, found) = timed(g, &mut work);
    }
    (seconds, g.step(|s| s.collect(found)).concat())
}

fn graph(g: &mut Group, options: &Options) -> Graph {
    let edges = drawn(options, g.rank(), PROCS);
    Graph::undirected(g, 1 << options.scale, &edges)
}

/// The digest of the whole answer, which one processor hands in.
fn sample(g: &Group, seconds: f64, digest: impl FnOnce() -> u64) -> Sample {
    Sample::of_answer(seconds, if g.is_leader() { digest() } else { 0 })
}

pub(crate) fn search(rows: &Rows) -> Result<Sample> {
    on_all(|g| {
        let graph = graph(g, &rows.options);
        let (seconds, parents) = whole(g, |g| bfs::search(g, &graph, rows.source));
        sample(g, seconds, || digest(0, levels(&parents)))
    })
}

pub(crate) fn distances(rows: &Rows) -> Result<Sample> {
    on_all(|g| {
        let edges = drawn(&rows.options, g.rank(), PROCS);
        let both = edges.into_iter().flat_map(|(a, b)| [(a, b), (b, a)]);
        let edges: Vec<_> = both.map(|(a, b)| (a, b, length(rows.options.seed, &(a, b)))).collect();
        let graph = Weighted::new(g, rows.vertices(), &edges);
        let width = sssp::width(&graph);
        let work = |g: &mut Group| sssp::distances(g, &graph, rows.source, width).expect("lengths are short");
        let (seconds, found) = whole(g, work);
        sample(g, seconds, || digest(0, found))
    })
}

pub(crate) fn ranks(rows: &Rows) -> Result<Sample> {
    on_all(|g| ranks_of(g, &rows.options))
}

/// This processor's part in it.
pub(crate) fn ranks_of(g: &mut Group, options: &Options) -> Sample {
    let graph = graph(g, options);
    let (seconds, scores) = whole(g, |g| pr::ranks(g, &graph, TOLERANCE, ITERATIONS).scores);
    let scores: Vec<f64> = scores.into_iter().map(f64::from).collect();
    sample(g, seconds, || digest(0, highest(&scores)))
}

pub(crate) fn components(rows: &Rows) -> Result<Sample> {
    on_all(|g| {
        let graph = graph(g, &rows.options);
        let (seconds, labels) = whole(g, |g| cc::labels(g, &graph).expect("edges lead both ways"));
        sample(g, seconds, || digest(0, labels))
    })
}

pub(crate) fn scores(rows: &Rows) -> Result<Sample> {
    on_all(|g| {
        let graph = graph(g, &rows.options);
        let (seconds, scores) = whole(g, |g| bc::scores(g, &graph, &[rows.source]));
        sample(g, seconds, || digest(0, highest(&scores)))
    })
}

pub(crate) fn triangles(rows: &Rows) -> Result<Sample> {
    on_all(|g| {
        let graph = graph(g, &rows.options);
        let (seconds, counts) = whole(g, |g| vec![tc::triangles(g, &graph).expect("edges lead both ways")]);
        sample(g, seconds, || digest(0, [counts[0]]))
    })
}
