//! The numbers by which packets say which circle they are for.
//!
//! Processes that share no memory have no table in which to look a circle up, and packets have no room for its whole
//! descent. So each circle has a number that all its members can work out: a keyed hash (SipHash-1-3) of the number of
//! the circle that it was made from and of its name there. The key is drawn for the run, and a program does not learn
//! it, so no choice of a program's makes two circles have one number. What comes out of a run does not depend on it.

use crate::nest::Name;
use std::hash::{BuildHasher, RandomState};

/// The key of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Secret(u64, u64);

impl Secret {
    /// One that nobody can guess.
    pub(crate) fn draw() -> Self {
        // The standard library's hash maps have a key that the system has drawn.
        let drawn = RandomState::new();
        Self(drawn.hash_one(0), drawn.hash_one(1))
    }

    /// One that a seed decides, so that a run can be had again.
    pub(crate) fn of_seed(seed: u64) -> Self {
        Self(seed, !seed)
    }

    pub(crate) fn to_bytes(self) -> [u8; 16] {
        (u128::from(self.0) | u128::from(self.1) << 64).to_le_bytes()
    }

    pub(crate) fn from_bytes(bytes: [u8; 16]) -> Self {
        let both = u128::from_le_bytes(bytes);
        Self(both as u64, (both >> 64) as u64)
    }

    /// The number of the circle that has this name among those made from the one with number `parent`.
    pub(super) fn number(self, parent: u64, name: Name) -> u64 {
        let mut state = [
            self.0 ^ 0x736f_6d65_7073_6575,
            self.1 ^ 0x646f_7261_6e64_6f6d,
            self.0 ^ 0x6c79_6765_6e65_7261,
            self.1 ^ 0x7465_6462_7974_6573,
        ];
        let len = (4 * size_of::<u64>() as u64) << 56;
        for word in [parent, name.serial, u64::from(name.kind), name.part, len] {
            state[3] ^= word;
            round(&mut state);
            state[0] ^= word;
        }
        state[2] ^= 0xFF;
        (0..3).for_each(|_| round(&mut state));
        state[0] ^ state[1] ^ state[2] ^ state[3]
    }
}

fn round([a, b, c, d]: &mut [u64; 4]) {
    *a = a.wrapping_add(*b);
    *b = b.rotate_left(13) ^ *a;
    *a = a.rotate_left(32);
    *c = c.wrapping_add(*d);
    *d = d.rotate_left(16) ^ *c;
    *a = a.wrapping_add(*d);
    *d = d.rotate_left(21) ^ *a;
    *c = c.wrapping_add(*b);
    *b = b.rotate_left(17) ^ *c;
    *c = c.rotate_left(32);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::hash::{DefaultHasher, Hasher};

    /// The standard library's hash without a key is the same function with a key of zeros.
    #[test]
    fn numbers_are_what_siphash_makes_of_a_circles_descent() {
        for (parent, serial, kind, part) in [(0, 0, 0, 0), (1, 2, 3, 4), (u64::MAX, 1 << 40, 7, u64::MAX - 5)] {
            let mut hasher = DefaultHasher::new();
            for word in [parent, serial, u64::from(kind), part] {
                hasher.write_u64(word);
            }
            assert_eq!(Secret(0, 0).number(parent, Name { serial, kind, part }), hasher.finish());
        }
    }

    #[test]
    fn every_run_has_a_key_of_its_own_that_can_be_told() {
        let secret = Secret::draw();
        assert_ne!(secret, Secret::draw());
        assert_eq!(Secret::from_bytes(secret.to_bytes()), secret);
    }
}
