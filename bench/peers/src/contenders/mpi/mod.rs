//! Two processes under the `mpirun` of Open MPI, started anew for each round: C by hand, and superstep.
//!
//! Superstep's are this program again (`mpi-rank`, a hidden command), which does what it does on threads. The C program
//! is compiled when it is needed first.

pub(crate) mod gap;
pub(crate) mod nas;
pub(crate) mod rank;

use crate::{PROCS, Sample, failure::Failure, kernels::access::Shape};
use clap::ValueEnum;
use rank::Task;
use std::{
    collections::BTreeMap,
    env,
    path::{Path, PathBuf},
    process::Command,
    sync::{Mutex, PoisonError},
};

/// What a line with an answer starts with.
const ANSWER: &str = "answer: ";

const SOURCES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/contenders/mpi");

/// Lets C by hand do a task once.
pub(crate) fn by_hand(task: Task, shape: Shape) -> Result<Sample, Failure> {
    let Shape { block, count } = shape;
    launch(&program("by_hand")?, &[task.by_hand().to_owned(), block.to_string(), count.to_string()])
}

/// Lets superstep do a task once.
pub(crate) fn superstep(task: Task, shape: Shape) -> Result<Sample, Failure> {
    let name = task.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default();
    let this = env::current_exe().map_err(Failure::new)?;
    launch(&this, &["mpi-rank".to_owned(), name, shape.block.to_string(), shape.count.to_string()])
}

/// A C program of this name, made for this machine as the others are.
fn program(name: &'static str) -> Result<PathBuf, Failure> {
    static PROGRAMS: Mutex<BTreeMap<&str, PathBuf>> = Mutex::new(BTreeMap::new());
    let mut programs = PROGRAMS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(program) = programs.get(name) {
        return Ok(program.clone());
    }
    let program = env::current_exe().map_err(Failure::new)?.with_file_name(format!("mpi-{name}"));
    let made = Command::new("mpicc.openmpi")
        .args(["-O3", "-std=c11", "-D_DEFAULT_SOURCE", "-Wall", "-Wextra", "-Werror", "-o"])
        .arg(&program)
        .args([&format!("{SOURCES}/{name}.c"), "-lm"])
        .output()
        .map_err(|error| Failure::new(format!("mpicc.openmpi cannot be run ({error}); install libopenmpi-dev")))?;
    if !made.status.success() {
        return Err(Failure::new(format!("mpicc.openmpi: {}", String::from_utf8_lossy(&made.stderr))));
    }
    programs.insert(name, program.clone());
    Ok(program)
}

fn launch(program: &Path, words: &[String]) -> Result<Sample, Failure> {
    let output = Command::new("mpirun.openmpi")
        .args(["--oversubscribe", "-n", &PROCS.to_string()])
        .arg(program)
        .args(words)
        // Whoever measures in a container is root there.
        .env("OMPI_ALLOW_RUN_AS_ROOT", "1")
        .env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
        .output()
        .map_err(|error| Failure::new(format!("mpirun.openmpi cannot be run ({error}); install openmpi-bin")))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let samples: Option<Vec<Sample>> = text.lines().filter_map(|line| line.strip_prefix(ANSWER)).map(sample).collect();
    match samples {
        Some(samples) if output.status.success() && samples.len() == PROCS => Ok(Sample::of_all(samples)),
        _ => Err(Failure::new(format!("no answer: {}", String::from_utf8_lossy(&output.stderr)))),
    }
}

fn sample(line: &str) -> Option<Sample> {
    let mut words = line.split_whitespace();
    Some(Sample::of_answer(words.next()?.parse().ok()?, words.next()?.parse().ok()?))
}
