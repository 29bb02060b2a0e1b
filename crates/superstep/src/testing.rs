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
    sim::Faults,
};

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
/// use std::sync::atomic::{AtomicUsize, Ordering};
/// use superstep::testing::{SEEDS, on_sizes};
///
/// let runs = AtomicUsize::new(0);
/// on_sizes(&[2], |g| if g.is_leader() { runs.fetch_add(1, Ordering::Relaxed); });
/// let seeds = std::env::var("SUPERSTEP_TEST_SEEDS").map_or(SEEDS, |asked| asked.parse().unwrap());
/// let runs_per_size = 1 + 2 * seeds as usize; // threads, and each seed with and without shared memory
/// assert_eq!(runs.into_inner(), runs_per_size);
/// ```
pub const SEEDS: u64 = 4;

/// Runs `claim` on every one of [`SIZES`]: simulated under several seeds, with shared memory and with packets alone,
/// then as threads.
///
/// A failure says on which fabric, with which size and seed it happened. `SUPERSTEP_TEST_SEED` replays one seed,
/// `SUPERSTEP_TEST_SEEDS` tries as many as it says, from that one on or else from 0, and `SUPERSTEP_TEST_MOST` leaves
/// out larger groups, for tools under which a program is slow. `SUPERSTEP_TEST_FAULTS=delay,stall` lets packets be late
/// and processors stand still in the simulator, which changes no result. `SUPERSTEP_SIM_TRACE=1` prints what happens
/// there.
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
///     g.step(|s| s.send(99, &queue, (), ()));
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

/// The largest groups that are tried. Miri, which interprets a program, has time for small ones alone.
fn most() -> usize {
    let some = |text: &str| text.parse().ok().filter(|&most| most > 0);
    let found = fabric::settings::read("SUPERSTEP_TEST_MOST", "a number of processors, at least 1", some);
    found.unwrap_or_else(|wrong| panic!("{wrong}")).unwrap_or(if cfg!(miri) { 3 } else { usize::MAX })
}

/// Hands every configuration that the claims are run with to `run`, with words that say which one it is: for a claim
/// that needs settings of its own.
///
/// ```
/// use superstep::{Block, Check, testing};
///
/// testing::for_each(&[2, 3], |config, context| {
///     let checked = config.clone().check(Check::Conflicts);
///     let outcome = checked.run(|g| {
///         let a = g.array::<usize, Block>(g.size());
///         g.step(|s| s.update(&a, s.rank()..s.rank() + 1, &[s.rank()]));
///     });
///     assert!(outcome.is_ok(), "{context}");
/// });
/// ```
#[track_caller]
pub fn for_each(sizes: &[usize], run: impl Fn(&Config, &str)) {
    if let Some(procs) = launch::launched_procs() {
        // The launcher has decided how many there are, and whoever was started must take part in the same runs.
        if sizes.contains(&procs) {
            run(&Config::new(), &format!("{procs} processors under MPI"));
        } else {
            eprintln!("superstep: this claim was not run: it is for {sizes:?} processors, and there are {procs}");
        }
        return;
    }
    if let Some(sizes) = launch::forked_sizes(sizes) {
        for size in sizes {
            run(&Config::new().procs(size), &format!("{size} processes"));
        }
        return;
    }
    let (faults, most) = (faults(), most());
    for &size in sizes.iter().filter(|&&size| size <= most) {
        let config = Config::new().procs(size);
        // First the simulator: what fails there fails again with the same seed.
        for seed in seeds() {
            for shares_memory in [false, true] {
                let memory = if shares_memory { "shared memory" } else { "messages" };
                let also = faults.map_or_else(String::new, |faults| format!(" SUPERSTEP_TEST_FAULTS={faults}"));
                let context = format!("{size} simulated processors with {memory}, SUPERSTEP_TEST_SEED={seed}{also}");
                let config = config.clone().fabric(Fabric::Sim { seed, shares_memory });
                run(&faults.map_or(config.clone(), |faults| config.clone().faults(faults)), &context);
            }
        }
        run(&config.fabric(Fabric::Threads), &format!("{size} threads"));
    }
}

/// What goes wrong in the simulator, as far as the environment asks for it: nothing that could change a result.
fn faults() -> Option<Faults> {
    let harmless = |text: &str| text.parse().ok().filter(|faults: &Faults| faults.is_harmless());
    let found = fabric::settings::read("SUPERSTEP_TEST_FAULTS", "delay, stall, or both with a comma", harmless);
    found.unwrap_or_else(|wrong| panic!("{wrong}"))
}

fn number(name: &'static str) -> Option<u64> {
    let found = fabric::settings::read(name, "a number", |text| text.parse().ok());
    found.unwrap_or_else(|wrong| panic!("{wrong}"))
}

fn seeds() -> impl Iterator<Item = u64> {
    let (first, many) = (number("SUPERSTEP_TEST_SEED"), number("SUPERSTEP_TEST_SEEDS"));
    let usual = if first.is_some() { 1 } else { SEEDS };
    (0..many.unwrap_or(usual)).map(move |more| first.unwrap_or(0).wrapping_add(more))
}
