//! Rayon's own sort.

use super::timed;
use crate::{contenders::huge, Sample, digest, kernels::keys::Key};

pub(crate) fn par_sort_unstable<K: Key>(keys: &[K]) -> Sample {
    let mut sorted = huge::copied(keys);
    let seconds = timed(|| K::sort_by_rayon(&mut sorted));
    Sample::of_answer(seconds, digest(0, sorted))
}
