//! Keys in random order: the input of `sort`.

use crate::Random;
use serde::{Serialize, de::DeserializeOwned};

/// What is sorted; superstep could send it to other machines.
pub(crate) trait Key: superstep_bench::Key + Serialize + DeserializeOwned {
    const NAME: &'static str;
    fn random(random: &mut Random) -> Self;
}

impl Key for u64 {
    const NAME: &'static str = "u64";

    fn random(random: &mut Random) -> Self {
        random.next()
    }
}

impl Key for f32 {
    const NAME: &'static str = "f32";

    /// Of either sign, between -1 and 1.
    fn random(random: &mut Random) -> Self {
        (random.next() as i64 >> 32) as Self / -(i32::MIN as Self)
    }
}

/// So many random keys.
pub(crate) fn keys<K: Key>(len: usize) -> Vec<K> {
    let mut random = Random::of_rank(4, 0);
    (0..len).map(|_| K::random(&mut random)).collect()
}
