//! Random programs against the model, on every fabric: all rules, all features in one program, and mistakes.
//!
//! A program comes from a seed. Every processor compares all that it is told with what the model says, and a difference
//! is printed as the shortest program that still has it, with the line that replays it. `SUPERSTEP_RANDOM_SEED` says
//! where seeds begin, and `SUPERSTEP_RANDOM_CASES` how many of them are tried on each fabric.

#![forbid(unsafe_code)]

mod arrays;
mod calls;
mod campaign;
mod epochs;
mod launched;
mod live;
mod pages;
mod slips;
mod steps;
mod things;
mod typed;
mod words;

use campaign::{Ground, checked, mutants, programs};

/// How many programs plain `cargo test` tries on each fabric.
const CASES: u64 = 200;

#[test]
fn simulated_processors_are_told_what_the_model_says() {
    programs(Ground::Sim, CASES);
}

#[test]
fn threads_are_told_what_the_model_says() {
    programs(Ground::Threads, CASES);
}

#[test]
fn processes_are_told_what_the_model_says() {
    programs(Ground::Procs, CASES / 4);
}

#[test]
fn a_mistake_ends_a_run_with_its_own_error() {
    mutants(Ground::Sim, CASES);
    mutants(Ground::Threads, CASES / 4);
    mutants(Ground::Procs, CASES / 8);
}

/// Where the model finds no conflict there is no false alarm, and where it finds one the step fails and nothing else:
/// what the program does then is what the model says.
#[test]
fn conflicts_are_found_where_the_model_finds_them() {
    for (ground, cases) in [(Ground::Sim, CASES), (Ground::Threads, CASES), (Ground::Procs, CASES / 4)] {
        let counts = checked(ground, cases);
        let is_replay = counts.iter().sum::<u64>() < cases;
        assert!(is_replay || counts.iter().all(|&count| count > cases / 50), "{ground:?}: {counts:?}");
    }
}

/// What comes of a call is of no interest.
fn ignore<T>(_: T) {}
