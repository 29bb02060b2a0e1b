//! Random sequences of calls: each ends as its model says, or with the line of the call that was wrong.

use crate::workshop::{C, Start, here, nobody_is_left, run};
use std::env;

/// Runs the sequences of so many seeds from the first on, each with another number of processes than the one before.
fn follow(start: Start, name: &str, first: u64, count: u64) {
    let program = C.build(name, &[here().join("tests/c/sequences.c")], false);
    let (mut good, mut wrong) = (0, 0);
    for seed in first..first + count {
        let processes = 1 + seed as usize % 5;
        let outcome = run(start.command(&program, processes).args([seed, processes as u64].map(|x| x.to_string())), "");
        let context = format!("seed {seed} with {processes} processes, {start:?}: {outcome:#?}");
        let said = outcome.out.lines().next().unwrap_or_else(|| panic!("{context}"));
        // Who is ended by a signal has no code.
        if said == "as expected" {
            assert!(outcome.code == Some(0) && outcome.err.is_empty(), "{context}");
            good += 1;
        } else {
            assert!(outcome.code.is_some_and(|code| code != 0), "{context}");
            assert!(outcome.err.lines().any(|line| line.starts_with(said)), "{context}");
            assert!(start != Start::Forked || outcome.err.lines().count() == 1, "{context}");
            wrong += 1;
        }
    }
    println!("{start:?}: {good} sequences ended well and {wrong} with the line that they should");
    assert!(good > 0 && wrong > 0);
    nobody_is_left(&program);
}

/// A number that the environment sets.
fn number(name: &str, usual: u64) -> u64 {
    env::var(name).map_or(usual, |text| text.parse().unwrap_or_else(|_| panic!("{name} is {text}, and no number")))
}

#[test]
fn sequences_of_calls_do_what_their_model_does() {
    let (first, count) = (number("SUPERSTEP_SEQUENCES_FROM", 0), number("SUPERSTEP_SEQUENCES", 150));
    follow(Start::Forked, "sequences-forked", first, count);
}

#[test]
#[ignore = "takes minutes; checks/fuzz.sh runs it"]
fn sequences_of_calls_do_what_their_model_does_under_mpi() {
    let (first, count) = (number("SUPERSTEP_SEQUENCES_FROM", 0), number("SUPERSTEP_SEQUENCES", 150));
    follow(Start::OpenMpi, "sequences-openmpi", first, count);
    follow(Start::Mpich, "sequences-mpich", first, count);
}
