//! Starting the command `programs` in every way that there is: on threads, as forked processes, simulated, and by the
//! launchers of both MPIs, which must be there.

use std::process::{Command, Output, Stdio};

const PROGRAMS: &str = env!("CARGO_BIN_EXE_programs");

/// Open MPI's launcher, told to start more processes than there are cores and to bind none of them to one.
const OPEN_MPI: [&str; 6] = ["mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "-n"];

type Way = (&'static str, &'static [&'static str], &'static [(&'static str, &'static str)]);

/// Ways to start four processors: a name, what launches them, and what is set in their environment.
const WAYS: [Way; 6] = [
    ("threads", &[], &[("SUPERSTEP_PROCS", "4")]),
    ("forked", &[], &[("SUPERSTEP_PROCS", "4"), ("SUPERSTEP_FABRIC", "procs")]),
    ("simulated", &[], &[("SUPERSTEP_PROCS", "4"), ("SUPERSTEP_FABRIC", "sim")]),
    ("Open MPI", &["4"], &[]),
    ("mixed", &["2"], &[("SUPERSTEP_THREADS", "2")]),
    ("MPICH", &["mpiexec.mpich", "-n", "4"], &[]),
];

/// Runs a command line with nothing but this set for superstep in its environment.
fn run(line: &[&str], variables: &[(&str, &str)]) -> Output {
    let mut command = Command::new(line[0]);
    let all = std::env::vars_os().map(|(name, _)| name);
    for name in all.filter(|name| name.to_string_lossy().starts_with("SUPERSTEP_") || *name == "SLURM_JOB_ID") {
        command.env_remove(name);
    }
    let output = command.args(&line[1..]).envs(variables.iter().copied()).stdin(Stdio::null()).output();
    output.unwrap_or_else(|error| panic!("{} does not start: {error}", line[0]))
}

/// Runs `programs` on so many threads.
pub(crate) fn on_threads(procs: usize, args: &[&str]) -> Output {
    run(&[&[PROGRAMS], args].concat(), &[("SUPERSTEP_PROCS", &procs.to_string())])
}

/// Runs `programs` on four processors in each way, and says which.
pub(crate) fn in_every_way(args: &[&str]) -> Vec<(&'static str, Output)> {
    let start = |&(name, launcher, variables): &Way| {
        let launcher = match launcher {
            [processes] => [&OPEN_MPI[..], &[processes]].concat(),
            launcher => launcher.to_vec(),
        };
        (name, run(&[&launcher[..], &[PROGRAMS], args].concat(), variables))
    };
    WAYS.iter().map(start).collect()
}

pub(crate) fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("the messages are UTF-8")
}

/// What it printed, after it has ended well.
#[track_caller]
pub(crate) fn printed(output: &Output) -> String {
    assert!(output.status.success(), "{:?}: {}", output.status, stderr(output));
    String::from_utf8(output.stdout.clone()).expect("the output is UTF-8")
}
