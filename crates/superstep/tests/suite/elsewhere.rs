//! The claims again, on every fabric that plain `cargo test` does not use.
//!
//! This executable is started again under each [`Carrier`], until every call that runs a claim has run there on one of
//! its sizes. One that never ran is a failure, unless the table of those that stay here says why. How often each ran,
//! and where, is written down ([`crate::table`]).

use crate::{
    claims::RECORD,
    table::{self, Tally},
};
use std::{collections::BTreeSet, env, fs, process::Command};

/// Claims that run on threads and in the simulator alone, by the beginning of their names, and why.
const ONLY_HERE: [(&str, &str); 24] = [
    ("array_errors::arrays_are_written_while_the_step_counter", "names its fabrics"),
    ("array_life::ten_thousand_arrays", "names its fabrics"),
    ("determinism::a_program_has_the_same_bits", "compares fabrics"),
    ("determinism::another_bracketing", "is about numbers alone"),
    ("elsewhere::", "starts the others"),
    ("epoch_answers::a_vector_is_not_copied", "is about memory that is shared"),
    ("epoch_misuse::an_argument_that_cannot_be_decoded", "names its fabrics"),
    ("epoch_misuse::an_argument_that_cannot_be_encoded", "names its fabrics"),
    ("failures::a_divergence_that_nobody", "names its fabrics"),
    ("failures::a_panic_in_a", "names its fabrics"),
    ("failures::a_panic_outside", "names its fabrics"),
    ("failures::a_panic_while", "names its fabrics"),
    ("failures::a_panic_with", "names its fabrics"),
    ("failures::a_run_works_after", "names its fabrics"),
    ("failures::an_error_is_one_line", "names its fabrics"),
    ("groups::a_hundred_thousand_groups", "names its fabrics"),
    ("groups::the_parent_resumes", "counts in memory that all can see"),
    ("launch::", "names its fabrics"),
    ("paged_coherence::owners_may_write_again", "is about memory that is shared"),
    ("plans::a_planned_read_takes_as_many", "names its fabrics"),
    ("plans::no_index_travels", "names its fabrics"),
    ("steps::sixty_four_threads", "names its fabrics"),
    ("steps::the_step_counter_wraps", "names its fabrics"),
    ("table::", "is about the table alone"),
];

/// What carries the claims to another fabric.
struct Carrier {
    name: &'static str,
    /// Starts a program on so many processors; on as many as each claim asks for, if that is 0.
    command: fn(&str, usize) -> Command,
    /// The numbers that are tried, in turn, for claims that have not run yet.
    sizes: &'static [usize],
}

/// With these numbers every claim runs; most of them do with the first.
const SIZES: &[usize] = &[3, 2, 4, 1, 5, 17];

fn processes(program: &str, size: usize) -> Command {
    let mut command = Command::new(program);
    command.env("SUPERSTEP_FABRIC", "procs");
    if size > 0 {
        command.env("SUPERSTEP_PROCS", size.to_string());
    }
    command
}

fn open_mpi(program: &str, size: usize) -> Command {
    let mut command = Command::new("mpirun.openmpi");
    command.args(["--allow-run-as-root", "--oversubscribe", "-n", &size.to_string(), program]);
    command
}

/// Two processors in each process, where there is an even number of them.
fn mpich(program: &str, size: usize) -> Command {
    let threads = if size.is_multiple_of(2) { 2 } else { 1 };
    let mut command = Command::new("mpiexec.mpich");
    command.args(["-n", &(size / threads).to_string(), program]).env("SUPERSTEP_THREADS", threads.to_string());
    command
}

/// A launcher that the environment names; it is given the number and the program.
fn named(program: &str, size: usize) -> Command {
    let launcher = env::var("SUPERSTEP_TEST_LAUNCHER").expect("SUPERSTEP_TEST_LAUNCHER names a command");
    let mut words = launcher.split_whitespace();
    let mut command = Command::new(words.next().expect("a command has a name"));
    command.args(words).args([&size.to_string(), program]);
    command
}

