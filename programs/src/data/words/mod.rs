//! The words of all files in a folder are counted.
//!
//! A word is whatever bytes stand between two spaces, tabs or ends of lines (or of a file), as for `wc -w`. Nobody asks
//! what they mean: any encoding, and any other file, will do.
//!
//! # The program
//!
//! 1. Processor 0 lists the files, folder by folder and in the order of their names, and tells all the others.
//! 2. All files one behind another are one text, of which each processor reads its part, and the rest of the word that
//!    it begins last. It counts its words in a table of its own.
//! 3. Each word has an owner, by its hash. Words go there, each once from everybody who has it, and owners add up.
//! 4. Of each owner's words the most frequent ones are collected, and the most frequent of these are the answer.
//!
//! # Its supersteps
//!
//! Three that count: the list is told (h is the list), words go to their owners, and the best are collected (h is `top`
//! words of each). With b bytes, in which there are d different words on each processor, the second one costs about
//! b / p + d g + l: where texts are long, d is small beside b / p, and reading and counting is all there is.
//!
//! # How it scales
//!
//! Parts have as many bytes, however long files and words are. What does not shrink with p is d: a text of twice the
//! length has fewer than twice the words, so of a text that is divided each processor sees most of the frequent ones,
//! and sends them. Each owner then gets d words in all, from p others.
//!
//! # What peers do
//!
//! With rayon each thread folds its pieces into a table, and tables are merged two by two: the last merge is one
//! thread's, and has all words. Owners merge at the same time, each its own words. `bench/peers`, kernel `words`, holds
//! them side by side.

mod files;
mod tally;

pub use tally::{Counts, counted};

use crate::{Summary, Trouble, parts::clocked};
use std::path::PathBuf;
use superstep::{Group, Sum};

/// Whose words, and how many of them are named.
#[derive(Clone, Debug, clap::Args)]
pub struct Words {
    /// A folder, with all that is in it, or a file. Links are not followed.
    pub path: PathBuf,
    /// How many of the most frequent words are named.
    #[arg(long, default_value_t = 10)]
    pub top: usize,
}

/// A word and how often it occurs, the most frequent ones first.
type Ranked = (u64, Vec<u8>);

pub(super) fn run(g: &mut Group, asked: &Words) -> Result<Summary, Trouble> {
    let (seconds, found) = clocked(g, |g| {
        let files = files::listed(g, &asked.path)?;
        let text = files::read(g, &files)?;
        let (top, sums) = counted(g, &text, |counts| (best(counts, asked.top), Sums::of_counts(counts)));
        let all = g.step(|s| s.collect(top)).concat();
        Ok::<_, Trouble>((files, text, first(all, asked.top), sums))
    });
    let (files, text, top, counted) = found?;
    // What a plain pass over the text finds must be what the tables add up to.
    let plain = Sums::of_text(&text);
    let [counted, plain] = g.step(|s| [counted, plain].map(|sums| s.reduce(sums.0, superstep::operators::Each(Sum))));
    let bytes: u64 = files.iter().map(|file| file.1).sum();
    let top: Vec<(String, u64)> =
        top.into_iter().map(|(count, word)| (String::from_utf8_lossy(&word).into_owned(), count)).collect();
    Ok(Summary::new("data words", seconds)
        .with("files", files.len())
        .with("bytes", bytes)
        .with("words", counted[Sums::WORDS])
        .with("distinct", counted[Sums::DISTINCT])
        .with("top", top)
        .rate(bytes as f64 / seconds / 1e6, "MB/s")
        .checked(counted[..Sums::DISTINCT] == plain[..Sums::DISTINCT]))
}

/// How many words there are, how many bytes they have, and how many differ.
struct Sums([u64; 3]);

impl Sums {
    const WORDS: usize = 0;
    const DISTINCT: usize = 2;

    fn of_counts(counts: &Counts<'_>) -> Self {
        let (mut words, mut bytes) = (0, 0);
        counts.for_each(|word, count| (words, bytes) = (words + count, bytes + word.len() as u64 * count));
        Self([words, bytes, counts.len() as u64])
    }

    /// Of a text, of which nothing is known but where words begin.
    fn of_text(text: &[u8]) -> Self {
        let (mut words, mut bytes, mut before) = (0, 0, b' ');
        for &byte in text {
            words += u64::from(before.is_ascii_whitespace() && !byte.is_ascii_whitespace());
            bytes += u64::from(!byte.is_ascii_whitespace());
            before = byte;
        }
        Self([words, bytes, 0])
    }
}

/// The most frequent words of a table.
fn best(counts: &Counts<'_>, top: usize) -> Vec<Ranked> {
    let mut all = Vec::with_capacity(counts.len());
    counts.for_each(|_, count| all.push(count));
    // Nothing that occurs less often can be among them.
    let at = all.len().saturating_sub(top.max(1));
    let least = if at == 0 { 0 } else { *all.select_nth_unstable(at).1 };
    let mut best = Vec::new();
    counts.for_each(|word, count| {
        if count >= least && top > 0 {
            best.push((count, word.to_vec()));
        }
    });
    first(best, top)
}

/// The most frequent ones of these, in order; those with the same count in the order of their bytes.
fn first(mut all: Vec<Ranked>, top: usize) -> Vec<Ranked> {
    all.sort_unstable_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    all.truncate(top);
    all
}
