//! Kernel `prefix`: prefix sums of an array in blocks, in place.
//!
//! `figure-2` is the program of the paper: a sweep that keeps the sums so far in a second array, and one that adds what
//! lies before. `in-place` needs no second array: the first sweep adds up, the second writes. Both are held against the
//! same two sweeps by bare threads, and beside one thread that does all of it: twice for `figure-2`, which the paper
//! must have compared with, and once for `in-place`, where one thread needs no sums to begin with.

use super::{PROCS, job::count_name, paper};
use crate::{
    clock::{on_all, watched},
    contest::{Contest, Sample},
    digest::digest,
    options::Options,
    raw::{Sweeps, memory::with_buffers},
    report::Target,
};
use std::iter::Sum as _;
use superstep::{Array, Block, Config, Group, Result, Sum};

const KERNEL: &str = "prefix";

/// Plans a contest for each size.
pub(crate) fn plan(options: &Options) -> Vec<Contest> {
    let procs = options.procs.unwrap_or(PROCS);
    let sizes = options.sizes(&[1_000_000, 10_000_000], &[1_000_000, 10_000_000, 50_000_000]);
    sizes.into_iter().map(|len| contest(procs, len, options)).collect()
}

/// Arrays of `len` elements in all.
fn contest(procs: usize, len: usize, options: &Options) -> Contest {
    let mut contest = Contest::of_elements(KERNEL, procs, len as u64);
    for (way, name) in [(Way::Figure2, "figure-2"), (Way::InPlace, "in-place")] {
        let variant = format!("{}/{name}", count_name(len));
        let (limit, alone, config) =
            (format!("{variant}/raw-sweeps"), format!("{variant}/one-thread"), options.config(procs));
        contest = contest
            .raw(&limit, move |rounds| by_hand(way, procs, len, rounds))
            .alone(&alone, move |rounds| by_one(way, len, rounds))
            .superstep(&variant, options, move |rounds| by_superstep(way, &config, len, rounds))
            .claim(&variant, [limit], Target::AtLeast(0.95))
            .speedup(&variant, alone, paper::prefix(len, procs));
    }
    contest
}

/// How the sums are found.
#[derive(Clone, Copy, Debug)]
enum Way {
    Figure2,
    InPlace,
}

/// What the array holds at an index.
fn value(index: usize) -> i64 {
    (index % 10) as i64
}

/// Fills the part that begins at `first`.
fn fill(part: &mut [i64], first: usize) {
    for (at, x) in part.iter_mut().enumerate() {
        *x = value(first + at);
    }
}

/// Whether the part that begins at `first` holds the sums of all values before.
fn is_right(part: &[i64], first: usize) -> bool {
    let sum = |index: usize| {
        let rest = index % 10;
        (index / 10 * 45 + rest * rest.saturating_sub(1) / 2) as i64
    };
    part.iter().enumerate().all(|(at, &x)| x == sum(first + at))
}

/// Writes the sums so far into `before`, and returns the last.
fn keep_sums(part: &[i64], before: &mut Vec<i64>) -> i64 {
    let mut sum = 0;
    before.clear();
    before.extend(part.iter().map(|&x| {
        let so_far = sum;
        sum += x;
        so_far
    }));
    sum
}

/// Writes `before`, moved up by `offset`.
fn add_offset(part: &mut [i64], before: &[i64], offset: i64) {
    for (x, so_far) in part.iter_mut().zip(before) {
        *x = so_far + offset;
    }
}

/// Writes the sums so far, from `offset` on.
fn write_sums(part: &mut [i64], offset: i64) {
    let mut sum = offset;
    for x in part {
        sum += std::mem::replace(x, sum);
    }
}

/// The program of the paper's figure 2.
fn figure_2(g: &mut Group, a: &Array<i64, Block>, before: &mut Vec<i64>) {
    let offset = g.step(|s| s.prefix(keep_sums(&a.local(), before), Sum));
    add_offset(&mut a.local_mut(), before, offset);
}

/// The same without a second array.
fn in_place(g: &mut Group, a: &Array<i64, Block>) {
    let offset = g.step(|s| s.prefix(i64::sum(a.local().iter()), Sum));
    write_sums(&mut a.local_mut(), offset);
}

fn by_superstep(way: Way, config: &Config, len: usize, rounds: u64) -> Result<Sample> {
    on_all(config, |g| {
        let (a, mut before) = (g.array::<i64, Block>(len), Vec::new());
        let first = a.global(0).unwrap_or(0);
        let seconds = watched(rounds, |watch| {
            fill(&mut a.local_mut(), first);
            g.step(|_| ());
            watch.time(|| match way {
                Way::Figure2 => figure_2(g, &a, &mut before),
                Way::InPlace => in_place(g, &a),
            });
        });
        (seconds, is_right(&a.local(), first), digest(&a.local()))
    })
}

/// The same two sweeps by bare threads, who tell each other their sums.
fn by_hand(way: Way, procs: usize, len: usize, rounds: u64) -> Result<Sample> {
    let sweeps = Sweeps {
        fill: |first, part: &mut [i64]| fill(part, first),
        add: |part: &[i64], before: &mut Vec<i64>| match way {
            Way::Figure2 => keep_sums(part, before),
            Way::InPlace => part.iter().sum(),
        },
        write: |part: &mut [i64], before: &Vec<i64>, offset| match way {
            Way::Figure2 => add_offset(part, before, offset),
            Way::InPlace => write_sums(part, offset),
        },
    };
    sweeps.measure((procs, len), rounds, |seconds, first, part| Sample::by_hand(seconds, is_right(part, first)))
}

/// One thread: with a second array in two sweeps, without it in one.
fn by_one(way: Way, len: usize, rounds: u64) -> Result<Sample> {
    with_buffers(1, len, |mut arrays| {
        let (part, mut before) = (arrays.remove(0), Vec::new());
        let seconds = watched(rounds, |watch| {
            fill(part, 0);
            watch.time(|| match way {
                Way::Figure2 => {
                    keep_sums(part, &mut before);
                    add_offset(part, &before, 0);
                }
                Way::InPlace => write_sums(part, 0),
            });
        });
        Sample::by_hand(seconds, is_right(part, 0))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_finds_the_sums() {
        for way in [Way::Figure2, Way::InPlace] {
            for (procs, len) in [(1, 10), (2, 101), (3, 2)] {
                let config = Config::new().procs(procs);
                assert!(by_superstep(way, &config, len, 2).expect("the run succeeds").verified);
                assert!(by_hand(way, procs, len, 2).expect("the run succeeds").verified);
                assert!(by_one(way, len, 2).expect("the run succeeds").verified);
            }
        }
    }
}
