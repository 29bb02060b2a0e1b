//! Numbers to be summed: the input of `prefix`.

use crate::Random;

/// So many small numbers of either sign.
pub(crate) fn terms(len: usize) -> Vec<i64> {
    let mut random = Random::of_rank(5, 0);
    (0..len).map(|_| random.below(2001) as i64 - 1000).collect()
}
