//! Numbers in an order that a seed draws.

use super::{
    order::{Natural, Ties},
    random::{mixed, unmixed},
    runs::{Starts, declare, even_starts, put_runs, refuse},
    sort::sorted,
    spread::even_out,
};
use crate::{
    engine::{AsElements, Group},
    error::ErrorKind,
    memory::{Array, Block},
};
use std::panic::Location;

/// The numbers below `len` in the order of what is drawn for each. No two numbers draw the same, so the order does not
/// depend on who has which, and the numbers can be told from what they drew.
#[track_caller]
fn drawn(g: &mut Group, len: usize, seed: u64) -> (Vec<usize>, Starts) {
    let site = Location::caller();
    declare(g, [len as u64, seed], format!("a permutation of {len} by seed {seed}"), site);
    let (first, second) = (mixed(seed), mixed(seed ^ u64::MAX));
    let (starts, me) = (even_starts(len, g.size()), g.rank());
    let draw = |number: usize| mixed(mixed(number as u64 ^ first) ^ second);
    let (mine, mut keys) = (starts[me]..starts[me + 1], Vec::<u64>::new());
    if !fabric::try_make_room(&mut keys, mine.len()) {
        let what = format!("a permutation of {len}: there is no memory for {} numbers of rank {me}", mine.len());
        refuse(g, ErrorKind::OutOfMemory, &what, site);
    }
    keys.extend(mine.map(draw));
    let (keys, starts) = sorted::<u64, AsElements>(g, keys, &Natural, Ties::Free);
    if starts[g.size()] < len {
        let what = format!("a member has left, and with it a part of a permutation of {len}");
        refuse(g, ErrorKind::Departed, &what, site);
    }
    let number = |key: u64| (unmixed(unmixed(key) ^ second) ^ first) as usize;
    (keys.into_iter().map(number).collect(), starts)
}

/// Makes an array of the numbers from 0 to `len - 1` in an order that `seed` draws: the same on every number of
/// processors. Collective.
///
/// ```
/// use superstep::{Block, Config, algorithms};
///
/// let shuffled = |procs: usize| Config::new().procs(procs).run(|g| {
///     let to = algorithms::random_permutation(g, 8, 7);
///     let a = g.array::<usize, Block>(8);
///     a.forall_mut(|i, x| *x = 10 * i);
///     g.step(|s| s.permute(&a, &a, &to));           // puts element i at to[i]
///     g.step(|s| s.mirror(&a, ..))
/// }).unwrap();
/// assert_eq!(shuffled(2), shuffled(3));
/// ```
///
/// # Cost
///
/// 4 steps, one of which makes the array; n / p g and work as for a [`sort`](super::sort) of numbers.
///
/// # Panics
///
/// If `len` or `seed` differs between members, or if there is no memory for so many numbers (`OutOfMemory`).
#[track_caller]
pub fn random_permutation(g: &mut Group, len: usize, seed: u64) -> Array<usize, Block> {
    let (numbers, starts) = drawn(g, len, seed);
    let out = g.array::<usize, Block>(len);
    put_runs(g, &out, 0, &starts, &numbers);
    out
}

/// Draws like [`random_permutation`]; each processor gets a block of ⌈n / p⌉ of the numbers. Collective.
///
/// ```
/// let numbers = superstep::Config::new().procs(2).run_all(|g| {
///     superstep::algorithms::random_permutation_vec(g, 10, 1)
/// });
/// let mut all = numbers.unwrap().concat();
/// all.sort();
/// assert!(all.into_iter().eq(0..10));
/// ```
#[track_caller]
pub fn random_permutation_vec(g: &mut Group, len: usize, seed: u64) -> Vec<usize> {
    let (numbers, starts) = drawn(g, len, seed);
    even_out::<usize, AsElements>(g, &starts, numbers)
}
