//! The words of a text in memory are counted.

use super::{Sizes, count};
use crate::{
    PROCS, Random,
    contenders::{rayon, single, superstep},
    contest::{Contest, Stage, Unit},
    failure::Failure,
    mix,
};
use std::collections::BTreeMap;

/// So many words differ at most.
const VOCABULARY: usize = 1 << 18;

/// A text in which few words are frequent and most are rare, as in languages: each half as often as that of half its
/// rank.
fn text(words: usize) -> Vec<u8> {
    let mut random = Random::of_rank(21, 0);
    let mut text = Vec::new();
    for at in 0..words {
        // A number that is as often between 1 and 2 as between 2 and 4, and so on.
        let rank = (VOCABULARY as f64).powf(random.unit()) as u64;
        // Letters that belong to this word alone.
        let mut letters = rank;
        while letters > 0 {
            text.push(b'a' + (letters % 20) as u8);
            letters /= 20;
        }
        text.extend(std::iter::repeat_n(b'z', mix(rank) as usize % 6));
        text.push(if at % 12 == 11 { b'\n' } else { b' ' });
    }
    text
}

/// Where the part of a processor begins: behind a space.
pub(crate) fn begin(text: &[u8], rank: usize) -> usize {
    let about = text.len() * rank / PROCS;
    if rank == 0 {
        0
    } else {
        text[about..].iter().position(u8::is_ascii_whitespace).map_or(text.len(), |at| about + at)
    }
}

/// What counts come to, in whatever order they are.
pub(crate) fn answer<'a>(counts: impl Iterator<Item = (&'a [u8], u64)>) -> u64 {
    let word = |word: &[u8]| word.iter().fold(1, |so_far, &byte| mix(so_far ^ u64::from(byte)));
    counts.map(|(letters, count)| mix(word(letters) ^ count)).fold(0, u64::wrapping_add)
}

pub(super) fn hold(stage: &mut Stage, sizes: &Sizes) -> Result<(), Failure> {
    let text = &text(sizes.words);
    let title = format!("{} words", count(sizes.words));
    let contest = Contest::new("words", title, Unit::millions("million words/s"), sizes.words, expected(text))
        .std("a hash map", || single::programs::words(text))
        .rayon("`par_split`, folded into hash maps", || rayon::programs::words_folded(text))
        .rayon("a hash map for each part, merged", || rayon::programs::words_in_parts(text))
        .superstep("the program", || superstep::programs::words(text));
    stage.hold(contest)
}

fn expected(text: &[u8]) -> u64 {
    let mut counts = BTreeMap::new();
    for word in text.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()) {
        *counts.entry(word).or_insert(0) += 1;
    }
    answer(counts.into_iter())
}
