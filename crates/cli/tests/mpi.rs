//! `superstep bench` and `superstep probe` under MPI, beside the same on threads. Both launchers must be there.

use serde_json::Value;
use std::process::{Command, Output, Stdio};

const SUPERSTEP: &str = env!("CARGO_BIN_EXE_superstep");

/// Open MPI's launcher, told to start more processes than there are cores and to bind none of them to one.
const OPEN_MPI: [&str; 5] = ["mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none"];

/// Runs a command line with nothing set for superstep in its environment.
fn run(line: &[&str]) -> Output {
    let mut command = Command::new(line[0]);
    let all = std::env::vars_os().map(|(name, _)| name);
    for name in all.filter(|name| name.to_string_lossy().starts_with("SUPERSTEP_") || *name == "SLURM_JOB_ID") {
        command.env_remove(name);
    }
    let output = command.args(&line[1..]).stdin(Stdio::null()).output();
    output.unwrap_or_else(|error| panic!("{} does not start: {error}", line[0]))
}

/// Runs this command by Open MPI, as so many processes.
fn launched(processes: &str, args: &[&str]) -> Output {
    run(&[&OPEN_MPI, &["-n", processes, SUPERSTEP][..], args].concat())
}

fn superstep(args: &[&str]) -> Output {
    run(&[&[SUPERSTEP], args].concat())
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("the messages are UTF-8")
}

/// What it printed, after it has ended well.
#[track_caller]
fn printed(output: &Output) -> String {
    assert!(output.status.success(), "{:?}: {}", output.status, stderr(output));
    String::from_utf8(output.stdout.clone()).expect("the output is UTF-8")
}

fn objects(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).expect("every line is an object")).collect()
}

const QUICK: [&str; 6] = ["--rounds", "1", "--round-ms", "1", "--shrink", "10000"];

#[test]
fn the_answers_of_every_kernel_are_the_same_on_threads_under_mpi_and_mixed() {
    let digest = ["bench", "--digest", "--shrink", "500"];
    let on_threads = printed(&superstep(&[&digest[..], &["-n", "4"]].concat()));
    let list = printed(&superstep(&["bench", "--list"]));
    for kernel in list.lines().filter_map(|line| line.split_whitespace().next()) {
        let is_its = |line: &str| line.strip_prefix(kernel).is_some_and(|rest| rest.starts_with('/'));
        assert!(on_threads.lines().any(is_its), "{kernel} has an answer in {on_threads}");
    }
    let others = [
        ("Open MPI", launched("4", &digest)),
        ("mixed", launched("2", &[&digest[..], &["--threads", "2"]].concat())),
        ("MPICH", run(&[&["mpiexec.mpich", "-n", "4", SUPERSTEP], &digest[..]].concat())),
        ("simulated", superstep(&[&digest[..], &["-n", "4", "--fabric", "sim"]].concat())),
    ];
    for (name, output) in others {
        let found = printed(&output);
        assert!(found == on_threads, "{name}:\n{found}\non threads:\n{on_threads}");
    }
}

#[test]
fn bench_has_itself_launched_and_speaks_once() {
    let bench = ["bench", "step", "mirror", "--json", "--fabric", "mpi"];
    for (more, fabric, procs) in [(&["-n", "2"][..], "mpi", 2), (&["--threads", "2"], "mixed", 4)] {
        let lines = objects(&printed(&superstep(&[&bench, &QUICK[..], more].concat())));
        let (ratios, measures): (Vec<_>, Vec<_>) = lines.iter().partition(|line| line.get("ratio").is_some());
        assert!(measures.iter().all(|measure| measure["verified"] == true && measure["procs"] == procs));
        for variant in ["empty", "put8", "run", "832B/mirror"] {
            let its = measures.iter().filter(|measure| measure["variant"] == variant).collect::<Vec<_>>();
            assert!(its.len() == 1 && its[0]["fabric"] == fabric, "{variant}: {its:?}");
        }
        let by_hand: Vec<_> = measures.iter().filter(|measure| measure["fabric"] == "raw").collect();
        let by_mpi = by_hand.iter().filter(|measure| measure["variant"] == "empty/raw-allreduce").count();
        assert_eq!((by_hand.len(), by_mpi), if fabric == "mpi" { (1, 1) } else { (0, 0) });
        assert_eq!(ratios.iter().any(|ratio| ratio["variant"] == "empty"), fabric == "mpi");
        assert!(ratios.iter().all(|ratio| ratio["kernel"] == "step"));
    }
}

