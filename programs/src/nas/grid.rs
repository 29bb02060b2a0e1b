//! The grids of the multigrid method, and its four operators.
//!
//! A grid is a cube with a frame of one element on all sides, which repeats what is at the other end. Planes are
//! numbered from 1; a processor has those from `first + 1` to `first + planes`, and the two around them.

/// Some planes of a grid of n³ elements.
pub(super) struct Grid {
    pub(super) n: usize,
    pub(super) first: usize,
    pub(super) planes: usize,
    pub(super) values: Vec<f64>,
}

impl Grid {
    pub(super) fn new(n: usize, first: usize, planes: usize) -> Self {
        Self { n, first, planes, values: vec![0.0; (planes + 2) * (n + 2) * (n + 2)] }
    }

    /// How many elements a plane has, with its frame.
    pub(super) fn plane_len(&self) -> usize {
        (self.n + 2) * (self.n + 2)
    }

    /// A plane, by its number in the whole grid.
    pub(super) fn plane(&self, number: usize) -> &[f64] {
        let at = (number - self.first) * self.plane_len();
        &self.values[at..at + self.plane_len()]
    }

    pub(super) fn plane_mut(&mut self, number: usize) -> &mut [f64] {
        let (at, len) = ((number - self.first) * self.plane_len(), self.plane_len());
        &mut self.values[at..at + len]
    }

    /// A row of a plane that is here, counted from the first of these with its frame.
    fn row(&self, plane: usize, row: usize) -> &[f64] {
        let at = (plane * (self.n + 2) + row) * (self.n + 2);
        &self.values[at..at + self.n + 2]
    }

    fn row_mut(&mut self, plane: usize, row: usize) -> &mut [f64] {
        let at = (plane * (self.n + 2) + row) * (self.n + 2);
        &mut self.values[at..at + self.n + 2]
    }

    /// Repeats the ends of rows and planes in their frames; frames of planes that others have are not touched.
    pub(super) fn close_planes(&mut self) {
        let (n, width) = (self.n, self.n + 2);
        for plane in self.values.chunks_exact_mut(width * width).skip(1).take(self.planes) {
            for row in plane.chunks_exact_mut(width) {
                row[0] = row[n];
                row[n + 1] = row[1];
            }
            plane.copy_within(n * width..(n + 1) * width, 0);
            plane.copy_within(width..2 * width, (n + 1) * width);
        }
    }

    /// The sum of the squares of what is here.
    pub(super) fn squares(&self) -> f64 {
        let row = |plane, row| self.row(plane, row)[1..=self.n].iter().map(|x| x * x).sum::<f64>();
        (1..=self.planes).map(|plane| (1..=self.n).map(|at| row(plane, at)).sum::<f64>()).sum()
    }
}

/// For each place of a row, the sums of the four values beside it in the rows around, and of the four across.
fn around(grid: &Grid, plane: usize, row: usize, beside: &mut [f64], across: &mut [f64]) {
    let [below, here, above] = [plane - 1, plane, plane + 1];
    let (north, south) = (grid.row(here, row - 1), grid.row(here, row + 1));
    let (down, up) = (grid.row(below, row), grid.row(above, row));
    let corners = [(below, row - 1), (below, row + 1), (above, row - 1), (above, row + 1)];
    let [a, b, c, d] = corners.map(|(plane, row)| grid.row(plane, row));
    for i in 0..grid.n + 2 {
        beside[i] = north[i] + south[i] + down[i] + up[i];
        across[i] = a[i] + b[i] + c[i] + d[i];
    }
}

