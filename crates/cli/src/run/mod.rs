//! `superstep run`: starts a program on as many processors as asked for, by whatever launcher there is.
//!
//! 1. The [plan](plan) says whether the program is one process with threads or several under MPI.
//! 2. A [launcher](launcher) is [searched](search) and asked what it is.
//! 3. Its [command line](line) is put together.
//! 4. It is [watched](watch): signals go to it, and its end is this command's.
//! 5. If a process was lost, it may be [started again](restart).

pub(crate) mod hello;
mod hosts;
mod labels;
mod launcher;
mod line;
mod options;
mod passed;
mod plan;
mod quote;
mod restart;
mod search;
mod slots;
#[cfg_attr(not(unix), path = "watch/elsewhere.rs")]
mod watch;

pub(crate) use options::Options;
pub(crate) use plan::Carrier;

use crate::failure::Failure;
use hosts::Hosts;
use labels::Labels;
use line::{Job, Line};
use plan::Plan;
use restart::Note;
use std::{env, ffi::OsString, process::ExitCode};

pub(crate) fn run(options: &Options) -> Result<ExitCode, Failure> {
    let hosts = options.hosts.as_deref().map(Hosts::read).transpose()?;
    let (restarts, note) = (options.restart.unwrap_or(0), Note::new());
    let mut procs = options.procs;
    for again in 0.. {
        let Started { mut line, labels, launcher, threads } = put_together(options, procs, hosts.as_ref())?;
        if options.restart.is_some() {
            line.set(restart::NOTE, note.path());
            line.set("SUPERSTEP_RESTARTS", again.to_string());
        }
        if options.verbose {
            eprintln!("{}", line.quoted());
        }
        let ended = watch::watch(&line, labels, launcher)?;
        let is_lost = ended.is_lost(launcher) || (note.take() && !ended.is_told);
        if !is_lost || ended.code == 0 || again == restarts {
            return Ok(ExitCode::from(ended.code));
        }
        if options.shrink && procs > threads {
            procs -= threads;
        }
        let number = again + 1;
        eprintln!(
            "superstep: a process was lost (exit code {}); start {number} of {restarts} again, on {procs}",
            ended.code
        );
    }
    unreachable!("the last start has returned")
}

/// What is to be started.
struct Started {
    line: Line,
    /// How its output is labelled where that has to be made uniform.
    labels: Option<Labels>,
    /// Whose launcher it is, if it is one.
    launcher: Option<launcher::Kind>,
    /// How many processors each process has.
    threads: usize,
}

/// Starts this very command under an MPI launcher, on so many processors, with the arguments that it was given.
pub(crate) fn again(procs: usize, threads: usize) -> Result<ExitCode, Failure> {
    let lost = |error| Failure::Failed(format!("this command does not find itself: {error}"));
    let mut program = vec![env::current_exe().map_err(lost)?.into_os_string()];
    program.extend(env::args_os().skip(1));
    // Right after the name of the subcommand, where it is an option whatever comes behind.
    program.insert(program.len().min(2), "--again".into());
    run(&Options {
        procs,
        threads: Some(threads),
        hosts: None,
        fabric: Some(Carrier::Mpi),
        launcher: None,
        prefix: false,
        verbose: false,
        restart: None,
        shrink: false,
        program,
    })
}

/// How many threads a process has: as asked for, or as the environment says, or one.
pub(crate) fn threads(asked: Option<usize>) -> Result<usize, Failure> {
    plan::threads(asked, env::var_os("SUPERSTEP_THREADS").as_ref())
}

/// The command line that starts so many processors.
fn put_together(options: &Options, procs: usize, hosts: Option<&Hosts>) -> Result<Started, Failure> {
    let named = options.launcher.clone().or_else(|| env::var_os("SUPERSTEP_LAUNCHER"));
    let plan = plan::decide(&plan::Asked {
        procs,
        threads: options.threads,
        fabric: options.fabric,
        has_hosts: hosts.is_some(),
        has_launcher: options.launcher.is_some(),
        fabric_variable: env::var_os("SUPERSTEP_FABRIC"),
        threads_variable: env::var_os("SUPERSTEP_THREADS"),
    })?;
    let program = &options.program;
    let alone =
        |fabric| Started { line: line::alone(procs, fabric, program), labels: None, launcher: None, threads: 1 };
    let (processes, threads) = match plan {
        Plan::Alone { fabric } => return Ok(alone(fabric)),
        Plan::Launched { processes, threads, .. } => (processes, threads),
    };
    let launcher = match (search::find(named.as_deref()), plan) {
        (Ok(launcher), _) => launcher,
        (Err(_), Plan::Launched { or_alone: true, .. }) if named.is_none() => {
            return Ok(alone(Some(plan::THREADS)));
        }
        (Err(failure), _) => return Err(failure),
    };
    let is_local = hosts.is_none() && !launcher.kind.is_slurm();
    if is_local && search::on_path(&program[0]).is_none() {
        return Err(not_found(&program[0]));
    }
    let job = Job {
        processes,
        threads,
        hosts,
        hosts_file: options.hosts.as_deref(),
        slots: hosts.map_or_else(slots::here, Hosts::slots),
        is_labelled: options.prefix,
        is_root: fabric::is_root(),
        passed: passed::names(env::vars_os().map(|(name, _)| name), options.restart.is_some()),
        has_procs: env::var_os("SUPERSTEP_PROCS").is_some(),
        program,
    };
    let labels = if options.prefix { Labels::of(launcher.kind) } else { None };
    Ok(Started { line: line::launched(&launcher, &job)?, labels, launcher: Some(launcher.kind), threads })
}

fn not_found(program: &OsString) -> Failure {
    Failure::Failed(format!("{} could not be started: there is no such program", program.display()))
}
