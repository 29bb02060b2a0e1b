//! Programs under MPI launchers: many of them in one launch, the same on every process.

use crate::{
    CASES,
    campaign::{Ground, checked, mutants, programs},
};
use std::{env, process::Command};

/// How many processors this process was launched with.
fn ground() -> Ground {
    Ground::Launched { procs: superstep::run(|g| g.size()).expect("it is launched") }
}

#[test]
#[ignore = "is started by a launcher"]
fn launched_processors_are_told_what_the_model_says() {
    programs(ground(), CASES / 10);
}

#[test]
#[ignore = "is started by a launcher"]
fn launched_processors_make_a_mistake() {
    mutants(ground(), CASES / 20);
}

#[test]
#[ignore = "is started by a launcher"]
fn launched_processors_look_for_conflicts() {
    checked(ground(), CASES / 10);
}

/// Starts this executable again, on so many processes of so many processors, and passes on what it prints.
fn launch(mut launcher: Command, processes: usize, threads: usize) {
    let this = env::current_exe().expect("a test has an executable");
    launcher.args(["-n", &processes.to_string()]).arg(this);
    launcher.args(["--ignored", "--nocapture", "--test-threads=1", "launched_processors"]);
    launcher.env("SUPERSTEP_THREADS", threads.to_string()).env("RUST_BACKTRACE", "0");
    let output = launcher.output().unwrap_or_else(|why| panic!("{launcher:?}: {why}"));
    let [out, err] = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned());
    assert!(output.status.success(), "{launcher:?}: {}\n{out}\n{err}", output.status);
    let mut lines: Vec<&str> = out.lines().filter(|line| line.contains(" a second")).collect();
    // Each process says the same, but for its speed.
    lines.dedup_by_key(|line| line.split(',').next().unwrap_or_default());
    for line in lines {
        println!("{line}");
    }
}

fn open_mpi() -> Command {
    let mut command = Command::new("mpirun.openmpi");
    command.args(["--allow-run-as-root", "--oversubscribe"]);
    command
}

/// All that these programs move is short, and takes other ways than what is long. Here it is long.
fn mpich() -> Command {
    let mut command = Command::new("mpiexec.mpich");
    command.env("SUPERSTEP_TEST_LONG", "1");
    command
}

#[test]
fn processes_under_mpi_are_told_what_the_model_says() {
    launch(open_mpi(), 3, 1);
    launch(mpich(), 2, 2);
}

#[test]
#[ignore = "takes minutes; campaign.sh runs it"]
fn processes_under_mpi_of_all_sizes_are_told_what_the_model_says() {
    for (processes, threads) in [(1, 1), (2, 1), (3, 1), (2, 2), (5, 1), (3, 3)] {
        launch(open_mpi(), processes, threads);
        launch(mpich(), processes, threads);
    }
}
