//! The sort as a superstep program.

use super::{
    keys::{Input, Key},
    local::{cut, sort},
};
use crate::{
    clock::{on_all, watched},
    contest::Sample,
    digest::digest,
    random::Random,
};
use std::ops::Range;
use superstep::{Array, Block, Config, Each, Group, Local, Result, Sum, algorithms};

/// How many keys each processor draws for every pivot. With one, as in the figure, slices would differ widely.
const OVERSAMPLING: usize = 128;

/// Memory that a processor uses again for the next sort.
#[derive(Default)]
struct Room<K: Key> {
    sliced: Vec<K>,
    mine: Vec<K>,
    sort: Vec<K::Bits>,
}

/// What the first two steps find out: how keys are cut, and where each slice goes.
struct Slices {
    /// How long this processor's slices are, by target.
    lens: Vec<usize>,
    /// How long each target's slice is, from all processors together.
    totals: Vec<usize>,
    /// Where in the array this processor's slices go.
    at: Vec<usize>,
}

impl Slices {
    /// Each slice in `sliced`, with where it goes.
    fn each<'a, K>(&'a self, mut sliced: &'a [K]) -> impl Iterator<Item = (Range<usize>, &'a [K])> {
        self.lens.iter().zip(&self.at).map(move |(&len, &at)| {
            let (slice, rest) = sliced.split_at(len);
            sliced = rest;
            (at..at + len, slice)
        })
    }

    /// Where the slice of `rank` lies in the array.
    fn range(&self, rank: usize) -> Range<usize> {
        let start = self.totals[..rank].iter().sum();
        start..start + self.totals[rank]
    }
}

/// Stages 1 to 4: draws and agrees on pivots, cuts what is here into `sliced`, and says where each slice goes.
fn slice<K: Key>(g: &mut Group, a: &Array<K, Block>, sliced: &mut Vec<K>) -> Slices {
    let p = g.size();
    let samples = g.step(|s| {
        let (keys, mut random) = (a.local(), Random::new(s.rank() as u64));
        let wanted = if keys.is_empty() { 0 } else { OVERSAMPLING * (p - 1) };
        let drawn: Vec<K> = (0..wanted).map(|_| keys[random.below(keys.len())]).collect();
        s.collect_slice(&drawn)
    });
    let (lens, totals, before) = g.step(|s| {
        let mut samples = samples.concat();
        K::sort(&mut samples);
        let pivots: Vec<K> =
            (1..p).map(|rank| samples.get(rank * samples.len() / p).copied().unwrap_or_default()).collect();
        let lens = cut(&a.local(), &pivots, sliced);
        (Local(lens.clone()), s.reduce(lens.clone(), Each(Sum)), s.prefix(lens, Each(Sum)))
    });
    let starts = totals.iter().scan(0, |sum, total| Some(std::mem::replace(sum, *sum + total)));
    // Nobody comes before the first.
    let before = if before.is_empty() { vec![0; p] } else { before };
    let at = starts.zip(before).map(|(start, before)| start + before).collect();
    Slices { lens, totals, at }
}

/// Sorts `a` into `b`: the paper's figure 3.
fn sort_blocks<K: Key>(g: &mut Group, a: &Array<K, Block>, b: &Array<K, Block>, room: &mut Room<K>) {
    let slices = slice(g, a, &mut room.sliced);
    let (mine, range) = (std::mem::take(&mut room.mine), slices.range(g.rank()));
    // Stages 5 and 6: what is read here was written in the same step.
    room.mine = g.step(|s| {
        slices.each(&room.sliced).for_each(|(range, slice)| s.update(b, range, slice));
        s.mirror_into(b, range.clone(), mine)
    });
    // Stages 7 and 8.
    g.step(|s| {
        sort(&mut room.mine, &mut room.sort);
        s.update(b, range, &room.mine);
    });
}

/// The input, in blocks.
fn blocks<K: Key>(g: &mut Group, input: &Input<K>) -> Array<K, Block> {
    let a = g.array::<K, Block>(input.keys.len());
    fill(&a, input);
    a
}

/// Makes an array what the input is.
fn fill<K: Key>(a: &Array<K, Block>, input: &Input<K>) {
    let first = a.global(0).unwrap_or(0);
    let here = first..first + a.local().len();
    a.local_mut().copy_from_slice(&input.keys[here]);
}

/// Whether this processor has what it should have of the sorted array.
fn is_sorted<K: Key>(b: &Array<K, Block>, input: &Input<K>) -> bool {
    let (first, part) = (b.global(0).unwrap_or(0), b.local());
    input.sorted[first..first + part.len()] == *part
}

/// Rounds of the paper's program.
pub(crate) fn figure_3<K: Key>(config: &Config, input: &Input<K>, rounds: u64) -> Result<Sample> {
    on_all(config, |g| {
        let (a, b) = (blocks(g, input), g.array::<K, Block>(input.keys.len()));
        let (mut room, mut is_right) = (Room::default(), true);
        let seconds = watched(rounds, |watch| {
            b.local_mut().fill(K::default());
            g.step(|_| ());
            watch.time(|| sort_blocks(g, &a, &b, &mut room));
            is_right &= is_sorted(&b, input);
        });
        (seconds, is_right, digest(&b.local()))
    })
}

/// Rounds of the library's own sort.
pub(crate) fn library<K: Key>(config: &Config, input: &Input<K>, rounds: u64) -> Result<Sample> {
    on_all(config, |g| {
        let (a, mut is_right) = (blocks(g, input), true);
        let seconds = watched(rounds, |watch| {
            fill(&a, input);
            g.step(|_| ());
            watch.time(|| algorithms::sort_unstable(g, &a));
            is_right &= is_sorted(&a, input);
        });
        (seconds, is_right, digest(&a.local()))
    })
}

#[cfg(test)]
mod tests {
    use super::{
        super::keys::{any, below_a_million, skewed},
        *,
    };

    fn check<K: Key>(keys: Vec<K>) {
        let input = Input::new(keys);
        for procs in [1, 2, 3, 5] {
            let config = Config::new().procs(procs);
            assert!(figure_3(&config, &input, 1).expect("the run succeeds").verified);
            assert!(library(&config, &input, 1).expect("the run succeeds").verified);
        }
    }

    #[test]
    fn both_programs_sort() {
        for len in [0, 1, 4, 1000] {
            check(any(len));
            check(skewed(len));
            check(below_a_million(len));
            check(vec![7u64; len]);
        }
    }
}
