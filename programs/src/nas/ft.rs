//! FT: a partial differential equation is solved by Fourier transforms of a cube of complex numbers.
//!
//! Each processor has some planes of the cube, and transforms them in two directions by itself. For the third one the
//! cube is turned: an `exchange` of one superstep gives each processor some rows of all planes. There the solution goes
//! on in time, and one transform, turn and transform back it is looked at.

use super::{
    Class, Kernel, Outcome, Value,
    fft::{Complex, Fourier},
    random::Random,
};
use std::{ops::Range, time::Instant};
use superstep::{Each, Group, Max, Sum};

const SEED: u64 = 314_159_265;
const ALPHA: f64 = 1e-6;
/// How many columns are transformed at once: they fit the cache.
const COLUMNS: usize = 16;

pub(super) fn run(g: &mut Group, class: Class) -> Outcome {
    let (extents, iterations) =
        class.pick([([64; 3], 6), ([128, 128, 32], 6), ([256, 256, 128], 6), ([512, 256, 256], 20)]);
    let cube = Cube::new(g, extents);
    g.step(|_| ());
    let start = Instant::now();
    let factors = cube.factors();
    let mut there = cube.turn(g, &cube.planes_transformed(cube.start(), 1.0));
    cube.rows_transformed(&mut there, 1.0);
    let mut sums = Vec::new();
    for _ in 0..iterations {
        for (value, factor) in there.iter_mut().zip(&factors) {
            *value = value.map(|part| part * factor);
        }
        let mut values = there.clone();
        cube.rows_transformed(&mut values, -1.0);
        let mine = cube.checksum(&cube.planes_transformed(cube.turn_back(g, &values), -1.0));
        sums.push(g.step(|s| s.reduce(mine, Each(Sum))));
    }
    let taken = start.elapsed().as_secs_f64();
    let seconds = g.step(|s| s.reduce(taken, Max));
    let known: &[[f64; 2]] = match class {
        Class::S => &SMALL,
        Class::W => &WORKSTATION,
        _ => &[],
    };
    let mut values = Vec::new();
    for (i, sum) in sums.iter().enumerate() {
        for (part, name) in ["real", "imaginary"].into_iter().enumerate() {
            let official = known.get(i).map(|known| (known[part], 1e-12));
            values.push(Value { name: format!("checksum {}, {name}", i + 1), found: sum[part], official });
        }
    }
    let is_sound = values.iter().all(|value| value.found.is_finite());
    Outcome { kernel: Kernel::Ft, class, values, is_sound, seconds }
}

/// How the cube lies: planes first, rows when it is turned.
struct Cube {
    /// Columns, rows and planes.
    extents: [usize; 3],
    rank: usize,
    size: usize,
}

impl Cube {
    fn new(g: &Group, extents: [usize; 3]) -> Self {
        Self { extents, rank: g.rank(), size: g.size() }
    }

    /// Which of so many planes or rows a processor has.
    fn share(&self, count: usize, rank: usize) -> Range<usize> {
        count * rank / self.size..count * (rank + 1) / self.size
    }

    /// The numbers to begin with, plane by plane.
    fn start(&self) -> Vec<Complex> {
        let [columns, rows, planes] = self.extents;
        let share = self.share(planes, self.rank);
        let mut random = Random::new(SEED).skip((2 * columns * rows * share.start) as u64);
        (0..columns * rows * share.len()).map(|_| [random.next(), random.next()]).collect()
    }

    /// Transforms the rows and the columns of this processor's planes.
    fn planes_transformed(&self, mut values: Vec<Complex>, sign: f64) -> Vec<Complex> {
        let [columns, rows, _] = self.extents;
        let (mut along, mut across) = (Fourier::new(columns, sign), Fourier::new(rows, sign));
        let mut some = vec![[0.0; 2]; rows * COLUMNS.min(columns)];
        for plane in values.chunks_exact_mut(columns * rows) {
            for row in plane.chunks_exact_mut(columns) {
                along.transform(row, 1);
            }
            strips(plane, (rows, columns), &mut some, &mut across);
        }
        values
    }

    /// Transforms along the third direction, where this processor has some rows of all planes: by row, plane, column.
    fn rows_transformed(&self, values: &mut [Complex], sign: f64) {
        let [columns, _, planes] = self.extents;
        let mut along = Fourier::new(planes, sign);
        let mut some = vec![[0.0; 2]; planes * COLUMNS.min(columns)];
        for row in values.chunks_exact_mut(columns * planes) {
            strips(row, (planes, columns), &mut some, &mut along);
        }
    }

