//! X8: who waits long says where, for whom, and where that one was last seen.

use crate::{
    launched::{Job, Launcher},
    programs::LATE,
};
use std::{env, fs, path::PathBuf, process};

pub(crate) const LAUNCHERS: [Launcher; 2] = [Launcher::OpenMpi, Launcher::Mpich];

/// A file that is not there yet, and is removed in the end.
struct Stop(PathBuf);

impl Stop {
    fn new(name: &str) -> Self {
        let stop = Self(env::temp_dir().join(format!("superstep-waits-{}-{name}", process::id())));
        let _ = fs::remove_file(&stop.0);
        stop
    }

    fn give(&self) {
        fs::write(&self.0, "").expect("a file can be made");
    }
}

impl Drop for Stop {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// The program on three processors of each fabric, or four where two are in one process.
pub(crate) fn jobs(program: &'static str) -> Vec<(String, Job)> {
    let mut jobs: Vec<(String, Job)> = ["threads", "sim", "sim-shared", "procs"]
        .map(|fabric| (fabric.to_owned(), Job::alone(program, 3).env("SUPERSTEP_FABRIC", fabric)))
        .into();
    for launcher in LAUNCHERS {
        jobs.push((format!("{launcher:?}"), Job::new(launcher, program, 3)));
        jobs.push((format!("{launcher:?}-mixed"), Job::new(launcher, program, 2).threads(2)));
    }
    jobs
}

/// Starts a program in which `victim` is late, and waits for a line about it that says all of this.
#[track_caller]
fn await_notice(program: &'static str, victim: usize, says: &[&str]) {
    for (name, job) in jobs(program) {
        let stop = Stop::new(&format!("{program}-{victim}-{name}"));
        let job = job.env("SUPERSTEP_TEST_VICTIM", &victim.to_string()).env("SUPERSTEP_WAIT_NOTICE", "0.1");
        let running = job.env("SUPERSTEP_TEST_STOP", &stop.0.to_string_lossy()).start();
        let late = format!("for processor {victim}, last seen ");
        // Where processors take turns, the late one may keep the others from getting anywhere.
        let says = if name.starts_with("sim") { &[] } else { says };
        running.await_said(&[&["superstep: processor ", "has waited for ", &late], says].concat());
        stop.give();
        let outcome = running.finish();
        assert!(outcome.is_well(), "{name}: {outcome:?}");
    }
}

#[test]
fn who_waits_long_says_where_and_for_whom() {
    let place = |line: u32| format!("(crates/superstep/tests/waits/programs.rs:{line})");
    let [last, waits] = LATE;
    let (last, waits) = (format!("after step 1 of group 0 {}", place(last)), place(waits));
    for victim in [0, 2] {
        await_notice("late", victim, &[&format!("in step 2 of group 0 {waits}"), &last]);
    }
}

#[test]
fn who_waits_in_a_subgroup_names_it() {
    await_notice("late-in-a-group", 0, &["ago after step 0 of group 0/0 ("]);
}

#[test]
fn who_waits_for_an_epochs_end_says_so() {
    await_notice("late-in-an-epoch", 1, &["after step 0 of group 0, in the epoch ("]);
}

/// A method runs where its processor waits, and then that one does not wait any more.
#[test]
fn who_is_in_a_method_does_not_wait() {
    await_notice("late-in-a-method", 1, &["after step 0 of group 0, in the epoch ("]);
}

#[test]
fn who_waits_in_a_coherence_call_says_so() {
    await_notice("late-for-coherence", 1, &["after step 0 of group 0, in a coherence call ("]);
}

/// X8, X3: it is an error of everybody only where the program asks for that.
#[test]
fn a_wait_that_is_too_long_is_everybodys_error_if_asked_for() {
    for (name, job) in jobs("stalled") {
        let stop = Stop::new(&format!("stalled-{name}"));
        let job = job.env("SUPERSTEP_TEST_VICTIM", "1").env("SUPERSTEP_WAIT_LIMIT", "0.2");
        let outcome = job.env("SUPERSTEP_TEST_STOP", &stop.0.to_string_lossy()).run();
        assert!(!outcome.is_well(), "{name}: {outcome:?}");
        if name.starts_with("sim") {
            // The late one has the turn, and does not give it to those who would let it go on.
            assert!(outcome.says("longer than a wait may take"), "{name}: {outcome:?}");
            continue;
        }
        assert!(!outcome.lines("told").is_empty(), "{name}: {outcome:?}");
        for told in outcome.lines("told") {
            assert!(told.ends_with(" Stalled"), "{name}: {outcome:?}");
        }
        // On a slow machine others may be late as well, and the first of them is named before it.
        let is_named = outcome.says("for processor 1, last seen ")
            || outcome.says("for processor 0, last seen ") && outcome.says("; also not waiting: 1");
        assert!(outcome.says("error Stalled processor ") && is_named, "{name}: {outcome:?}");
    }
}

/// X9: where nothing else helps, the program is ended, and says why.
#[test]
fn a_processor_that_never_comes_is_ended_if_asked_for() {
    for (name, job) in jobs("endless") {
        let outcome = job.env("SUPERSTEP_TEST_VICTIM", "1").env("SUPERSTEP_WAIT_LIMIT", "0.2").run();
        assert!(!outcome.is_well(), "{name}: {outcome:?}");
        assert!(outcome.says("longer than a wait may take"), "{name}: {outcome:?}");
    }
}

/// X9: also where the run has failed for another reason.
#[test]
fn a_processor_that_never_comes_back_after_a_failure_is_ended_if_asked_for() {
    for (name, job) in jobs("endless-after-a-panic") {
        let outcome = job.env("SUPERSTEP_TEST_VICTIM", "1").env("SUPERSTEP_WAIT_LIMIT", "0.2").run();
        // Where processors take turns, the late one may have the first.
        assert!(!outcome.is_well() && (outcome.says("boom") || name.starts_with("sim")), "{name}: {outcome:?}");
    }
}

#[test]
fn a_limit_that_is_no_number_is_refused() {
    for variable in ["SUPERSTEP_WAIT_NOTICE", "SUPERSTEP_WAIT_LIMIT"] {
        for value in ["soon", "-1", "inf", "1e300"] {
            let outcome = Job::alone("names", 1).env(variable, value).run();
            let says = format!("error BadConfig {variable} is {value}; it must be a number of seconds, and 0 is off");
            assert!(outcome.says(&says), "{outcome:?}");
        }
    }
}

/// Also those that are kept from one run to the next, and of several runs at once.
#[test]
fn threads_carry_their_ranks_in_their_names() {
    for (name, job) in jobs("names") {
        let outcome = job.run();
        assert!(outcome.is_well(), "{name}: {outcome:?}");
    }
    let check = |procs: usize| {
        let names = superstep::Config::new()
            .procs(procs)
            .fabric(superstep::Fabric::Threads)
            .run_all(|_| std::thread::current().name().map(ToOwned::to_owned))
            .expect("nothing can fail");
        let expected: Vec<_> = (0..procs).map(|rank| Some(format!("superstep {rank}"))).collect();
        assert_eq!(names, expected);
    };
    std::thread::scope(|scope| {
        for procs in [1, 3, 2, 4] {
            scope.spawn(move || (0..20).for_each(|more| check(procs + more % 3)));
        }
    });
}
