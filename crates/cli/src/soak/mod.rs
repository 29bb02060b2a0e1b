//! `superstep soak`: runs mixed programs for a long time, and sees whether anything grows.

mod programs;
mod usage;

use crate::{args, failure::Failure, jsonl, progress};
use programs::{PROGRAMS, Program};
use std::{
    io::{self, Write as _},
    process::ExitCode,
    time::{Duration, Instant},
};
use superstep::{Config, Fabric};
use usage::Usage;

/// The numbers of processors that take turns unless one is given.
const SIZES: [usize; 5] = [2, 1, 3, 2, 4];

/// How much more memory a process may have in the second half of a soak than in the first: one part in so many.
const FLAT: u64 = 100;

/// What a soak has come to.
struct Found {
    seed: u64,
    runs: u64,
    steps: u64,
    seconds: f64,
    /// After every program has run with every number of processors once, and at the end.
    start: Usage,
    end: Usage,
    /// The most memory in the first half, and in the second.
    most: [u64; 2],
}

/// A setting of glibc with which threads keep no memory of their own back. What they keep depends on which of them was
/// when at what, so it grows for minutes where nothing else does.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const SETTINGS: (&str, &str) = ("GLIBC_TUNABLES", "glibc.malloc.tcache_count=0");

/// Runs what was asked for.
pub(crate) fn run(args: &args::Soak) -> Result<ExitCode, Failure> {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    begin_again()?;
    let bar = progress::bar(!args.json);
    let length = Duration::from_secs_f64(60.0 * args.minutes);
    bar.set_length(length.as_millis() as u64);
    let found = soak(args, length, |gone, steps| {
        bar.set_position(gone.as_millis() as u64);
        bar.set_message(format!("{steps} supersteps"));
    });
    bar.finish_and_clear();
    let found = found?;
    let mut out = io::stdout().lock();
    if args.json {
        writeln!(out, "{}", found.json())?;
    } else {
        write!(out, "{}", found.table())?;
    }
    match found.complaint() {
        None => Ok(ExitCode::SUCCESS),
        Some(what) => Err(Failure::failed(what)),
    }
}

/// Begins again with the setting of glibc, which is read when a process begins; not where there is one already.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn begin_again() -> Result<(), Failure> {
    use std::{env, os::unix::process::CommandExt as _, process::Command};
    let (name, setting) = SETTINGS;
    if env::var_os(name).is_some() {
        return Ok(());
    }
    let failed = |error: io::Error| Failure::failed(format!("soak could not begin with {name}={setting}: {error}"));
    let this = env::current_exe().map_err(failed)?;
    Err(failed(Command::new(this).args(env::args_os().skip(1)).env(name, setting).exec()))
}

fn soak(args: &args::Soak, length: Duration, mut tell: impl FnMut(Duration, u64)) -> Result<Found, Failure> {
    let began = Instant::now();
    let sizes = args.procs.map_or(SIZES.to_vec(), |procs| vec![procs]);
    let turns = PROGRAMS.len() * sizes.len();
    let (mut runs, mut steps, mut start, mut most) = (0, 0, None, [0; 2]);
    loop {
        let gone = began.elapsed();
        // Everything has happened twice at least, so that the second time can be held against the first.
        if runs >= 2 * turns as u64 && gone >= length {
            break;
        }
        let seed = args.seed.wrapping_add(runs);
        let ((name, program), procs) = turn(seed, &sizes);
        let config = Config::new().procs(procs).fabric(fabric(args.fabric, seed));
        let made = config.run(|g| program(g, seed)).map_err(|error| {
            let what = format!("{name} with {procs} processors of seed {seed}: {error}");
            let again = format!("superstep soak --seed {seed} --procs {procs} --fabric {} --minutes 0", args.fabric);
            Failure::failed(format!("{what}; {again} begins with it"))
        })?;
        (runs, steps) = (runs + 1, steps + made);
        if runs >= turns as u64 {
            let now = Usage::now()?;
            start.get_or_insert(now);
            let half = usize::from(gone * 2 > length);
            most[half] = most[half].max(now.memory);
        }
        tell(gone, steps);
    }
    let end = Usage::now()?;
    let start = start.unwrap_or(end);
    Ok(Found { seed: args.seed, runs, steps, seconds: began.elapsed().as_secs_f64(), start, end, most })
}

