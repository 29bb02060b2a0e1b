//! Kernel `matmul`: the product of two square matrices.
//!
//! All matrices lie in bands of rows. Each processor needs all of the second one: with coherence it is made coherent on
//! all and then read where it lies, with steps it is mirrored. The limit is threads that read it directly.

use super::{Answer, Ways, With, band, contest, side};
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
use superstep::{Array, Block, Config, Group, Result};

const KERNEL: &str = "matmul";

/// How many rows and columns the matrices have.
const SIDE: usize = 512;

/// Plans the one contest of the kernel.
pub(crate) fn plan(options: &Options) -> Vec<Contest> {
    let side = side(SIDE, options.shrink);
    let ways = Ways { alone, by_superstep, by_threads };
    vec![contest(options, KERNEL, side, side * side * side, ways)]
}

fn left(i: usize, k: usize) -> f64 {
    ((i * 5 + k * 3) % 23) as f64 / 23.0
}

fn right(k: usize, j: usize) -> f64 {
    ((k * 11 + j * 2) % 29) as f64 / 29.0
}

/// Adds `factor` times `row` to `sums`.
#[inline]
fn add(sums: &mut [f64], factor: f64, row: &[f64]) {
    for (sum, x) in sums.iter_mut().zip(row) {
        *sum += factor * x;
    }
}

fn fill(band: &std::ops::Range<usize>, side: usize, rows: &mut [f64], of: impl Fn(usize, usize) -> f64) {
    for (i, row) in band.clone().zip(rows.chunks_exact_mut(side)) {
        row.iter_mut().enumerate().for_each(|(j, x)| *x = of(i, j));
    }
}

fn alone(side: usize) -> Vec<f64> {
    let b: Vec<f64> = (0..side * side).map(|at| right(at / side, at % side)).collect();
    let mut c = vec![0.0; side * side];
    for (i, sums) in c.chunks_exact_mut(side).enumerate() {
        for (k, row) in b.chunks_exact(side).enumerate() {
            add(sums, left(i, k), row);
        }
    }
    c
}

fn by_superstep(config: &Config, with: With, side: usize, answer: &Answer, rounds: u64) -> Result<Sample> {
    let answer: &[f64] = answer;
    on_all(config, |g| {
        let (seconds, found) = match with {
            With::Coherence => with_coherence(g, side, rounds),
            With::Steps => with_steps(g, side, rounds),
        };
        let band = band(side, g.size(), g.rank());
        (seconds, found == answer[band.start * side..band.end * side], digest(&found))
    })
}

fn with_coherence(g: &mut Group, side: usize, rounds: u64) -> (f64, Vec<f64>) {
    let everybody: Vec<usize> = (0..g.size()).collect();
    let (block, band) = ([side.div_ceil(g.size()), side], band(side, g.size(), g.rank()));
    let [a, b, c] = [(); 3].map(|()| g.paged::<f64, 2>([side, side], block));
    let seconds = watched(rounds, |watch| {
        for i in band.clone() {
            a.row_mut(i).iter_mut().enumerate().for_each(|(k, x)| *x = left(i, k));
            b.row_mut(i).iter_mut().enumerate().for_each(|(j, x)| *x = right(i, j));
        }
        g.step(|_| ());
        watch.time(|| {
            g.cohere(&b, (.., ..), &everybody);
            let rows: Vec<_> = (0..side).map(|k| b.row(k)).collect();
            for i in band.clone() {
                let (factors, mut sums) = (a.row(i), c.row_mut(i));
                sums.fill(0.0);
                for (&factor, row) in factors.iter().zip(&rows) {
                    add(&mut sums, factor, row);
                }
            }
        });
        g.step(|_| ());
    });
    let found = band.flat_map(|i| c.row(i).to_vec()).collect();
    (seconds, found)
}

fn with_steps(g: &mut Group, side: usize, rounds: u64) -> (f64, Vec<f64>) {
    let [a, b, c] = [(); 3].map(|()| -> Array<f64, Block, 2> { g.array_with([side, side], Block) });
    let band = band(side, g.size(), g.rank());
    let mut all = Vec::new();
    let seconds = watched(rounds, |watch| {
        fill(&band, side, &mut a.local_mut(), left);
        fill(&band, side, &mut b.local_mut(), right);
        g.step(|_| ());
        watch.time(|| {
            all = g.step(|s| s.mirror_into(&b, (.., ..), std::mem::take(&mut all)));
            let (factors, mut sums) = (a.local(), c.local_mut());
            for (factors, sums) in factors.chunks_exact(side).zip(sums.chunks_exact_mut(side)) {
                sums.fill(0.0);
                for (&factor, row) in factors.iter().zip(all.chunks_exact(side)) {
                    add(sums, factor, row);
                }
            }
        });
        g.step(|_| ());
    });
    let found = c.local().to_vec();
    (seconds, found)
}

fn by_threads(procs: usize, side: usize, answer: &Answer, rounds: u64) -> Result<Sample> {
    let answer: &[f64] = answer;
    with_group(|g| {
        let len = side.div_ceil(procs) * side;
        let (sources, results) = (areas::<f64>(g, 1, side * side), areas::<f64>(g, 2 * procs, len));
        let (mut b, mut parts) = (lent(&sources), lent(&results));
        fill(&(0..side), side, &mut b[0], right);
        let (b, gate) = (&*b[0], Gate::for_team(procs));
        let mut parts = slices(&mut parts).into_iter();
        let pairs: Vec<_> = (0..procs).filter_map(|_| Some((parts.next()?, parts.next()?))).collect();
        team_of(pairs, |rank, (a, c)| {
            let band = band(side, procs, rank);
            let (mut epoch, count) = (0, band.len() * side);
            let mut wait = || {
                epoch += 1;
                gate.wait(rank, epoch);
            };
            let seconds = watched(rounds, |watch| {
                fill(&band, side, a, left);
                wait();
                watch.time(|| {
                    for (factors, sums) in a[..count].chunks_exact(side).zip(c[..count].chunks_exact_mut(side)) {
                        sums.fill(0.0);
                        for (&factor, row) in factors.iter().zip(b.chunks_exact(side)) {
                            add(sums, factor, row);
                        }
                    }
                });
                wait();
            });
            Sample::by_hand(seconds, c[..count] == answer[band.start * side..band.end * side])
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::array::job;

    #[test]
    fn all_ways_come_to_the_same_product() {
        for procs in [1, 2, 3] {
            let answer = job(|| alone(19));
            for with in [With::Coherence, With::Steps] {
                let sample = by_superstep(&Config::new().procs(procs), with, 19, &answer, 1);
                assert!(sample.expect("the run succeeds").verified, "{with:?} on {procs}");
            }
            assert!(by_threads(procs, 19, &answer, 1).expect("the run succeeds").verified);
        }
    }
}
