//! X3: when a processor panics or dies, everybody ends, and nobody is left behind.

use crate::{
    forked,
    launched::{Job, Outcome, await_end, is_alive, pids, signal},
};

const SIZE: usize = 3;

fn at_fault(program: &'static str, victim: usize) -> Job {
    forked(program, SIZE).env("SUPERSTEP_TEST_VICTIM", &victim.to_string())
}

/// Runs a program that ends badly by itself, and makes sure that nobody is left.
fn end_of(job: Job) -> Outcome {
    let running = job.start();
    let pids = pids(&running.await_lines("pid", SIZE));
    let outcome = running.finish();
    // When the first process has ended, all others have ended before it.
    assert!(!pids.iter().any(|&pid| is_alive(pid)), "some of {pids:?} are left behind");
    assert!(!outcome.is_well(), "{outcome:?}");
    outcome
}

#[test]
fn a_panic_in_any_process_is_the_runs_error_with_its_message_and_line() {
    for victim in 0..SIZE {
        let error = end_of(at_fault("panic", victim)).line("error");
        assert!(error.starts_with(&format!("error Panicked processor {victim} panicked: ")), "{error}");
        assert!(error.contains("boom") && error.contains("programs.rs:"), "{error}");
    }
}

/// X7.
#[test]
fn an_error_that_any_body_returns_is_the_runs_with_its_text() {
    for victim in 0..SIZE {
        let error = end_of(at_fault("returned", victim)).line("error");
        let says = format!("error Failed step 50 of group 0: rank {victim} returned an error: invalid digit");
        assert!(error.starts_with(&says) && error.contains("programs.rs:"), "{error}");
    }
}

#[test]
fn a_panic_in_a_method_is_the_runs_error_with_its_name_and_line() {
    for victim in 0..SIZE {
        let error = end_of(at_fault("method-panic", victim)).line("error");
        assert!(error.starts_with(&format!("error RemotePanic processor {victim} panicked in the method ")), "{error}");
        assert!(error.contains("boom") && error.contains("programs.rs:"), "{error}");
    }
}

/// One that computes does not hear of it, and is ended; then the words are the last that process 0 has.
#[test]
fn a_panic_also_ends_those_who_compute() {
    for victim in 0..SIZE {
        let outcome = end_of(at_fault("panic-while-others-compute", victim));
        assert!(outcome.says(&format!("processor {victim} panicked: boom")), "{outcome:?}");
    }
}

#[test]
fn misuse_in_any_process_is_the_runs_error() {
    for victim in 0..SIZE {
        let error = end_of(at_fault("misuse", victim)).line("error");
        assert!(error.starts_with("error RankOutOfRange ") && error.contains("rank 99"), "{error}");
    }
}

#[test]
fn a_process_that_ends_itself_in_a_run_ends_the_run() {
    for victim in 1..SIZE {
        let error = end_of(at_fault("exit", victim)).line("error");
        let how = "has ended with code 0 in the middle of the run";
        assert_eq!(error, format!("error PeerLost process {victim} {how}"));
    }
}

/// The first process ends as it wants to, and takes the others along.
#[test]
fn a_first_process_that_ends_itself_leaves_nobody_behind() {
    let running = at_fault("exit", 0).start();
    let pids = pids(&running.await_lines("pid", SIZE));
    running.finish();
    await_end(&pids);
}

#[test]
fn a_killed_process_ends_all_and_leaves_nobody_behind() {
    for program in ["steps", "compute", "chain", "calls"] {
        for victim in 0..SIZE {
            let running = forked(program, SIZE).start();
            let pids = pids(&running.await_lines("pid", SIZE));
            signal("KILL", pids[victim]);
            await_end(&pids);
            let outcome = running.finish();
            assert!(!outcome.is_well(), "{outcome:?}");
            let says = format!("process {victim} was killed by signal 9");
            assert!(victim == 0 || outcome.says(&says), "{program}: {outcome:?}");
        }
    }
}

/// A stopped process is not gone; and whoever dies meanwhile, it ends with the others.
#[test]
fn a_process_that_was_stopped_ends_with_the_others() {
    let running = forked("steps", SIZE).start();
    let pids = pids(&running.await_lines("pid", SIZE));
    signal("STOP", pids[1]);
    signal("KILL", pids[2]);
    await_end(&pids);
    let outcome = running.finish();
    assert!(outcome.says("process 2 was killed by signal 9"), "{outcome:?}");
}
