//! A program that ends itself in the middle of a run.

use crate::launched::Job;

/// X4: so is a thread that the program has started, which the runs that it ends know nothing of.
#[test]
fn a_thread_of_the_program_that_ends_it_in_a_run_is_told() {
    for fabric in ["threads", "sim", "sim-shared", "procs"] {
        for (code, ends_with) in [("0", 1), ("7", 7)] {
            let job = Job::alone("exit-elsewhere", 3).env("SUPERSTEP_FABRIC", fabric).env("SUPERSTEP_TEST_CODE", code);
            let outcome = job.env("SUPERSTEP_TEST_VICTIM", "0").run();
            assert_eq!(outcome.code, Some(ends_with), "{fabric}: {outcome:?}");
            let says = format!("a thread that is no processor has ended the program with code {code} in the middle of");
            assert!(outcome.err.contains(&says), "{fabric}: {outcome:?}");
        }
    }
}

/// X4: it says which processor has done that, and does not end as if all were well.
#[test]
fn a_processor_that_ends_the_program_is_named() {
    for (fabric, victim) in [("threads", 0), ("threads", 2), ("sim", 1), ("procs", 0)] {
        for (code, ends_with) in [("0", 1), ("7", 7)] {
            let job = Job::alone("exit", 3).env("SUPERSTEP_FABRIC", fabric).env("SUPERSTEP_TEST_CODE", code);
            let outcome = job.env("SUPERSTEP_TEST_VICTIM", &victim.to_string()).run();
            assert_eq!(outcome.code, Some(ends_with), "{fabric}: {outcome:?}");
            let says = format!("superstep: processor {victim} has ended the program with code {code} in the middle of");
            assert!(outcome.err.contains(&says), "{fabric}: {outcome:?}");
            assert_eq!(outcome.err.matches("superstep: ").count(), 1, "{fabric}: {outcome:?}");
        }
    }
}
