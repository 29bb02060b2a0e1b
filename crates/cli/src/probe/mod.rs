//! `superstep probe`: measures r, g and l of this machine.

mod fit;
mod json;
mod measure;
mod parameters;
mod svg;
mod table;

use crate::{
    args,
    failure::Failure,
    place::{Asked, Place},
    progress,
};
use parameters::Parameters;
use std::{fs, process::ExitCode};

/// Every number of processors up to the cores, and two beyond.
fn usual_procs() -> Vec<usize> {
    let cores = superstep::cores();
    (1..=cores).chain([2 * cores, 4 * cores]).collect()
}

/// As many as there are cores, in processes of so many.
fn usual_launched(threads: usize) -> usize {
    (superstep::cores() / threads).max(1) * threads
}

/// Runs what was asked for.
pub(crate) fn run(args: &args::Probe) -> Result<ExitCode, Failure> {
    let place = Place::find(&Asked {
        fabric: args.fabric.map(Into::into),
        procs: args.procs.first().copied(),
        processes: args.processes,
        usual: usual_launched,
    })?;
    place.end(run_at(&place, args))
}

fn run_at(place: &Place, args: &args::Probe) -> Result<ExitCode, Failure> {
    if place.threads().is_some() && args.procs.len() > 1 {
        return Err(Failure::Usage("under MPI --procs is one number; measure once with each".to_owned()));
    }
    if let Some(ended) = place.elsewhere() {
        return ended;
    }
    let procs = match place.procs.filter(|_| place.threads().is_some()) {
        Some(launched) => vec![launched],
        None if args.procs.is_empty() => usual_procs(),
        None => args.procs.clone(),
    };
    let prints_json = matches!(args.json, Some(None));
    let bar = progress::bar(!prints_json && place.speaks);
    bar.set_length((procs.len() * args.rounds) as u64);
    let mut found = Vec::new();
    for procs in procs {
        bar.set_message(format!("{procs} processors"));
        let parameters =
            measure::parameters(procs, place.fabric, args.rounds, || bar.inc(1)).map_err(Failure::failed)?;
        found.push(parameters);
    }
    bar.finish_and_clear();
    if place.speaks {
        show(place, args, &found)?;
    }
    if found.iter().all(|parameters| parameters.verified) {
        Ok(ExitCode::SUCCESS)
    } else {
        Err(Failure::failed("some words did not arrive as they were sent"))
    }
}

/// Prints and writes what was found, in every way that was asked for.
fn show(place: &Place, args: &args::Probe, found: &[Parameters]) -> Result<(), Failure> {
    let mut out = place.output();
    let lines = || json::lines(found, place.fabric);
    match &args.json {
        Some(None) => out.write_all(lines().as_bytes())?,
        Some(Some(path)) => fs::write(path, lines()).map_err(|error| Failure::unwritten(path, &error))?,
        None => {}
    }
    if let Some(path) = &args.svg {
        fs::write(path, svg::plot(found)).map_err(|error| Failure::unwritten(path, &error))?;
    }
    if !matches!(args.json, Some(None)) {
        table::write(&mut out, found, args.rounds, place)?;
    }
    Ok(())
}
