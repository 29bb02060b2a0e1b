//! The grids of the multigrid method, and its four operators.
//!
//! A grid is a cube with a frame of one element on all sides, which repeats what is at the other end. Planes are
//! numbered from 1; a processor has those from `first + 1` to `first + planes`, and the two around them. Operators go
//! row by row over what is here, and leave the frames of its planes right; the two planes around are the caller's.

/// Which planes of a grid are here.
///
/// ```
/// use superstep_programs::nas::grid::Grid;
///
/// let grid = Grid { n: 4, first: 2, planes: 2 };
/// assert_eq!(grid.len(), 4 * 36);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grid {
    /// How many elements the whole grid has each way.
    pub n: usize,
    /// How many planes are below those here.
    pub first: usize,
    /// How many are here.
    pub planes: usize,
}

impl Grid {
    /// How many elements are here, with all frames.
    ///
    /// ```
    /// assert_eq!(superstep_programs::nas::grid::Grid { n: 2, first: 0, planes: 2 }.len(), 64);
    /// ```
    #[allow(clippy::len_without_is_empty, reason = "there is always a frame")]
    pub fn len(&self) -> usize {
        (self.planes + 2) * self.plane_len()
    }

    /// How many elements a plane has, with its frame.
    ///
    /// ```
    /// assert_eq!(superstep_programs::nas::grid::Grid { n: 2, first: 0, planes: 2 }.plane_len(), 16);
    /// ```
    pub fn plane_len(&self) -> usize {
        (self.n + 2) * (self.n + 2)
    }

