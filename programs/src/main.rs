//! `programs`: whole programs on superstep, each with an answer that is checked.
//!
//! The same executable runs on threads, on forked processes (`SUPERSTEP_FABRIC=procs`) and under `mpirun`.

#![forbid(unsafe_code)]

use clap::Parser;
use std::process::ExitCode;
use superstep_programs::nas::{self, Class, Kernel};

/// Run a program on all processors, and check its answer.
#[derive(Debug, Parser)]
#[command(name = "programs", version, arg_required_else_help = true)]
enum Args {
    /// A kernel of the NAS parallel benchmarks.
    Nas {
        /// Which of them.
        #[arg(value_enum)]
        kernel: Kernel,
        /// How large: S and W are quick, A takes seconds, B minutes.
        #[arg(value_enum, ignore_case = true, default_value = "S")]
        class: Class,
    },
}

fn main() -> ExitCode {
    let Args::Nas { kernel, class } = Args::parse();
    let outcome = superstep::run(|g| {
        let outcome = nas::run(g, kernel, class);
        if g.is_leader() {
            println!("{outcome}");
        }
        outcome.is_right()
    });
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("programs: {error}");
            ExitCode::FAILURE
        }
    }
}
