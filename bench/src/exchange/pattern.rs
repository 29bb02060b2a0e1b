//! What travels, so that a wrong, missing or misplaced word is seen.
//!
//! Every source holds its owner's rank and a running number. The first word is the round, where a source may change
//! between rounds: then each round's arrival is checked, and the whole after the last.

/// How many words each processor has for each other one: 8 MiB.
pub(super) const WORDS: usize = 1 << 20;

/// Everybody but `rank`.
pub(super) fn others(rank: usize, procs: usize) -> impl Iterator<Item = usize> {
    (1..procs).map(move |ahead| (rank + ahead) % procs)
}

/// Where what comes from `from` lies in `rank`'s target, if it has one part per other processor.
pub(super) fn offset(from: usize, rank: usize, procs: usize) -> usize {
    ((rank + procs - from) % procs - 1) * WORDS
}

fn word(rank: usize, at: usize) -> u64 {
    (rank as u64) << 32 | at as u64
}

/// Fills what `rank` sends.
pub(super) fn fill(source: &mut [u64], rank: usize) {
    for (at, value) in source.iter_mut().enumerate() {
        *value = word(rank, at);
    }
}

/// What `rank` sends.
pub(super) fn source(rank: usize) -> Vec<u64> {
    let mut source = vec![0; WORDS];
    fill(&mut source, rank);
    source
}

/// Whether `part` is what `from` sent; `stamp` is what its first word should be, unless that never changed.
pub(super) fn is_from(part: &[u64], from: usize, stamp: Option<u64>) -> bool {
    part.len() == WORDS
        && part[0] == stamp.unwrap_or(word(from, 0))
        && part.iter().enumerate().skip(1).all(|(at, &value)| value == word(from, at))
}

/// Whether `rank`'s target holds what all others sent.
pub(super) fn is_complete(target: &[u64], rank: usize, procs: usize, stamp: Option<u64>) -> bool {
    others(rank, procs).all(|from| is_from(&target[offset(from, rank, procs)..][..WORDS], from, stamp))
}

/// Whether the first word of each part in `rank`'s target is `stamp`.
pub(super) fn is_stamped(target: &[u64], rank: usize, procs: usize, stamp: u64) -> bool {
    others(rank, procs).all(|from| target[offset(from, rank, procs)] == stamp)
}
