//! The command `superstep`: measures a machine and runs the benchmarks.

#![forbid(unsafe_code)]

mod args;
mod bench;
mod failure;
mod jsonl;
mod paint;
mod probe;
mod progress;
mod spin;

use args::{Args, Command};
use clap::Parser;
use failure::Failure;
use std::process::ExitCode;

fn main() -> ExitCode {
    let outcome = Args::try_parse().map_err(Failure::from).and_then(|args| match args.command {
        Command::Bench(args) => bench::run(&args),
        Command::Probe(args) => probe::run(&args),
        Command::Spin => spin::run(),
    });
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}
