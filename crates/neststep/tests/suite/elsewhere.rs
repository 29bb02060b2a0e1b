//! The claims again, on forked processes and under MPI: this executable is started once more on each.

use std::{env, process::Command};

/// Every claim runs on one of these numbers of processors.
const SIZES: [usize; 4] = [4, 3, 2, 1];

/// Starts the claims, all but those of this file.
fn carry(name: &str, start: impl Fn(&str, usize) -> Command) {
    let this = env::current_exe().expect("a test has an executable").to_string_lossy().into_owned();
    for size in SIZES {
        let mut command = start(&this, size);
        command.args(["--test-threads=1", "--skip", "elsewhere::"]).env("RUST_BACKTRACE", "0");
        let output = command.output().unwrap_or_else(|why| panic!("{command:?}: {why}"));
        let [out, err] = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes));
        assert!(output.status.success(), "{name} with {size}: {}\n{out}\n{err}", output.status);
        assert!(out.contains("test papers::the_quicksort_of_figure_3"), "{name} with {size} ran nothing:\n{out}");
    }
}

#[test]
fn every_claim_holds_on_processes() {
    carry("processes", |program, size| {
        let mut command = Command::new(program);
        command.env("SUPERSTEP_FABRIC", "procs").env("SUPERSTEP_PROCS", size.to_string());
        command
    });
}

#[test]
fn a_main_function_runs_on_any_number_of_processors() {
    for size in [1_usize, 2, 3, 5] {
        let mut command = Command::new(env::current_exe().expect("a test has an executable"));
        command.args(["--exact", "--nocapture", "whole::a_program_has_a_main_function"]);
        command.env("SUPERSTEP_FABRIC", "threads").env("SUPERSTEP_PROCS", size.to_string());
        let output = command.output().unwrap_or_else(|why| panic!("{command:?}: {why}"));
        let out = String::from_utf8_lossy(&output.stdout);
        let mut lines: Vec<&str> = out.lines().filter(|line| line.starts_with('g')).collect();
        lines.sort_unstable();
        let sum = 0.75 * (size * (size + 1)) as f64;
        let (even, odd) = (size.div_ceil(2), size / 2);
        let mut expected = vec![format!("global sum: {sum}"), format!("group 0: {even} of {even}")];
        expected.extend((odd > 0).then(|| format!("group 1: {odd} of {odd}")));
        assert_eq!(lines, expected, "on {size}:\n{out}");
    }
}

#[test]
#[ignore = "takes a minute; test.sh runs it"]
fn every_claim_holds_under_open_mpi() {
    carry("Open MPI", |program, size| {
        let mut command = Command::new("mpirun.openmpi");
        command.args(["--allow-run-as-root", "--oversubscribe", "-n", &size.to_string(), program]);
        command
    });
}

#[test]
#[ignore = "takes a minute; test.sh runs it"]
fn every_claim_holds_under_mpich_with_threads() {
    carry("MPICH", |program, size| {
        let threads = if size.is_multiple_of(2) { 2 } else { 1 };
        let mut command = Command::new("mpiexec.mpich");
        command.args(["-n", &(size / threads).to_string(), program]).env("SUPERSTEP_THREADS", threads.to_string());
        command
    });
}
