//! Running a claim on groups of several sizes, under plain `cargo test`.
//!
//! ```
//! use superstep::{Sum, testing};
//!
//! // As it would stand in a #[test]:
//! testing::everywhere(|g| {
//!     let size = g.step(|s| s.reduce(1, Sum));
//!     assert_eq!(size, g.size());
//! });
//! ```

use crate::{
    engine::Group,
    error::Error,
    launch::{Config, Fabric},
};
use std::env;

/// The group sizes that [`everywhere`] uses: one, powers of two, and some that are neither even nor powers.
pub const SIZES: [usize; 6] = [1, 2, 3, 4, 7, 8];

/// How many interleavings of each kind [`everywhere`] tries, unless `SUPERSTEP_TEST_SEEDS` says otherwise.
pub const SEEDS: u64 = 4;

/// Runs `claim` on every one of [`SIZES`]: as threads, and simulated under several seeds, with shared memory and with
/// messages alone.
///
/// A failure says on which fabric, with which size and seed it happened. `SUPERSTEP_TEST_SEED` replays one seed,
/// `SUPERSTEP_TEST_SEEDS` tries as many as it says.
///
/// # Panics
///
/// If the claim panics on any processor, or a run fails in another way.
#[track_caller]
pub fn everywhere(claim: impl Fn(&mut Group) + Sync) {
    on_sizes(&SIZES, claim);
}

/// Runs `claim` like [`everywhere`], on groups of these sizes.
///
/// # Panics
///
/// As [`everywhere`].
#[track_caller]
pub fn on_sizes(sizes: &[usize], claim: impl Fn(&mut Group) + Sync) {
    for_each(sizes, |config, context| {
        if let Err(error) = config.run(&claim) {
            panic!("{context}: {error}");
        }
    });
}

/// Runs `claim` like [`on_sizes`] and hands each run's error to `check`, for claims about what misuse gets. The first
/// argument of `check` says which run it is.
///
/// # Panics
///
/// If a run does not fail.
///
/// ```
/// use superstep::{ErrorKind, testing};
///
/// testing::failing(&[2, 3], |g| { g.step(|s| s.send(&g_queue(s), 99, (), ())); }, |context, error| {
///     assert_eq!(error.kind(), ErrorKind::Panicked, "{context}");
/// });
/// # fn g_queue(_: &superstep::Step) -> superstep::Queue<(), ()> { panic!("no queue") }
/// ```
#[track_caller]
pub fn failing(sizes: &[usize], claim: impl Fn(&mut Group) + Sync, check: impl Fn(&str, Error)) {
    for_each(sizes, |config, context| match config.run(&claim) {
        Ok(()) => panic!("{context}: the run should have failed"),
        Err(error) => check(context, error),
    });
}

/// Hands every configuration to `run`, with words that say which one it is.
#[track_caller]
fn for_each(sizes: &[usize], run: impl Fn(&Config, &str)) {
    for &size in sizes {
        let config = Config::new().procs(size);
        run(&config.clone().fabric(Fabric::Threads), &format!("{size} threads"));
        for seed in seeds() {
            for shares_memory in [false, true] {
                let memory = if shares_memory { "shared memory" } else { "messages" };
                let context = format!("{size} simulated processors with {memory}, SUPERSTEP_TEST_SEED={seed}");
                run(&config.clone().fabric(Fabric::Sim { seed, shares_memory }), &context);
            }
        }
    }
}

fn seeds() -> Vec<u64> {
    let number = |name: &str| {
        let text = env::var(name).ok()?;
        Some(text.parse::<u64>().unwrap_or_else(|_| panic!("{name} is {text:?}; it must be a number")))
    };
    match number("SUPERSTEP_TEST_SEED") {
        Some(seed) => vec![seed],
        None => (0..number("SUPERSTEP_TEST_SEEDS").unwrap_or(SEEDS)).collect(),
    }
}
