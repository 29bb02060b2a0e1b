//! Other sorts of the same keys: rayon's on as many threads, and the standard library's on one.

use super::keys::{Input, Key};
use crate::{clock::watched, contest::Sample, raw::memory::with_buffers};
use ::rayon::ThreadPoolBuilder;
use superstep::Result;

/// `par_sort_unstable` in a pool of `procs` threads.
pub(crate) fn rayon<K: Key>(procs: usize, input: &Input<K>, rounds: u64) -> Result<Sample> {
    let pool = ThreadPoolBuilder::new().num_threads(procs).build().expect("the system has threads");
    sorted(input, rounds, |keys| pool.install(|| K::sort_by_rayon(keys)))
}

/// `sort_unstable`.
pub(crate) fn one_thread<K: Key>(input: &Input<K>, rounds: u64) -> Result<Sample> {
    sorted(input, rounds, |keys| K::sort(keys))
}

fn sorted<K: Key>(input: &Input<K>, rounds: u64, sort: impl Fn(&mut [K]) + Sync) -> Result<Sample> {
    with_buffers(1, input.keys.len(), |mut buffers| {
        let (keys, mut is_right) = (buffers.remove(0), true);
        let seconds = watched(rounds, |watch| {
            keys.copy_from_slice(&input.keys);
            watch.time(|| sort(keys));
            is_right &= *keys == *input.sorted;
        });
        Sample::by_hand(seconds, is_right)
    })
}
