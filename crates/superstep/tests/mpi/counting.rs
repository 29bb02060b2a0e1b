//! The fabric itself under MPI: its contract, how many messages it needs, and how much one of them can carry.

use crate::{LAUNCHERS, Launcher, launched::Job};
use std::{env, fs, process};

/// The contract that threads and the simulated fabric are held to, across processes and in mixed mode.
#[test]
fn the_contract_holds_between_processes() {
    for launcher in LAUNCHERS {
        for (processes, threads) in [(3, 1), (2, 2)] {
            let folder = env::temp_dir().join(format!("superstep-contract-{}-{launcher:?}-{threads}", process::id()));
            fs::create_dir_all(&folder).expect("a folder can be made");
            let job = Job::new(launcher, "contract", processes).threads(threads);
            let outcome = job.env("SUPERSTEP_TEST_FOLDER", &folder.to_string_lossy()).run();
            fs::remove_dir_all(&folder).expect("a folder can be removed");
            assert!(outcome.is_well(), "{launcher:?}, {processes} processes of {threads}: {outcome:?}");
            assert_eq!(outcome.lines("contract").len(), processes, "{outcome:?}");
        }
    }
}

/// S4: a boundary is one wave up and down the tree, and what is sent comes on top of it, a message for each target.
#[test]
fn a_step_takes_one_wave_and_a_message_for_each_target() {
    let outcome = Job::new(Launcher::OpenMpi, "messages", 16).run();
    let found: Vec<f64> = ["none", "sparse", "dense", "making"]
        .iter()
        .map(|kind| {
            let lines = outcome.lines("messages");
            let line = lines.iter().find(|line| line.contains(kind)).unwrap_or_else(|| panic!("{outcome:?}"));
            line.split(' ').nth(2).and_then(|word| word.parse().ok()).expect("a number")
        })
        .collect();
    let [none, sparse, dense, making] = found[..] else { panic!("{outcome:?}") };
    assert!(none <= 2.0, "an empty step takes {none} messages of each");
    assert!((sparse - none - 1.0).abs() < 1e-3, "{sparse} with one target, {none} without");
    assert!((dense - none - 15.0).abs() < 1e-3, "{dense} with 15 targets, {none} without");
    assert!((making - none).abs() < 1e-3, "{making} for the making of an array, {none} for a step");
}

/// S4: requests and data leave while the step still computes; here both for each of two others.
#[test]
fn what_is_long_leaves_before_the_step_ends() {
    for launcher in LAUNCHERS {
        let outcome = Job::new(launcher, "early", 3).run();
        assert!(outcome.is_well(), "{outcome:?}");
        assert_eq!(outcome.lines("early"), ["early 4"; 3], "{outcome:?}");
    }
}

/// C2, C3: each two members of a set send each other one message, and nobody else any.
#[test]
fn a_coherence_call_takes_one_message_each_way_of_each_pair() {
    for launcher in LAUNCHERS {
        let outcome = Job::new(launcher, "coherence", 3).run();
        assert!(outcome.is_well(), "{outcome:?}");
        let mut lines = outcome.lines("coherence");
        lines.sort_unstable();
        let expected = ["0 1024 1", "0 16 1", "1 1024 2", "1 16 2", "2 1024 1", "2 16 1"];
        assert_eq!(lines, expected.map(|line| format!("coherence {line}")), "{launcher:?}");
    }
}

/// Nothing is limited to what 32 bits can count.
#[test]
#[ignore = "needs 20 GiB of memory; the campaign runs it"]
fn more_than_4_gib_travel_at_once() {
    for launcher in LAUNCHERS {
        let outcome = Job::new(launcher, "big", 2).run();
        assert_eq!(outcome.line("big"), "big 4294967297 right", "{outcome:?}");
    }
}
