//! `superstep bench`: runs kernels and shows what they found.

mod columns;
mod json;
mod speedups;
mod table;

use crate::{args, failure::Failure, paint::Paint, progress, spin};
use std::io::{self, Write};
use superstep_bench::{Error, Extent, KERNELS, Kernel, Options};

/// Runs what was asked for.
pub(crate) fn run(args: &args::Bench) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    if args.list {
        let width = KERNELS.iter().map(|kernel| kernel.name.len()).max().unwrap_or(0);
        for kernel in KERNELS {
            writeln!(out, "{:width$}  {}", kernel.name, kernel.about)?;
        }
        return Ok(());
    }
    let kernels = chosen(&args.kernels)?;
    let options = Options {
        procs: args.procs,
        rounds: args.rounds,
        round_seconds: args.round_ms as f64 / 1e3,
        extent: if args.kernels.is_empty() { Extent::Brief } else { Extent::Full },
        shrink: args.shrink,
        fabric: args.fabric.into(),
        load: Some(Box::new(spin::start)),
    };
    let bar = progress::bar(!args.json);
    let outcome = superstep_bench::run(&kernels, &options, |progress| {
        bar.set_length(progress.total as u64);
        bar.set_position(progress.done as u64);
        bar.set_message(progress.now.to_owned());
    });
    bar.finish_and_clear();
    let report = outcome.map_err(|error| match error {
        Error::TooFewProcs { .. } => Failure::Usage(error.to_string()),
        error => Failure::failed(error),
    })?;
    if args.json {
        json::write(&mut out, &report)?;
    } else {
        table::write(&mut out, &kernels, &report, args.rounds, Paint::for_stdout())?;
    }
    if report.is_verified() { Ok(()) } else { Err(Failure::failed("some answers are wrong")) }
}

/// The kernels of these names, or all if none is named.
fn chosen(names: &[String]) -> Result<Vec<&'static Kernel>, Failure> {
    if names.is_empty() {
        return Ok(KERNELS.iter().collect());
    }
    let named = |name: &String| {
        Kernel::named(name).ok_or_else(|| {
            let known: Vec<_> = KERNELS.iter().map(|kernel| kernel.name).collect();
            Failure::Usage(format!("there is no kernel {name:?}; the kernels are {}", known.join(", ")))
        })
    };
    names.iter().map(named).collect()
}
