//! X9: no limit changes what a slow machine computes, nor the code that a program ends with.

use crate::{
    launched::Job,
    notices::{LAUNCHERS, jobs},
};

/// Who has heard of a failure is on its way out, and takes the time that it needs for that.
#[test]
fn who_unwinds_slowly_after_a_failure_is_not_ended() {
    for (name, job) in jobs("slow-to-unwind") {
        let outcome = job.env("SUPERSTEP_TEST_VICTIM", "1").run();
        assert!(outcome.is_well(), "{name}: {outcome:?}");
        let mut unwound = outcome.lines("unwound");
        unwound.sort_unstable();
        let all = if name.ends_with("mixed") { vec![0, 2, 3] } else { vec![0, 2] };
        assert_eq!(
            unwound,
            all.iter().map(|rank| format!("unwound {rank}")).collect::<Vec<_>>(),
            "{name}: {outcome:?}"
        );
    }
}

/// A program that has dealt with a run's error ends with its own code, however long some of it takes for that.
#[test]
fn mpi_is_ended_when_all_processes_have_dealt_with_a_failure() {
    for launcher in LAUNCHERS {
        let outcome = Job::new(launcher, "slow-to-end", 3).env("SUPERSTEP_TEST_VICTIM", "0").run();
        assert!(outcome.is_well(), "{launcher:?}: {outcome:?}");
        assert_eq!(outcome.lines("dealt").len(), 3, "{launcher:?}: {outcome:?}");
    }
}
