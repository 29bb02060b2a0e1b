//! Fingerprints: one number for what has to be the same on all members.

use std::{
    any::TypeId,
    cell::Cell,
    hash::{Hash, Hasher},
    panic::Location,
};

/// Mixes `more` into a running fingerprint.
#[inline]
pub(crate) fn mix(hash: u64, more: u64) -> u64 {
    let wide = u128::from(hash ^ 0x9E37_79B9_7F4A_7C15).wrapping_mul(u128::from(more ^ 0xD6E8_FEB8_6659_FD93) | 1);
    (wide as u64) ^ ((wide >> 64) as u64) ^ more.rotate_left(17)
}

/// A fingerprint of a list of numbers.
pub(crate) fn hash_numbers(numbers: impl IntoIterator<Item = u64>) -> u64 {
    numbers.into_iter().fold(0, mix)
}

/// A number for a type, the same in every process of one build.
#[inline]
pub(crate) fn type_hash<T: 'static>() -> u64 {
    struct Mixer(u64);
    impl Hasher for Mixer {
        fn finish(&self) -> u64 {
            self.0
        }
        fn write(&mut self, bytes: &[u8]) {
            for chunk in bytes.chunks(8) {
                let mut word = [0; 8];
                word[..chunk.len()].copy_from_slice(chunk);
                self.write_u64(u64::from_le_bytes(word));
            }
        }
        fn write_u64(&mut self, word: u64) {
            self.0 = mix(self.0, word);
        }
    }
    let mut mixer = Mixer(0);
    TypeId::of::<T>().hash(&mut mixer);
    mixer.0
}

const CACHED: usize = 16;

/// Fingerprints of the sites where steps begin, so that a loop hashes each file name once.
#[derive(Default)]
pub(crate) struct Sites([Cell<(usize, u64)>; CACHED]);

impl Sites {
    #[inline]
    pub(crate) fn hash(&self, site: &'static Location<'static>) -> u64 {
        let address = std::ptr::from_ref(site).addr();
        let cell = &self.0[address / align_of::<Location<'_>>() % CACHED];
        let (known, hash) = cell.get();
        if known == address {
            return hash;
        }
        let hash = hash_site(site);
        cell.set((address, hash));
        hash
    }
}

#[cold]
fn hash_site(site: &Location<'_>) -> u64 {
    let text = site.file().bytes().fold(0, |hash, byte| mix(hash, u64::from(byte)));
    mix(text, u64::from(site.line()) << 32 | u64::from(site.column()))
}

/// What a boundary ends or begins, in a word that its caller supplies. Members that come to one boundary with different
/// words have diverged (S5).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Occasion {
    /// What errors call it.
    pub(crate) words: &'static str,
    /// Stands for the words in a fingerprint.
    pub(super) mark: u64,
    /// Whether it ends a step, in which messages can be sent.
    pub(super) is_step: bool,
}

impl Occasion {
    /// The end of a step.
    pub(super) const STEP: Self = Self { is_step: true, ..Self::new("step") };

    pub(crate) const fn new(words: &'static str) -> Self {
        let (letters, mut mark, mut at) = (words.as_bytes(), 0xCBF2_9CE4_8422_2325u64, 0);
        while at < letters.len() {
            mark = (mark ^ letters[at] as u64).wrapping_mul(0x100_0000_01B3);
            at += 1;
        }
        Self { words, mark, is_step: false }
    }
}
