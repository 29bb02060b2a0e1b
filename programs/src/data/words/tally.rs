//! Counting words, each by its owner.

use rustc_hash::{FxBuildHasher, FxHashMap};
use std::hash::{BuildHasher, Hash};
use superstep::Group;

/// Words, each with how often it occurs.
///
/// Most are short, and so are numbers here: the table compares these where they stand, and looks at no text.
#[derive(Clone, Debug, Default)]
pub struct Counts<'a> {
    short: FxHashMap<u128, u64>,
    long: FxHashMap<&'a [u8], u64>,
}

/// Bytes of a short word. One more byte of the number has its length.
const SHORT: usize = size_of::<u128>() - 1;

/// What a number has of a word's bytes, and in its highest byte.
const LEN_SHIFT: usize = 8 * SHORT;

impl<'a> Counts<'a> {
    /// Counts the words of a text.
    fn of(text: &'a [u8]) -> Self {
        let (mut counts, mut at) = (Self::default(), 0);
        while at < text.len() {
            let end = space(text, at);
            if end - at > SHORT {
                *counts.long.entry(&text[at..end]).or_default() += 1;
            } else if end > at {
                *counts.short.entry(number(text, at, end - at)).or_default() += 1;
            }
            at = end + 1;
        }
        counts
    }

    /// How many words differ.
    ///
    /// ```
    /// assert_eq!(superstep_programs::data::words::Counts::default().len(), 0);
    /// ```
    pub fn len(&self) -> usize {
        self.short.len() + self.long.len()
    }

    /// Whether there are no words.
    ///
    /// ```
    /// assert!(superstep_programs::data::words::Counts::default().is_empty());
    /// ```
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Visits every word, with how often it occurs, in any order.
    ///
    /// ```
    /// superstep_programs::data::words::Counts::default().for_each(|word, _| panic!("there is {word:?}"));
    /// ```
    pub fn for_each(&self, mut visit: impl FnMut(&[u8], u64)) {
        for (&number, &count) in &self.short {
            visit(&number.to_le_bytes()[..(number >> LEN_SHIFT) as usize], count);
        }
        self.long.iter().for_each(|(word, &count)| visit(word, count));
    }
}

/// The place of the first space from `at` on, or the text's end.
#[inline]
fn space(text: &[u8], mut at: usize) -> usize {
    const EACH: u64 = u64::MAX / 0xff;
    while let Some(eight) = text.get(at..).and_then(<[u8]>::first_chunk) {
        let eight = u64::from_le_bytes(*eight);
        // The highest bit of each byte up to a space, and maybe of others behind the first of these.
        let low = eight.wrapping_sub(EACH * (1 + u64::from(b' '))) & !eight & (EACH << 7);
        at += low.trailing_zeros() as usize / 8;
        if low != 0 {
            if text[at].is_ascii_whitespace() {
                return at;
            }
            at += 1;
        }
    }
    text[at..].iter().position(u8::is_ascii_whitespace).map_or(text.len(), |more| at + more)
}

/// A short word of a text as a number.
#[inline]
fn number(text: &[u8], at: usize, len: usize) -> u128 {
    let bytes = match text[at..].first_chunk() {
        Some(bytes) => u128::from_le_bytes(*bytes),
        None => text[at..at + len].iter().rev().fold(0, |number, &byte| number << 8 | u128::from(byte)),
    };
    bytes & ((1 << (8 * len)) - 1) | (len as u128) << LEN_SHIFT
}

/// Counts the words of the texts of all processors, each by its owner, and lets `look` look at those that this
/// processor owns. Collective.
///
/// ```
/// use superstep_programs::data::words;
///
/// let counts = superstep::Config::new().procs(2).run_all(|g| {
///     let text = ["to be or not", "to be"][g.rank()];
///     words::counted(g, text.as_bytes(), |counts| {
///         let mut all = Vec::new();
///         counts.for_each(|word, count| all.push((String::from_utf8_lossy(word).into_owned(), count)));
///         all
///     })
/// });
/// let mut counts = counts.unwrap().concat();
/// counts.sort();
/// assert_eq!(counts, [("be".into(), 2), ("not".into(), 1), ("or".into(), 1), ("to".into(), 2)]);
/// ```
pub fn counted<R>(g: &mut Group, text: &[u8], look: impl FnOnce(&Counts<'_>) -> R) -> R {
    let counts = Counts::of(text);
    let size = g.size();
    if size == 1 {
        return look(&counts);
    }
    // For each owner: short words and their counts; the count and length of each long word, and all of their bytes.
    let (mut short, mut often) = (vec![Vec::new(); size], vec![Vec::new(); size]);
    for (word, count) in counts.short {
        let owner = owner(word, size);
        short[owner].push(word);
        often[owner].push(count);
    }
    let (mut long, mut bytes) = (vec![Vec::new(); size], vec![Vec::new(); size]);
    for (word, count) in counts.long {
        let owner = owner(word, size);
        long[owner].extend([count, word.len() as u64]);
        bytes[owner].extend_from_slice(word);
    }
    let (short, often, long, bytes) =
        g.step(|s| (s.exchange(short), s.exchange(often), s.exchange(long), s.exchange(bytes)));
    let mut counts = Counts::default();
    for (&word, count) in short.iter().flatten().zip(often.iter().flatten()) {
        *counts.short.entry(word).or_default() += count;
    }
    for (long, bytes) in long.iter().zip(&bytes) {
        let mut rest = &bytes[..];
        for pair in long.chunks_exact(2) {
            let (word, behind) = rest.split_at(pair[1] as usize);
            *counts.long.entry(word).or_default() += pair[0];
            rest = behind;
        }
    }
    look(&counts)
}

/// Whose a word is. A table looks at other bits of the hash than this.
fn owner(word: impl Hash, size: usize) -> usize {
    let hash = FxBuildHasher.hash_one(word).rotate_left(32);
    ((u128::from(hash) * size as u128) >> 64) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_any_bytes_and_lengths_are_told_apart() {
        let words: Vec<Vec<u8>> =
            (0..40).flat_map(|len| [0, 1, 31, 33, 127, 128, 255].map(|byte| vec![byte; len])).collect();
        for space in *b" \n\t\r\x0c" {
            let text = words.join(&space);
            let (mut count, counts) = (0, Counts::of(&text));
            counts.for_each(|word, often| {
                assert!(often == 1 && words.contains(&word.to_vec()), "{word:?} occurs {often} times");
                count += 1;
            });
            assert_eq!((count, counts.len()), (7 * 39, 7 * 39));
        }
    }
}
