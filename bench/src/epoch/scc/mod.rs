//! Kernel `scc`: the strongly connected components of a mesh, by trimming and pivots.
//!
//! The program is that of the paper that remote methods come from: vertices that no cycle goes through are trimmed,
//! every processor chooses pivots and marks what they reach, and the components that are found so are taken out, until
//! nothing is left. It is held against Tarjan's algorithm on one thread, which also says what is right.

mod mesh;
mod program;
mod tarjan;

use super::PROCS;
use crate::{
    array::job::{count_name, job},
    clock::timed,
    contest::{Contest, Sample},
    options::Options,
};
use mesh::Mesh;
use std::rc::Rc;

const KERNEL: &str = "scc";

/// Plans a contest for each number of vertices: that of the paper, and a larger one.
pub(crate) fn plan(options: &Options) -> Vec<Contest> {
    let sizes = options.sizes(&[10_000], &[10_000, 1_000_000]);
    sizes.into_iter().map(|vertices| contest(vertices.isqrt().max(2), options)).collect()
}

/// A mesh with so many vertices on a side.
fn contest(side: usize, options: &Options) -> Contest {
    let (procs, size) = (options.procs.unwrap_or(PROCS), count_name(side * side));
    let mesh = job(move || Mesh::new(side));
    let (of_one, config) = (Rc::clone(&mesh), options.config(procs));
    let [alone, ours] = ["one-thread", "trim-and-pivots"].map(|name| format!("{size}/{name}"));
    Contest::of_elements(KERNEL, procs, (side * side) as u64)
        .alone(&alone, move |rounds| Ok(on_one_thread(&of_one, rounds)))
        .superstep(&ours, options, move |rounds| program::measure(&config, &mesh, rounds))
        .speedup(ours, alone, None)
}

/// Rounds of Tarjan's algorithm.
fn on_one_thread(mesh: &Mesh, rounds: u64) -> Sample {
    let graph = tarjan::Rows::new(mesh.vertices, &mesh.edges);
    let mut is_right = true;
    let seconds = timed(rounds, |_| is_right &= tarjan::components(&graph).1 == mesh.count);
    Sample::by_hand(seconds, is_right)
}