/// The tests that this executable lists.
fn listed(more: &[&str]) -> BTreeSet<String> {
    let this = env::current_exe().expect("a test has an executable");
    let output = Command::new(this).arg("--list").args(more).output().expect("it can be started again");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.lines().filter_map(|line| line.strip_suffix(": test")).map(str::to_owned).collect()
}

/// The claims that should run on every fabric.
fn claims() -> BTreeSet<String> {
    let mut claims = &listed(&[]) - &listed(&["--ignored"]);
    for (start, _) in ONLY_HERE {
        let count = claims.len();
        claims.retain(|claim| !claim.starts_with(start));
        assert!(claims.len() < count, "no claim is called {start}");
    }
    assert!(claims.len() > 300, "there are more claims than {}", claims.len());
    claims
}

impl Carrier {
    /// Runs these claims on so many processors, and notes what ran.
    fn run(&self, claims: &BTreeSet<String>, size: usize, tally: &mut Tally) {
        let record = env::temp_dir().join(format!("superstep-record-{}-{size}", std::process::id()));
        fs::write(&record, "").expect("a file can be made");
        let this = env::current_exe().expect("a test has an executable").to_string_lossy().into_owned();
        let mut command = (self.command)(&this, size);
        command.args(["--exact", "--test-threads=1"]).args(claims);
        command.env(RECORD, &record).env("RUST_BACKTRACE", "0");
        let output = command.output().unwrap_or_else(|why| panic!("{command:?}: {why}"));
        let [out, err] = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes));
        assert!(output.status.success(), "{} with {size}: {}\n{out}\n{err}", self.name, output.status);
        tally.add(&fs::read_to_string(&record).expect("it was made"));
        fs::remove_file(&record).expect("it was made");
    }

    /// Runs every claim until each of its calls has run on one of the sizes.
    fn carry_all(&self) {
        let all = claims();
        let (mut left, mut tally) = (all.clone(), Tally::default());
        for &size in self.sizes {
            let count = tally.calls();
            self.run(&left, size, &mut tally);
            println!("{}: with {size} processors, {} calls of {} claims", self.name, tally.calls() - count, left.len());
            left = tally.missing(&all);
            if left.is_empty() {
                break;
            }
        }
        table::leave(self.name, &tally);
        assert!(left.is_empty(), "on {}, these claims did not run, or not all of their calls: {left:#?}", self.name);
        println!("{}: all {} claims have run, {} calls of them", self.name, all.len(), tally.calls());
    }
}

#[test]
#[ignore = "takes as long as all claims do; campaign.sh runs it"]
fn every_claim_is_counted_on_threads_and_simulated() {
    let here = |program: &str, _: usize| Command::new(program);
    Carrier { name: "threads and simulated", command: here, sizes: &[0] }.carry_all();
}

#[test]
fn every_claim_holds_on_processes() {
    Carrier { name: "processes", command: processes, sizes: SIZES }.carry_all();
}

#[test]
#[ignore = "takes minutes; campaign.sh runs it"]
fn every_claim_holds_on_processes_of_all_sizes() {
    Carrier { name: "processes of all sizes", command: processes, sizes: &[0] }.carry_all();
}

#[test]
#[ignore = "takes minutes; test.sh runs it"]
fn every_claim_holds_under_open_mpi() {
    Carrier { name: "Open MPI", command: open_mpi, sizes: SIZES }.carry_all();
}

#[test]
#[ignore = "takes minutes; test.sh runs it"]
fn every_claim_holds_under_mpich_with_threads() {
    Carrier { name: "MPICH, mixed", command: mpich, sizes: &[4, 2, 3, 1, 5, 17] }.carry_all();
}

#[test]
#[ignore = "needs a launcher that SUPERSTEP_TEST_LAUNCHER names; hosts.sh runs it"]
fn every_claim_holds_under_a_launcher_of_the_user() {
    Carrier { name: "the launcher", command: named, sizes: &[4, 3, 2, 1, 5, 17] }.carry_all();
}
