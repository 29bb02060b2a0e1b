//! FT: a partial differential equation, solved by Fourier transforms of a cube of complex numbers.
//!
//! The equation is that of diffusion. Transformed, each element of the cube decays on its own, by a factor that is
//! known for any time. So the cube is transformed once; for each time it is multiplied, transformed back, and looked
//! at.
//!
//! # The program
//!
//! A processor has some *planes* of the cube, or some *rows* of all planes. What it has in one way lies so that a
//! transform along two, or one, of the three directions needs nobody else. Between the two ways the cube is turned. A
//! slab, which is a plane or a row of all planes, is transformed in the caches, and each processor gets its part of it
//! at once by an `hp_put`, whole and with one copy; so the cube is turned slab by slab while it is transformed.
//!
//! # Supersteps
//!
//! For a cube of n elements on p processors, the first transform and each time take one superstep for each plane or row
//! of a processor, and one for the sum:
//!
//! | | work | words sent | supersteps |
//! |---|---|---|---|
//! | a turn, with the transforms before | 5 n log n / p | 2 n (p - 1) / p² | planes / p, or rows / p |
//! | the transforms behind it, and the checksum | 5 n log n / p | 2 | 1 |
//!
//! Together, for each time: 5 n log n / p operations, h = 2 n / p words, and l for each row.
//!
//! # How it scales
//!
//! Every turn moves nearly all of the cube, so g decides: FT is the kernel of the suite that asks most of a network.
//! There is work for as many processors as there are planes or rows, whichever are fewer.
//!
//! # What the peers do
//!
//! The suite transposes locally, calls `MPI_Alltoall` once for the whole cube, and transposes again: three ways through
//! memory that here are none. It keeps a cube of factors, where here three lists are multiplied. On bare threads a
//! processor reads the slabs of the others where they are; `bench/peers` holds that, and `rustfft`, against this.

use super::{Class, Figures, Kernel, Outcome, Value, cube::Cube, fft::Complex, official};
use std::{ops::Range, time::Instant};
use superstep::{Area, Each, Group, Max, Sum};

/// The cube's columns, rows and planes, and how many times are looked at.
///
/// ```
/// use superstep_programs::nas::{Class, ft};
///
/// assert_eq!(ft::size(Class::S), ([64, 64, 64], 6));
/// ```
pub fn size(class: Class) -> ([usize; 3], usize) {
    class.pick([([64; 3], 6), ([128, 128, 32], 6), ([256, 256, 128], 6), ([512, 256, 256], 20)])
}

pub(super) fn run(g: &mut Group, class: Class) -> Outcome {
    let (extents, iterations) = size(class);
    let mut work = Work::new(g, extents);
    // Once without a clock, as the suite does, so that all memory is in place.
    work.begin(g);
    work.look(g, 1);
    g.step(|_| ());
    let start = Instant::now();
    work.begin(g);
    let sums: Vec<Complex> = (1..=iterations).map(|time| work.look(g, time)).collect();
    let taken = start.elapsed().as_secs_f64();
    let seconds = g.step(|s| s.reduce(taken, Max));
    let figures = Figures::of(Kernel::Ft, class, seconds);
    Outcome { kernel: Kernel::Ft, class, values: values(class, &sums), is_sound: true, figures }
}

/// The checksums, beside the official ones.
///
/// ```
/// use superstep_programs::nas::{Class, ft};
///
/// let values = ft::values(Class::S, &[[554.6087004964, 484.5363331978]]);
/// assert!(values.len() == 2 && values.iter().all(|value| value.is_right()));
/// ```
pub fn values(class: Class, sums: &[Complex]) -> Vec<Value> {
    let mut values = Vec::new();
    for (i, sum) in sums.iter().enumerate() {
        for (part, name) in ["real", "imaginary"].into_iter().enumerate() {
            let name = format!("checksum {}, {name}", i + 1);
            values.push(Value::new(name, sum[part], official::CHECKSUMS[class as usize][i][part], 1e-12));
        }
    }
    values
}

/// The cube as it lies here.
struct Work {
    cube: Cube,
    extents: [usize; 3],
    /// Which planes, and which rows, each processor has.
    planes: Vec<Range<usize>>,
    rows: Vec<Range<usize>>,
    /// Transformed; by plane, row of this processor and column.
    there: Area<Complex>,
    /// On its way back; by row, plane of this processor and column.
    between: Area<Complex>,
    slab: Area<Complex>,
}

