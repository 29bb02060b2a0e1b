//! Kernel `jacobi`: each inner element of a square grid becomes the mean of its neighbours, a hundred times.
//!
//! The program of figure 2 of the paper. Each processor has a band of rows and needs one row of each neighbour. With
//! coherence only neighbours wait for each other; once the program works on rows as slices, and once element by
//! element. With steps the two rows are mirrored, and everybody waits. The limit is threads on plain memory, which
//! hand each other their first and last row. Under MPI it is a halo exchange with `MPI_Sendrecv`.

use super::{Answer, PROCS, band, side};
use crate::{
    array::job,
    clock::{on_all, watched},
    contest::{Contest, Sample},
    digest::digest,
    options::{Extent, Halo, Options},
    raw::{
        barrier::{Barrier, Gate},
        memory::{areas, lent, slices, with_group},
        team::{lock, team_of},
    },
    report::Target,
};
use std::{ops::Range, rc::Rc, sync::Mutex};
use superstep::{Array, Block, Config, Group, Paged, Result};

const KERNEL: &str = "jacobi";

/// How many rows and columns the grid has.
const SIDE: usize = 2048;
/// How often all elements are replaced.
const SWEEPS: usize = 100;

/// Plans the one contest of the kernel.
pub(crate) fn plan(options: &Options) -> Vec<Contest> {
    let procs = options.procs.unwrap_or(PROCS);
    let side = side(SIDE, options.shrink);
    let sweeps = if options.extent == Extent::Full { SWEEPS } else { SWEEPS / 10 };
    let answer = job(move || alone(side, sweeps));
    let name = |what: &str| format!("{side}x{side}/{what}");
    let config = options.config(procs);
    let ours = |how: How| {
        let (config, answer) = (config.clone(), Rc::clone(&answer));
        move |rounds| by_superstep(&config, how, side, sweeps, &answer, rounds)
    };
    let by_hand = {
        let answer = Rc::clone(&answer);
        move |rounds| by_threads(procs, side, sweeps, &answer, rounds)
    };
    let mut contest = Contest::of_elements(KERNEL, procs, (side * side * sweeps) as u64).raw(name("raw"), by_hand);
    for (what, how) in
        [("slices", How::Slices), ("elements", How::Elements), ("begun", How::Begun), ("steps", How::Steps)]
    {
        contest = contest.superstep(name(what), options, ours(how));
    }
    // As many processes as processors: then each has one band.
    if let Some(halo) = options.halo.filter(|_| options.in_one_process(procs) == 1) {
        let answer = Rc::clone(&answer);
        let by_mpi = move |rounds| Ok(by_halo(halo, procs, side, sweeps, &answer, rounds));
        contest = contest.by_mpi(name("raw-halo"), by_mpi);
        return vec![contest.claim(name("slices"), [name("raw-halo")], Target::AtLeast(1.0))];
    }
    vec![
        contest
            .claim(name("slices"), [name("raw")], Target::AtLeast(0.95))
            .claim(name("elements"), [name("raw")], Target::AtLeast(0.6))
            .claim(name("begun"), [name("raw")], Target::AtLeast(0.9))
            .claim(name("steps"), [name("raw")], Target::AtLeast(0.9)),
    ]
}

/// The grid before the first sweep.
fn start(i: usize, j: usize) -> f64 {
    ((i * 31 + j * 17) % 101) as f64
}

/// The inner elements of a row, from it and its neighbours.
#[inline]
fn relax(up: &[f64], row: &[f64], down: &[f64], out: &mut [f64]) {
    let n = out.len();
    let (up, row, down) = (&up[..n], &row[..n], &down[..n]);
    for j in 1..n - 1 {
        out[j] = mean(down[j], up[j], row[j + 1], row[j - 1]);
    }
}

#[inline]
fn mean(down: f64, up: f64, right: f64, left: f64) -> f64 {
    0.25 * (down + up + right + left)
}

/// The grid after so many sweeps, on one processor.
fn alone(side: usize, sweeps: usize) -> Vec<f64> {
    let mut a: Vec<f64> = (0..side * side).map(|at| start(at / side, at % side)).collect();
    let mut b = a.clone();
    for _ in 0..sweeps {
        for i in 1..side - 1 {
            let (up, rest) = a[(i - 1) * side..].split_at(side);
            let (row, down) = rest.split_at(side);
            relax(up, row, down, &mut b[i * side..(i + 1) * side]);
        }
        std::mem::swap(&mut a, &mut b);
    }
    a
}

