#![doc = include_str!("../../docs/pr.md")]

use super::graph::Graph;
use superstep::{Group, Sum};

/// How much of a vertex's rank comes by edges.
const DAMPING: f32 = 0.85;

/// The ranks of this processor's vertices, and how they came about.
///
/// ```
/// let ranks = superstep_programs::gap::pr::Ranks { scores: vec![0.5, 0.5], iterations: 3, change: 1e-5 };
/// assert_eq!(ranks.scores.len(), 2);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Ranks {
    /// By place.
    pub scores: Vec<f32>,
    /// How often all were worked out.
    pub iterations: usize,
    /// By how much the last time has changed all of them together.
    pub change: f64,
}

/// Works out ranks until they change by less than `tolerance` together, at most so many times. Collective.
///
/// What leaves a vertex without edges is lost, as in the suite.
///
/// ```
/// use superstep::{Config, Local};
/// use superstep_programs::gap::{Graph, pr};
///
/// let ranks = Config::new().procs(2).run(|g| {
///     let graph = Graph::undirected(g, 2, &[(0, 1)]);
///     Local(pr::ranks(g, &graph, 1e-4, 20))
/// });
/// assert_eq!(ranks.unwrap().scores, [0.5]);
/// ```
pub fn ranks(g: &mut Group, graph: &Graph, tolerance: f64, most: usize) -> Ranks {
    let (inward, count, here) = (graph.inward(), graph.vertices() as f32, graph.vertices.here());
    let mut scores = vec![1.0 / count; here];
    let base = (1.0 - DAMPING) / count;
    // A vertex without edges hands on nothing, and nobody asks it.
    let shares: Vec<f32> = (0..here).map(|place| 1.0 / (graph.out.degree(place) as f32)).collect();
    let leaving = graph.vertices.array(g, &vec![0.0; here]);
    let (mut around, mut here, mut change) = (Vec::new(), 0.0, f64::INFINITY);
    for iteration in 0..most {
        for ((leaving, score), share) in leaving.local_mut().iter_mut().zip(&scores).zip(&shares) {
            *leaving = score * share;
        }
        // By how much the iteration before has changed the ranks comes with what this one needs.
        (around, change) = g.step(|s| (s.gather_by_into(&leaving, inward.plan(), around), s.reduce(here, Sum)));
        if iteration > 0 && change < tolerance {
            return Ranks { scores, iterations: iteration, change };
        }
        here = 0.0;
        for (place, score) in scores.iter_mut().enumerate() {
            let coming = sum_of(inward.of(place), &around);
            let before = std::mem::replace(score, base + DAMPING * coming);
            here += f64::from((*score - before).abs());
        }
    }
    if most > 0 {
        change = g.step(|s| s.reduce(here, Sum));
    }
    Ranks { scores, iterations: most, change }
}

/// How many sums are under way at a time: an addition waits for the one before.
const LANES: usize = 4;

/// What the slots of a list have together. The grouping depends on the list alone, so the bits do as well.
#[inline]
fn sum_of(slots: &[u32], values: &[f32]) -> f32 {
    let (blocks, rest) = slots.as_chunks::<LANES>();
    let mut sums = [0.0; LANES];
    for block in blocks {
        for (sum, &slot) in sums.iter_mut().zip(block) {
            *sum += values[slot as usize];
        }
    }
    let rest: f32 = rest.iter().map(|&slot| values[slot as usize]).sum();
    (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest
}

/// By how much one more iteration would change these ranks: worked out the other way round, by telling neighbours.
pub(super) fn residual(g: &mut Group, graph: &Graph, scores: &[f32]) -> f64 {
    let count = graph.vertices() as f64;
    let mut told = vec![0.0f64; graph.out.slots()];
    for (place, &score) in scores.iter().enumerate() {
        let share = f64::from(score) / graph.out.degree(place) as f64;
        graph.out.of(place).iter().for_each(|&slot| told[slot as usize] += share);
    }
    let coming = graph.vertices.array(g, &vec![0.0f64; scores.len()]);
    g.step(|s| s.scatter_by(&coming, graph.out.plan(), &told, Sum));
    let damping = f64::from(DAMPING);
    let news = coming.local().iter().map(|coming| (1.0 - damping) / count + damping * coming).collect::<Vec<_>>();
    let change: f64 = news.iter().zip(scores).map(|(new, &score)| (new - f64::from(score)).abs()).sum();
    g.step(|s| s.reduce(change, Sum))
}
