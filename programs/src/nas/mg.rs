//! MG: a few cycles of a multigrid method for Poisson's equation on a cube that repeats itself.
//!
//! Each processor has some planes of every grid that is large enough, and everybody has all of the small ones. What an
//! operator needs of the planes around is brought by one superstep before it: `put` into an area of two planes.

use super::{
    Class, Kernel, Outcome, Value,
    grid::{self, Grid},
    random::Random,
};
use std::{ops::Range, time::Instant};
use superstep::{Area, Group, Max, Sum};

const SEED: u64 = 314_159_265;
/// So many elements are 1, and as many are -1.
const CHARGES: usize = 10;

pub(super) fn run(g: &mut Group, class: Class) -> Outcome {
    let (levels, cycles) = class.pick([(5, 4), (7, 4), (8, 4), (8, 20)]);
    let few = [-3.0 / 8.0, 1.0 / 32.0, -1.0 / 64.0];
    let c = class.pick([few, few, few, [-3.0 / 17.0, 1.0 / 33.0, -1.0 / 61.0]]);
    let mut cube = Cube::new(g, levels, c);
    let v = charges(g, &cube);
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
    let norm = cube.norm(g);
    let taken = start.elapsed().as_secs_f64();
    let seconds = g.step(|s| s.reduce(taken, Max));
    let official = match class {
        Class::S => Some((0.530_770_700_573_4e-4, 1e-8)),
        Class::W => Some((0.646_732_937_533_9e-5, 1e-8)),
        _ => None,
    };
    let values = vec![Value { name: "norm of the residual".into(), found: norm, official }];
    Outcome { kernel: Kernel::Mg, class, values, is_sound: norm.is_finite(), seconds }
}

/// The grids of all levels: level k has 2ᵏ elements each way.
struct Cube {
    u: Vec<Grid>,
    r: Vec<Grid>,
    /// The highest level of which everybody has all.
    small: usize,
    c: [f64; 3],
    /// The planes that come from below and from above.
    planes: Area<f64>,
}

/// The planes of a processor on a level.
fn share(level: usize, small: usize, rank: usize, size: usize) -> Range<usize> {
    if level <= small {
        return 0..1 << level;
    }
    // Those of the largest small grid are dealt out, so that planes of all levels lie above each other.
    let cut = |rank: usize| ((1 << small) * rank / size) << (level - small);
    cut(rank)..cut(rank + 1)
}

impl Cube {
    fn new(g: &mut Group, levels: usize, c: [f64; 3]) -> Self {
        let (rank, size) = (g.rank(), g.size());
        // Everybody has at least one plane of it, or there are no more.
        let small = (1..levels - 1).find(|&level| 1 << level >= 2 * size).unwrap_or(levels - 1);
        let grids = || {
            (0..=levels).map(|level| {
                let share = share(level, small, rank, size);
                Grid::new(1 << level, share.start, share.len())
            })
        };
        let largest = ((1usize << levels) + 2).pow(2);
        Self { u: grids().collect(), r: grids().collect(), small, c, planes: g.area(2 * largest) }
    }

    /// The highest level.
    fn top(&self) -> usize {
        self.u.len() - 1
    }

    /// Begins with u = 0, and so r = v.
    fn begin(&mut self, g: &mut Group, v: &Grid) {
        let top = self.top();
        self.u[top].values.fill(0.0);
        self.residual(g, v);
    }

    fn residual(&mut self, g: &mut Group, v: &Grid) {
        let top = self.top();
        grid::residual(&self.u[top], Some(v), &mut self.r[top]);
        close(g, &mut self.r[top], &self.planes, self.small);
    }

    /// The root of the mean of the squares of the residual.
    fn norm(&self, g: &mut Group) -> f64 {
        let r = &self.r[self.top()];
        let squares = r.squares();
        (g.step(|s| s.reduce(squares, Sum)) / (r.n as f64).powi(3)).sqrt()
    }

