//! Kernel `samplesort`: the sort of the paper that remote methods come from, with one request for each key.
//!
//! It is held against the library's own sort, which moves the same keys in bulk, and against rayon.

use super::PROCS;
use crate::{
    array::{
        job::{count_name, job},
        quicksort::{
            keys::{Input, any},
            local, program, rivals,
        },
    },
    clock::{on_all, watched},
    contest::{Contest, Sample},
    digest::digest,
    options::Options,
    random::Random,
    report::Target,
};
use std::{ops::Range, rc::Rc};
use superstep::{Config, Epoch, Group, Method, Object, Result, Sum};

const KERNEL: &str = "samplesort";

/// How many keys each processor draws for every splitter.
const OVERSAMPLING: usize = 128;

/// With so many keys it should be faster than rayon.
const BEATS_RAYON: usize = 10_000_000;

/// The keys that a processor begins with.
fn block(len: usize, rank: usize, procs: usize) -> Range<usize> {
    let block = len.div_ceil(procs);
    (rank * block).min(len)..((rank + 1) * block).min(len)
}

/// Adds a key to a bucket.
struct Push;

impl Method for Push {
    type On = Vec<u64>;
    type Args = u64;
    type Answer = ();

    #[inline]
    fn run(bucket: &mut Vec<u64>, _: &Epoch, key: u64) {
        bucket.push(key);
    }
}

/// Sends each key to the processor that sorts it, and sorts what came.
fn sort(g: &mut Group, keys: &[u64], bucket: &Object<Vec<u64>>, room: &mut Vec<u64>) {
    let p = g.size();
    let mut random = Random::new(g.rank() as u64);
    let wanted = if keys.is_empty() { 0 } else { OVERSAMPLING * (p - 1) };
    let drawn: Vec<u64> = (0..wanted).map(|_| keys[random.below(keys.len())]).collect();
    let mut samples = g.step(|s| s.collect_slice(&drawn)).concat();
    samples.sort_unstable();
    let splitters: Vec<u64> =
        (1..p).map(|rank| samples.get(rank * samples.len() / p).copied().unwrap_or_default()).collect();
    g.epoch(|e| {
        for &key in keys {
            let to = splitters.partition_point(|splitter| *splitter <= key);
            e.send_by::<Push>(to, bucket, key);
        }
    });
    bucket.with(|bucket| local::sort(bucket, room));
}

/// Rounds of it.
fn requests(config: &Config, input: &Input<u64>, rounds: u64) -> Result<Sample> {
    on_all(config, |g| {
        let keys = &input.keys[block(input.keys.len(), g.rank(), g.size())];
        // On huge pages, as all memory that it is held against; parts differ in size.
        let (mut mine, mut room, mut is_right) = (Vec::new(), Vec::new(), true);
        for keys_of in [&mut mine, &mut room] {
            fabric::make_room(keys_of, 6 * keys.len() / 5);
        }
        let bucket = g.object(mine);
        let seconds = watched(rounds, |watch| {
            bucket.with(Vec::clear);
            g.step(|_| ());
            watch.time(|| sort(g, keys, &bucket, &mut room));
            let len = bucket.with(|bucket| bucket.len());
            let (start, total) = g.step(|s| (s.prefix(len, Sum), s.reduce(len, Sum)));
            is_right &= total == input.keys.len();
            is_right &= bucket.with(|bucket| input.sorted.get(start..start + len) == Some(bucket));
        });
        (seconds, is_right, bucket.with(|bucket| digest(bucket)))
    })
}

/// Plans a contest for each size.
pub(crate) fn plan(options: &Options) -> Vec<Contest> {
    let sizes = options.sizes(&[1_000_000], &[1_000_000, 10_000_000, 50_000_000]);
    sizes.into_iter().map(|len| contest(len, options)).collect()
}

fn contest(len: usize, options: &Options) -> Contest {
    let procs = options.procs.unwrap_or(PROCS);
    let (input, size) = (job(move || Input::new(any(len))), count_name(len));
    let [limit, alone, bulk, ours] =
        ["raw-rayon", "one-thread", "bulk", "request-per-key"].map(|name| format!("{size}/{name}"));
    let inputs = || Rc::clone(&input);
    let (of_limit, of_one, of_bulk, of_ours) = (inputs(), inputs(), inputs(), inputs());
    let (bulk_config, our_config) = (options.config(procs), options.config(procs));
    let contest = Contest::of_elements(KERNEL, procs, len as u64)
        .raw(&limit, move |rounds| rivals::rayon(procs, &of_limit, rounds))
        .alone(&alone, move |rounds| rivals::one_thread(&of_one, rounds))
        .superstep(&bulk, options, move |rounds| program::library(&bulk_config, &of_bulk, rounds))
        .superstep(&ours, options, move |rounds| requests(&our_config, &of_ours, rounds))
        .claim(&ours, [&bulk], Target::AtLeast(0.7))
        .speedup(&ours, alone, None);
    if len >= BEATS_RAYON { contest.claim(ours, [limit], Target::AtLeast(1.0)) } else { contest }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_sorted_whatever_they_are() {
        for len in [0, 1, 5, 1000] {
            for keys in [any(len), vec![7; len], (0..len as u64).rev().collect()] {
                let input = Input::new(keys);
                for procs in [1, 2, 3, 5] {
                    let sample = requests(&Config::new().procs(procs), &input, 1);
                    assert!(sample.expect("the run succeeds").verified, "{len} keys on {procs}");
                }
            }
        }
    }
}
