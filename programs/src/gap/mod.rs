//! The GAP benchmark suite: six kernels on graphs that are drawn or read from a file.
//!
//! | kernel | what it finds | |
//! |---|---|---|
//! | [`bfs`] | a parent for each vertex that can be reached | by fronts, downwards or upwards |
//! | [`sssp`] | the lengths of shortest ways | by buckets of distances |
//! | [`pr`] | ranks of pages | by iteration |
//! | [`cc`] | connected components | by trees of each processor, and labels of all |
//! | [`bc`] | through which vertices shortest ways lead | by counting ways, there and back |
//! | [`tc`] | how many triangles there are | by lists of neighbours that go round |
//!
//! Graphs are as in the suite: edges from a vertex to itself and edges that come again count for nothing, and edges
//! that have no length get one from 1 to 255. A graph that is drawn is the same on any number of processors. Each
//! answer is [checked](Summary::is_right) by rules that only a right answer keeps, and said in one line.

pub mod bc;
pub mod bfs;
pub mod cc;
mod check;
mod graph;
mod input;
mod mail;
mod options;
pub mod pr;
mod random;
pub mod sssp;
pub mod tc;

pub use graph::{Graph, NONE, Weighted};
pub use input::{drawn, length};
pub use options::{Kernel, Kind, Options};

use crate::{Fact, Summary, Trouble, parts::clocked};
use superstep::{Group, Max, Sum, algorithms};

/// How many of the vertices with the highest scores are told.
const TOP: usize = 10;

/// Runs a kernel as often as is asked for, on all members of a group. Collective.
///
/// ```
/// use superstep::{Config, Local};
/// use superstep_programs::gap::{self, Kernel, Options};
///
/// let options = Options { scale: 6, ..Options::new(Kernel::Cc) };
/// let all = Config::new().procs(2).run(|g| Local(gap::run(g, &options).unwrap())).unwrap();
/// assert!(all.len() == 1 && all[0].is_right());
/// ```
///
/// # Errors
///
/// If there is no such graph or no such source; the same on all members.
pub fn run(g: &mut Group, options: &Options) -> Result<Vec<Summary>, Trouble> {
    let graph = match options.kernel {
        Kernel::Sssp => Input::Weighted(input::weighted(g, options)?),
        kernel => Input::Plain(input::graph(g, options, kernel == Kernel::Cc)?),
    };
    let (vertices, edges) = graph.size();
    if let Some(source) = options.source.filter(|&source| source >= vertices) {
        let what = format!("there is no vertex {source} to begin at; they are numbered from 0 to {}", vertices - 1);
        return Err(Trouble::from(what));
    }
    let trials = 0..options.trials;
    trials
        .map(|trial| {
            let answer = graph.trial(g, options, trial)?;
            let size = [("vertices", vertices), ("edges", edges), ("trial", trial)];
            let summary = Summary::new(options.kernel.program(), answer.seconds).checked(answer.is_right);
            let summary = size.into_iter().fold(summary, |summary, (name, count)| summary.with(name, count));
            Ok(answer.facts.into_iter().fold(summary, |summary, (name, fact)| summary.with(name, fact)))
        })
        .collect()
}

/// The graph of a kernel.
enum Input {
    Plain(Graph),
    Weighted(Weighted),
}

/// What came of one trial.
struct Answer {
    seconds: f64,
    is_right: Option<bool>,
    facts: Vec<(&'static str, Fact)>,
}

/// How many of these numbers there are, the largest of them, and their sum.
fn totals(g: &mut Group, numbers: &[u32]) -> [u64; 3] {
    let reached = || numbers.iter().copied().filter(|&number| number != NONE).map(u64::from);
    let (count, most, sum) = (reached().count() as u64, reached().max().unwrap_or(0), reached().sum::<u64>());
    let (count, most, sum) = g.step(|s| (s.reduce(count, Sum), s.reduce(most, Max), s.reduce(sum, Sum)));
    [count, most, sum]
}

/// The vertices with the highest scores; of equal ones those with the lowest numbers.
fn highest(g: &mut Group, graph: &Graph, scores: impl Iterator<Item = f64>) -> Fact {
    let first = graph.vertices.first();
    let list: Vec<(usize, f64)> = scores.enumerate().map(|(place, score)| (first + place, score)).collect();
    Fact::Scores(algorithms::top_k_by_vec(g, &list, TOP, |a, b| a.1.total_cmp(&b.1)))
}

/// How many components there are, and how many vertices the largest has.
fn components(g: &mut Group, graph: &Graph, labels: &[u32]) -> [u64; 2] {
    let sizes = graph.vertices.array(g, &vec![0u32; labels.len()]);
    let places: Vec<usize> = labels.iter().map(|&label| label as usize).collect();
    g.step(|s| s.scatter_one(&sizes, &places, 1, Sum));
    let sizes: Vec<u32> = sizes.local().iter().map(|&size| if size == 0 { NONE } else { size }).collect();
    let [count, most, _] = totals(g, &sizes);
    [count, most]
}

impl Input {
    fn size(&self) -> (usize, usize) {
        match self {
            Self::Plain(graph) => (graph.vertices(), graph.edges()),
            Self::Weighted(graph) => (graph.vertices(), graph.edges()),
        }
    }

