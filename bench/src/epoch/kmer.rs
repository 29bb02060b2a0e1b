//! Kernel `kmer`: how often every word of 21 letters occurs in reads of a genome, counted in a distributed table.
//!
//! The program is that of `superstep_programs`, with reads that are made up.

use super::PROCS;
use crate::{
    array::job::{count_name, job},
    clock::{on_all, watched},
    contest::{Contest, Sample},
    digest::digest,
    options::Options,
};
use rustc_hash::FxHashMap;
use std::rc::Rc;
use superstep::{Config, Result};
use superstep_programs::data::kmers::{self, words_of};

const KERNEL: &str = "kmer";

/// Letters of a word.
const WORD: u32 = 21;
/// Letters of a read.
const READ: usize = kmers::Reads::LEN;

/// What is counted, and what comes out.
struct Reads {
    /// One read after another, a letter per byte.
    letters: Vec<u8>,
    /// Every word with how often it occurs, by word.
    counts: Vec<(u64, u64)>,
}

impl Reads {
    /// Reads with about so many words.
    fn new(words: usize) -> Self {
        let reads = kmers::Reads { count: words.div_ceil(READ - WORD as usize + 1), seed: words as u64 };
        let letters: Vec<u8> = (0..reads.count).flat_map(|number| reads.read(number)).collect();
        let mut all: Vec<u64> = Vec::with_capacity(words);
        letters.chunks(READ).for_each(|read| words_of(read, WORD, false, |word| all.push(word)));
        all.sort_unstable();
        let counts = all.chunk_by(|a, b| a == b).map(|same| (same[0], same.len() as u64)).collect();
        Self { letters, counts }
    }

    /// The reads of one processor.
    fn of(&self, rank: usize, procs: usize) -> impl Iterator<Item = &[u8]> {
        self.letters.chunks(READ).skip(rank).step_by(procs)
    }
}

/// Rounds of counting in a distributed table.
fn count(config: &Config, reads: &Reads, rounds: u64) -> Result<Sample> {
    on_all(config, |g| {
        let (rank, procs) = (g.rank(), g.size());
        let table = g.hash_map::<u64, u64>();
        let mut is_right = true;
        let seconds = watched(rounds, |watch| {
            table.clear();
            g.step(|_| ());
            watch.time(|| {
                g.epoch(|e| {
                    for read in reads.of(rank, procs) {
                        words_of(read, WORD, false, |word| kmers::count(e, &table, word));
                    }
                });
            });
            is_right &= table.count(g) == reads.counts.len();
        });
        let mut mine = Vec::with_capacity(table.owned_count());
        table.forall_mut(|&word, &mut count| mine.push((word, count)));
        mine.sort_unstable();
        let expected = reads.counts.iter().filter(|(word, _)| table.owner(word) == rank);
        is_right &= expected.eq(&mine);
        let words: Vec<u64> = mine.iter().flat_map(|&(word, count)| [word, count]).collect();
        (seconds, is_right, digest(&words))
    })
}

/// Rounds of counting on one thread, in a table that hashes alike.
fn one_thread(reads: &Reads, rounds: u64) -> Sample {
    let mut table = FxHashMap::<u64, u64>::default();
    let seconds = watched(rounds, |watch| {
        table.clear();
        watch.time(|| {
            for read in reads.letters.chunks(READ) {
                words_of(read, WORD, false, |word| *table.entry(word).or_default() += 1);
            }
        });
    });
    let is_right = reads.counts.iter().all(|(word, count)| table.get(word) == Some(count));
    Sample::by_hand(seconds, is_right && table.len() == reads.counts.len())
}

/// Plans a contest for each number of words.
pub(crate) fn plan(options: &Options) -> Vec<Contest> {
    let sizes = options.sizes(&[1_000_000], &[1_000_000, 10_000_000]);
    sizes.into_iter().map(|words| contest(words, options)).collect()
}

fn contest(words: usize, options: &Options) -> Contest {
    let (procs, size) = (options.procs.unwrap_or(PROCS), count_name(words));
    let reads = job(move || Reads::new(words));
    let (of_one, config) = (Rc::clone(&reads), options.config(procs));
    let [alone, ours] = ["one-thread", "update-per-word"].map(|name| format!("{size}/{name}"));
    Contest::of_elements(KERNEL, procs, words as u64)
        .alone(&alone, move |rounds| Ok(one_thread(&of_one, rounds)))
        .superstep(&ours, options, move |rounds| count(&config, &reads, rounds))
        .speedup(ours, alone, None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_counted_right_on_any_number_of_processors() {
        let reads = Reads::new(2000);
        assert!(reads.counts.len() < reads.counts.iter().map(|(_, count)| *count as usize).sum::<usize>());
        assert!(one_thread(&reads, 1).verified);
        for procs in [1, 2, 3] {
            assert!(count(&Config::new().procs(procs), &reads, 1).expect("the run succeeds").verified);
        }
    }
}
