//! IS: integers are ranked by their values, ten times, with two of them changed before each.
//!
//! Each processor has a block of the keys, and the counts of all values lie spread over all. An iteration is two
//! supersteps: each processor counts its own keys and adds the counts to those of their owners; then owners add up the
//! counts from the first value on, and need to know how many keys are below theirs.

use super::{Class, Kernel, Outcome, random::Random};
use std::time::Instant;
use superstep::{Array, Block, Group, Max, Sum};

const SEED: u64 = 314_159_265;
const ITERATIONS: usize = 10;

/// The keys at these places have these ranks, in classes S and W: a number, plus this many times the iteration.
type Known = [(usize, i64, i64); 5];

const SMALL: Known = [(48427, 0, 1), (17148, 18, 1), (23627, 346, 1), (62548, 64917, -1), (4431, 65463, -1)];
const WORKSTATION: Known = [
    (357_773, 1249 - 2, 1),
    (934_767, 11698 - 2, 1),
    (875_723, 1_039_987, -1),
    (898_999, 1_043_896, -1),
    (404_505, 1_048_018, -1),
];

pub(super) fn run(g: &mut Group, class: Class) -> Outcome {
    let (len, most) = class.pick([(16, 11), (20, 16), (23, 19), (25, 21)]);
    let (len, most) = (1usize << len, 1usize << most);
    let keys = keys(g, len, most);
    let ranks = g.array::<u32, Block>(most);
    let known: &[_] = match class {
        Class::S => &SMALL,
        Class::W => &WORKSTATION,
        _ => &[],
    };
    let (mut is_sound, mut seconds) = (true, 0.0);
    for iteration in 0..=ITERATIONS {
        // The first one is not counted, and does as the last.
        let i = if iteration == 0 { 1 } else { iteration };
        g.step(|_| ());
        let start = Instant::now();
        for (place, key) in [(i, i), (i + ITERATIONS, most - i)] {
            if keys.is_owned(place) {
                keys.set(place, key as u32);
            }
        }
        rank(g, &keys, &ranks);
        if iteration > 0 {
            seconds += start.elapsed().as_secs_f64();
        }
        is_sound &= agrees(g, &keys, &ranks, known, i as i64);
    }
    is_sound &= is_sorted(g, &keys, &ranks);
    let seconds = g.step(|s| s.reduce(seconds, Max));
    Outcome { kernel: Kernel::Is, class, values: Vec::new(), is_sound, seconds }
}

/// The keys: each is a quarter of the sum of four random numbers.
fn keys(g: &mut Group, len: usize, most: usize) -> Array<u32, Block> {
    let keys = g.array::<u32, Block>(len);
    let first = keys.global(0).unwrap_or(0);
    let mut random = Random::new(SEED).skip(4 * first as u64);
    for key in keys.local_mut().iter_mut() {
        let sum: f64 = [(); 4].iter().map(|()| random.next()).sum();
        *key = ((most / 4) as f64 * sum) as u32;
    }
    keys
}

/// Finds how many keys are smaller than each value.
fn rank(g: &mut Group, keys: &Array<u32, Block>, ranks: &Array<u32, Block>) {
    let mut counts = vec![0u32; ranks.len()];
    for &key in keys.local().iter() {
        counts[key as usize] += 1;
    }
    ranks.local_mut().fill(0);
    // The first superstep: everybody's counts are added up where they belong.
    g.step(|s| s.update_with(ranks, .., &counts, Sum));
    let mut below = 0;
    for rank in ranks.local_mut().iter_mut() {
        below += std::mem::replace(rank, below);
    }
    // The second one: how many keys are below those here.
    let before = g.step(|s| s.prefix(below, Sum));
    ranks.local_mut().iter_mut().for_each(|rank| *rank += before);
}

/// Whether the keys at known places have the ranks that are known.
fn agrees(
    g: &mut Group,
    keys: &Array<u32, Block>,
    ranks: &Array<u32, Block>,
    known: &[(usize, i64, i64)],
    i: i64,
) -> bool {
    let places: Vec<usize> = known.iter().map(|&(place, ..)| place).collect();
    let there: Vec<usize> = g.step(|s| s.gather(keys, &places)).iter().map(|&key| key as usize).collect();
    let found = g.step(|s| s.gather(ranks, &there));
    known.iter().zip(found).all(|(&(_, rank, shift), found)| i64::from(found) == rank + shift * i)
}

/// Whether all keys, put in the order of their ranks, are sorted: each place is taken once, by rising keys.
fn is_sorted(g: &mut Group, keys: &Array<u32, Block>, ranks: &Array<u32, Block>) -> bool {
    let (mine, me) = (keys.local().to_vec(), g.rank());
    let values: Vec<usize> = mine.iter().map(|&key| key as usize).collect();
    let first = g.step(|s| s.gather(ranks, &values));
    // Keys of one value follow each other by processor, and on each by place.
    let mut here = vec![0u32; ranks.len()];
    for &value in &values {
        here[value] += 1;
    }
    let all = g.step(|s| s.prefix(here, superstep::Each(Sum)));
    let mut next = if me == 0 { vec![0; ranks.len()] } else { all };
    let places: Vec<usize> = (values.iter().zip(first))
        .map(|(&value, first)| {
            next[value] += 1;
            (first + next[value] - 1) as usize
        })
        .collect();
    let sorted = g.array::<u32, Block>(keys.len());
    g.step(|s| s.scatter(&sorted, &places, &mine, superstep::Any));
    superstep::algorithms::is_sorted(g, &sorted)
}