    /// From planes to rows: one superstep.
    fn turn(&self, g: &mut Group, values: &[Complex]) -> Vec<Complex> {
        let [_, rows, planes] = self.extents;
        self.swap(g, values, [planes, rows])
    }

    /// From rows to planes: one superstep.
    fn turn_back(&self, g: &mut Group, values: &[Complex]) -> Vec<Complex> {
        let [_, rows, planes] = self.extents;
        self.swap(g, values, [rows, planes])
    }

    /// Swaps two directions of these extents, of which the first is dealt out to the processors, and then the second.
    fn swap(&self, g: &mut Group, values: &[Complex], [first, second]: [usize; 2]) -> Vec<Complex> {
        let columns = self.extents[0];
        let mine = self.share(first, self.rank).len();
        let part = |to: usize| {
            let theirs = self.share(second, to);
            let mut part = Vec::with_capacity(theirs.len() * mine * columns);
            for there in theirs {
                for here in 0..mine {
                    let at = (here * second + there) * columns;
                    part.extend_from_slice(&values[at..at + columns]);
                }
            }
            part
        };
        let parts: Vec<Vec<Complex>> = (0..self.size).map(part).collect();
        let parts = g.step(|s| s.exchange(parts));
        let mut swapped = vec![[0.0; 2]; self.share(second, self.rank).len() * first * columns];
        for (from, part) in parts.iter().enumerate() {
            let share = self.share(first, from);
            for (here, part) in part.chunks_exact((share.len() * columns).max(1)).enumerate() {
                let at = (here * first + share.start) * columns;
                swapped[at..at + part.len()].copy_from_slice(part);
            }
        }
        swapped
    }

    /// What each number is multiplied by when the solution goes on in time, where the cube is turned.
    fn factors(&self) -> Vec<f64> {
        let [columns, rows, planes] = self.extents;
        let square = |i: usize, count: usize| {
            let i = if i < count / 2 { i as f64 } else { i as f64 - count as f64 };
            i * i
        };
        let scale = -4.0 * ALPHA * std::f64::consts::PI.powi(2);
        let mut factors = Vec::new();
        for row in self.share(rows, self.rank) {
            for plane in 0..planes {
                let both = square(row, rows) + square(plane, planes);
                factors.extend((0..columns).map(|column| (scale * (both + square(column, columns))).exp()));
            }
        }
        factors
    }

    /// What is here of the sum over some places of the cube.
    fn checksum(&self, values: &[Complex]) -> Vec<f64> {
        let [columns, rows, planes] = self.extents;
        let (share, count) = (self.share(planes, self.rank), (columns * rows * planes) as f64);
        let mut sum = vec![0.0; 2];
        for j in 1..=1024 {
            let (column, row, plane) = (j % columns, 3 * j % rows, 5 * j % planes);
            if share.contains(&plane) {
                let value = values[((plane - share.start) * rows + row) * columns + column];
                sum[0] += value[0] / count;
                sum[1] += value[1] / count;
            }
        }
        sum
    }
}

/// Transforms the columns of a matrix, some at a time, which lie together meanwhile.
fn strips(matrix: &mut [Complex], (rows, columns): (usize, usize), some: &mut [Complex], by: &mut Fourier) {
    let width = COLUMNS.min(columns);
    for first in (0..columns).step_by(width) {
        for row in 0..rows {
            let at = row * columns + first;
            some[row * width..(row + 1) * width].copy_from_slice(&matrix[at..at + width]);
        }
        by.transform(some, width);
        for row in 0..rows {
            let at = row * columns + first;
            matrix[at..at + width].copy_from_slice(&some[row * width..(row + 1) * width]);
        }
    }
}

const SMALL: [[f64; 2]; 6] = [
    [554.608_700_496_4, 484.536_333_197_8],
    [554.638_540_918_9, 486.530_426_951_1],
    [554.614_840_617_1, 488.391_072_233_6],
    [554.542_360_741_5, 490.127_316_904_6],
    [554.425_503_962_4, 491.747_585_799_3],
    [554.268_341_190_2, 493.259_724_494_1],
];

const WORKSTATION: [[f64; 2]; 6] = [
    [567.361_217_894_4, 529.324_684_917_5],
    [563.143_688_527_1, 528.214_998_662_9],
    [559.402_408_997_0, 527.099_655_803_7],
    [556.069_804_702_0, 526.002_790_492_5],
    [553.089_899_125_0, 524.940_084_563_3],
    [550.415_973_453_8, 523.921_224_708_6],
];
