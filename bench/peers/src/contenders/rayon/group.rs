//! Hash maps on rayon's threads, sharded by hand.

use super::timed;
use crate::{
    PROCS, Sample,
    kernels::group::{Rows, groups},
    mix,
};
use ::rayon::prelude::*;
use rustc_hash::FxHashMap;

type Map = FxHashMap<u64, u64>;

/// Which of the shards has a key.
fn shard(key: u64) -> usize {
    ((u128::from(mix(key)) * PROCS as u128) >> 64) as usize
}

fn told(play: impl FnOnce() -> Vec<Map>) -> Sample {
    let mut shards = Vec::new();
    let seconds = timed(|| shards = play());
    Sample::of_answer(seconds, groups(shards.into_iter().flatten()))
}

fn chunks(rows: &Rows) -> impl IndexedParallelIterator<Item = impl Iterator<Item = (&u64, &u64)>> {
    let len = rows.len().div_ceil(PROCS);
    rows.keys.par_chunks(len).zip(rows.values.par_chunks(len)).map(|(keys, values)| keys.iter().zip(values))
}

/// Each thread deals its rows, and adds up those of its shard.
pub(crate) fn dealt(rows: &Rows) -> Sample {
    told(|| {
        let dealt: Vec<[Vec<(u64, u64)>; PROCS]> = chunks(rows)
            .map(|chunk| {
                let mut shards = [const { Vec::new() }; PROCS];
                chunk.for_each(|(&key, &value)| shards[shard(key)].push((key, value)));
                shards
            })
            .collect();
        let add_up = |number: usize| {
            let mut sums = Map::default();
            for (key, value) in dealt.iter().flat_map(|shards| &shards[number]) {
                *sums.entry(*key).or_default() += value;
            }
            sums
        };
        (0..PROCS).into_par_iter().map(add_up).collect()
    })
}

/// Each thread adds up its rows in a map for each shard, and then those of its shard.
pub(crate) fn added_up_first(rows: &Rows) -> Sample {
    told(|| {
        let maps: Vec<[Map; PROCS]> = chunks(rows)
            .map(|chunk| {
                let mut shards: [Map; PROCS] = Default::default();
                chunk.for_each(|(&key, value)| *shards[shard(key)].entry(key).or_default() += value);
                shards
            })
            .collect();
        let add_up = |number: usize| {
            let mut sums = maps[0][number].clone();
            for (key, value) in maps[1..].iter().flat_map(|shards| &shards[number]) {
                *sums.entry(*key).or_default() += value;
            }
            sums
        };
        (0..PROCS).into_par_iter().map(add_up).collect()
    })
}
