//! What the simulator does when it fails on purpose: every run ends, with the right error, and can be repeated.

#![forbid(unsafe_code)]

mod checked;
mod clock;
mod harmful;
mod harmless;
mod many;
mod programs;
mod replay;
mod settings;

use programs::Program;
use std::sync::Arc;
use superstep::{Config, Fabric, Result, sim::Faults};

/// The seeds that are tried: so many, or more if `SUPERSTEP_TEST_SEEDS` says so, from `SUPERSTEP_TEST_SEED` on.
fn seeds(least: u64) -> std::ops::Range<u64> {
    let number = |name| std::env::var(name).ok().map(|text| text.parse::<u64>().expect("a number"));
    let first = number("SUPERSTEP_TEST_SEED").unwrap_or(0);
    first..first + number("SUPERSTEP_TEST_SEEDS").map_or(least, |asked| least.max(asked))
}

fn simulated(size: usize, seed: u64, shares_memory: bool) -> Config {
    Config::new().procs(size).fabric(Fabric::Sim { seed, shares_memory })
}

/// What each processor of a program returns, or the run's error. Whatever it was, nothing of the run is left.
fn outcome(config: &Config, program: Program) -> Result<Vec<Vec<u64>>> {
    let token = Arc::new(());
    let outcome = config.run_all(|g| program(g, &token));
    assert_eq!(Arc::strong_count(&token), 1, "something of the run is left");
    outcome
}

/// What a program returns where nothing goes wrong.
fn expected(size: usize, program: Program) -> Vec<Vec<u64>> {
    outcome(&Config::new().procs(size).fabric(Fabric::Threads), program).expect("nothing goes wrong on threads")
}

/// The words with which a failure of a test can be looked at.
fn replayed(name: &str, size: usize, seed: u64, shares_memory: bool, faults: Faults) -> String {
    format!("{name} on {size} processors, seed {seed}, shares memory: {shares_memory}, faults {faults}")
}
