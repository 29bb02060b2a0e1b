//! Numbers that name things and that no program can make up.
//!
//! Processes that share no memory have no table in which to look something up, and messages have no room for a whole
//! description. So circles and functions have a number that all who know them can work out: a keyed hash. The key is
//! drawn for the run, and a program does not learn it. So no choice of a program's gives two of them one number. What
//! comes out of a run does not depend on the key.

use std::hash::{BuildHasher, Hash, Hasher, RandomState};

/// The key of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Secret(pub(crate) [u64; 2]);

impl Secret {
    /// Draws a key that nobody can guess.
    pub(crate) fn draw() -> Self {
        // The standard library's hash maps have a key that the system has drawn.
        let drawn = RandomState::new();
        Self([0, 1].map(|word: u64| drawn.hash_one(word)))
    }

    /// The key that a seed decides, so that a run can be repeated.
    pub(crate) fn of_seed(seed: u64) -> Self {
        Self([seed, !seed])
    }

    /// The number of whatever has this description.
    #[expect(deprecated, reason = "the one keyed hash of the standard library whose key can be chosen")]
    pub(crate) fn number(self, description: impl Hash) -> u64 {
        let mut hasher = std::hash::SipHasher::new_with_keys(self.0[0], self.0[1]);
        description.hash(&mut hasher);
        hasher.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_run_has_a_key_of_its_own() {
        assert_ne!(Secret::draw(), Secret::draw());
    }

    #[test]
    fn a_number_depends_on_all_of_the_description_and_of_the_key() {
        let number = |key: [u64; 2], description: [u64; 2]| Secret(key).number(description);
        let one = number([1, 2], [3, 4]);
        assert_eq!(one, number([1, 2], [3, 4]));
        for other in [number([0, 2], [3, 4]), number([1, 0], [3, 4]), number([1, 2], [0, 4]), number([1, 2], [3, 0])] {
            assert_ne!(one, other);
        }
    }
}