    /// A row with its frame; planes are counted from the one below those here.
    #[inline]
    fn row<'a>(&self, values: &'a [f64], plane: usize, row: usize) -> &'a [f64] {
        let width = self.n + 2;
        &values[(plane * width + row) * width..][..width]
    }

    #[inline]
    fn row_mut<'a>(&self, values: &'a mut [f64], plane: usize, row: usize) -> &'a mut [f64] {
        let width = self.n + 2;
        &mut values[(plane * width + row) * width..][..width]
    }

    /// Repeats the ends of a plane's rows, and its first and its last row, in its frame.
    fn close(&self, values: &mut [f64], plane: usize) {
        let (n, width) = (self.n, self.n + 2);
        let plane = &mut values[plane * width * width..][..width * width];
        for row in plane.chunks_exact_mut(width).skip(1).take(n) {
            row[0] = row[n];
            row[n + 1] = row[1];
        }
        plane.copy_within(n * width..(n + 1) * width, 0);
        plane.copy_within(width..2 * width, (n + 1) * width);
    }

    /// The sum of the squares of what is here.
    ///
    /// ```
    /// let grid = superstep_programs::nas::grid::Grid { n: 2, first: 0, planes: 1 };
    /// assert_eq!(grid.squares(&[2.0; 48]), 16.0);
    /// ```
    pub fn squares(&self, values: &[f64]) -> f64 {
        let mut sums = [0.0; 4];
        for plane in 1..=self.planes {
            for row in 1..=self.n {
                for (i, value) in self.row(values, plane, row)[1..=self.n].iter().enumerate() {
                    sums[i % 4] += value * value;
                }
            }
        }
        sums.iter().sum()
    }

    /// r = v - A u, or r = r - A u where there is no v.
    ///
    /// ```
    /// let grid = superstep_programs::nas::grid::Grid { n: 2, first: 0, planes: 1 };
    /// let mut r = [0.0; 48];
    /// grid.residual(&[1.0; 48], Some(&[5.0; 48]), &mut r);
    /// assert!((r[21] - 5.0).abs() < 1e-15);                     // A takes differences: there are none
    /// ```
    pub fn residual(&self, u: &[f64], v: Option<&[f64]>, r: &mut [f64]) {
        const A: [f64; 4] = [-8.0 / 3.0, 0.0, 1.0 / 6.0, 1.0 / 12.0];
        let n = self.n;
        let mut sums = Around::new(n);
        for plane in 1..=self.planes {
            for row in 1..=n {
                let (beside, across) = sums.of(self, u, plane, row);
                let here = &self.row(u, plane, row)[1..=n];
                let (before, behind) = (&beside[..n], &beside[2..n + 2]);
                let [left, middle, right] = [0, 1, 2].map(|at| &across[at..at + n]);
                let one = |i: usize| {
                    A[0] * here[i] + A[2] * (middle[i] + before[i] + behind[i]) + A[3] * (left[i] + right[i])
                };
                let r = &mut self.row_mut(r, plane, row)[1..=n];
                if let Some(v) = v {
                    let v = &self.row(v, plane, row)[1..=n];
                    (0..n).for_each(|i| r[i] = v[i] - one(i));
                } else {
                    (0..n).for_each(|i| r[i] -= one(i));
                }
            }
            self.close(r, plane);
        }
    }

    /// u = u + C r, which makes it smoother.
    ///
    /// ```
    /// let grid = superstep_programs::nas::grid::Grid { n: 2, first: 0, planes: 1 };
    /// let mut u = [1.0; 48];
    /// grid.smooth(&[1.0; 48], &mut u, [0.5, 0.25, 0.125]);
    /// assert_eq!(u[21], 1.0 + 0.5 + 6.0 * 0.25 + 12.0 * 0.125);
    /// ```
    pub fn smooth(&self, r: &[f64], u: &mut [f64], c: [f64; 3]) {
        let n = self.n;
        let mut sums = Around::new(n);
        for plane in 1..=self.planes {
            for row in 1..=n {
                let (beside, across) = sums.of(self, r, plane, row);
                let [west, here, east] = [0, 1, 2].map(|at| &self.row(r, plane, row)[at..at + n]);
                let [before, middle, behind] = [0, 1, 2].map(|at| &beside[at..at + n]);
                let (across, u) = (&across[1..=n], &mut self.row_mut(u, plane, row)[1..=n]);
                for i in 0..n {
                    u[i] += c[0] * here[i]
                        + c[1] * (west[i] + east[i] + middle[i])
                        + c[2] * (across[i] + before[i] + behind[i]);
                }
            }
            self.close(u, plane);
        }
    }

    /// Makes the planes of a grid of half the size that lie in those here: each element is a weighted mean.
    ///
    /// ```
    /// use superstep_programs::nas::grid::Grid;
    ///
    /// let [fine, coarse] = [4, 2].map(|n| Grid { n, first: 0, planes: n });
    /// let mut values = vec![0.0; coarse.len()];
    /// fine.restrict(&vec![1.0; fine.len()], &coarse, &mut values);
    /// assert_eq!(values[21], 0.5 + 6.0 * 0.25 + 12.0 * 0.125 + 8.0 * 0.0625);
    /// ```
    pub fn restrict(&self, values: &[f64], coarse: &Grid, out: &mut [f64]) {
        let n = coarse.n;
        let mut sums = Around::new(self.n);
        for plane in 1..=coarse.planes {
            // The same plane in the finer grid, counted from the one below those here.
            let there = 2 * (plane + coarse.first) - self.first;
            for row in 1..=n {
                let (beside, across) = sums.of(self, values, there, 2 * row);
                let here = self.row(values, there, 2 * row);
                // An element's own pair begins with it, and the pair before ends beside it.
                let [before, pair] = [0, 1].map(|at| &here.as_chunks::<2>().0[at..at + n]);
                let [beside_before, beside] = [0, 1].map(|at| &beside.as_chunks::<2>().0[at..at + n]);
                let [across_before, across] = [0, 1].map(|at| &across.as_chunks::<2>().0[at..at + n]);
                let out = &mut coarse.row_mut(out, plane, row)[1..=n];
                for j in 0..n {
                    out[j] = 0.5 * pair[j][0]
                        + 0.25 * (before[j][1] + pair[j][1] + beside[j][0])
                        + 0.125 * (beside_before[j][1] + beside[j][1] + across[j][0])
                        + 0.0625 * (across_before[j][1] + across[j][1]);
                }
            }
            coarse.close(out, plane);
        }
    }

    /// Adds this grid to one of twice the size, frames and all; between its elements are the means of those beside.
    ///
    /// ```
    /// use superstep_programs::nas::grid::Grid;
    ///
    /// let [coarse, fine] = [2, 4].map(|n| Grid { n, first: 0, planes: n });
    /// let mut values = vec![1.0; fine.len()];
    /// coarse.interpolate(&vec![2.0; coarse.len()], &fine, &mut values);
    /// assert_eq!(values, vec![3.0; fine.len()]);
    /// ```
    pub fn interpolate(&self, values: &[f64], fine: &Grid, out: &mut [f64]) {
        let n = self.n;
        let mut sums = [vec![0.0; n + 2], vec![0.0; n + 2], vec![0.0; n + 2]];
        let begin = fine.first / 2;
        for plane in begin..=begin + fine.planes / 2 {
            let (here, there) = (plane - self.first, 2 * plane - fine.first);
            for row in 0..=n {
                let [a, b] = [0, 1].map(|south| self.row(values, here, row + south));
                let [c, d] = [0, 1].map(|south| self.row(values, here + 1, row + south));
                let [south, up, both] = sums.each_mut().map(|sum| &mut sum[..n + 2]);
                for i in 0..n + 2 {
                    south[i] = a[i] + b[i];
                    up[i] = a[i] + c[i];
                    both[i] = south[i] + c[i] + d[i];
                }
                spread(a, 1.0, fine.row_mut(out, there, 2 * row));
                spread(south, 0.5, fine.row_mut(out, there, 2 * row + 1));
                spread(up, 0.5, fine.row_mut(out, there + 1, 2 * row));
                spread(both, 0.25, fine.row_mut(out, there + 1, 2 * row + 1));
            }
        }
    }
}

/// Adds a coarse row to a fine one: an element to each second place, and the means of two to those between.
#[inline]
fn spread(coarse: &[f64], scale: f64, fine: &mut [f64]) {
    let pairs = fine.as_chunks_mut::<2>().0;
    let [left, right] = [0, 1].map(|at| &coarse[at..at + pairs.len()]);
    for (i, pair) in pairs.iter_mut().enumerate() {
        pair[0] += scale * left[i];
        pair[1] += 0.5 * scale * (left[i] + right[i]);
    }
}

/// For each place of a row, the sums of the four values beside it in the rows around, and of the four across.
struct Around {
    beside: Vec<f64>,
    across: Vec<f64>,
}

impl Around {
    fn new(n: usize) -> Self {
        Self { beside: vec![0.0; n + 2], across: vec![0.0; n + 2] }
    }

    #[inline]
    fn of(&mut self, grid: &Grid, values: &[f64], plane: usize, row: usize) -> (&[f64], &[f64]) {
        let width = grid.n + 2;
        let [[a, down, b], [north, _, south], [c, up, d]] =
            [plane - 1, plane, plane + 1].map(|plane| [row - 1, row, row + 1].map(|row| grid.row(values, plane, row)));
        let (beside, across) = (&mut self.beside[..width], &mut self.across[..width]);
        for i in 0..width {
            beside[i] = north[i] + south[i] + down[i] + up[i];
            across[i] = a[i] + b[i] + c[i] + d[i];
        }
        (beside, across)
    }
}
