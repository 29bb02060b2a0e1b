//! Letters of genomes: from files, or made up.

use crate::{Trouble, random::Random};
use std::path::Path;
use superstep::{Group, files::Lines};

/// What is between two pieces, or was not read well.
pub(super) const CUT: u8 = 4;

/// How often each letter of the genome is read.
const COVERAGE: usize = 10;
/// One letter in so many is read wrong.
const WRONG: usize = 200;

/// Reads of a genome that are made up: each begins anywhere and has a wrong letter now and then, so that most words
/// occur about ten times and many occur once, as they do in nature.
///
/// ```
/// use superstep_programs::data::kmers::Reads;
///
/// let reads = Reads { count: 20, seed: 1 };
/// assert_eq!(reads.read(7), Reads { count: 20, seed: 1 }.read(7));
/// assert!(reads.read(7).iter().all(|&letter| letter < 4));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Reads {
    /// How many there are.
    pub count: usize,
    /// Which genome.
    pub seed: u64,
}

impl Reads {
    /// How many letters a read has.
    ///
    /// ```
    /// use superstep_programs::data::kmers::Reads;
    ///
    /// assert_eq!(Reads { count: 1, seed: 1 }.read(0).len(), Reads::LEN);
    /// ```
    pub const LEN: usize = 100;

    /// A read, by its number; letters are numbers below 4.
    ///
    /// ```
    /// assert!(superstep_programs::data::kmers::Reads { count: 1, seed: 1 }.read(0).iter().all(|&letter| letter < 4));
    /// ```
    pub fn read(&self, number: usize) -> Vec<u8> {
        let mut random = Random::new(!self.seed).skip(number * (1 + 2 * Self::LEN));
        let start = random.below(1 + self.count.div_ceil(COVERAGE) * Self::LEN);
        let mut genome = Random::new(self.seed).skip(start);
        let mut letter = || {
            let (right, wrong) = (genome.below(4), random.below(4));
            (if random.below(WRONG) == 0 { wrong } else { right }) as u8
        };
        (0..Self::LEN).map(|_| letter()).collect()
    }
}

/// A letter as a number: A, C, G and T in the order of the alphabet, so that the other strand has 3 minus it.
fn number(letter: u8) -> u8 {
    match letter {
        b'A' | b'a' => 0,
        b'C' | b'c' => 1,
        b'G' | b'g' => 2,
        b'T' | b't' => 3,
        _ => CUT,
    }
}

/// What a file looks like.
#[derive(Clone, Copy, PartialEq)]
enum Format {
    /// A line that begins with `>` before each sequence, which may have many lines.
    Fasta,
    /// Four lines for each read: `@` and a name, the letters, `+`, and how sure they are.
    Fastq,
    /// A read on each line.
    Plain,
}

/// Whether a piece was cut, and its last letters.
type Tail = (bool, Vec<u8>);

/// Reads the letters of this processor's lines of a file, and the `overlap` letters before them that belong to the same
/// sequence. Collective.
pub(super) fn read(g: &mut Group, path: &Path, overlap: usize) -> Result<Vec<u8>, Trouble> {
    let lines = g.read_lines(path)?;
    // Of a short file the lowest ranks may have nothing.
    let first = lines.bytes().first().copied();
    let format = match g.step(|s| s.reduce(first, |first: &mut Option<u8>, next: &Option<u8>| *first = first.or(*next)))
    {
        Some(b'>' | b';') => Format::Fasta,
        Some(b'@') => Format::Fastq,
        _ => Format::Plain,
    };
    let mine = letters(&lines, format).map_err(|(line, what)| format!("{}: line {line}: {what}", path.display()));
    let mine = g.try_step(|s| s.agree(mine))?;
    if format != Format::Fasta {
        return Ok(mine);
    }
    // A sequence goes on behind the end of a processor's lines, or behind several ends, where lines are few. What comes
    // before all of mine is the lower ranks' tails, one behind another: that is associative, so it is a prefix.
    let behind = mine.iter().rposition(|&letter| letter == CUT);
    let letters = &mine[behind.map_or(0, |at| at + 1)..];
    let tail: Tail = (behind.is_some(), letters[letters.len().saturating_sub(overlap)..].to_vec());
    let (_, mut all) = g.step(|s| {
        s.prefix(tail, move |before: &mut Tail, next: &Tail| {
            if next.0 {
                before.clone_from(next);
            } else {
                before.1.extend_from_slice(&next.1);
                before.1.drain(..before.1.len().saturating_sub(overlap));
            }
        })
    });
    all.extend_from_slice(&mine);
    Ok(all)
}

/// The letters of some lines; or which of them is wrong, and why.
fn letters(lines: &Lines, format: Format) -> Result<Vec<u8>, (u64, &'static str)> {
    let mut letters = Vec::with_capacity(lines.bytes().len());
    for (at, line) in (lines.first_number()..).zip(lines) {
        let line = line.trim_ascii_end();
        match (format, at % 4, line.first()) {
            (Format::Fasta, _, Some(b'>' | b';')) => letters.push(CUT),
            (Format::Fasta, ..) => letters.extend(line.iter().map(|&letter| number(letter))),
            (Format::Fastq, 1, Some(b'@') | None) | (Format::Fastq, 3, Some(b'+')) | (Format::Fastq, 0, _) => {}
            (Format::Fastq, 1, _) => return Err((at, "a read begins with a line that begins with @")),
            (Format::Fastq, 3, _) => {
                return Err((at, "the letters of a read are followed by a line that begins with +"));
            }
            _ => {
                letters.extend(line.iter().map(|&letter| number(letter)));
                letters.push(CUT);
            }
        }
    }
    Ok(letters)
}
