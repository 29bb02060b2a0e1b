//! `superstep bench`: runs kernels and shows what they found.

mod columns;
mod json;
mod speedups;
mod table;

use crate::{
    args,
    failure::Failure,
    place::{Asked, Place},
    progress, spin,
};
use std::{
    io::{self, Write},
    process::ExitCode,
};
use superstep_bench::{COST_PROCS, Counts, Error, Event, Extent, Halo, KERNELS, Kernel, Options};

/// Rows exchanged by MPI itself. It is there when this is called; if it were not, the answer would be wrong, and that
/// would be told.
const HALO: Halo = Halo {
    rank: || fabric::mpi::place().map_or(0, |(rank, _)| rank),
    exchange: |with, out, into| {
        let _ = fabric::mpi::swap(with, out, into);
    },
};

/// Runs what was asked for.
pub(crate) fn run(args: &args::Bench) -> Result<ExitCode, Failure> {
    if args.list {
        list(&mut io::stdout().lock())?;
        return Ok(ExitCode::SUCCESS);
    }
    if args.costs {
        let is_as_said = costs(&mut io::stdout().lock())?;
        return if is_as_said { Ok(ExitCode::SUCCESS) } else { Err(Failure::failed("some send more than they say")) };
    }
    let place = Place::find(&Asked {
        fabric: args.fabric,
        procs: args.procs,
        processes: args.processes,
        usual: |threads| 2 * threads,
    })?;
    place.end(run_at(&place, args))
}

fn list(out: &mut impl Write) -> io::Result<()> {
    let width = KERNELS.iter().map(|kernel| kernel.name.len()).max().unwrap_or(0);
    for kernel in KERNELS {
        writeln!(out, "{:width$}  {}", kernel.name, kernel.about)?;
    }
    Ok(())
}

/// Shows what the algorithms send, and says whether it is what their documentation says.
fn costs(out: &mut impl Write) -> Result<bool, Failure> {
    let mut is_as_said = true;
    writeln!(out, "Words that a processor sends / as the documentation says (messages), n / p = 1024.\n")?;
    let procs = COST_PROCS.map(|procs| format!(" p = {procs} |")).concat();
    writeln!(out, "| algorithm | words sent by each |{procs}\n|---|---|{}", "---:|".repeat(COST_PROCS.len()))?;
    for line in superstep_bench::costs(&COST_PROCS).map_err(Failure::failed)? {
        writeln!(out, "{line}")?;
        is_as_said &= line.counts.iter().all(Counts::is_as_said);
    }
    Ok(is_as_said)
}

fn run_at(place: &Place, args: &args::Bench) -> Result<ExitCode, Failure> {
    let kernels = chosen(&args.kernels)?;
    superstep_bench::check(&kernels, place.procs).map_err(failure)?;
    if let Some(ended) = place.elsewhere() {
        return ended;
    }
    let is_mpi = place.threads().is_some();
    let extent = if args.kernels.is_empty() { Extent::Brief } else { Extent::Full };
    let options = Options {
        procs: place.procs,
        rounds: args.rounds.unwrap_or_else(|| extent.rounds()),
        round_seconds: args.round_ms as f64 / 1e3,
        extent,
        shrink: args.shrink,
        fabric: place.fabric,
        load: if is_mpi || args.digest { None } else { Some(Box::new(spin::start)) },
        // MPI is there when this is called; if it were not, the sum would be wrong, and that would be told.
        allreduce: if is_mpi { Some(|mine| fabric::mpi::allreduce(mine).unwrap_or(u64::MAX)) } else { None },
        halo: is_mpi.then_some(HALO),
        bounce: if is_mpi { Some(|ball| fabric::mpi::bounce(ball).unwrap_or([u64::MAX; 3])) } else { None },
    };
    let is_right =
        if args.digest { digest(place, &kernels, &options)? } else { measure(place, args, &kernels, &options)? };
    if is_right { Ok(ExitCode::SUCCESS) } else { Err(Failure::failed("some answers are wrong")) }
}

/// Shows what all answers come to, and says whether they are right.
fn digest(place: &Place, kernels: &[&Kernel], options: &Options) -> Result<bool, Failure> {
    let mut out = place.output();
    let digests = superstep_bench::digests(kernels, options).map_err(failure)?;
    for digest in &digests {
        writeln!(out, "{}/{} {:016x}", digest.kernel, digest.variant, digest.value)?;
    }
    Ok(digests.iter().all(|digest| digest.verified))
}

/// Shows what all kernels found, and says whether their answers are right.
fn measure(place: &Place, args: &args::Bench, kernels: &[&Kernel], options: &Options) -> Result<bool, Failure> {
    let (bar, mut out) = (progress::bar(!args.json && place.speaks), place.output());
    let mut written = Ok(());
    let outcome = superstep_bench::run(kernels, options, |event| match event {
        Event::Round(progress) => {
            bar.set_length(progress.total as u64);
            bar.set_position(progress.done as u64);
            bar.set_message(progress.now.to_owned());
        }
        Event::Done(kernel, report) if written.is_ok() => bar.suspend(|| {
            written = if args.json {
                json::write(&mut out, report)
            } else {
                table::write(&mut out, kernel, report, place.paint())
            };
        }),
        Event::Done(..) => {}
    });
    bar.finish_and_clear();
    let report = outcome.map_err(failure)?;
    written?;
    if !args.json {
        table::write_end(&mut out, &report, options.rounds, place.paint())?;
    }
    Ok(report.is_verified())
}

fn failure(error: Error) -> Failure {
    match error {
        Error::TooFewProcs { .. } => Failure::Usage(error.to_string()),
        error => Failure::failed(error),
    }
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
