//! Kernel `lu`: a square matrix is factorised in place, without pivoting.
//!
//! Rows are dealt round. When a row is done, everybody needs what is right of its diagonal: with coherence that part of
//! one row is made coherent, so that little more than it travels; with steps it is mirrored. The limit is threads on
//! plain rows, of which one lays out the row that is done, and all read it there.

use super::{Answer, Ways, With, contest, side};
use crate::{
    clock::{on_all, watched},
    contest::{Contest, Sample},
    digest::digest,
    options::Options,
    raw::{
        barrier::{Barrier, Gate},
        memory::{areas, lent, slices, with_group},
        team::team_of,
    },
};
use std::sync::{PoisonError, RwLock};
use superstep::{Array, Config, Cyclic, Group, Result};

const KERNEL: &str = "lu";

/// How many rows and columns the matrix has.
const SIDE: usize = 1024;

/// Plans the one contest of the kernel.
pub(crate) fn plan(options: &Options) -> Vec<Contest> {
    let side = side(SIDE, options.shrink);
    let ways = Ways { alone, by_superstep, by_threads };
    vec![contest(options, KERNEL, side, side * side * side / 3, ways)]
}

/// The matrix: its diagonal is larger than the rest of a row, so no row need change its place.
fn element(i: usize, j: usize, side: usize) -> f64 {
    let other = ((i * 13 + j * 7) % 19) as f64 / 19.0;
    if i == j { side as f64 + other } else { other }
}

/// Takes a multiple of `pivot` from `row`, so that its first element becomes zero, and keeps the factor there. Both
/// start at the pivot's diagonal.
#[inline]
fn eliminate(row: &mut [f64], pivot: &[f64]) {
    let Some((first, rest)) = row.split_first_mut() else { return };
    *first /= pivot[0];
    let factor = *first;
    for (x, y) in rest.iter_mut().zip(&pivot[1..]) {
        *x -= factor * y;
    }
}

fn alone(side: usize) -> Vec<f64> {
    let mut a: Vec<f64> = (0..side * side).map(|at| element(at / side, at % side, side)).collect();
    for k in 0..side {
        let (done, rest) = a.split_at_mut((k + 1) * side);
        let pivot = &done[k * side + k..];
        rest.chunks_exact_mut(side).for_each(|row| eliminate(&mut row[k..], pivot));
    }
    a
}

fn by_superstep(config: &Config, with: With, side: usize, answer: &Answer, rounds: u64) -> Result<Sample> {
    let answer: &[f64] = answer;
    on_all(config, |g| {
        let (seconds, found) = match with {
            With::Coherence => with_coherence(g, side, rounds),
            With::Steps => with_steps(g, side, rounds),
        };
        let mine = (g.rank()..side).step_by(g.size()).flat_map(|i| &answer[i * side..(i + 1) * side]);
        (seconds, found.iter().eq(mine), digest(&found))
    })
}

fn with_coherence(g: &mut Group, side: usize, rounds: u64) -> (f64, Vec<f64>) {
    let (me, p) = (g.rank(), g.size());
    let everybody: Vec<usize> = (0..p).collect();
    let a = g.paged_cyclic::<f64, 2>([side, side]);
    let seconds = watched(rounds, |watch| {
        for i in (me..side).step_by(p) {
            a.row_mut(i).iter_mut().enumerate().for_each(|(j, x)| *x = element(i, j, side));
        }
        g.step(|_| ());
        watch.time(|| {
            for k in 0..side {
                g.cohere(&a, (k..=k, k..), &everybody);
                let pivot = a.run([k, k], side - k);
                let next = k + 1 + (me + p - (k + 1) % p) % p;
                for i in (next..side).step_by(p) {
                    eliminate(&mut a.run_mut([i, k], side - k), &pivot);
                }
            }
        });
        g.step(|_| ());
    });
    let found = (me..side).step_by(p).flat_map(|i| a.row(i).to_vec()).collect();
    (seconds, found)
}