/// r = v - A u, or r = r - A u where there is no v.
pub(super) fn residual(u: &Grid, v: Option<&Grid>, r: &mut Grid) {
    const A: [f64; 4] = [-8.0 / 3.0, 0.0, 1.0 / 6.0, 1.0 / 12.0];
    let n = u.n;
    let (mut beside, mut across) = (vec![0.0; n + 2], vec![0.0; n + 2]);
    for plane in 1..=u.planes {
        for row in 1..=n {
            around(u, plane, row, &mut beside, &mut across);
            let here = u.row(plane, row);
            let one = |i: usize| {
                A[0] * here[i]
                    + A[2] * (across[i] + beside[i - 1] + beside[i + 1])
                    + A[3] * (across[i - 1] + across[i + 1])
            };
            if let Some(v) = v {
                let (v, r) = (v.row(plane, row), r.row_mut(plane, row));
                (1..=n).for_each(|i| r[i] = v[i] - one(i));
            } else {
                let r = r.row_mut(plane, row);
                (1..=n).for_each(|i| r[i] -= one(i));
            }
        }
    }
}

/// u = u + C r, which makes it smoother.
pub(super) fn smooth(r: &Grid, u: &mut Grid, c: [f64; 3]) {
    let n = r.n;
    let (mut beside, mut across) = (vec![0.0; n + 2], vec![0.0; n + 2]);
    for plane in 1..=r.planes {
        for row in 1..=n {
            around(r, plane, row, &mut beside, &mut across);
            let (here, u) = (r.row(plane, row), u.row_mut(plane, row));
            for i in 1..=n {
                u[i] += c[0] * here[i]
                    + c[1] * (here[i - 1] + here[i + 1] + beside[i])
                    + c[2] * (across[i] + beside[i - 1] + beside[i + 1]);
            }
        }
    }
}

/// The planes of a grid of half the size that lie in those of `fine`: each element of `coarse` is a weighted mean.
pub(super) fn restrict(fine: &Grid, coarse: &mut Grid) {
    let width = fine.n + 2;
    let (mut beside, mut across) = (vec![0.0; width], vec![0.0; width]);
    for plane in 1..=coarse.planes {
        // The same plane in the finer grid, counted from the first of those that are here.
        let there = 2 * (plane + coarse.first) - fine.first;
        for row in 1..=coarse.n {
            around(fine, there, 2 * row, &mut beside, &mut across);
            let (here, out) = (fine.row(there, 2 * row), coarse.row_mut(plane, row));
            for (i, out) in out.iter_mut().enumerate().take(width / 2).skip(1) {
                let i = 2 * i;
                *out = 0.5 * here[i]
                    + 0.25 * (here[i - 1] + here[i + 1] + beside[i])
                    + 0.125 * (beside[i - 1] + beside[i + 1] + across[i])
                    + 0.0625 * (across[i - 1] + across[i + 1]);
            }
        }
    }
}

/// Adds a coarse grid to one of twice the size; between its elements are the means of those beside.
pub(super) fn interpolate(coarse: &Grid, fine: &mut Grid) {
    let n = coarse.n;
    let begin = fine.first / 2;
    for plane in begin..=begin + fine.planes / 2 {
        let here = plane - coarse.first;
        for row in 0..=n {
            let (a, b) = (coarse.row(here, row), coarse.row(here, row + 1));
            // In a coarse grid that ends here, the last plane has none above, and none is needed.
            let next = here + 1;
            let (c, d) = (coarse.row(next, row), coarse.row(next, row + 1));
            let there = 2 * plane - fine.first;
            for i in 0..=n {
                let j = i + 1;
                let [x, y] = [i, j].map(|i| a[i] + b[i]);
                let [v, w] = [i, j].map(|i| a[i] + c[i]);
                let [s, t] = [i, j].map(|i| a[i] + b[i] + c[i] + d[i]);
                let at = 2 * i;
                let rows: [(usize, usize, f64, f64); 4] = [
                    (0, 0, a[i], 0.5 * (a[i] + a[j])),
                    (0, 1, 0.5 * x, 0.25 * (x + y)),
                    (1, 0, 0.5 * v, 0.25 * (v + w)),
                    (1, 1, 0.25 * s, 0.125 * (s + t)),
                ];
                for (up, south, even, odd) in rows {
                    let out = fine.row_mut(there + up, 2 * row + south);
                    out[at] += even;
                    out[at + 1] += odd;
                }
            }
        }
    }
}
