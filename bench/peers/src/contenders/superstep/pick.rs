//! The library's filter, unique and `top_k` on an array in blocks.

use super::{on_all, timed};
use crate::{Sample, digest};
use ::superstep::{Array, Block, Group, Result, Sum, algorithms, distributions::Irregular};

fn filled(g: &mut Group, numbers: &[u64]) -> Array<u64, Block> {
    let array = g.array::<u64, Block>(numbers.len());
    let first = array.global(0).unwrap_or(0);
    let len = array.local().len();
    array.local_mut().copy_from_slice(&numbers[first..first + len]);
    array
}

fn picked(
    numbers: &[u64],
    pick: impl Fn(&mut Group, &Array<u64, Block>) -> Array<u64, Irregular> + Sync,
) -> Result<Sample> {
    on_all(|g| {
        let array = filled(g, numbers);
        pick(g, &array);
        let (seconds, picked) = timed(g, |g| pick(g, &array));
        let first = g.step(|s| s.prefix(picked.local().len(), Sum));
        Sample::of_answer(seconds, digest(first, picked.local().iter().copied()))
    })
}

pub(crate) fn filter(numbers: &[u64], keep: fn(u64) -> bool) -> Result<Sample> {
    picked(numbers, |g, array| algorithms::filter(g, array, |&number| keep(number)))
}

pub(crate) fn unique(numbers: &[u64]) -> Result<Sample> {
    picked(numbers, algorithms::unique)
}

pub(crate) fn top_k(numbers: &[u64], k: usize) -> Result<Sample> {
    on_all(|g| {
        let array = filled(g, numbers);
        algorithms::top_k(g, &array, k);
        let (seconds, top) = timed(g, |g| algorithms::top_k(g, &array, k));
        // All get it; one of them tells.
        Sample::of_answer(seconds, if g.is_leader() { digest(0, top) } else { 0 })
    })
}
