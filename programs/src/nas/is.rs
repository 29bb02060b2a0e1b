//! IS: integers are ranked by their values, ten times, with two of them changed before each.
//!
//! The rank of a key is how many keys are smaller: where it would stand if all were sorted. Keys are small, so they are
//! counted by value, and the counts are added up.
//!
//! # The program
//!
//! Each processor has a block of the keys, and the counts of all values lie spread over all. It counts its own keys,
//! and adds the counts to those of their owners by `update_with`: contributions meet there, whoever they come from.
//! Owners add up the counts from the first value on, and a prefix tells how many keys are below theirs.
//!
//! # Supersteps
//!
//! For n keys of m values on p processors, an iteration is two supersteps:
//!
//! | | work | words sent | supersteps |
//! |---|---|---|---|
//! | counting, and adding up where values belong | n / p + m | m (p - 1) / p | 1 |
//! | ranks | 2 m / p | 1 | 1 |
//!
//! # How it scales
//!
//! Counting has p times fewer keys, but words and work for m counts stay as they are: with n = 16 m, as in most
//! classes, that is little up to about 8 processors. Beyond, keys would have to go to the owners of their values
//! instead.
//!
//! # What the peers do
//!
//! The suite does just that under MPI: it sorts keys into 1024 buckets, deals these out so that all processors have
//! about as many keys, and sends the keys by `MPI_Alltoallv`: n / p words each. On bare threads, and in C with
//! `MPI_Reduce_scatter` (`bench/peers`), the algorithm is the one here.

use super::{Class, Figures, Kernel, Outcome, Value, official, random::Random};
use std::{ops::Range, time::Instant};
use superstep::{Array, Block, Group, Max, Sum};

const SEED: u64 = 314_159_265;
const ITERATIONS: usize = 10;

/// How many keys and how many values there are, and how often they are ranked.
///
/// ```
/// use superstep_programs::nas::{Class, is};
///
/// assert_eq!(is::size(Class::S), (1 << 16, 1 << 11, 10));
/// ```
pub fn size(class: Class) -> (usize, usize, usize) {
    let (len, most) = class.pick([(16, 11), (20, 16), (23, 19), (25, 21)]);
    (1 << len, 1 << most, ITERATIONS)
}

pub(super) fn run(g: &mut Group, class: Class) -> Outcome {
    let (len, most, iterations) = size(class);
    let keys = g.array::<u32, Block>(len);
    let first = keys.global(0).unwrap_or(0);
    let count = keys.local().len();
    keys.local_mut().copy_from_slice(&self::keys(first..first + count, most));
    // Everybody counts in a part of its own, which lies where arrays do: on large pages.
    let (ranks, counts) = (g.array::<u32, Block>(most), g.array::<u32, Block>(most * g.size()));
    let (mut values, mut is_sound, mut seconds) = (Vec::new(), true, 0.0);
    for iteration in 0..=iterations {
        // The first one is not counted, and does as the next.
        let i = iteration.max(1);
        g.step(|_| ());
        let start = Instant::now();
        for (place, key) in changes(i, most) {
            if keys.is_owned(place) {
                keys.set(place, key);
            }
        }
        rank(g, &keys, &ranks, &counts);
        if iteration > 0 {
            seconds += start.elapsed().as_secs_f64();
        }
        values = known(g, class, &keys, &ranks, i);
        is_sound &= values.iter().all(Value::is_right);
    }
    is_sound &= is_sorted(g, &keys, &ranks);
    let seconds = g.step(|s| s.reduce(seconds, Max));
    let figures = Figures::of(Kernel::Is, class, seconds);
    Outcome { kernel: Kernel::Is, class, values, is_sound, figures }
}

/// The keys at these places: each is a quarter of the sum of four random numbers.
///
/// ```
/// assert!(superstep_programs::nas::is::keys(7..9, 100).iter().all(|&key| key < 100));
/// ```
pub fn keys(places: Range<usize>, most: usize) -> Vec<u32> {
    let mut random = Random::new(SEED).skip(4 * places.start as u64);
    let mut key = || {
        let sum: f64 = [(); 4].iter().map(|()| random.next()).sum();
        ((most / 4) as f64 * sum) as u32
    };
    places.map(|_| key()).collect()
}

/// Which places have another key from this iteration on.
///
/// ```
/// assert_eq!(superstep_programs::nas::is::changes(3, 100), [(3, 3), (13, 97)]);
/// ```
pub fn changes(iteration: usize, most: usize) -> [(usize, u32); 2] {
    [(iteration, iteration as u32), (iteration + ITERATIONS, (most - iteration) as u32)]
}

