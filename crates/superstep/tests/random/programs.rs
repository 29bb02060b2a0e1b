//! Which random programs are tried.

use proptest::{prelude::ProptestConfig, test_runner::RngSeed};

/// The programs that one seed makes: the same ones in every run, and as many as `usual`, unless `SUPERSTEP_RANDOM_SEED`
/// and `SUPERSTEP_RANDOM_CASES` ask for others.
pub(crate) fn programs(usual: u64) -> ProptestConfig {
    let number = |name: &str, usual: u64| {
        std::env::var(name).map_or(usual, |text| text.parse().unwrap_or_else(|_| panic!("{name} is no number")))
    };
    let seed = number("SUPERSTEP_RANDOM_SEED", 1);
    let cases = number("SUPERSTEP_RANDOM_CASES", usual) as u32;
    ProptestConfig { cases, rng_seed: RngSeed::Fixed(seed), failure_persistence: None, ..ProptestConfig::default() }
}