/// The rows of a band that are replaced.
fn inner(band: &Range<usize>, side: usize) -> Range<usize> {
    band.start.max(1)..band.end.min(side - 1)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum How {
    /// With coherence, by rows.
    Slices,
    /// With coherence, by elements.
    Elements,
    /// With coherence that is begun before the inner rows and finished after them.
    Begun,
    /// With steps and arrays.
    Steps,
}

fn by_superstep(config: &Config, how: How, side: usize, sweeps: usize, answer: &Answer, rounds: u64) -> Result<Sample> {
    let answer: &[f64] = answer;
    on_all(config, |g| {
        let (mine, found);
        let band = band(side, g.size(), g.rank());
        let seconds = if how == How::Steps {
            let (seconds, values) = with_steps(g, side, sweeps, rounds);
            found = values;
            seconds
        } else {
            let rows = side.div_ceil(g.size());
            let (a, b) = (g.paged([side, side], [rows, side]), g.paged([side, side], [rows, side]));
            let seconds = watched(rounds, |watch| {
                for grid in [&a, &b] {
                    for i in band.clone() {
                        grid.row_mut(i).iter_mut().enumerate().for_each(|(j, x)| *x = start(i, j));
                    }
                }
                g.step(|_| ());
                watch.time(|| match how {
                    How::Elements => sweep_elements(g, &a, &b, sweeps),
                    How::Begun => sweep_begun(g, &a, &b, sweeps),
                    _ => sweep_slices(g, &a, &b, sweeps),
                });
                g.step(|_| ());
            });
            found = band.clone().flat_map(|i| a.row(i).to_vec()).collect();
            seconds
        };
        mine = &answer[band.start * side..band.end * side];
        (seconds, found == mine, digest(&found))
    })
}

/// Makes the rows at the borders of the band coherent with the neighbours', in the order of the paper.
fn cohere(g: &Group, a: &Paged<f64, 2>, band: &Range<usize>) {
    let (me, side) = (g.rank(), a.shape()[0]);
    if !band.is_empty() && band.start > 0 {
        g.cohere(a, (band.start - 1..=band.start, ..), &[me - 1, me]);
    }
    if !band.is_empty() && band.end < side {
        g.cohere(a, (band.end - 1..=band.end, ..), &[me, me + 1]);
    }
}

#[inline(never)]
fn sweep_slices(g: &Group, a: &Paged<f64, 2>, b: &Paged<f64, 2>, sweeps: usize) {
    let side = a.shape()[0];
    let band = band(side, g.size(), g.rank());
    for _ in 0..sweeps {
        cohere(g, a, &band);
        for i in inner(&band, side) {
            relax(&a.row(i - 1), &a.row(i), &a.row(i + 1), &mut b.row_mut(i));
        }
        a.rows_mut(band.clone()).copy_from_slice(&b.rows(band.clone()));
    }
}

#[inline(never)]
fn sweep_elements(g: &Group, a: &Paged<f64, 2>, b: &Paged<f64, 2>, sweeps: usize) {
    let side = a.shape()[0];
    let band = band(side, g.size(), g.rank());
    for _ in 0..sweeps {
        cohere(g, a, &band);
        for i in inner(&band, side) {
            for j in 1..side - 1 {
                b.write([i, j], mean(a.read([i + 1, j]), a.read([i - 1, j]), a.read([i, j + 1]), a.read([i, j - 1])));
            }
        }
        for i in inner(&band, side) {
            for j in 1..side - 1 {
                a.write([i, j], b.read([i, j]));
            }
        }
    }
}

/// The rows at the borders are on their way while the inner ones are computed.
fn sweep_begun(g: &Group, a: &Paged<f64, 2>, b: &Paged<f64, 2>, sweeps: usize) {
    let (me, side) = (g.rank(), a.shape()[0]);
    let band = band(side, g.size(), me);
    let row = |i: usize| relax(&a.row(i - 1), &a.row(i), &a.row(i + 1), &mut b.row_mut(i));
    for _ in 0..sweeps {
        let has = [!band.is_empty() && band.start > 0, !band.is_empty() && band.end < side];
        let above = has[0].then(|| g.begin_cohere(a, (band.start - 1..=band.start, ..), &[me - 1, me]));
        let below = has[1].then(|| g.begin_cohere(a, (band.end - 1..=band.end, ..), &[me, me + 1]));
        let rows = inner(&band, side);
        let core = band.start + usize::from(has[0])..band.end - usize::from(has[1] && band.len() > 1);
        let core = core.start.max(rows.start)..core.end.min(rows.end);
        core.clone().for_each(row);
        above.into_iter().chain(below).for_each(superstep::Cohering::finish);
        rows.filter(|i| !core.contains(i)).for_each(row);
        a.rows_mut(band.clone()).copy_from_slice(&b.rows(band.clone()));
    }
}

/// The same with steps: the neighbours' rows are mirrored, and everybody waits.
fn with_steps(g: &mut Group, side: usize, sweeps: usize, rounds: u64) -> (f64, Vec<f64>) {
    let [a, b] = [(); 2].map(|()| -> Array<f64, Block, 2> { g.array_with([side, side], Block) });
    let band = band(side, g.size(), g.rank());
    let outer = |i: usize| if (1..side).contains(&i) && !band.is_empty() { i - 1..i } else { 0..0 };
    let (above, below) = (outer(band.start), outer(if band.end < side { band.end + 1 } else { 0 }));
    let (mut up, mut down) = (Vec::new(), Vec::new());
    let seconds = watched(rounds, |watch| {
        let place = |at: usize| start(band.start + at / side, at % side);
        a.local_mut().iter_mut().enumerate().for_each(|(at, x)| *x = place(at));
        b.local_mut().copy_from_slice(&a.local());
        g.step(|_| ());
        watch.time(|| {
            for _ in 0..sweeps {
                (up, down) = g.step(|s| {
                    let (up, down) = (std::mem::take(&mut up), std::mem::take(&mut down));
                    (s.mirror_into(&a, (above.clone(), ..), up), s.mirror_into(&a, (below.clone(), ..), down))
                });
                let (mut rows, mut b) = (a.local_mut(), b.local_mut());
                for i in inner(&band, side) {
                    let at = (i - band.start) * side;
                    let up = if at == 0 { &up[..] } else { &rows[at - side..at] };
                    let down = if i + 1 == band.end { &down[..] } else { &rows[at + side..at + 2 * side] };
                    relax(up, &rows[at..at + side], down, &mut b[at..at + side]);
                }
                rows.copy_from_slice(&b);
            }
        });
        g.step(|_| ());
    });
    let found = a.local().to_vec();
    (seconds, found)
}

/// A band in plain memory, with a row of each neighbour around it: rows `band.start - 1` to `band.end`.
struct Plain<'a> {
    a: &'a mut [f64],
    b: &'a mut [f64],
    band: Range<usize>,
    side: usize,
}

