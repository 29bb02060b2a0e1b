//! `programs`: whole programs on superstep, each with an answer that is checked.
//!
//! The same executable runs on threads, on forked processes (`SUPERSTEP_FABRIC=procs`) and under `mpirun`.

#![forbid(unsafe_code)]

use clap::{Parser, Subcommand, error::ErrorKind as Misuse};
use std::{
    fmt::Display,
    process::ExitCode,
    sync::atomic::{AtomicBool, Ordering},
};
use superstep::{ErrorKind, Group};
use superstep_programs::{
    Summary, Trouble, bale, data, gap, hpcc,
    nas::{self, Class, Kernels},
    prk,
};

/// Run a program on all processors, and check its answer.
#[derive(Debug, Parser)]
#[command(name = "programs", version, arg_required_else_help = true)]
struct Args {
    #[command(subcommand)]
    suite: Suite,
    /// Print objects of JSON, each on a line of its own, in place of text.
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum Suite {
    /// A kernel of the NAS parallel benchmarks.
    Nas {
        /// Which of them: ep, is, cg, mg, ft or all.
        kernels: Kernels,
        /// How large: S and W are quick, A takes seconds, B minutes.
        #[arg(value_enum, ignore_case = true, default_value = "S")]
        class: Class,
    },
    /// A kernel of the GAP benchmark suite, on a graph that is drawn or read from a file.
    Gap(gap::Options),
    /// A small program of bale.
    #[command(subcommand)]
    Bale(bale::Program),
    /// A program of the HPC Challenge.
    #[command(subcommand)]
    Hpcc(hpcc::Program),
    /// One of the Parallel Research Kernels.
    #[command(subcommand)]
    Prk(prk::Program),
    /// A program on files or rows that are drawn.
    #[command(subcommand)]
    Data(data::Program),
}

fn main() -> ExitCode {
    let args = match Args::try_parse() {
        Ok(args) => args,
        Err(error) => return refused(&error),
    };
    let leads = AtomicBool::new(false);
    let outcome = superstep::run(|g| {
        leads.fetch_or(g.is_leader(), Ordering::Relaxed);
        run(g, &args)
    });
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            // What a program refuses is the same in every process, and said by one of them.
            let is_refusal = matches!(error.kind(), ErrorKind::Failed | ErrorKind::File | ErrorKind::OutOfMemory);
            if !is_refusal || leads.into_inner() {
                eprintln!("programs: {error}");
            }
            ExitCode::FAILURE
        }
    }
}

/// Runs what was asked for, and says on one processor what came of it. Returns whether that is right.
fn run(g: &mut Group, args: &Args) -> Result<bool, Trouble> {
    let summary = match &args.suite {
        Suite::Nas { kernels, class } => {
            // All of them run, also behind one that is wrong.
            let mut is_right = true;
            for &kernel in &kernels.0 {
                let outcome = nas::run(g, kernel, *class);
                if args.json {
                    say(g, &outcome.json(g.size()));
                } else {
                    say(g, &outcome);
                }
                is_right &= outcome.is_right();
            }
            return Ok(is_right);
        }
        Suite::Gap(options) => {
            let all = gap::run(g, options)?;
            for summary in &all {
                told(g, summary, args.json);
            }
            return Ok(all.iter().all(Summary::is_right));
        }
        Suite::Bale(program) => bale::run(g, program)?,
        Suite::Hpcc(program) => hpcc::run(g, program)?,
        Suite::Prk(program) => prk::run(g, program)?,
        Suite::Data(program) => data::run(g, program)?,
    };
    told(g, &summary, args.json);
    Ok(summary.is_right())
}

fn told(g: &Group, summary: &Summary, in_json: bool) {
    if in_json { say(g, &summary.json(g.size())) } else { say(g, summary) }
}

fn say(g: &Group, text: &dyn Display) {
    if g.is_leader() {
        println!("{text}");
    }
}

/// Says in one line what was asked for that makes no sense.
fn refused(error: &clap::Error) -> ExitCode {
    let is_help = !error.use_stderr() || error.kind() == Misuse::DisplayHelpOnMissingArgumentOrSubcommand;
    if is_help {
        // A pipe that was closed is no reason to complain.
        drop(error.print());
    } else {
        // The first paragraph says what is wrong; usage and tips come after it.
        let text = error.to_string();
        let first = text.trim_start_matches("error: ").split("\n\n").next().unwrap_or_default();
        eprintln!("programs: {}; see programs --help", first.split_whitespace().collect::<Vec<_>>().join(" "));
    }
    ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2))
}
