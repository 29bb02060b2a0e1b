//! Programs whose processors are forked processes: results, failures, and what must not be left behind.
//!
//! Each test starts this same executable again, with the name of one of the [`programs`], and looks at what that did.

#![forbid(unsafe_code)]

#[path = "../mpi/digest.rs"]
mod digest;
mod failing;
#[path = "../mpi/launched.rs"]
#[allow(dead_code, reason = "launchers are for programs under MPI")]
mod launched;
mod programs;

use launched::Job;

/// A program on so many processes.
fn forked(program: &'static str, procs: usize) -> Job {
    Job::alone(program, procs).env("SUPERSTEP_FABRIC", "procs")
}

/// G0 and S3: what a program computes does not depend on what carries it, to the last bit.
#[test]
fn the_same_program_computes_the_same_bits_on_threads_and_on_processes() {
    for procs in [1, 2, 3, 4, 7, 16] {
        let expected = Job::alone("digest", procs).run().line("digest");
        let outcome = forked("digest", procs).run();
        assert_eq!(outcome.line("digest"), expected, "{procs} processes");
        assert!(outcome.is_well(), "{outcome:?}");
    }
}

/// G0: the process that has started the run is processor 0, and returns alone.
#[test]
fn the_first_process_returns_and_the_others_end() {
    let outcome = forked("numbers", 3).run();
    assert_eq!(outcome.line("numbers"), "numbers 0 of 3, here", "{outcome:?}");
    assert!(outcome.is_well(), "{outcome:?}");
}

/// Several runs follow each other, also one that failed, and also on another fabric: threads are not taken along.
#[test]
fn runs_follow_each_other_also_after_one_that_failed() {
    let outcome = forked("again", 3).run();
    assert_eq!(outcome.line("again"), "again 3 failed 3 on threads 2", "{outcome:?}");
    assert!(outcome.is_well(), "{outcome:?}");
}

/// Other threads begin and end runs at any moment, and hold what they need for that: a forked process does not wait for
/// it.
#[test]
fn processes_are_forked_beside_threads_that_are_busy() {
    let outcome = forked("beside", 2).run();
    assert_eq!(outcome.line("beside"), "beside 40", "{outcome:?}");
    assert!(outcome.is_well(), "{outcome:?}");
}

/// What was written before the run comes out once, and what each processor writes comes out as well.
#[test]
fn everything_that_was_written_comes_out_once() {
    let outcome = forked("printing", 4).run();
    assert!(outcome.is_well(), "{outcome:?}");
    assert_eq!(outcome.out.matches("before").count(), 1, "{outcome:?}");
    for rank in 0..4 {
        assert_eq!(outcome.out.matches(&format!("without a new line {rank}.")).count(), 1, "{outcome:?}");
    }
}

/// G0: the processes know that they are in a run.
#[test]
fn a_run_in_a_run_is_refused() {
    let outcome = forked("nested", 3).run();
    assert_eq!(outcome.line("nested"), "nested NestedRun NestedRun NestedRun", "{outcome:?}");
}

/// As many processes as nobody has are refused, with the number.
#[test]
fn more_processes_than_there_can_be_are_refused() {
    let outcome = forked("digest", 5000).run();
    assert!(outcome.line("error").starts_with("error BadProcs procs is 5000"), "{outcome:?}");
}

/// The system keeps no numbers of processes that have ended for a program that ignores their ends, so nobody reads
/// memory by them: the same comes out, through what the processes share.
#[test]
fn a_program_that_ignores_the_ends_of_its_children_computes_the_same() {
    let childless = |program| Job::childless(program, 3).env("SUPERSTEP_FABRIC", "procs");
    let outcome = childless("digest").run();
    assert_eq!(outcome.line("digest"), Job::alone("digest", 3).run().line("digest"));
    assert!(outcome.is_well(), "{outcome:?}");
    let outcome = childless("again").run();
    assert_eq!(outcome.line("again"), "again 3 failed 3 on threads 2", "{outcome:?}");
}