/// Counts keys by their values.
///
/// ```
/// let mut counts = [9; 4];
/// superstep_programs::nas::is::count(&[3, 1, 3], &mut counts);
/// assert_eq!(counts, [0, 1, 0, 2]);
/// ```
pub fn count(keys: &[u32], counts: &mut [u32]) {
    counts.fill(0);
    for &key in keys {
        counts[key as usize] += 1;
    }
}

/// Sets each count to the sum of those before it, and returns the sum of all.
///
/// ```
/// let mut counts = [5, 1, 2];
/// assert_eq!((superstep_programs::nas::is::add_up(&mut counts), counts), (8, [0, 5, 6]));
/// ```
pub fn add_up(counts: &mut [u32]) -> u32 {
    counts.iter_mut().fold(0, |below, count| below + std::mem::replace(count, below))
}

/// The ranks of five keys after an iteration, beside the official ones. `rank_at` says what rank the key at a place
/// has.
///
/// ```
/// use superstep_programs::nas::{Class, is};
///
/// assert!(is::values(Class::S, 1, |place| if place == 48427 { 1 } else { 0 })[0].is_right());
/// ```
pub fn values(class: Class, iteration: usize, mut rank_at: impl FnMut(usize) -> u32) -> Vec<Value> {
    let known = official::RANKS[class as usize].iter();
    let value = |&(place, rank, shift): &(usize, i64, i64)| {
        let official = (rank + shift * iteration as i64) as f64;
        Value::new(format!("rank of the key at {place}"), f64::from(rank_at(place)), official, 0.0)
    };
    known.map(value).collect()
}

/// Finds how many keys are smaller than each value.
fn rank(g: &mut Group, keys: &Array<u32, Block>, ranks: &Array<u32, Block>, counts: &Array<u32, Block>) {
    count(&keys.local(), &mut counts.local_mut());
    let low = ranks.global(0).unwrap_or(ranks.len());
    let high = low + ranks.local().len();
    ranks.local_mut().copy_from_slice(&counts.local()[low..high]);
    // The first superstep: the counts of all others are added where they belong.
    g.step(|s| {
        let counts = counts.local();
        s.update_with(ranks, ..low, &counts[..low], Sum);
        s.update_with(ranks, high.., &counts[high..], Sum);
    });
    let here = add_up(&mut ranks.local_mut());
    // The second one: how many keys are below those here.
    let before = g.step(|s| s.prefix(here, Sum));
    ranks.local_mut().iter_mut().for_each(|rank| *rank += before);
}

/// Five of the ranks.
fn known(
    g: &mut Group,
    class: Class,
    keys: &Array<u32, Block>,
    ranks: &Array<u32, Block>,
    iteration: usize,
) -> Vec<Value> {
    let places = official::RANKS[class as usize].map(|(place, ..)| place);
    let there: Vec<usize> = g.step(|s| s.gather(keys, &places)).iter().map(|&key| key as usize).collect();
    let mut found = g.step(|s| s.gather(ranks, &there)).into_iter();
    values(class, iteration, |_| found.next().unwrap_or(u32::MAX))
}

/// Whether all keys, put in the order of their ranks, are sorted: each place is taken once, by rising keys.
fn is_sorted(g: &mut Group, keys: &Array<u32, Block>, ranks: &Array<u32, Block>) -> bool {
    let (mine, me) = (keys.local().to_vec(), g.rank());
    let values: Vec<usize> = mine.iter().map(|&key| key as usize).collect();
    let first = g.step(|s| s.gather(ranks, &values));
    // Keys of one value follow each other by processor, and on each by place.
    let mut here = vec![0u32; ranks.len()];
    count(&mine, &mut here);
    let all = g.step(|s| s.prefix(here, superstep::Each(Sum)));
    let mut next = if me == 0 { vec![0; ranks.len()] } else { all };
    let places: Vec<usize> = (values.iter().zip(first))
        .map(|(&value, first)| {
            next[value] += 1;
            (first + next[value] - 1) as usize
        })
        .collect();
    // Keys are smaller than what is there before, so a place that nobody takes is found.
    let sorted = g.array::<u32, Block>(keys.len());
    sorted.local_mut().fill(u32::MAX);
    g.step(|s| s.scatter(&sorted, &places, &mine, superstep::Any));
    let is_taken = sorted.local().iter().all(|&key| key != u32::MAX);
    g.step(|s| s.reduce(is_taken, superstep::And)) && superstep::algorithms::is_sorted(g, &sorted)
}