/// The program of a seed, and its number of processors: seeds that follow each other go through all of them.
fn turn(seed: u64, sizes: &[usize]) -> ((&'static str, Program), usize) {
    let (programs, sizes_count) = (PROGRAMS.len() as u64, sizes.len() as u64);
    (PROGRAMS[(seed % programs) as usize], sizes[(seed / programs % sizes_count) as usize])
}

fn fabric(carrier: args::Soaked, seed: u64) -> Fabric {
    match carrier {
        args::Soaked::Threads => Fabric::Threads,
        args::Soaked::Procs => Fabric::Procs,
        args::Soaked::Sim => Fabric::Sim { seed, shares_memory: seed.is_multiple_of(2) },
    }
}

impl Found {
    fn table(&self) -> String {
        let line =
            |what: &str, of: fn(&Usage) -> u64| format!("{what:<22}{:>12}{:>12}\n", of(&self.start), of(&self.end));
        let [first, second] = self.most.map(|bytes| bytes >> 10);
        let halves = if first == 0 {
            "the time was too short to hold the memory of two halves against each other; --minutes asks for more"
                .to_owned()
        } else {
            format!("most memory in the first half {first} KiB, in the second {second} KiB")
        };
        format!(
            "{} supersteps in {} runs of seed {}, {:.0} s\n\n{:<22}{:>12}{:>12}\n{}{}{}\n{halves}\n",
            self.steps,
            self.runs,
            self.seed,
            self.seconds,
            "",
            "start",
            "end",
            line("memory, KiB", |usage| usage.memory >> 10),
            line("descriptors", |usage| usage.descriptors),
            line("threads", |usage| usage.threads),
        )
    }

    fn json(&self) -> String {
        jsonl::line(&[
            ("seed", self.seed.into()),
            ("runs", self.runs.into()),
            ("supersteps", self.steps.into()),
            ("seconds", self.seconds.into()),
            ("memory_start", self.start.memory.into()),
            ("memory_end", self.end.memory.into()),
            ("memory_first_half", self.most[0].into()),
            ("memory_second_half", self.most[1].into()),
            ("descriptors_start", self.start.descriptors.into()),
            ("descriptors_end", self.end.descriptors.into()),
            ("threads_start", self.start.threads.into()),
            ("threads_end", self.end.threads.into()),
        ])
    }

    /// What has grown, if anything has.
    fn complaint(&self) -> Option<String> {
        let [first, second] = self.most;
        if first > 0 && second > first + first / FLAT {
            return Some(format!("memory has grown from {} KiB to {} KiB", first >> 10, second >> 10));
        }
        let grown =
            |what: &str, from: u64, to: u64| (to > from).then(|| format!("{what} have grown from {from} to {to}"));
        grown("descriptors", self.start.descriptors, self.end.descriptors)
            .or_else(|| grown("threads", self.start.threads, self.end.threads))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(most: [u64; 2], descriptors: u64) -> Found {
        let usage = |descriptors| Usage { memory: most[0], descriptors, threads: 2 };
        Found { seed: 0, runs: 1, steps: 1, seconds: 1.0, start: usage(5), end: usage(descriptors), most }
    }

    #[test]
    fn a_seed_has_one_program_whichever_it_began_with() {
        let mut seen: Vec<_> = (7..).take(PROGRAMS.len() * SIZES.len()).map(|seed| turn(seed, &SIZES)).collect();
        // What a failure names begins with what has failed.
        assert!(seen.iter().zip(7..).all(|((program, procs), seed)| turn(seed, &[*procs]).0.0 == program.0));
        seen.sort_unstable_by_key(|((name, _), procs)| (*name, *procs));
        seen.dedup_by_key(|((name, _), procs)| (*name, *procs));
        // Two of the sizes are the same.
        assert_eq!(seen.len(), PROGRAMS.len() * (SIZES.len() - 1));
    }

    #[test]
    fn what_grows_is_named_and_what_stays_flat_is_not() {
        assert_eq!(found([1 << 20, (1 << 20) + (1 << 13)], 5).complaint(), None);
        assert!(
            found([1 << 20, 2 << 20], 5).complaint().is_some_and(|what| what.contains("from 1024 KiB to 2048 KiB"))
        );
        assert!(found([1, 1], 6).complaint().is_some_and(|what| what == "descriptors have grown from 5 to 6"));
    }
}
