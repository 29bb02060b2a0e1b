//! Which processor a key belongs to, and the table of those that are here.
//!
//! The standard library's tables begin each process with another secret, so that nobody can choose keys that collide.
//! An owner must be the same in every process, and a table of counts is not open to strangers; so both hash with
//! `rustc-hash`, which has no secret, is a few instructions for a number, and depends on nothing.

use rustc_hash::{FxBuildHasher, FxHashMap};
use std::hash::{BuildHasher, Hash};

/// The entries of one processor.
pub(super) type Table<K, V> = FxHashMap<K, V>;

#[inline]
pub(super) fn owner<K: Hash + ?Sized>(key: &K, size: usize) -> usize {
    // The bits of the hash are mixed once more: the table looks at them too, and would have all its keys in one corner.
    let hash = spread(FxBuildHasher.hash_one(key));
    ((u128::from(hash) * size as u128) >> 64) as usize
}

/// Lets every bit of a number decide about the high ones.
#[inline]
fn spread(hash: u64) -> u64 {
    let hash = (hash ^ hash >> 32).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    hash ^ hash >> 29 ^ hash << 32
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Keys of several shapes, each dealt to 7 processors: none has more than a fifth above its share.
    #[test]
    fn keys_are_dealt_evenly() {
        let shapes: [fn(u64) -> u64; 4] = [|x| x, |x| x << 40, |x| x * 4096, |x| x | 1 << 63];
        for shape in shapes {
            let mut counts = [0; 7];
            (0..70_000).for_each(|x| counts[owner(&shape(x), 7)] += 1);
            assert!(counts.iter().all(|count| (8_000..12_000).contains(count)), "{counts:?}");
        }
        let mut counts = [0; 7];
        (0..70_000).for_each(|x| counts[owner(&format!("key {x}"), 7)] += 1);
        assert!(counts.iter().all(|count| (8_000..12_000).contains(count)), "{counts:?}");
    }

    #[test]
    fn a_borrowed_key_has_the_owner_of_the_owned_one() {
        assert_eq!(owner("word", 5), owner(&"word".to_owned(), 5));
        assert_eq!(owner(&7_u64, 1), 0);
    }
}
