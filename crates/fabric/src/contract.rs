//! The [contract](crate::circle) as tests that every fabric is handed.
//!
//! A fabric is right when [`uphold`] returns. Each numbered claim is a function of its own, which starts a run, lets
//! the processors do what the claim is about, and asserts. What the processors should find is worked out by each of
//! them alone: contributions are functions of rank and meeting, and [`tree`](crate::tree) says how they meld.
//!
//! The claims count where all processors see it: in memory, or in a folder of files if they run in several processes
//! ([`uphold_across`]). A claim that does not hold may also show as a run that never ends; the caller sets the time.

mod circles;
mod failing;
mod letters;
mod meeting;
mod stage;
mod trays;

pub use stage::Launch;
use stage::Stage;
use std::path::Path;

/// The sizes of run at which the contract is tried: powers of two, their neighbours, and both sides of every border at
/// which a fabric changes its ways.
pub const SIZES: [usize; 9] = [1, 2, 3, 4, 7, 8, 9, 16, 17];

/// Asserts every claim of the contract, at all [`SIZES`].
pub fn uphold(launch: Launch) {
    // Miri, which interprets a program, has time for small runs alone.
    for size in SIZES.into_iter().filter(|&size| !cfg!(miri) || size <= 3) {
        uphold_at(launch, size);
    }
}

/// Asserts every claim of the contract in runs of `size` processors.
pub fn uphold_at(launch: Launch, size: usize) {
    hold(&Stage::new(launch, size, None));
}

/// Asserts every claim of the contract in runs of `size` processors that are spread over several processes. Each of
/// them calls this, with a folder that was empty and that all of them see.
pub fn uphold_across(launch: Launch, size: usize, folder: &Path) {
    hold(&Stage::new(launch, size, Some(folder)));
}

fn hold(stage: &Stage) {
    meeting::uphold(stage);
    trays::uphold(stage);
    circles::uphold(stage);
    letters::uphold(stage);
    failing::uphold(stage);
}
