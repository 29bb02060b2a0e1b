//! MG: every thread has some planes of each large grid, and all of the small ones.

use super::{Member, team};
use crate::{Sample, contenders::huge};
use superstep_programs::nas::{Class, grid::Grid, mg};

pub(crate) fn run(class: Class, threads: usize) -> Sample {
    team(threads, |member| {
        let (levels, cycles, c) = mg::size(class);
        let small = mg::small(levels, member.size);
        let grid = |level: usize| {
            let share = mg::share(level, small, member.rank, member.size);
            Grid { n: 1 << level, first: share.start, planes: share.len() }
        };
        let grids: Vec<Grid> = (0..=levels).map(grid).collect();
        let [u, r] = [(); 2].map(|()| grids.iter().map(|grid| huge::zeroed(grid.len())).collect());
        let mut cube = Cube { member, grids, u, r, v: Vec::new(), small, c };
        let grid = cube.grids[levels];
        let charges = mg::charges(&grid);
        member.say(|said| said.extend(charges.iter().flat_map(|&(x, at)| [x, at as f64])));
        let said = (0..member.size).flat_map(|rank| member.said_by(rank).clone()).collect::<Vec<f64>>();
        let all = said.as_chunks::<2>().0.iter().map(|&[x, at]| (x, at as usize)).collect();
        cube.v = huge::zeroed(grid.len());
        mg::place(&grid, all, &mut cube.v);
        // One cycle that is not counted.
        cube.begin();
        cube.cycle();
        cube.begin();
        let (seconds, norm) = member.timed(|| {
            for _ in 0..cycles {
                cube.cycle();
                cube.residual();
            }
            (member.sum(grid.squares(&cube.r[levels])) / (grid.n as f64).powi(3)).sqrt()
        });
        (seconds, mg::value(class, norm).is_right())
    })
}

/// The grids of all levels.
struct Cube<'a> {
    member: &'a Member<'a>,
    grids: Vec<Grid>,
    u: Vec<Vec<f64>>,
    r: Vec<Vec<f64>>,
    v: Vec<f64>,
    /// The highest level of which everybody has all.
    small: usize,
    c: [f64; 3],
}

impl Cube<'_> {
    fn begin(&mut self) {
        self.u[self.grids.len() - 1].fill(0.0);
        self.residual();
    }

    fn residual(&mut self) {
        let top = self.grids.len() - 1;
        self.grids[top].residual(&self.u[top], Some(&self.v), &mut self.r[top]);
        self.close_residual(top);
    }

    fn cycle(&mut self) {
        let top = self.grids.len() - 1;
        for level in (1..top).rev() {
            self.coarsen(level);
            self.close_residual(level);
        }
        self.u[1].fill(0.0);
        self.smooth(1);
        for level in 2..top {
            self.u[level].fill(0.0);
            self.refine(level);
            self.grids[level].residual(&self.u[level], None, &mut self.r[level]);
            self.close_residual(level);
            self.smooth(level);
        }
        self.refine(top);
        self.residual();
        self.smooth(top);
    }

    fn coarsen(&mut self, level: usize) {
        let (fine, coarse) = (&self.grids[level + 1], &self.grids[level]);
        let (below, above) = self.r.split_at_mut(level + 1);
        if level != self.small || level + 1 == self.grids.len() {
            fine.restrict(&above[0], coarse, &mut below[level]);
            return;
        }
        // Here everybody makes some planes, and gets those of all.
        let part = Grid { n: coarse.n, first: fine.first / 2, planes: fine.planes / 2 };
        let mut mine = vec![0.0; part.len()];
        fine.restrict(&above[0], &part, &mut mine);
        let mut at = part.plane_len();
        self.member.say(|said| said.extend_from_slice(&mine[at..at * (part.planes + 1)]));
        for rank in 0..self.member.size {
            let part = self.member.said_by(rank);
            below[level][at..at + part.len()].copy_from_slice(&part);
            at += part.len();
        }
    }

    fn refine(&mut self, level: usize) {
        let (below, above) = self.u.split_at_mut(level);
        self.grids[level - 1].interpolate(&below[level - 1], &self.grids[level], &mut above[0]);
    }

    fn smooth(&mut self, level: usize) {
        self.grids[level].smooth(&self.r[level], &mut self.u[level], self.c);
        close(self.member, self.grids[level], level <= self.small, &mut self.u[level]);
    }

    fn close_residual(&mut self, level: usize) {
        close(self.member, self.grids[level], level <= self.small, &mut self.r[level]);
    }
}

/// Makes the planes around those here right, which others have, or this thread at the other end.
fn close(member: &Member<'_>, grid: Grid, is_small: bool, values: &mut [f64]) {
    let (len, planes) = (grid.plane_len(), grid.planes);
    if is_small {
        values.copy_within(planes * len..(planes + 1) * len, 0);
        values.copy_within(len..2 * len, (planes + 1) * len);
        return;
    }
    let (me, size) = (member.rank, member.size);
    member.say(|said| {
        said.extend_from_slice(&values[len..2 * len]);
        said.extend_from_slice(&values[planes * len..(planes + 1) * len]);
    });
    values[..len].copy_from_slice(&member.said_by((me + size - 1) % size)[len..]);
    values[(planes + 1) * len..].copy_from_slice(&member.said_by((me + 1) % size)[..len]);
}
