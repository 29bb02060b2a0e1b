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
    engine::{Group, Outcome},
    error::Error,
    launch::{self, Config, Fabric},
};
use std::env;

/// The group sizes that [`everywhere`] uses: one, powers of two, and some that are neither even nor powers.
///
/// ```
/// use superstep::testing::{SIZES, on_sizes};
///
/// on_sizes(&SIZES[..3], |g| assert!(g.size() <= 3));
/// assert_eq!(SIZES[..3], [1, 2, 3]);
/// ```
pub const SIZES: [usize; 6] = [1, 2, 3, 4, 7, 8];

/// How many interleavings of each kind [`everywhere`] tries, unless `SUPERSTEP_TEST_SEEDS` says otherwise.
///
/// ```
/// use superstep::testing::{SEEDS, SIZES};
///
/// let runs_per_size = 1 + 2 * SEEDS as usize; // threads, and each seed with and without shared memory
/// assert_eq!(SIZES.len() * runs_per_size, 54);
/// ```
pub const SEEDS: u64 = 4;

/// Runs `claim` on every one of [`SIZES`]: as threads, and simulated under several seeds, with shared memory and with
/// messages alone.
///
/// A failure says on which fabric, with which size and seed it happened. `SUPERSTEP_TEST_SEED` replays one seed,
/// `SUPERSTEP_TEST_SEEDS` tries as many as it says.
///
/// ```
/// use superstep::{Max, testing};
///
/// testing::everywhere(|g| {
///     let last = g.step(|s| s.reduce(s.rank(), Max));
///     assert_eq!(last, g.size() - 1);
/// });
/// ```
///
/// # Panics
///
/// If the claim panics on any processor or returns an error, or a run fails in another way.
#[track_caller]
pub fn everywhere<R: Outcome<T>, T: Send>(claim: impl Fn(&mut Group) -> R + Sync) {
    on_sizes(&SIZES, claim);
}

/// Runs `claim` like [`everywhere`], on groups of these sizes.
///
/// ```
/// use superstep::testing;
///
/// testing::on_sizes(&[2, 4], |g| {
///     let half = g.split(2, |sub| sub.size());
///     assert_eq!(half, Some(g.size() / 2));
/// });
/// ```
///
/// # Panics
///
/// As [`everywhere`].
#[track_caller]
pub fn on_sizes<R: Outcome<T>, T: Send>(sizes: &[usize], claim: impl Fn(&mut Group) -> R + Sync) {
    for_each(sizes, |config, context| {
        if let Err(error) = config.run(&claim) {
            panic!("{context}: {error}");
        }
    });
}

/// Runs `claim` like [`on_sizes`] and hands each run's error to `check`, for claims about what misuse gets. The first
/// argument of `check` says which run it is.
///
/// ```
/// use superstep::{ErrorKind, testing};
///
/// let claim = |g: &mut superstep::Group| {
///     let queue = g.queue::<(), ()>();
///     g.step(|s| s.send(&queue, 99, (), ()));
/// };
/// testing::failing(&[2, 3], claim, |context, error| {
///     assert_eq!(error.kind(), ErrorKind::RankOutOfRange, "{context}");
/// });
/// ```
///
/// # Panics
///
/// If a run does not fail.
#[track_caller]
pub fn failing<R: Outcome<T>, T: Send>(
    sizes: &[usize],
    claim: impl Fn(&mut Group) -> R + Sync,
    check: impl Fn(&str, Error),
) {
    for_each(sizes, |config, context| match config.run(&claim) {
        Ok(_) => panic!("{context}: the run should have failed"),
        Err(error) => check(context, error),
    });
}

/// Hands every configuration to `run`, with words that say which one it is.
#[track_caller]
fn for_each(sizes: &[usize], run: impl Fn(&Config, &str)) {
    if let Some(procs) = launch::launched_procs() {
        // The launcher has decided how many there are, and whoever was started must take part in the same runs.
        if sizes.contains(&procs) {
            run(&Config::new(), &format!("{procs} processors under MPI"));
        }
        return;
    }
    if let Some(sizes) = launch::forked_sizes(sizes) {
        for size in sizes {
            run(&Config::new().procs(size), &format!("{size} processes"));
        }
        return;
    }
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
