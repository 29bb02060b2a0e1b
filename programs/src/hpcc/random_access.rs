//! `RandomAccess`: words of a distributed table are changed at random places.
//!
//! The table has 2ⁿ words, each its own number. A stream of numbers is drawn, four for each word, and `a` of the stream
//! does `table[a mod 2ⁿ] ^= a`. The next number is the last one shifted by one bit to the left, and 7 is added without
//! carry where a bit was lost: numbers are powers of x among the polynomials with coefficients 0 and 1 modulo
//! x⁶⁴ + x² + x + 1, so each processor finds where its part of the stream begins by a few multiplications.
//!
//! # The program
//!
//! Each processor draws its part of the stream, and scatters it by `Xor`, so many updates with each superstep. The
//! rules of the benchmark allow to look ahead by 1024 updates on each processor, and that is what is done unless
//! `--ahead` says otherwise. They also allow that one update of a hundred is lost to races; here none is, because
//! owners apply what came for them.
//!
//! # Its supersteps
//!
//! A superstep has w = 1024 updates of each processor: h = 2 w words, a place and a value each, and so the program
//! takes 4 · 2ⁿ / (p w) · (w + 2 w g + l). With l of a few tenths of a microsecond on threads, as much time goes into
//! the boundary as into a hundred updates; on a network l is what decides, and a larger `--ahead` shows by how much.
//!
//! # How it scales
//!
//! Nothing grows with p but the boundary's l, and the messages of a superstep: p - 1 of them with w / p updates each.
//! At p = 64 these are 16 updates long, and so the rules, and not the network's bandwidth, say how fast it can be. That
//! is the point of this benchmark.
//!
//! # What peers do
//!
//! The reference in C and MPI keeps buckets for each process and sends the fullest one whenever 1024 updates are
//! waiting. Lamellar sends active messages, or calls `batch_bit_xor` of an array; Rust with rayon changes atomic words
//! of a shared table. `bench/peers`, kernel `random-access`, holds them side by side.

use crate::{
    Summary, Trouble,
    asked::at_least_one,
    parts::{batches, clocked, part},
};
use std::ops::Range;
use superstep::{Array, Block, Group, Sum, operators::Xor};

/// How large a table, and how far a processor looks ahead.
#[derive(Clone, Debug, clap::Args)]
pub struct RandomAccess {
    /// The table has two to the power of this words.
    #[arg(long, default_value_t = 22, value_parser = clap::value_parser!(u32).range(0..=58))]
    pub log2: u32,
    /// How many updates a processor collects before they are sent; the rules allow 1024.
    #[arg(long, default_value_t = 1024, value_parser = at_least_one)]
    pub ahead: usize,
}

/// How many updates there are for each word.
const PER_WORD: usize = 4;
/// One update of so many may be wrong.
const ALLOWED: usize = 100;

/// The number that follows.
#[inline]
fn next(number: u64) -> u64 {
    (number << 1) ^ (if (number as i64) < 0 { 7 } else { 0 })
}

/// The product of two polynomials.
fn product(mut a: u64, mut b: u64) -> u64 {
    let mut sum = 0;
    while b != 0 {
        sum ^= if b & 1 == 1 { a } else { 0 };
        (a, b) = (next(a), b >> 1);
    }
    sum
}

/// The number at a place of the stream, which begins with 1: x to this power.
fn number(mut place: usize) -> u64 {
    let (mut power, mut square) = (1, 2);
    while place > 0 {
        if place & 1 == 1 {
            power = product(power, square);
        }
        (square, place) = (product(square, square), place >> 1);
    }
    power
}

/// The numbers of some updates, counted from 0.
///
/// ```
/// assert!(superstep_programs::hpcc::stream(62..65).eq([1 << 63, 7, 14]));
/// ```
pub fn stream(updates: Range<usize>) -> impl Iterator<Item = u64> {
    let mut last = number(updates.start);
    updates.map(move |_| {
        last = next(last);
        last
    })
}

pub(super) fn run(g: &mut Group, asked: &RandomAccess) -> Result<Summary, Trouble> {
    let len = 1usize << asked.log2;
    let table = g.try_array::<u64, Block>(len)?;
    table.forall_mut(|at, word| *word = at as u64);
    let (seconds, ()) = clocked(g, |g| update(g, &table, PER_WORD * len, asked.ahead));
    let errors = errors(&table, PER_WORD * len);
    let errors = g.step(|s| s.reduce(errors, Sum));
    Ok(Summary::new("hpcc random-access", seconds)
        .with("table", len)
        .with("updates", PER_WORD * len)
        .with("errors", errors)
        .with("share of errors", errors as f64 / len as f64)
        .rate((PER_WORD * len) as f64 / seconds / 1e6, "million updates/s")
        .checked(errors <= len / ALLOWED))
}

/// Makes the first `updates` updates of the stream, at most `ahead` of each processor with a step. Collective.
///
/// ```
/// use superstep::{Block, Config};
/// use superstep_programs::hpcc::update;
///
/// let words = Config::new().procs(2).run(|g| {
///     let table = g.array::<u64, Block>(4);
///     update(g, &table, 3, 1024);                              // by 2, 4 and 8
///     g.step(|s| s.mirror(&table, ..))
/// });
/// assert_eq!(words.unwrap(), [4 ^ 8, 0, 2, 0]);
/// ```
pub fn update(g: &mut Group, table: &Array<u64, Block>, updates: usize, ahead: usize) {
    let mask = table.len() - 1;
    let mut numbers = stream(part(updates, g.rank(), g.size()));
    for batch in batches(g, updates, ahead) {
        g.step(|s| {
            let mut updates = s.scatterer(table, Xor);
            for number in numbers.by_ref().take(batch.len()) {
                updates.push(number as usize & mask, number);
            }
        });
    }
}

/// How many words here are not what they are once their owner has undone all updates of them, in the stream's order.
fn errors(table: &Array<u64, Block>, updates: usize) -> usize {
    let (first, mask) = (table.global(0).unwrap_or(0), table.len() - 1);
    let mut words = table.local().to_vec();
    for number in stream(0..updates) {
        if let Some(word) = words.get_mut((number as usize & mask).wrapping_sub(first)) {
            *word ^= number;
        }
    }
    (first..).zip(words).filter(|&(at, word)| at as u64 != word).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_of_the_stream_is_found_without_what_is_before_it() {
        let mut drawn = 1;
        for place in 0..1000 {
            assert_eq!(number(place), drawn);
            drawn = next(drawn);
        }
        assert_eq!(number(1 << 40), product(number((1 << 40) - 12345), number(12345)));
    }

    #[test]
    fn what_is_wrong_is_counted() {
        let errors = superstep::Config::new().procs(1).run(|g| {
            let table = g.array::<u64, Block>(64);
            table.forall_mut(|at, word| *word = at as u64);
            update(g, &table, 256, 1024);
            let right = errors(&table, 256);
            for at in [3, 9] {
                table.set(at, table.get(at) ^ 1);
            }
            [right, errors(&table, 256), errors(&table, 255)]
        });
        assert_eq!(errors.unwrap(), [0, 2, 3]);
    }
}