impl Plain<'_> {
    fn fill(&mut self) {
        let (first, side) = (self.band.start, self.side);
        let place = |at: usize| start((first + at / side).wrapping_sub(1), at % side);
        for grid in [&mut *self.a, &mut *self.b] {
            let rows = side..(self.band.len() + 1) * side;
            grid[rows].iter_mut().enumerate().for_each(|(at, x)| *x = place(at + side));
        }
    }

    fn row(&self, i: usize) -> &[f64] {
        &self.a[(i + 1 - self.band.start) * self.side..][..self.side]
    }

    fn row_mut(&mut self, i: usize) -> &mut [f64] {
        &mut self.a[(i + 1 - self.band.start) * self.side..][..self.side]
    }

    fn sweep(&mut self) {
        let side = self.side;
        for i in inner(&self.band, side) {
            let at = (i + 1 - self.band.start) * side;
            let (up, row, down) = (&self.a[at - side..at], &self.a[at..at + side], &self.a[at + side..at + 2 * side]);
            relax(up, row, down, &mut self.b[at..at + side]);
        }
        let rows = side..(self.band.len() + 1) * side;
        self.a[rows.clone()].copy_from_slice(&self.b[rows]);
    }

    fn is(&self, answer: &[f64]) -> bool {
        let (band, side) = (&self.band, self.side);
        self.a[side..(band.len() + 1) * side] == answer[band.start * side..band.end * side]
    }
}