impl Work {
    fn new(g: &mut Group, extents: [usize; 3]) -> Self {
        let [columns, row_count, plane_count] = extents;
        let size = g.size();
        let shares = |count: usize| (0..size).map(|rank| count * rank / size..count * (rank + 1) / size).collect();
        let (planes, rows): (Vec<Range<usize>>, Vec<Range<usize>>) = (shares(plane_count), shares(row_count));
        let there = g.area(plane_count * rows[g.rank()].len() * columns);
        let between = g.area(row_count * planes[g.rank()].len() * columns);
        let slab = g.area(columns * row_count.max(plane_count));
        Self { cube: Cube::new(extents), extents, planes, rows, there, between, slab }
    }

    /// Makes the cube, and transforms it.
    fn begin(&mut self, g: &mut Group) {
        let [columns, rows, planes] = self.extents;
        let Self { cube, there, slab, .. } = self;
        let begin = |plane: usize, slab: &mut [Complex]| cube.begin(plane, slab);
        turn(g, (columns, rows), (&self.planes, &self.rows), begin, slab, there);
        let mine = self.rows[g.rank()].len();
        let (mut there, mut slab) = (there.local_mut(), slab.local_mut());
        let slab = &mut slab[..planes * columns];
        for row in 0..mine {
            load(slab, &there, columns, (row, mine));
            cube.across(slab);
            for (from, to) in slab.chunks_exact(columns).zip(there.chunks_exact_mut(columns).skip(row).step_by(mine)) {
                to.copy_from_slice(from);
            }
        }
    }

    /// Transforms the cube back as it is at this time, and adds up the places that are looked at.
    fn look(&mut self, g: &mut Group, time: usize) -> Complex {
        let [columns, rows, planes] = self.extents;
        let Self { cube, there, between, slab, .. } = self;
        let (my_planes, my_rows) = (self.planes[g.rank()].clone(), self.rows[g.rank()].clone());
        cube.go_to(time);
        let back = |row: usize, slab: &mut [Complex]| {
            load(slab, &there.local(), columns, (row - my_rows.start, my_rows.len()));
            cube.back_across(row, slab);
        };
        turn(g, (columns, planes), (&self.rows, &self.planes), back, slab, between);
        let mut sum = vec![0.0; 2];
        {
            let (between, mut slab) = (between.local(), slab.local_mut());
            let slab = &mut slab[..rows * columns];
            for plane in my_planes.clone() {
                load(slab, &between, columns, (plane - my_planes.start, my_planes.len()));
                cube.back(slab);
                let mine = cube.checksum(plane, slab);
                sum[0] += mine[0];
                sum[1] += mine[1];
            }
        }
        let sum = g.step(|s| s.reduce(sum, Each(Sum)));
        [sum[0], sum[1]]
    }
}

/// Makes the slabs of this processor, of `count` rows each, and hands them out: a superstep for each. `from` says who
/// has which slabs, and `to` who gets which of their rows. There they lie by slab.
fn turn(
    g: &mut Group,
    (columns, count): (usize, usize),
    (from, to): (&[Range<usize>], &[Range<usize>]),
    mut make: impl FnMut(usize, &mut [Complex]),
    slab: &Area<Complex>,
    turned: &Area<Complex>,
) {
    let most = from.iter().map(ExactSizeIterator::len).max().unwrap_or(0);
    for i in 0..most {
        let number = from[g.rank()].clone().nth(i);
        g.step(|s| {
            if let Some(number) = number {
                make(number, &mut slab.local_mut()[..count * columns]);
                for (rank, rows) in to.iter().enumerate() {
                    let part = rows.start * columns..rows.end * columns;
                    s.hp_put(rank, (slab, part), turned, number * rows.len() * columns);
                }
            }
        });
    }
}

/// Loads a slab: of every `count` rows one, from the first on.
fn load(slab: &mut [Complex], from: &[Complex], columns: usize, (first, count): (usize, usize)) {
    for (to, from) in slab.chunks_exact_mut(columns).zip(from.chunks_exact(columns).skip(first).step_by(count)) {
        to.copy_from_slice(from);
    }
}