    fn trial(&self, g: &mut Group, options: &Options, trial: usize) -> Result<Answer, Trouble> {
        let is_checked = !options.unchecked;
        let seeds = |count: usize| (0..count).map(move |at| options.seed.wrapping_add((trial * count + at) as u64));
        match self {
            Self::Weighted(graph) => {
                let source = options.source.unwrap_or_else(|| graph.draw(g, options.seed.wrapping_add(trial as u64)));
                let width = options.delta.unwrap_or_else(|| sssp::width(graph));
                let (seconds, distances) = clocked(g, |g| sssp::distances(g, graph, source, width));
                let distances = distances?;
                let [reached, longest, sum] = totals(g, &distances);
                let is_right = is_checked.then(|| check::distances(g, graph, source, &distances));
                let names = ["source", "reached", "longest distance", "sum of distances"];
                let facts = names.into_iter().zip([source as u64, reached, longest, sum].map(Fact::from)).collect();
                Ok(Answer { seconds, is_right, facts })
            }
            Self::Plain(graph) => match options.kernel {
                Kernel::Bfs => {
                    let source =
                        options.source.unwrap_or_else(|| graph.draw(g, options.seed.wrapping_add(trial as u64)));
                    Ok(search(g, graph, source, is_checked))
                }
                Kernel::Bc => {
                    let drawn = |g: &mut Group| seeds(options.sources).map(|seed| graph.draw(g, seed)).collect();
                    let sources = options.source.map_or_else(|| drawn(g), |source| vec![source]);
                    let (seconds, scores) = clocked(g, |g| bc::scores(g, graph, &sources));
                    let is_right = is_checked.then(|| check::scores(g, graph, &sources, &scores));
                    let highest = highest(g, graph, scores.iter().copied());
                    let facts = vec![("sources", sources.len().into()), ("highest", highest)];
                    Ok(Answer { seconds, is_right, facts })
                }
                Kernel::Tc => {
                    let (seconds, count) = clocked(g, |g| tc::triangles(g, graph));
                    let count = count?;
                    let is_right = if is_checked { Some(tc::recount(g, graph)? == count) } else { None };
                    Ok(Answer { seconds, is_right, facts: vec![("triangles", count.into())] })
                }
                Kernel::Cc => {
                    let (seconds, labels) = clocked(g, |g| cc::labels(g, graph));
                    let labels = labels?;
                    let is_right = is_checked.then(|| check::labels(g, graph, &labels));
                    let [count, most] = components(g, graph, &labels).map(Fact::from);
                    Ok(Answer { seconds, is_right, facts: vec![("components", count), ("largest", most)] })
                }
                Kernel::Pr | Kernel::Sssp => Ok(ranks(g, graph, options)),
            },
        }
    }
}

fn search(g: &mut Group, graph: &Graph, source: usize, is_checked: bool) -> Answer {
    let (seconds, parents) = clocked(g, |g| bfs::search(g, graph, source));
    let levels = check::levels(g, graph, source, &parents);
    let is_right =
        is_checked.then(|| levels.as_ref().is_some_and(|levels| check::parents(g, graph, source, &parents, levels)));
    let [reached, depth, sum] = totals(g, &levels.unwrap_or_default());
    let names = ["source", "reached", "depth", "sum of levels"];
    let facts = names.into_iter().zip([source as u64, reached, depth, sum].map(Fact::from)).collect();
    Answer { seconds, is_right, facts }
}

fn ranks(g: &mut Group, graph: &Graph, options: &Options) -> Answer {
    let (seconds, ranks) = clocked(g, |g| pr::ranks(g, graph, options.tolerance, options.iterations));
    let is_right = (!options.unchecked).then(|| {
        // Where the iterations did not suffice, one more must at least change less than the last one did.
        pr::residual(g, graph, &ranks.scores) <= ranks.change.max(options.tolerance)
    });
    let highest = highest(g, graph, ranks.scores.iter().map(|&score| f64::from(score)));
    let iterations = Fact::from(ranks.iterations);
    let facts = vec![("iterations", iterations), ("change", ranks.change.into()), ("highest", highest)];
    Answer { seconds, is_right, facts }
}
