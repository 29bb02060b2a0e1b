//! Kernel `bfs`: a breadth-first search of a Graph500 graph.
//!
//! The graph, the search from random roots and the rules that its answer is held to are those of the Graph500
//! benchmark. Which of several parents a vertex gets depends on who comes first, and so differs from run to run; how
//! far it is from the root does not.

mod kronecker;
mod program;
mod rules;
mod serial;

use super::PROCS;
use crate::{array::job::job, contest::Contest, options::Options};
use kronecker::Kronecker;
use std::rc::Rc;

const KERNEL: &str = "bfs";

/// Plans a contest for each number of vertices.
pub(crate) fn plan(options: &Options) -> Vec<Contest> {
    let sizes = options.sizes(&[1 << 14], &[1 << 16, 1 << 20]);
    sizes.into_iter().map(|vertices| contest(vertices.max(16).ilog2(), options)).collect()
}

/// A graph of 2^scale vertices.
fn contest(scale: u32, options: &Options) -> Contest {
    let procs = options.procs.unwrap_or(PROCS);
    let graph = job(move || Kronecker::new(scale));
    let (of_one, config) = (Rc::clone(&graph), options.config(procs));
    let [alone, ours] = ["one-thread", "visit-per-edge"].map(|name| format!("scale-{scale}/{name}"));
    Contest::of_elements(KERNEL, procs, kronecker::edges(scale) as u64)
        .alone(&alone, move |searches| Ok(serial::measure(&of_one, searches)))
        .superstep(&ours, options, move |searches| program::measure(&config, &graph, searches))
        .speedup(ours, alone, None)
}
