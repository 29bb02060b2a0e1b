//! Which elements of a page are there, and which were written, where a single run cannot say it.

use std::ops::Range;

/// A set of offsets on a page. It knows how many they are, so that nobody has to go through a page to find out.
#[derive(Debug, Default)]
pub(super) struct Bits {
    words: Vec<u64>,
    count: usize,
}

impl Bits {
    /// The words that hold `range`, each with a mask of what of it is in the range.
    fn words(range: Range<usize>) -> impl Iterator<Item = (usize, u64)> {
        let end = if range.is_empty() { range.start / 64 } else { (range.end - 1) / 64 + 1 };
        (range.start / 64..end).map(move |word| {
            let first = range.start.max(word * 64) - word * 64;
            let last = range.end.min(word * 64 + 64) - word * 64;
            (word, (u64::MAX >> (64 - (last - first))) << first)
        })
    }

    pub(super) fn bytes(&self) -> usize {
        8 * self.words.capacity()
    }

    pub(super) fn count(&self) -> usize {
        self.count
    }

    pub(super) fn is_empty(&self) -> bool {
        self.count == 0
    }

    pub(super) fn insert(&mut self, range: Range<usize>) {
        self.words.resize(self.words.len().max(range.end.div_ceil(64)), 0);
        for (word, mask) in Self::words(range) {
            self.count += (mask & !self.words[word]).count_ones() as usize;
            self.words[word] |= mask;
        }
    }

    pub(super) fn remove(&mut self, range: Range<usize>) {
        let len = self.words.len();
        for (word, mask) in Self::words(range).take_while(|&(word, _)| word < len) {
            self.count -= (mask & self.words[word]).count_ones() as usize;
            self.words[word] &= !mask;
        }
    }

    /// The first offset in `range` that is in the set, if `wanted`, or that is not.
    fn next(&self, range: Range<usize>, wanted: bool) -> Option<usize> {
        Self::words(range).find_map(|(word, mask)| {
            let bits = self.words.get(word).copied().unwrap_or(0);
            let found = if wanted { bits } else { !bits } & mask;
            (found != 0).then(|| word * 64 + found.trailing_zeros() as usize)
        })
    }

    /// The first offset in `range` that is not in the set.
    pub(super) fn gap(&self, range: Range<usize>) -> Option<usize> {
        self.next(range, false)
    }

    /// The runs of the set in `range`.
    pub(super) fn runs(&self, range: Range<usize>) -> impl Iterator<Item = Range<usize>> {
        let mut at = range.start;
        std::iter::from_fn(move || {
            let start = self.next(at..range.end, true)?;
            at = self.next(start..range.end, false).unwrap_or(range.end);
            Some(start..at)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn a_set_takes_a_word_for_64_offsets() {
        let mut bits = Bits::default();
        assert_eq!(bits.bytes(), 0);
        bits.insert(0..640);
        assert!((80..=160).contains(&bits.bytes()), "{}", bits.bytes());
    }

    #[test]
    fn sets_of_offsets_are_sets() {
        let (mut bits, mut twin) = (Bits::default(), BTreeSet::new());
        let mut state = 7_u64;
        let mut random = |below: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) as usize % below
        };
        for round in 0..500 {
            let start = random(300);
            let range = start..start + random(120);
            if round % 3 == 0 {
                bits.remove(range.clone());
                twin.retain(|offset| !range.contains(offset));
            } else {
                bits.insert(range.clone());
                twin.extend(range);
            }
            let start = random(300);
            let range = start..start + random(200);
            let found: Vec<usize> = bits.runs(range.clone()).flatten().collect();
            assert!(twin.range(range.clone()).copied().eq(found));
            assert_eq!(bits.gap(range.clone()), range.clone().find(|offset| !twin.contains(offset)));
            assert_eq!((bits.count(), bits.is_empty()), (twin.len(), twin.is_empty()));
            // Runs that touch are one.
            let runs: Vec<_> = bits.runs(range).collect();
            assert!(runs.windows(2).all(|pair| pair[0].end < pair[1].start));
        }
    }
}
