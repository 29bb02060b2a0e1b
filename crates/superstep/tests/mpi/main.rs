//! Programs under MPI launchers: results, failures, and what must not be left behind.
//!
//! Each test starts this same executable again under a launcher, with the name of one of the [`programs`]. Open MPI and
//! MPICH must both be there: a missing one fails the test.

#![deny(unsafe_code)]

#[path = "../mayhem/closing.rs"]
#[allow(unsafe_code, reason = "only the system can close what others have open")]
mod closing;
mod counting;
mod digest;
mod failing;
#[allow(dead_code, reason = "some of it is for forked processes")]
mod launched;
mod programs;
mod starting;

use launched::{Job, Launcher};

/// Both kinds of launcher, with one executable.
const LAUNCHERS: [Launcher; 2] = [Launcher::OpenMpi, Launcher::Mpich];

/// G0 and S3: what a program computes does not depend on what carries it, to the last bit.
#[test]
fn the_same_program_computes_the_same_bits_on_threads_under_mpi_and_mixed() {
    let on_threads = Job::alone("digest", 4).run();
    let expected = on_threads.line("digest");
    for launcher in LAUNCHERS {
        for (processes, threads) in [(4, 1), (2, 2), (1, 4)] {
            let outcome = Job::new(launcher, "digest", processes).threads(threads).run();
            assert_eq!(outcome.line("digest"), expected, "{launcher:?}, {processes} processes of {threads}");
            assert!(outcome.is_well(), "{outcome:?}");
        }
    }
}

/// G0: processors are numbered process by process, and every process returns.
#[test]
fn processors_are_numbered_process_by_process() {
    for launcher in LAUNCHERS {
        let outcome = Job::new(launcher, "numbers", 3).threads(2).run();
        let mut lines = outcome.lines("numbers");
        lines.sort();
        assert_eq!(lines, ["numbers 0 1 of 6", "numbers 2 3 of 6", "numbers 4 5 of 6"], "{outcome:?}");
    }
}

/// Several runs follow each other, also one that failed.
#[test]
fn runs_follow_each_other_also_after_one_that_failed() {
    for launcher in LAUNCHERS {
        let outcome = Job::new(launcher, "again", 3).run();
        assert_eq!(outcome.lines("again"), vec!["again 3 failed 3"; 3], "{outcome:?}");
        assert!(outcome.is_well(), "{outcome:?}");
    }
}
