//! MG: some cycles of a multigrid method for Poisson's equation, on a cube that repeats itself.
//!
//! A smoother takes away the short waves of an error and hardly touches the long ones; on a coarser grid long waves are
//! short. So a cycle goes down from grid to grid, each of half the size, to one of two elements each way, and up again
//! with what has been found; on each level it corrects the error and smooths it.
//!
//! # The program
//!
//! Each processor has some planes of every grid that is large enough, such that planes of all levels lie above each
//! other; everybody has all of the small ones. An operator needs the two planes around those here. Whoever has changed
//! its planes brings the first and the last of them to its neighbours, by `hp_put` straight into their grids.
//!
//! # Supersteps
//!
//! For a grid of n³ elements on p processors, each of the log (n / 2p) levels that are dealt out has, in a cycle:
//!
//! | | work | words sent | supersteps |
//! |---|---|---|---|
//! | to the next coarser grid | 20 n³ / 8p | 2 n² / 4 | 1 |
//! | from it, and what is left | 30 n³ / p | 2 n² | 1 |
//! | smoothing | 23 n³ / p | 2 n² | 1 |
//!
//! One more superstep gives everybody the largest of the small grids. The finest level is all but an eighth of the work
//! and three quarters of the words: a cycle is 60 n³ / p operations, h = 8 n² and 3 log (n / 2p) l, nearly.
//!
//! # How it scales
//!
//! Work goes down by p and the words do not, so slabs do well up to about n / 8 processors; the suite's cubes would go
//! further. The waits of the coarse grids add up to a few l, however large the finest is.
//!
//! # What the peers do
//!
//! The suite deals out cubes in three directions and exchanges six faces by `MPI_Send`, direction by direction, on all
//! levels down to the coarsest. Bare threads read the planes of others where they are, between two barriers, and are
//! bound by memory as this is: `bench/peers` has both side by side.

use super::{Class, Figures, Kernel, Outcome, Value, grid::Grid, official, random::Random};
use std::{ops::Range, time::Instant};
use superstep::{Area, Group, Max, Sum};

const SEED: u64 = 314_159_265;
/// So many elements are 1, and as many are -1.
const CHARGES: usize = 10;

/// How many levels and cycles there are, and the weights of the smoother.
///
/// ```
/// use superstep_programs::nas::{Class, mg};
///
/// assert_eq!(mg::size(Class::S), (5, 4, [-3.0 / 8.0, 1.0 / 32.0, -1.0 / 64.0]));
/// ```
pub fn size(class: Class) -> (usize, usize, [f64; 3]) {
    let few = [-3.0 / 8.0, 1.0 / 32.0, -1.0 / 64.0];
    let many = [-3.0 / 17.0, 1.0 / 33.0, -1.0 / 61.0];
    class.pick([(5, 4, few), (7, 4, few), (8, 4, few), (8, 20, many)])
}

pub(super) fn run(g: &mut Group, class: Class) -> Outcome {
    let (levels, cycles, c) = size(class);
    let cube = Cube::new(g, levels, c);
    let grid = cube.grids[levels];
    let v = g.area(grid.len());
    let mine = charges(&grid);
    let all = g.step(|s| s.collect(mine)).concat();
    place(&grid, all, &mut v.local_mut());
    // One cycle that is not counted.
    cube.begin(g, &v);
    cube.cycle(g, &v);
    cube.begin(g, &v);
    g.step(|_| ());
    let start = Instant::now();
    for _ in 0..cycles {
        cube.cycle(g, &v);
        cube.residual(g, &v);
    }
    let squares = grid.squares(&cube.r[levels].local());
    let norm = (g.step(|s| s.reduce(squares, Sum)) / (grid.n as f64).powi(3)).sqrt();
    let taken = start.elapsed().as_secs_f64();
    let seconds = g.step(|s| s.reduce(taken, Max));
    let figures = Figures::of(Kernel::Mg, class, seconds);
    Outcome { kernel: Kernel::Mg, class, values: vec![value(class, norm)], is_sound: true, figures }
}

