//! The numbers from 0 on are put in a random order.
//!
//! Bale throws darts: every number tries random places until it finds a free one, which takes a round for those that
//! were too late, and another. Here every number draws a key, no two the same, and the numbers are sorted by key: a
//! sample sort, of 4 supersteps and h = n / p.

use crate::{Summary, Trouble, asked::at_least_one, parts::clocked, summary::checksum};
use superstep::{Block, Group, Sum, algorithms::random_permutation};

/// How many numbers, and in which order.
#[derive(Clone, Debug, clap::Args)]
pub struct Permutation {
    /// How many numbers there are.
    #[arg(long, default_value_t = 10_000_000, value_parser = at_least_one)]
    pub len: usize,
    /// Which order of all that are possible.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
}

pub(super) fn run(g: &mut Group, asked: &Permutation) -> Result<Summary, Trouble> {
    let seen = g.try_array::<u32, Block>(asked.len)?;
    let (seconds, numbers) = clocked(g, |g| random_permutation(g, asked.len, asked.seed));
    let first = numbers.global(0).unwrap_or(0);
    let here = checksum(first, numbers.local().iter().map(|&number| number as u64));
    let stay = (first..).zip(numbers.local().iter()).filter(|&(at, &number)| at == number).count();
    let is_in_range = numbers.local().iter().all(|&number| number < asked.len);
    let places = if is_in_range { numbers.local().to_vec() } else { Vec::new() };
    // Each number marks its place. If all of them are marked, each was once.
    g.step(|s| s.scatter_one(&seen, &places, 1, Sum));
    let is_right = is_in_range && seen.local().iter().all(|&count| count == 1);
    let (wrong, checksum, stay) =
        g.step(|s| (s.reduce(u32::from(!is_right), Sum), s.reduce(here, Sum), s.reduce(stay, Sum)));
    Ok(Summary::new("bale permutation", seconds)
        .with("len", asked.len)
        .with("fixed points", stay)
        .with("checksum", checksum)
        .rate(asked.len as f64 / seconds / 1e6, "million numbers/s")
        .checked(wrong == 0))
}