fn by_threads(procs: usize, side: usize, sweeps: usize, answer: &Answer, rounds: u64) -> Result<Sample> {
    let answer: &[f64] = answer;
    with_group(|g| {
        let len = (side.div_ceil(procs) + 2) * side;
        let (a, b) = (areas::<f64>(g, procs, len), areas::<f64>(g, procs, len));
        let (mut a, mut b) = (lent(&a), lent(&b));
        // Where each thread lays out its first and last row, by turns.
        let row = || [(); 2].map(|()| Mutex::new(vec![0.0; side]));
        let (gate, rows) = (Gate::for_team(procs), (0..procs).map(|_| [row(), row()]).collect::<Vec<_>>());
        team_of(slices(&mut a).into_iter().zip(slices(&mut b)), |rank, (a, b)| {
            let mut plain = Plain { a, b, band: band(side, procs, rank), side };
            let (mut epoch, band) = (0, plain.band.clone());
            let seconds = watched(rounds, |watch| {
                plain.fill();
                epoch += 1;
                gate.wait(rank, epoch);
                watch.time(|| {
                    for sweep in 0..sweeps {
                        let turn = sweep % 2;
                        if !band.is_empty() {
                            lock(&rows[rank][0][turn]).copy_from_slice(plain.row(band.start));
                            lock(&rows[rank][1][turn]).copy_from_slice(plain.row(band.end - 1));
                        }
                        epoch += 1;
                        gate.wait(rank, epoch);
                        if !band.is_empty() && band.start > 0 {
                            plain.row_mut(band.start.wrapping_sub(1)).copy_from_slice(&lock(&rows[rank - 1][1][turn]));
                        }
                        if !band.is_empty() && band.end < side {
                            plain.row_mut(band.end).copy_from_slice(&lock(&rows[rank + 1][0][turn]));
                        }
                        plain.sweep();
                    }
                });
                epoch += 1;
                gate.wait(rank, epoch);
            });
            Sample::by_hand(seconds, plain.is(answer))
        })
    })
}

/// One process of several, each of which has one band and exchanges rows with its neighbours.
fn by_halo(halo: Halo, procs: usize, side: usize, sweeps: usize, answer: &Answer, rounds: u64) -> Sample {
    let rank = (halo.rank)();
    let band = band(side, procs, rank);
    let len = (side.div_ceil(procs) + 2) * side;
    let (mut a, mut b) = (vec![0.0; len], vec![0.0; len]);
    let mut plain = Plain { a: &mut a, b: &mut b, band: band.clone(), side };
    let (mut up, mut down) = (vec![0.0; side], vec![0.0; side]);
    let swap = |with: usize, out: &[f64], into: &mut [f64]| {
        (halo.exchange)(with, bytemuck::cast_slice(out), bytemuck::cast_slice_mut(into));
    };
    let seconds = watched(rounds, |watch| {
        plain.fill();
        watch.time(|| {
            for _ in 0..sweeps {
                if !band.is_empty() && band.start > 0 {
                    swap(rank - 1, plain.row(band.start), &mut up);
                    plain.row_mut(band.start.wrapping_sub(1)).copy_from_slice(&up);
                }
                if !band.is_empty() && band.end < side {
                    swap(rank + 1, plain.row(band.end - 1), &mut down);
                    plain.row_mut(band.end).copy_from_slice(&down);
                }
                plain.sweep();
            }
        });
    });
    Sample::by_hand(seconds, plain.is(answer))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_ways_come_to_the_same_grid() {
        for procs in [1, 2, 3] {
            let answer = job(|| alone(20, 6));
            for how in [How::Slices, How::Elements, How::Begun, How::Steps] {
                let sample = by_superstep(&Config::new().procs(procs), how, 20, 6, &answer, 1);
                assert!(sample.expect("the run succeeds").verified, "{how:?} on {procs}");
            }
            assert!(by_threads(procs, 20, 6, &answer, 1).expect("the run succeeds").verified);
        }
    }

    #[test]
    fn a_sweep_changes_the_grid() {
        assert_ne!(alone(20, 5), alone(20, 6));
    }
}
