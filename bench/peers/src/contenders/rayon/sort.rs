//! Rayon's own sort, and those of others on its threads.

use super::timed;
use crate::{Sample, contenders::huge, digest, kernels::keys::Key};

pub(crate) fn sort<K: Key>(keys: &[K], sort: impl FnOnce(&mut [K])) -> Sample {
    let mut sorted = huge::copied(keys);
    let seconds = timed(|| sort(&mut sorted));
    Sample::of_answer(seconds, digest(0, sorted))
}
