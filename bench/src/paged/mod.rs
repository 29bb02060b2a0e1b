//! The kernels on paged arrays.
//!
//! - `cohere`: what it costs to make a row coherent between two processors.
//! - `jacobi`, `lu`, `matmul`: the three programs of the paper that paged arrays come from, each with coherence, with
//!   steps and arrays, and by hand on bare threads.

pub(crate) mod cohere;
pub(crate) mod jacobi;
pub(crate) mod lu;
pub(crate) mod matmul;

use crate::{
    array::{Job, job},
    contest::{Contest, Sample},
    options::Options,
    report::Target,
};
use std::{ops::Range, rc::Rc};
use superstep::{Config, Result};

/// How many processors take part unless somebody asks for another number.
const PROCS: usize = 2;

/// The rows of a member, if each but the last have as many.
fn band(side: usize, procs: usize, rank: usize) -> Range<usize> {
    let rows = side.div_ceil(procs);
    (rank * rows).min(side)..((rank + 1) * rows).min(side)
}

/// How a kernel on matrices is written with superstep.
#[derive(Clone, Copy, Debug)]
enum With {
    Coherence,
    Steps,
}

/// The right elements of a result, computed when they are first asked for.
type Answer = Job<Vec<f64>>;

/// Who does a kernel on matrices of so many rows and columns: one thread, whose result all others must find, superstep,
/// and bare threads, in so many rounds.
#[derive(Clone, Copy)]
struct Ways {
    alone: fn(side: usize) -> Vec<f64>,
    by_superstep: fn(&Config, With, side: usize, answer: &Answer, rounds: u64) -> Result<Sample>,
    by_threads: fn(procs: usize, side: usize, answer: &Answer, rounds: u64) -> Result<Sample>,
}

/// The contest of a kernel on matrices, which takes so many operations.
fn contest(options: &Options, kernel: &'static str, side: usize, operations: usize, ways: Ways) -> Contest {
    let procs = options.procs.unwrap_or(PROCS);
    let answer = job(move || (ways.alone)(side));
    let name = |what: &str| format!("{side}x{side}/{what}");
    let config = options.config(procs);
    let ours = |with: With| {
        let (config, answer) = (config.clone(), Rc::clone(&answer));
        move |rounds| (ways.by_superstep)(&config, with, side, &answer, rounds)
    };
    let raw = {
        let answer = Rc::clone(&answer);
        move |rounds| (ways.by_threads)(procs, side, &answer, rounds)
    };
    Contest::of_elements(kernel, procs, operations as u64)
        .raw(name("raw"), raw)
        .superstep(name("coherence"), options, ours(With::Coherence))
        .superstep(name("steps"), options, ours(With::Steps))
        .claim(name("coherence"), [name("raw")], Target::AtLeast(0.9))
        .claim(name("steps"), [name("raw")], Target::AtLeast(0.9))
}

/// How many rows and columns a matrix has, of which `shrink` is a fraction.
fn side(full: usize, shrink: usize) -> usize {
    (full / shrink.isqrt()).max(16)
}
