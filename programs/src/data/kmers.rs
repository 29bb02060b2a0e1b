//! The words of k letters in a genome, or in pieces of one, are counted.
//!
//! Programs that put a genome together from pieces begin so: what occurs once is probably an error, and what occurs as
//! often as the genome was read belongs to it. A sequence and its other strand are the same molecule, so often a word
//! and its complement, read backwards, count as one: `--canonical`.
//!
//! # The program
//!
//! Each processor reads its share of the lines. Letters are numbers from 0 to 3, and a word is a number of 2 k bits, of
//! which the next one is made by a shift. A hash map is spread over all processors, and each word is sent to the owner
//! of its entry, which adds one: `update` is a request that nobody waits for, and requests travel many at a time. A
//! sequence of a FASTA file may go on in the lines of the next processor, which has to know its last k - 1 letters. As
//! a processor may have fewer than that, these are a prefix over all tails, with an operator that says how two tails
//! are one.
//!
//! # Its supersteps
//!
//! Reading is 3 boundaries, the prefix is one, of k letters. Counting is an epoch: w words are w / p requests on each
//! processor, of one word each, so it takes w / p (1 + g) and the fence, 2 l. Nobody waits for anybody else meanwhile.
//!
//! # How it scales
//!
//! Every word travels, and almost all of them to somebody else: h is w / p, whatever p is. Owners have equal shares of
//! the words that differ. A word that is much of the genome is its owner's work alone: repeats are what does not scale.
//!
//! # What peers do
//!
//! Programs for one machine (Jellyfish, KMC) have a table without locks, or sort words in files. Distributed ones count
//! as here, by owner, with buckets that are exchanged when they are full. In `superstep bench kmer` it is held against
//! a table of one thread.

use crate::{
    Summary, Trouble,
    asked::at_least_one,
    data::letters::{CUT, read},
    parts::{clocked, part},
    random::mix,
};
use std::path::PathBuf;
use superstep::{Epoch, Group, Sum, containers::HashMap};

pub use super::letters::Reads;

/// Whose words, and how long they are.
#[derive(Clone, Debug, clap::Args)]
pub struct Kmers {
    /// A file in FASTA, FASTQ, or with a piece on each line; else pieces are made up.
    pub file: Option<PathBuf>,
    /// How many letters a word has.
    #[arg(short, long, default_value_t = 21, value_parser = clap::value_parser!(u32).range(1..=32))]
    pub k: u32,
    /// Counts a word and its complement, read backwards, as one.
    #[arg(long)]
    pub canonical: bool,
    /// How many pieces of 100 letters are made up.
    #[arg(long, default_value_t = 50_000, value_parser = at_least_one)]
    pub reads: usize,
    /// Which pieces.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// How many of the most frequent words are named.
    #[arg(long, default_value_t = 5)]
    pub top: usize,
}

/// Hands `take` every word of `k` letters, from 1 to 32. A number above 3 is no letter, and in no word.
///
/// ```
/// use superstep_programs::data::kmers::words_of;
///
/// let (mut words, mut canonical) = (Vec::new(), Vec::new());
/// words_of(&[0, 1, 3, 4, 2, 2], 2, false, |word| words.push(word));
/// words_of(&[0, 1, 3, 4, 2, 2], 2, true, |word| canonical.push(word));
/// assert_eq!(words, [0b0001, 0b0111, 0b1010]);                      // AC, CT, GG
/// assert_eq!(canonical, [0b0001, 0b0010, 0b0101]);                  // AC, AG, CC
/// ```
#[inline]
pub fn words_of(letters: &[u8], k: u32, canonical: bool, mut take: impl FnMut(u64)) {
    let (mask, top) = (u64::MAX >> (64 - 2 * k), 2 * (k - 1));
    let (mut word, mut other, mut len) = (0, 0, 0);
    for &letter in letters {
        if letter >= CUT {
            len = 0;
            continue;
        }
        word = (word << 2 | u64::from(letter)) & mask;
        other = other >> 2 | u64::from(3 - letter) << top;
        len += 1;
        if len >= k {
            take(if canonical { word.min(other) } else { word });
        }
    }
}

