//! Rayon's own sort.

use super::timed;
use crate::{contenders::huge, Sample, digest, kernels::keys::Key};
use ::rayon::prelude::*;

pub(crate) fn par_sort_unstable<K: Key>(keys: &[K]) -> Sample {
    let mut sorted = huge::copied(keys);
    let seconds = timed(|| sorted.par_sort_unstable_by(K::order));
    Sample::of_answer(seconds, digest(0, sorted))
}
