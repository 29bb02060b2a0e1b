//! `superstep probe`: measures r, g and l of this machine.

mod fit;
mod json;
mod measure;
mod svg;
mod table;

use crate::{args, failure::Failure, paint::Paint, progress};
use std::{
    fs,
    io::{self, Write},
};

/// The parameters of the machine with one number of processors, and what they were found from.
#[derive(Clone, Debug)]
pub(crate) struct Parameters {
    pub(crate) procs: usize,
    /// Operations per second of one processor, while all compute.
    pub(crate) r: f64,
    /// Seconds per word.
    pub(crate) g: f64,
    /// Seconds per empty step.
    pub(crate) l: f64,
    /// How long a step with an h-relation takes, by h.
    pub(crate) points: Vec<Point>,
    /// Whether every word came where it should.
    pub(crate) verified: bool,
}

/// How long a step with an h-relation takes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Point {
    /// Words that each processor sends, and receives.
    pub(crate) h: usize,
    pub(crate) seconds: f64,
}

/// Every number of processors up to the cores, and two beyond.
fn usual_procs() -> Vec<usize> {
    let cores = superstep::cores();
    (1..=cores).chain([2 * cores, 4 * cores]).collect()
}

/// Runs what was asked for.
pub(crate) fn run(args: &args::Probe) -> Result<(), Failure> {
    let procs = if args.procs.is_empty() { usual_procs() } else { args.procs.clone() };
    let prints_json = matches!(args.json, Some(None));
    let bar = progress::bar(!prints_json);
    bar.set_length((procs.len() * args.rounds) as u64);
    let mut found = Vec::new();
    for procs in procs {
        bar.set_message(format!("{procs} processors"));
        let parameters = measure::parameters(procs, args.rounds, || bar.inc(1)).map_err(Failure::failed)?;
        found.push(parameters);
    }
    bar.finish_and_clear();
    let mut out = io::stdout().lock();
    match &args.json {
        Some(None) => out.write_all(json::lines(&found).as_bytes())?,
        Some(Some(path)) => fs::write(path, json::lines(&found)).map_err(|error| Failure::unwritten(path, &error))?,
        None => {}
    }
    if let Some(path) = &args.svg {
        fs::write(path, svg::plot(&found)).map_err(|error| Failure::unwritten(path, &error))?;
    }
    if !prints_json {
        table::write(&mut out, &found, args.rounds, Paint::for_stdout())?;
    }
    if found.iter().all(|parameters| parameters.verified) {
        Ok(())
    } else {
        Err(Failure::failed("some words did not arrive as they were sent"))
    }
}
