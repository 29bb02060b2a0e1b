//! The command `superstep`: runs programs, measures a machine, runs the benchmarks and tries the library for hours.

#![forbid(unsafe_code)]
// Nothing is started there, so nothing is said about it either.
#![cfg_attr(not(unix), allow(dead_code))]

mod args;
mod bench;
mod failure;
mod inspect;
mod jsonl;
mod number;
mod paint;
mod place;
mod probe;
mod progress;
mod run;
mod soak;
mod spin;

use args::{Args, Command};
use clap::Parser;
use failure::Failure;
use std::process::ExitCode;

fn main() -> ExitCode {
    let outcome = Args::try_parse().map_err(Failure::from).and_then(|args| match args.command {
        Command::Bench(args) => bench::run(&args),
        Command::Inspect(args) => inspect::run(&args),
        Command::Probe(args) => probe::run(&args),
        Command::Run(options) => run::run(&options),
        Command::Soak(args) => soak::run(&args),
        Command::Hello(hello) => run::hello::run(&hello),
        Command::Spin => spin::run().map(|()| ExitCode::SUCCESS),
    });
    outcome.unwrap_or_else(Failure::report)
}
