//! X3: when a processor panics or dies, everybody ends, and nobody is left behind.

use crate::{
    LAUNCHERS,
    launched::{Job, Launcher, await_end, pids, signal},
};
use std::{fs, path::PathBuf};

/// A folder in which processes leave what they have to say, and which is removed in the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("superstep-{name}-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder can be made");
        Self(folder)
    }

    /// What each has left.
    fn texts(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.0).expect("it was made").flatten();
        entries.map(|entry| fs::read_to_string(entry.path()).expect("it was written")).collect()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn a_panic_on_one_rank_reaches_every_process_with_its_message_and_line() {
    for launcher in LAUNCHERS {
        let outcome = Job::new(launcher, "panic", 3).run();
        assert!(!outcome.is_well(), "{outcome:?}");
        let errors = outcome.lines("error");
        assert!(!errors.is_empty(), "{outcome:?}");
        for error in errors {
            assert!(error.starts_with("error Panicked processor 1 panicked: "), "{error}");
            assert!(error.contains("boom") && error.contains("programs.rs:"), "{error}");
        }
    }
}

/// X3: each of them is the first to fail, as far as it knows.
#[test]
fn of_processes_that_panic_at_once_one_has_the_error_of_all() {
    for launcher in LAUNCHERS {
        for (processes, threads) in [(3, 1), (2, 2), (3, 1), (3, 1)] {
            let outcome = Job::new(launcher, "all-panic", processes).threads(threads).run();
            assert!(!outcome.is_well(), "{outcome:?}");
            let mut errors = outcome.lines("error");
            assert_eq!(errors.len(), processes, "{outcome:?}");
            errors.dedup();
            assert_eq!(errors.len(), 1, "{outcome:?}");
        }
    }
}

/// X3: a text that is too long for some is shortened for all, and everything else of the error comes through.
#[test]
fn a_long_text_is_the_same_in_every_process() {
    for launcher in LAUNCHERS {
        for (processes, threads) in [(3, 1), (2, 2)] {
            let folder = Folder::new(&format!("long-{launcher:?}-{threads}"));
            let job = Job::new(launcher, "long", processes).threads(threads);
            let outcome = job.env("SUPERSTEP_TEST_ERRORS", &folder.0.to_string_lossy()).run();
            assert!(outcome.is_well(), "{outcome:?}");
            let texts = folder.texts();
            for len in [100, 900, 2_000, 70_000] {
                let is_its = |line: &&str| line.starts_with(&format!("long {len} "));
                let mut errors: Vec<&str> = texts.iter().flat_map(|text| text.lines().filter(is_its)).collect();
                assert_eq!(errors.len(), 2 * processes, "{texts:?}");
                errors.sort_unstable();
                errors.dedup();
                let [returned, panicked] = &errors[..] else { panic!("they differ: {texts:?}") };
                assert!(
                    returned.starts_with(&format!("long {len} Failed step 0 of group 0: rank 1 returned an error: x"))
                );
                assert!(panicked.starts_with(&format!("long {len} Panicked processor 1 panicked: y")), "{panicked}");
                for error in [returned, panicked] {
                    assert!(error.len() > len || error.len() > 900 && error.ends_with('…'), "{error}");
                }
            }
        }
    }
}

/// X7: every process returns it.
#[test]
fn an_error_that_one_body_returns_is_that_of_every_process() {
    for launcher in LAUNCHERS {
        for (processes, threads) in [(3, 1), (2, 2)] {
            let outcome = Job::new(launcher, "returned", processes).threads(threads).run();
            assert!(!outcome.is_well(), "{outcome:?}");
            let errors = outcome.lines("error");
            assert!(!errors.is_empty(), "{outcome:?}");
            for error in errors {
                let says = "error Failed step 50 of group 0: rank 1 returned an error: invalid digit";
                assert!(error.starts_with(says) && error.contains("programs.rs:"), "{error}");
            }
        }
    }
}

#[test]
fn a_panic_also_ends_those_who_compute() {
    for launcher in LAUNCHERS {
        let outcome = Job::new(launcher, "panic-while-others-compute", 3).run();
        assert!(!outcome.is_well() && outcome.says("processor 1 panicked: boom"), "{outcome:?}");
    }
}

#[test]
fn a_process_that_ends_itself_in_a_run_ends_the_run() {
    for launcher in LAUNCHERS {
        let outcome = Job::new(launcher, "exit", 3).run();
        assert!(!outcome.is_well(), "{outcome:?}");
    }
}