fn with_steps(g: &mut Group, side: usize, rounds: u64) -> (f64, Vec<f64>) {
    let (me, p) = (g.rank(), g.size());
    let a: Array<f64, Cyclic, 2> = g.array_with([side, side], Cyclic);
    let mut pivot = Vec::new();
    let seconds = watched(rounds, |watch| {
        for (at, row) in a.local_mut().chunks_exact_mut(side).enumerate() {
            row.iter_mut().enumerate().for_each(|(j, x)| *x = element(me + at * p, j, side));
        }
        g.step(|_| ());
        watch.time(|| {
            for k in 0..side {
                pivot = g.step(|s| s.mirror_into(&a, (k..=k, k..), std::mem::take(&mut pivot)));
                let next = k + 1 + (me + p - (k + 1) % p) % p;
                let mut rows = a.local_mut();
                for at in (next..side).step_by(p).map(|i| i / p * side) {
                    eliminate(&mut rows[at + k..at + side], &pivot);
                }
            }
        });
        g.step(|_| ());
    });
    let found = a.local().to_vec();
    (seconds, found)
}

fn by_threads(procs: usize, side: usize, answer: &Answer, rounds: u64) -> Result<Sample> {
    let answer: &[f64] = answer;
    with_group(|g| {
        let parts = areas::<f64>(g, procs, side.div_ceil(procs) * side);
        let mut parts = lent(&parts);
        // Where the row that is done is laid out, by turns.
        let pivots = [(); 2].map(|()| RwLock::new(vec![0.0; side]));
        let gate = Gate::for_team(procs);
        team_of(slices(&mut parts), |me, part| {
            let mut epoch = 0;
            let mut wait = || {
                epoch += 1;
                gate.wait(me, epoch);
            };
            let seconds = watched(rounds, |watch| {
                for (at, i) in (me..side).step_by(procs).enumerate() {
                    let row = &mut part[at * side..(at + 1) * side];
                    row.iter_mut().enumerate().for_each(|(j, x)| *x = element(i, j, side));
                }
                wait();
                watch.time(|| {
                    for k in 0..side {
                        let pivot = &pivots[k % 2];
                        if k % procs == me {
                            let row = &part[k / procs * side + k..(k / procs + 1) * side];
                            pivot.write().unwrap_or_else(PoisonError::into_inner)[k..].copy_from_slice(row);
                        }
                        wait();
                        let pivot = pivot.read().unwrap_or_else(PoisonError::into_inner);
                        let next = k + 1 + (me + procs - (k + 1) % procs) % procs;
                        for at in (next..side).step_by(procs).map(|i| i / procs * side) {
                            eliminate(&mut part[at + k..at + side], &pivot[k..]);
                        }
                    }
                });
                wait();
            });
            let mut rows = (me..side).step_by(procs).enumerate();
            let verified = rows.all(|(at, i)| part[at * side..(at + 1) * side] == answer[i * side..(i + 1) * side]);
            Sample::by_hand(seconds, verified)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::array::job;

    #[test]
    fn factors_multiply_to_the_matrix() {
        let (side, a) = (12, alone(12));
        for i in 0..side {
            for j in 0..side {
                let factor = |k: usize| if k == i { 1.0 } else { a[i * side + k] };
                let product: f64 = (0..=i.min(j)).map(|k| factor(k) * a[k * side + j]).sum();
                assert!((product - element(i, j, side)).abs() < 1e-9);
            }
        }
    }

    #[test]
    fn all_ways_come_to_the_same_factors() {
        for procs in [1, 2, 3] {
            let answer = job(|| alone(21));
            for with in [With::Coherence, With::Steps] {
                let sample = by_superstep(&Config::new().procs(procs), with, 21, &answer, 1);
                assert!(sample.expect("the run succeeds").verified, "{with:?} on {procs}");
            }
            assert!(by_threads(procs, 21, &answer, 1).expect("the run succeeds").verified);
        }
    }
}
