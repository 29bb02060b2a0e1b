//! The same work through superstep and its peers, side by side.
//!
//! `kernels` says what the work is and which answer is right, `contenders` has one folder per peer, `contest` lets
//! them take turns, and `report` writes down what came of it.

mod args;
mod contenders;
mod contest;
mod failure;
mod kernels;
mod machine;
mod report;

use args::{Args, Command};
use clap::Parser;
use contenders::{lamellar, mpi};
use contest::Stage;
use failure::Failure;
use kernels::{KERNELS, Sizes};
use std::{fs, process::ExitCode};
use superstep_bench::{NoUninit, Random, Sample, digest_of_part as digest, mix};

/// How many threads, or processes, share the work.
pub(crate) const PROCS: usize = 2;

fn main() -> ExitCode {
    let args = Args::parse();
    let outcome = match &args.command {
        Some(Command::LamellarPe(part)) => lamellar::run(part),
        Some(Command::MpiRank(part)) => mpi::rank::run(part),
        Some(Command::NasRank(part)) => mpi::nas::run(part),
        Some(Command::GapRank(part)) => mpi::gap::run(part),
        None => compare(&args),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("superstep-peers: {failure}");
            ExitCode::FAILURE
        }
    }
}

/// Holds all contests that are asked for, and reports them.
fn compare(args: &Args) -> Result<(), Failure> {
    // Fails only where a pool was made before, and nobody did.
    let _ = rayon::ThreadPoolBuilder::new().num_threads(PROCS).build_global();
    let sizes = match (args.small, args.brief) {
        (true, _) => Sizes::SMALL,
        (_, true) => Sizes::BRIEF,
        _ => Sizes::FULL,
    };
    let mut stage = Stage::new(args.rounds(), args.title.clone());
    for kernel in KERNELS.iter().filter(|kernel| args.wants(kernel.name)) {
        (kernel.hold)(&mut stage, &sizes)?;
    }
    let tables = stage.into_tables();
    if args.json {
        print!("{}", report::json::lines(&tables, args.rounds()));
    } else {
        print!("{}", report::markdown::tables(&tables));
    }
    if let Some(path) = args.output() {
        let text = report::markdown::page(&tables, args.rounds());
        fs::write(path, text)
            .map_err(|error| Failure::new(format!("{} cannot be written: {error}", path.display())))?;
        eprintln!("written: {}", path.display());
    }
    match tables.iter().flat_map(|table| &table.measures).find(|measure| !measure.verified) {
        Some(wrong) => Err(Failure::new(format!("{}, {}: a wrong answer", wrong.fabric, wrong.variant))),
        None => Ok(()),
    }
}