/// Adds one to the count of a word, whoever owns it.
///
/// ```
/// let counts = superstep::Config::new().procs(2).run_all(|g| {
///     let table = g.hash_map();
///     g.epoch(|e| superstep_programs::data::kmers::count(e, &table, 7));
///     let mut mine = Vec::new();
///     table.forall_mut(|&word, &mut count| mine.push((word, count)));
///     mine
/// });
/// assert_eq!(counts.unwrap().concat(), [(7, 2)]);
/// ```
#[inline]
pub fn count(e: &Epoch, table: &HashMap<u64, u64>, word: u64) {
    table.update(e, word, (), |count, ()| *count += 1);
}

pub(super) fn run(g: &mut Group, asked: &Kmers) -> Result<Summary, Trouble> {
    let letters = match &asked.file {
        Some(path) => read(g, path, asked.k as usize - 1)?,
        None => made_up(g, asked),
    };
    let table = g.hash_map::<u64, u64>();
    let (seconds, ()) = clocked(g, |g| {
        g.epoch(|e| words_of(&letters, asked.k, asked.canonical, |word| count(e, &table, word)));
    });
    // What was seen and what is in the table must add up to the same.
    let (mut seen, mut kept) = ([0u64; 2], [0u64; 2]);
    let add = |sums: &mut [u64; 2], word, count: u64| {
        *sums = [sums[0] + count, sums[1].wrapping_add(mix(word).wrapping_mul(count))];
    };
    words_of(&letters, asked.k, asked.canonical, |word| add(&mut seen, word, 1));
    let (mut once, mut all) = (0u64, Vec::with_capacity(table.owned_count()));
    table.forall_mut(|&word, &mut count| {
        add(&mut kept, word, count);
        once += u64::from(count == 1);
        all.push((word, count));
    });
    let (seen, kept) = g.step(|s| {
        let sums = |[words, sum]: [u64; 2]| (s.reduce(words, Sum), s.reduce(sum, Sum));
        (sums(seen), sums(kept))
    });
    let mine = all.len();
    let best = first(all, asked.top).into_iter().flat_map(|(word, count)| [word, count]).collect::<Vec<_>>();
    let (once, distinct, best) = g.step(|s| (s.reduce(once, Sum), s.reduce(mine, Sum), s.collect_slice(&best)));
    let best = best.concat().chunks_exact(2).map(|pair| (pair[0], pair[1])).collect();
    let top = first(best, asked.top).into_iter().map(|(word, count)| (spelt(word, asked.k), count));
    Ok(Summary::new("data kmers", seconds)
        .with("k", asked.k as usize)
        .with("words", kept.0)
        .with("distinct", distinct)
        .with("once", once)
        .with("checksum", kept.1)
        .with("top", top.collect::<Vec<_>>())
        .rate(kept.0 as f64 / seconds / 1e6, "million words/s")
        .checked(seen == kept))
}

/// This processor's pieces.
fn made_up(g: &Group, asked: &Kmers) -> Vec<u8> {
    let reads = Reads { count: asked.reads, seed: asked.seed };
    let mine = part(asked.reads, g.rank(), g.size());
    let mut letters = Vec::with_capacity(mine.len().saturating_mul(Reads::LEN + 1));
    for number in mine {
        letters.extend(reads.read(number));
        letters.push(CUT);
    }
    letters
}

/// The most frequent words, in order; those with the same count in the order of the alphabet.
fn first(mut words: Vec<(u64, u64)>, top: usize) -> Vec<(u64, u64)> {
    words.sort_unstable_by_key(|&(word, count)| (std::cmp::Reverse(count), word));
    words.truncate(top);
    words
}

/// A word in letters.
fn spelt(word: u64, k: u32) -> String {
    (0..k).rev().map(|at| char::from(b"ACGT"[(word >> (2 * at) & 3) as usize])).collect()
}
