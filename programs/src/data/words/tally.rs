//! Counting words, each by its owner.

use rustc_hash::{FxBuildHasher, FxHashMap};
use std::hash::BuildHasher;
use superstep::Group;

/// Words, each with how often it occurs.
pub type Counts<'a> = FxHashMap<&'a [u8], u64>;

/// Counts the words of the texts of all processors, each by its owner, and lets `look` look at those that this processor
/// owns. Collective.
///
/// ```
/// use superstep_programs::data::words;
///
/// let counts = superstep::Config::new().procs(2).run_all(|g| {
///     let text = ["to be or not", "to be"][g.rank()];
///     words::counted(g, text.as_bytes(), |counts| (counts.len(), counts.get(&b"be"[..]).copied()))
/// });
/// let counts = counts.unwrap();
/// assert_eq!(counts.iter().map(|(len, _)| len).sum::<usize>(), 4);
/// assert_eq!(counts.iter().filter_map(|(_, be)| *be).collect::<Vec<_>>(), [2]);
/// ```
pub fn counted<R>(g: &mut Group, text: &[u8], look: impl FnOnce(&Counts<'_>) -> R) -> R {
    let mut counts = Counts::default();
    for word in text.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()) {
        *counts.entry(word).or_default() += 1;
    }
    if g.size() == 1 {
        return look(&counts);
    }
    // For each owner: a word's count and length, one after the other, and all words one behind another.
    let (mut numbers, mut bytes) = (vec![Vec::new(); g.size()], vec![Vec::new(); g.size()]);
    for (word, count) in counts {
        let owner = owner(word, g.size());
        numbers[owner].extend([count, word.len() as u64]);
        bytes[owner].extend_from_slice(word);
    }
    let (numbers, bytes) = g.step(|s| (s.exchange(numbers), s.exchange(bytes)));
    let mut counts = Counts::default();
    for (numbers, bytes) in numbers.iter().zip(&bytes) {
        let mut rest = &bytes[..];
        for pair in numbers.chunks_exact(2) {
            let (word, behind) = rest.split_at(pair[1] as usize);
            *counts.entry(word).or_default() += pair[0];
            rest = behind;
        }
    }
    look(&counts)
}

/// Whose a word is. A table looks at other bits of the hash than this.
fn owner(word: &[u8], size: usize) -> usize {
    let hash = FxBuildHasher.hash_one(word).rotate_left(32);
    ((u128::from(hash) * size as u128) >> 64) as usize
}