/// The norm, beside the official one.
///
/// ```
/// use superstep_programs::nas::{Class, mg};
///
/// assert!(mg::value(Class::S, 0.5307707005734e-4).is_right());
/// ```
pub fn value(class: Class, norm: f64) -> Value {
    Value::new("norm of the residual", norm, official::NORM[class as usize], 1e-8)
}

/// The grids of all levels: level k has 2ᵏ elements each way.
struct Cube {
    grids: Vec<Grid>,
    u: Vec<Area<f64>>,
    r: Vec<Area<f64>>,
    /// The highest level of which everybody has all.
    small: usize,
    c: [f64; 3],
}

/// The highest level of which everybody has all: on the next one everybody has two planes, if there are as many.
///
/// ```
/// assert_eq!(superstep_programs::nas::mg::small(8, 3), 3);
/// ```
pub fn small(levels: usize, size: usize) -> usize {
    (1..levels - 1).find(|&level| 1 << level >= 2 * size).unwrap_or(levels - 1)
}

/// The planes of a processor on a level.
///
/// ```
/// use superstep_programs::nas::mg::share;
///
/// assert_eq!((share(2, 2, 1, 2), share(4, 2, 1, 2)), (0..4, 8..16));
/// ```
pub fn share(level: usize, small: usize, rank: usize, size: usize) -> Range<usize> {
    if level <= small {
        return 0..1 << level;
    }
    // Those of the largest small grid are dealt out, so that planes of all levels lie above each other.
    let cut = |rank: usize| ((1 << small) * rank / size) << (level - small);
    cut(rank)..cut(rank + 1)
}

impl Cube {
    fn new(g: &mut Group, levels: usize, c: [f64; 3]) -> Self {
        let small = small(levels, g.size());
        let grid = |level: usize| {
            let share = share(level, small, g.rank(), g.size());
            Grid { n: 1 << level, first: share.start, planes: share.len() }
        };
        let grids: Vec<Grid> = (0..=levels).map(grid).collect();
        let [u, r] = [(); 2].map(|()| grids.iter().map(|grid| g.area(grid.len())).collect());
        Self { grids, u, r, small, c }
    }

    /// The highest level.
    fn top(&self) -> usize {
        self.grids.len() - 1
    }

    /// Begins with u = 0, and so r = v.
    fn begin(&self, g: &mut Group, v: &Area<f64>) {
        self.u[self.top()].local_mut().fill(0.0);
        self.residual(g, v);
    }

    fn residual(&self, g: &mut Group, v: &Area<f64>) {
        let top = self.top();
        self.grids[top].residual(&self.u[top].local(), Some(&v.local()), &mut self.r[top].local_mut());
        self.close(g, top, &self.r[top]);
    }

    /// Down to the coarsest grid, and up again.
    fn cycle(&self, g: &mut Group, v: &Area<f64>) {
        let top = self.top();
        for level in (1..top).rev() {
            self.coarsen(g, level);
            self.close(g, level, &self.r[level]);
        }
        self.u[1].local_mut().fill(0.0);
        self.smooth(g, 1);
        for level in 2..top {
            self.u[level].local_mut().fill(0.0);
            self.refine(level);
            self.grids[level].residual(&self.u[level].local(), None, &mut self.r[level].local_mut());
            self.close(g, level, &self.r[level]);
            self.smooth(g, level);
        }
        self.refine(top);
        self.residual(g, v);
        self.smooth(g, top);
    }

    /// Brings the residual down to this level.
    fn coarsen(&self, g: &mut Group, level: usize) {
        let (fine, coarse) = (&self.grids[level + 1], &self.grids[level]);
        if level != self.small || level + 1 == self.grids.len() {
            fine.restrict(&self.r[level + 1].local(), coarse, &mut self.r[level].local_mut());
            return;
        }
        // Here everybody makes some planes, and gets those of all.
        let part = Grid { n: coarse.n, first: fine.first / 2, planes: fine.planes / 2 };
        let mut mine = vec![0.0; part.len()];
        fine.restrict(&self.r[level + 1].local(), &part, &mut mine);
        let own = part.plane_len()..(part.planes + 1) * part.plane_len();
        let parts = g.step(|s| s.collect_slice(&mine[own])).concat();
        self.r[level].local_mut()[part.plane_len()..][..parts.len()].copy_from_slice(&parts);
    }