    /// Down to the coarsest grid, and up again.
    fn cycle(&mut self, g: &mut Group, v: &Grid) {
        let (top, small) = (self.top(), self.small);
        for level in (1..top).rev() {
            let (coarse, fine) = self.r.split_at_mut(level + 1);
            if level == small && top > small {
                let part = share(level + 1, small, g.rank(), g.size());
                let mut mine = Grid::new(coarse[level].n, part.start / 2, part.len() / 2);
                grid::restrict(&fine[0], &mut mine);
                gather(g, &mine, &mut coarse[level]);
            } else {
                grid::restrict(&fine[0], &mut coarse[level]);
            }
            close(g, &mut coarse[level], &self.planes, small);
        }
        self.u[1].values.fill(0.0);
        self.smooth(g, 1);
        for level in 2..top {
            self.u[level].values.fill(0.0);
            self.refine(level);
            grid::residual(&self.u[level], None, &mut self.r[level]);
            close(g, &mut self.r[level], &self.planes, small);
            self.smooth(g, level);
        }
        self.refine(top);
        self.residual(g, v);
        self.smooth(g, top);
    }

    /// Adds the next coarser solution.
    fn refine(&mut self, level: usize) {
        let (coarse, fine) = self.u.split_at_mut(level);
        grid::interpolate(&coarse[level - 1], &mut fine[0]);
    }

    fn smooth(&mut self, g: &mut Group, level: usize) {
        grid::smooth(&self.r[level], &mut self.u[level], self.c);
        close(g, &mut self.u[level], &self.planes, self.small);
    }
}

/// Gives everybody all planes of a small grid.
fn gather(g: &mut Group, mine: &Grid, all: &mut Grid) {
    let own = mine.values[mine.plane_len()..][..mine.planes * mine.plane_len()].to_vec();
    let parts = g.step(|s| s.collect((mine.first, own)));
    let len = all.plane_len();
    for (first, part) in parts {
        let at = (first + 1) * len;
        all.values[at..at + part.len()].copy_from_slice(&part);
    }
}

/// Makes the frame of a grid right: what lies around is the other end's, or another processor's.
fn close(g: &mut Group, grid: &mut Grid, planes: &Area<f64>, small: usize) {
    grid.close_planes();
    let (n, first, len) = (grid.n, grid.first, grid.plane_len());
    let last = first + grid.planes;
    if n.ilog2() as usize <= small {
        // Everybody has all of it.
        let (bottom, top) = (grid.plane(1).to_vec(), grid.plane(n).to_vec());
        grid.plane_mut(0).copy_from_slice(&top);
        grid.plane_mut(n + 1).copy_from_slice(&bottom);
        return;
    }
    let (p, me) = (g.size(), g.rank());
    // The next one in this direction who has planes at all.
    let next = |step: usize| {
        let ranks = (1..=p).map(|i| (me + i * step) % p);
        ranks.into_iter().find(|&rank| !share(n.ilog2() as usize, small, rank, p).is_empty()).unwrap_or(me)
    };
    g.step(|s| {
        if grid.planes > 0 {
            // Whoever is next above has my last plane below its first, and the other way round.
            s.put(next(1), grid.plane(last), planes, 0);
            s.put(next(p - 1), grid.plane(first + 1), planes, len);
        }
    });
    let planes = planes.local();
    grid.plane_mut(first).copy_from_slice(&planes[..len]);
    grid.plane_mut(last + 1).copy_from_slice(&planes[len..2 * len]);
}

/// The right side: 0, but for the places of the ten largest and the ten smallest of as many random numbers.
fn charges(g: &mut Group, cube: &Cube) -> Grid {
    let u = &cube.u[cube.top()];
    let (n, mut mine) = (u.n, Vec::new());
    for plane in u.first..u.first + u.planes {
        let mut random = Random::new(SEED).skip((plane * n * n) as u64);
        mine.extend((plane * n * n..(plane + 1) * n * n).map(|at| (random.next(), at)));
        // What cannot be among the first ten need not be kept.
        mine.sort_by(|x, y| x.0.total_cmp(&y.0));
        if mine.len() > 2 * CHARGES {
            mine.drain(CHARGES..mine.len() - CHARGES);
        }
    }
    let mut all = g.step(|s| s.collect(mine)).concat();
    all.sort_by(|x, y| x.0.total_cmp(&y.0));
    let mut v = Grid::new(n, u.first, u.planes);
    let lowest = all[..CHARGES].iter().map(|&(_, at)| (at, -1.0));
    let highest = all[all.len() - CHARGES..].iter().map(|&(_, at)| (at, 1.0));
    for (at, charge) in lowest.chain(highest) {
        let (plane, row, column) = (at / (n * n), at / n % n, at % n);
        if (v.first..v.first + v.planes).contains(&plane) {
            v.plane_mut(plane + 1)[(row + 1) * (n + 2) + column + 1] = charge;
        }
    }
    v
}
