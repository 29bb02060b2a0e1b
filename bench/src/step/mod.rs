//! Kernel `step`: what a boundary costs, alone and with small traffic, and what a run costs to start.

mod empty;
mod start;
mod traffic;

use crate::{contest::Contest, options::Options};
use superstep::cores;

/// How many processors the small jobs have unless somebody asks for another number.
const PROCS: usize = 2;

/// More than this many threads say nothing new and take long to start.
const PROCS_MAX: usize = 256;

/// Group sizes for the empty step: one for which there are cores, and three with more processors than cores.
fn sizes(options: &Options) -> Vec<usize> {
    if let Some(procs) = options.procs {
        return vec![procs];
    }
    let mut sizes = vec![PROCS];
    sizes.extend([2, 8, 32].map(|times| (times * cores()).min(PROCS_MAX)));
    sizes.dedup();
    sizes
}

/// Plans every contest of the kernel.
pub(crate) fn plan(options: &Options) -> Vec<Contest> {
    let procs = options.procs.unwrap_or(PROCS);
    let mut contests = Vec::new();
    for (at, &size) in sizes(options).iter().enumerate() {
        contests.push(empty::contest(size, "empty", options));
        if at == 0 && options.load.is_some() {
            contests.push(empty::contest(size, "empty-loaded", options).under_load());
        }
    }
    contests.push(traffic::contest(procs, options));
    contests.push(start::contest(procs, options));
    contests
}
