//! What FT does to its cube of complex numbers, one slab at a time.
//!
//! A slab is a plane, with an element for each row and column, or all planes of one row. It fits the caches, so that
//! transforms along both of its directions cost one way to memory and back.

use super::{
    fft::{Complex, Fourier},
    random::Random,
};
use std::f64::consts::PI;

const SEED: u64 = 314_159_265;
const ALPHA: f64 = 1e-6;

/// The transforms of a cube, and what its elements are multiplied with when time goes on.
///
/// ```
/// use superstep_programs::nas::cube::Cube;
///
/// let mut cube = Cube::new([8, 4, 2]);
/// let mut plane = cube.plane_slab();
/// cube.begin(0, &mut plane);
/// assert!(plane.iter().all(|value| value[0] != 0.0));
/// ```
#[derive(Debug)]
pub struct Cube {
    extents: [usize; 3],
    /// Along columns, rows and planes.
    forth: [Fourier; 3],
    back: [Fourier; 3],
    /// By the number of the column, the row and the plane.
    factors: [Vec<f64>; 3],
}

impl Cube {
    /// A cube of so many columns, rows and planes, all of them powers of two.
    ///
    /// ```
    /// assert_eq!(superstep_programs::nas::cube::Cube::new([8, 4, 2]).row_slab().len(), 16);
    /// ```
    pub fn new(extents: [usize; 3]) -> Self {
        let transforms = |sign| extents.map(|extent| Fourier::new(extent, sign));
        Self { extents, forth: transforms(1.0), back: transforms(-1.0), factors: Default::default() }
    }

    /// Room for a plane.
    ///
    /// ```
    /// assert_eq!(superstep_programs::nas::cube::Cube::new([8, 4, 2]).plane_slab().len(), 32);
    /// ```
    pub fn plane_slab(&self) -> Vec<Complex> {
        vec![[0.0; 2]; self.extents[0] * self.extents[1]]
    }

    /// Room for a row of all planes.
    ///
    /// ```
    /// assert_eq!(superstep_programs::nas::cube::Cube::new([8, 4, 2]).row_slab().len(), 16);
    /// ```
    pub fn row_slab(&self) -> Vec<Complex> {
        vec![[0.0; 2]; self.extents[0] * self.extents[2]]
    }

    /// Makes the random numbers of a plane, and transforms its rows and columns.
    ///
    /// ```
    /// use superstep_programs::nas::{cube::Cube, random::Random};
    ///
    /// let (mut cube, mut random) = (Cube::new([2, 1, 1]), Random::new(314_159_265));
    /// let mut plane = cube.plane_slab();
    /// cube.begin(0, &mut plane);
    /// let [first, _, second] = [random.next(), random.next(), random.next()];
    /// assert_eq!(plane[0][0], first + second);
    /// ```
    pub fn begin(&mut self, plane: usize, slab: &mut [Complex]) {
        let mut random = Random::new(SEED).skip(2 * (plane * slab.len()) as u64);
        slab.fill_with(|| [random.next(), random.next()]);
        self.forth[0].rows(slab);
        self.forth[1].columns(slab, self.extents[0]);
    }

    /// Transforms a row of all planes along these.
    ///
    /// ```
    /// let mut slab = [[1.0, 0.0], [2.0, 0.0]];
    /// superstep_programs::nas::cube::Cube::new([1, 1, 2]).across(&mut slab);
    /// assert_eq!(slab, [[3.0, 0.0], [-1.0, 0.0]]);
    /// ```
    pub fn across(&mut self, slab: &mut [Complex]) {
        self.forth[2].columns(slab, self.extents[0]);
    }

    /// Goes on to this time, which is 0 in the beginning.
    ///
    /// ```
    /// let mut cube = superstep_programs::nas::cube::Cube::new([1, 1, 2]);
    /// cube.go_to(1);
    /// let mut slab = [[3.0, 0.0], [-1.0, 0.0]];
    /// cube.back_across(0, &mut slab);
    /// assert!(slab[0][0] > 2.0);                                // 2 and 4 come a little nearer to each other
    /// ```
    pub fn go_to(&mut self, time: usize) {
        self.factors = self.extents.map(|count| {
            let factor = |i: usize| {
                let i = if 2 * i < count { i as f64 } else { i as f64 - count as f64 };
                (-4.0 * ALPHA * PI * PI * time as f64 * i * i).exp()
            };
            (0..count).map(factor).collect()
        });
    }

    /// Multiplies all planes of a row as the time has it, and transforms them back along these.
    ///
    /// ```
    /// let mut cube = superstep_programs::nas::cube::Cube::new([1, 1, 2]);
    /// cube.go_to(0);
    /// let mut slab = [[3.0, 0.0], [-1.0, 0.0]];
    /// cube.back_across(0, &mut slab);
    /// assert_eq!(slab, [[2.0, 0.0], [4.0, 0.0]]);
    /// ```
    pub fn back_across(&mut self, row: usize, slab: &mut [Complex]) {
        let [columns, rows, planes] = &self.factors;
        for (values, plane) in slab.chunks_exact_mut(columns.len()).zip(planes) {
            let both = rows[row] * plane;
            for (value, column) in values.iter_mut().zip(columns) {
                *value = value.map(|part| part * (both * column));
            }
        }
        self.back[2].columns(slab, self.extents[0]);
    }

    /// Transforms a plane back along its columns and rows.
    ///
    /// ```
    /// let mut slab = [[3.0, 0.0], [-1.0, 0.0]];
    /// superstep_programs::nas::cube::Cube::new([2, 1, 1]).back(&mut slab);
    /// assert_eq!(slab, [[2.0, 0.0], [4.0, 0.0]]);
    /// ```
    pub fn back(&mut self, slab: &mut [Complex]) {
        self.back[0].rows(slab);
        self.back[1].columns(slab, self.extents[0]);
    }

    /// What a plane has of the sum over 1024 places of the cube, that the suite looks at.
    ///
    /// ```
    /// let cube = superstep_programs::nas::cube::Cube::new([1, 1, 2]);
    /// assert_eq!(cube.checksum(1, &[[4.0, 2.0]]), [1024.0, 512.0]);
    /// ```
    pub fn checksum(&self, plane: usize, slab: &[Complex]) -> Complex {
        let [columns, rows, planes] = self.extents;
        let places = (1..=1024).filter(|j| 5 * j % planes == plane);
        let values = places.map(|j| slab[(3 * j % rows) * columns + j % columns]);
        let sum = values.fold([0.0; 2], |sum, value| [sum[0] + value[0], sum[1] + value[1]]);
        sum.map(|part| part / (columns * rows * planes) as f64)
    }
}