    /// Adds the next coarser solution.
    fn refine(&self, level: usize) {
        let (coarse, fine) = (&self.grids[level - 1], &self.grids[level]);
        coarse.interpolate(&self.u[level - 1].local(), fine, &mut self.u[level].local_mut());
    }

    fn smooth(&self, g: &mut Group, level: usize) {
        self.grids[level].smooth(&self.r[level].local(), &mut self.u[level].local_mut(), self.c);
        self.close(g, level, &self.u[level]);
    }

    /// Makes the planes around those here right, which another processor has, or this one at the other end.
    fn close(&self, g: &mut Group, level: usize, values: &Area<f64>) {
        let (Grid { planes, .. }, len) = (self.grids[level], self.grids[level].plane_len());
        let (first, last) = (len..2 * len, planes * len..(planes + 1) * len);
        if level <= self.small {
            let mut values = values.local_mut();
            values.copy_within(last, 0);
            values.copy_within(first, (planes + 1) * len);
            return;
        }
        let (size, me) = (g.size(), g.rank());
        let share = |rank| share(level, self.small, rank, size);
        // The next one in this direction who has planes at all.
        let next = |step: usize| {
            let mut ranks = (1..=size).map(|i| (me + i * step) % size);
            ranks.find(|&rank| !share(rank).is_empty()).unwrap_or(me)
        };
        g.step(|s| {
            if planes > 0 {
                // Whoever is next above has my last plane below its first, and the other way round.
                let (above, below) = (next(1), next(size - 1));
                s.hp_put(above, (values, last), values, 0);
                s.hp_put(below, (values, first), values, (share(below).len() + 1) * len);
            }
        });
    }
}

/// The ten largest and the ten smallest of as many random numbers as there are elements here, with their places, or a
/// few more.
///
/// ```
/// use superstep_programs::nas::{grid::Grid, mg::charges};
///
/// assert_eq!(charges(&Grid { n: 8, first: 2, planes: 3 }).len(), 20);
/// ```
pub fn charges(grid: &Grid) -> Vec<(f64, usize)> {
    let (plane_len, mut kept) = (grid.n * grid.n, Vec::new());
    for plane in grid.first..grid.first + grid.planes {
        let mut random = Random::new(SEED).skip((plane * plane_len) as u64);
        kept.extend((plane * plane_len..(plane + 1) * plane_len).map(|at| (random.next(), at)));
        kept.sort_by(|x, y| x.0.total_cmp(&y.0));
        if kept.len() > 2 * CHARGES {
            kept.drain(CHARGES..kept.len() - CHARGES);
        }
    }
    kept
}

/// Makes the right side: 0, but for the places of the ten largest and the ten smallest numbers of all.
///
/// ```
/// use superstep_programs::nas::{grid::Grid, mg};
///
/// let grid = Grid { n: 8, first: 0, planes: 8 };
/// let mut v = vec![0.0; grid.len()];
/// mg::place(&grid, mg::charges(&grid), &mut v);
/// assert_eq!(v.iter().filter(|&&v| v == 1.0).count(), 10);
/// ```
pub fn place(grid: &Grid, mut all: Vec<(f64, usize)>, v: &mut [f64]) {
    let n = grid.n;
    all.sort_by(|x, y| x.0.total_cmp(&y.0));
    let lowest = all[..CHARGES].iter().map(|&(_, at)| (at, -1.0));
    let highest = all[all.len() - CHARGES..].iter().map(|&(_, at)| (at, 1.0));
    for (at, charge) in lowest.chain(highest) {
        let (plane, row, column) = (at / (n * n), at / n % n, at % n);
        if (grid.first..grid.first + grid.planes).contains(&plane) {
            v[((plane - grid.first + 1) * (n + 2) + row + 1) * (n + 2) + column + 1] = charge;
        }
    }
}
