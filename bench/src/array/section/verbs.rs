//! The blocks by each verb for sections.
//!
//! Every round writes its number into the first word of what it sends and looks for it in what came.

use super::block::{fill, is_block};
use crate::{
    clock::{WARM_UP, clocked, on_all},
    contest::Sample,
    digest::digest,
};
use superstep::{Block, Config, Group, Result, Step};

/// Runs rounds in which each reads the next one's block; `read` gets the room of the last result.
fn reading(
    config: &Config,
    words: usize,
    rounds: u64,
    read: impl Fn(&mut Group, &superstep::Array<u64, Block>, std::ops::Range<usize>, Vec<u64>) -> Vec<u64> + Sync,
) -> Result<Sample> {
    on_all(config, |g| {
        let (rank, p) = (g.rank(), g.size());
        let (next, a) = ((rank + 1) % p, g.array::<u64, Block>(p * words));
        fill(&mut a.local_mut(), rank);
        let (mut block, mut is_right) = (Vec::new(), true);
        let seconds = clocked(rounds, |round| {
            a.local_mut()[0] = round;
            block = read(g, &a, next * words..(next + 1) * words, std::mem::take(&mut block));
            is_right &= block[0] == round;
        });
        (seconds, is_right && is_block(&block, words, next, WARM_UP + rounds), digest(&block))
    })
}

/// `mirror`: the result is a new vector every time.
pub(super) fn mirror(config: &Config, words: usize, rounds: u64) -> Result<Sample> {
    reading(config, words, rounds, |g, a, section, last| {
        // Freed before the next is made, as in a loop whose body keeps nothing.
        drop(last);
        g.step(|s: &Step| s.mirror(a, section))
    })
}

/// `mirror_into`: the result uses the room of the last.
pub(super) fn mirror_into(config: &Config, words: usize, rounds: u64) -> Result<Sample> {
    reading(config, words, rounds, |g, a, section, last| g.step(|s: &Step| s.mirror_into(a, section, last)))
}

/// `update`: each writes the next one's block.
pub(super) fn update(config: &Config, words: usize, rounds: u64) -> Result<Sample> {
    on_all(config, |g| {
        let (rank, p) = (g.rank(), g.size());
        let (next, before) = ((rank + 1) % p, (rank + p - 1) % p);
        let (a, mine) = (g.array::<u64, Block>(p * words), g.area::<u64>(words));
        fill(&mut mine.local_mut(), rank);
        let mut is_right = true;
        let seconds = clocked(rounds, |round| {
            mine.local_mut()[0] = round;
            g.step(|s| s.update(&a, next * words..(next + 1) * words, &mine.local()));
            is_right &= a.local()[0] == round;
        });
        (seconds, is_right && is_block(&a.local(), words, before, WARM_UP + rounds), digest(&a.local()))
    })
}