#[test]
fn bench_shows_what_has_no_limit_in_a_table_of_plain_text() {
    let table = printed(&superstep(&[&["bench", "step", "mirror", "--fabric", "mpi"][..], &QUICK].concat()));
    assert_eq!(table.matches("\nstep: ").count(), 1, "{table}");
    assert!(table.contains("allreduce") && table.contains("every answer is right"), "{table}");
    let row = table.lines().find(|line| line.contains("832B/mirror_into")).expect("it has a row");
    assert!(row.contains("GB/s") && row.ends_with("no limit  verified"), "{row}");
    assert!(!table.contains('\x1b'), "{table}");
}

#[test]
fn bench_and_probe_take_part_where_a_launcher_has_started_them() {
    let lines = objects(&printed(&launched("3", &[&["bench", "prefix", "--json"][..], &QUICK].concat())));
    assert!(!lines.is_empty() && lines.iter().all(|line| line["fabric"] == "mpi" && line["procs"] == 3));
    let lines = objects(&printed(&launched("2", &["probe", "--json", "--rounds", "1", "--threads", "2"])));
    assert_eq!(lines.len(), 1);
    assert!(lines[0]["fabric"] == "mixed" && lines[0]["procs"] == 4 && lines[0]["verified"] == true);
}

#[test]
fn probe_has_itself_launched_and_speaks_once() {
    let lines = objects(&printed(&superstep(&["probe", "--fabric", "mpi", "-n", "3", "--rounds", "1", "--json"])));
    assert_eq!(lines.len(), 1);
    assert!(lines[0]["fabric"] == "mpi" && lines[0]["procs"] == 3 && lines[0]["verified"] == true);
    let table = printed(&superstep(&["probe", "--fabric", "mpi", "-n", "2", "--rounds", "1"]));
    assert_eq!(table.matches("BSP parameters under MPI").count(), 1, "{table}");
}

#[test]
fn what_makes_no_sense_is_refused_in_one_line_before_anything_is_launched() {
    let cases: [(&[&str], &[&str]); 6] = [
        (&["bench", "--fabric", "mpi", "-n", "5", "--threads", "2"], &["-n 5", "2 threads", "-n 4 or -n 6"]),
        (&["probe", "--fabric", "mpi", "-n", "3", "--threads", "2"], &["-n 3", "2 threads"]),
        (&["probe", "--fabric", "mpi", "-n", "2", "3"], &["one number"]),
        (&["bench", "--threads", "2"], &["--threads 2", "--fabric mpi"]),
        (&["bench", "exchange", "--fabric", "mpi", "-n", "1"], &["exchange", "at least 2"]),
        (&["bench", "--digest", "--json"], &["--digest", "--json"]),
    ];
    for (args, words) in cases {
        let output = superstep(args);
        let message = stderr(&output);
        assert_eq!((output.status.code(), message.lines().count()), (Some(2), 1), "{args:?}: {message}");
        assert!(words.iter().all(|word| message.contains(word)), "{args:?}: {message}");
    }
}

#[test]
fn of_several_processes_one_says_what_is_wrong_and_the_exit_code_is_passed_on() {
    for args in [&["bench", "step", "-n", "3"][..], &["bench", "sleep"], &["probe", "-n", "2", "3"]] {
        let output = launched("2", args);
        let message = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {message}");
        assert_eq!(message.matches("superstep: ").count(), 1, "{args:?}: {message}");
    }
    let output = superstep(&["probe", "--fabric", "mpi", "--rounds", "1", "--svg", "/nowhere/plot.svg"]);
    assert_eq!((output.status.code(), stderr(&output).matches("superstep: ").count()), (Some(1), 1));
}

#[test]
fn what_was_launched_by_something_unknown_launches_nothing_in_its_turn() {
    let output = superstep(&["bench", "--again", "--fabric", "mpi"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("no MPI launcher has started"), "{}", stderr(&output));
}
