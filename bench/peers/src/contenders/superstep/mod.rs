//! Superstep, as its users write it.
//!
//! Everything is done twice or three times, and the last counts: by then the library has the memory it needs.

pub(crate) mod access;
pub(crate) mod gap;
pub(crate) mod group;
pub(crate) mod moves;
pub(crate) mod nas;
pub(crate) mod permute;
pub(crate) mod pick;
pub(crate) mod prefix;
pub(crate) mod programs;
pub(crate) mod sort;
pub(crate) mod spmv;
pub(crate) mod transpose;
pub(crate) mod walk;

use crate::{PROCS, Sample};
use ::superstep::{Config, Group, Result};
use std::time::Instant;

/// How often everything is done before it is measured: memory that travels has found its place then. The programs by
/// hand have all theirs in place before they begin.
const WARM_UPS: usize = 2;

/// Runs `body` on every processor.
fn on_all(body: impl Fn(&mut Group) -> Sample + Sync) -> Result<Sample> {
    Config::new().procs(PROCS).run_all(body).map(Sample::of_all)
}

/// How many seconds it takes until all processors have done their work.
fn timed<R>(g: &mut Group, work: impl FnOnce(&mut Group) -> R) -> (f64, R) {
    g.step(|_| ());
    let start = Instant::now();
    let result = work(g);
    g.step(|_| ());
    (start.elapsed().as_secs_f64(), result)
}
