//! What a block holds.

/// The block of `rank`: everything but its first word, which is the round where that can change.
pub(super) fn fill(block: &mut [u64], rank: usize) {
    for (at, word) in block.iter_mut().enumerate() {
        *word = (rank as u64) << 32 | at as u64;
    }
}

/// Whether `block` is that of `rank`, with this first word.
pub(super) fn is_block(block: &[u64], words: usize, rank: usize, first: u64) -> bool {
    let is_word = |(at, &word): (usize, &u64)| word == (rank as u64) << 32 | at as u64;
    block.len() == words && block[0] == first && block.iter().enumerate().skip(1).all(is_word)
}