/// It hears nobody any more, and must not take the others for lost; and the end of MPI would wait without end.
#[test]
fn a_process_that_closes_its_sockets_is_named_and_ends_all() {
    for launcher in LAUNCHERS {
        for program in ["closing", "closing-late"] {
            let outcome = Job::new(launcher, program, 3).env("SUPERSTEP_PEER_TIMEOUT", "3600").run();
            assert!(!outcome.is_well(), "{program}: {outcome:?}");
            let is_said = outcome.says("process 1 is lost: the program has closed its sockets");
            // MPICH's launcher may see first that its own connection is closed.
            assert!(is_said || launcher == Launcher::Mpich, "{program}: {outcome:?}");
            for error in outcome.lines("error") {
                assert!(error.starts_with("error PeerLost process 1 on "), "{program}: {error}");
            }
        }
    }
}

#[test]
fn a_killed_rank_ends_all_and_leaves_nobody_behind() {
    for launcher in LAUNCHERS {
        for (program, victim) in [("loop", 0), ("loop", 1), ("calls", 0), ("calls", 2)] {
            let running = Job::new(launcher, program, 3).start();
            let pids = pids(&running.await_lines("pid", 3));
            signal("KILL", pids[victim]);
            await_end(&pids);
            assert!(!running.finish().is_well());
        }
    }
}

#[test]
fn a_killed_launcher_leaves_nobody_behind() {
    for launcher in LAUNCHERS {
        let running = Job::new(launcher, "loop", 3).start();
        let pids = pids(&running.await_lines("pid", 3));
        signal("KILL", running.launcher());
        await_end(&pids);
        running.finish();
    }
}

/// Who has died is gone, also while it still has a number because its launcher has not waited for it.
#[test]
fn a_dead_peer_is_seen_though_its_launcher_stands_still() {
    for launcher in LAUNCHERS {
        let folder = Folder::new(&format!("dead-{launcher:?}"));
        let job = Job::new(launcher, "loop", 3).env("SUPERSTEP_PEER_TIMEOUT", "3600");
        let running = job.env("SUPERSTEP_TEST_ERRORS", &folder.0.to_string_lossy()).start();
        let pids = pids(&running.await_lines("pid", 3));
        let parent = parent(pids[1]);
        signal("STOP", parent);
        signal("KILL", pids[1]);
        let error = |pid: u32| loop {
            match fs::read_to_string(folder.0.join(pid.to_string())) {
                Ok(text) if !text.is_empty() => break text,
                _ => std::thread::sleep(std::time::Duration::from_millis(10)),
            }
        };
        for error in [error(pids[0]), error(pids[2])] {
            assert!(error.starts_with("process 1 on "), "{launcher:?}: {error}");
        }
        signal("CONT", parent);
        await_end(&pids);
        assert!(!running.finish().is_well());
    }
}

/// The process that has started another one.
fn parent(pid: u32) -> u32 {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).expect("it is there");
    let parent = stat.rsplit(')').next().and_then(|rest| rest.split_whitespace().nth(1));
    parent.and_then(|word| word.parse().ok()).expect("every process has one")
}

#[test]
fn a_stopped_peer_is_lost_after_the_time_that_was_set() {
    let running = Job::new(Launcher::OpenMpi, "loop", 3).env("SUPERSTEP_PEER_TIMEOUT", "3").start();
    let pids = pids(&running.await_lines("pid", 3));
    signal("STOP", pids[2]);
    await_end(&pids[..2]);
    signal("KILL", pids[2]);
    let outcome = running.finish();
    assert!(!outcome.is_well() && outcome.says("process 2 on "), "{outcome:?}");
    assert!(outcome.says("is lost"), "{outcome:?}");
}

#[test]
fn a_peer_that_comes_back_in_time_goes_on_as_if_nothing_had_happened() {
    let stop = std::env::temp_dir().join(format!("superstep-stop-{}", std::process::id()));
    let job = Job::new(Launcher::OpenMpi, "loop", 3).env("SUPERSTEP_PEER_TIMEOUT", "60");
    let running = job.env("SUPERSTEP_TEST_STOP", &stop.to_string_lossy()).start();
    let pids = pids(&running.await_lines("pid", 3));
    signal("STOP", pids[1]);
    std::thread::sleep(std::time::Duration::from_secs(2));
    signal("CONT", pids[1]);
    std::fs::write(&stop, "").expect("a file can be made");
    let outcome = running.finish();
    std::fs::remove_file(&stop).expect("it was made");
    assert!(outcome.is_well(), "{outcome:?}");
    assert_eq!(outcome.lines("loop").len(), 3, "{outcome:?}");
}
