//! CG: the smallest eigenvalue of a large sparse matrix, by inverse iteration with conjugate gradients.
//!
//! Each iteration solves a z = x, nearly, by 25 steps of the conjugate gradients, and goes on with the direction of z.
//! The matrix is a sum of outer products of sparse random vectors: it has no shape that could be made use of.
//!
//! # The program
//!
//! Rows lie in blocks, and so do all vectors. [`Sparse`] finds out once which elements of a vector the rows of a
//! processor need; a product asks for these alone, and adds up each row. Everything else is a loop over what is here.
//!
//! # Supersteps
//!
//! For n rows with m entries in all on p processors, a step of the conjugate gradients is:
//!
//! | | work | words sent | supersteps |
//! |---|---|---|---|
//! | the product q = a p | 2 m / p | n (p - 1) / p | 1 |
//! | the sum p q | 2 n / p | 1 | 1 |
//! | new z and r, and the sum r r | 6 n / p | 1 | 1 |
//! | new p | 2 n / p | | |
//!
//! Words are those of a matrix as this, where a block of rows has an entry in nearly every column. An iteration is 26
//! times that, and all of it 2 m / p operations, h = n and 3 l for each of 25 · 15 or 25 · 75 steps.
//!
//! # How it scales
//!
//! Work goes down by p and words hardly do, so in blocks of rows it does well while m / p is much larger than n g: up
//! to some tens of processors. The sums cost l and nothing else; on thousands of processors they are what is left.
//!
//! # What the peers do
//!
//! The suite deals out blocks in both directions of the matrix: words go down by √p, for a sum along rows of
//! processors and a transposition in each step. On bare threads a processor reads the vector where it is. C with MPI by
//! hand gathers all of it with `MPI_Allgatherv`; `bench/peers` has both.

use super::{Class, Figures, Kernel, Outcome, Value, official, random::Random};
use std::time::Instant;
use superstep::{Array, Block, Group, Max, Sum, sparse::Sparse};

const SEED: u64 = 314_159_265;
const RCOND: f64 = 0.1;

/// Steps of the conjugate gradients in each iteration.
pub const STEPS: usize = 25;

type Vector = Array<f64, Block>;

/// How large the problem is.
///
/// ```
/// use superstep_programs::nas::{Class, cg};
///
/// assert_eq!(cg::size(Class::S), cg::Size { order: 1400, nonzero: 7, shift: 10.0, iterations: 15 });
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Size {
    /// How many rows and columns the matrix has.
    pub order: usize,
    /// How many elements of each random vector are not zero.
    pub nonzero: usize,
    /// What is taken from the diagonal.
    pub shift: f64,
    /// How often the system is solved.
    pub iterations: usize,
}

/// The size of a class.
///
/// ```
/// use superstep_programs::nas::{Class, cg};
///
/// assert_eq!(cg::size(Class::A).order, 14000);
/// ```
pub fn size(class: Class) -> Size {
    let (order, nonzero, shift, iterations) =
        class.pick([(1400, 7, 10.0, 15), (7000, 8, 12.0, 15), (14000, 11, 20.0, 15), (75000, 13, 60.0, 75)]);
    Size { order, nonzero, shift, iterations }
}

pub(super) fn run(g: &mut Group, class: Class) -> Outcome {
    let size = size(class);
    let [x, z, r, p, q] = [(); 5].map(|()| g.array::<f64, Block>(size.order));
    let entries = entries(&size, |row| x.is_owned(row));
    let a = g.sparse(&x, &x, &entries, Sum);
    drop(entries);
    let vectors = [&z, &r, &p, &q];
    let mut zeta = 0.0;
    let mut start = Instant::now();
    for iteration in 0..=size.iterations {
        if iteration <= 1 {
            // The first one is not counted.
            x.local_mut().fill(1.0);
            g.step(|_| ());
            start = Instant::now();
        }
        solve(g, &a, &x, vectors);
        let (xz, zz) = (dot(&x, &z), dot(&z, &z));
        let (xz, zz) = g.step(|s| (s.reduce(xz, Sum), s.reduce(zz, Sum)));
        zeta = size.shift + 1.0 / xz;
        let norm = 1.0 / zz.sqrt();
        for (x, z) in x.local_mut().iter_mut().zip(z.local().iter()) {
            *x = norm * z;
        }
    }
    let taken = start.elapsed().as_secs_f64();
    let seconds = g.step(|s| s.reduce(taken, Max));
    let figures = Figures::of(Kernel::Cg, class, seconds);
    Outcome { kernel: Kernel::Cg, class, values: vec![value(class, zeta)], is_sound: true, figures }
}

/// The eigenvalue, beside the official one.
///
/// ```
/// use superstep_programs::nas::{Class, cg};
///
/// assert!(cg::value(Class::S, 8.5971775078648).is_right());
/// ```
pub fn value(class: Class, zeta: f64) -> Value {
    Value::new("zeta", zeta, official::ZETA[class as usize], 1e-10)
}

/// What this processor has of the product of two vectors.
fn dot(x: &Vector, y: &Vector) -> f64 {
    x.local().iter().zip(y.local().iter()).map(|(x, y)| x * y).sum()
}

/// Solves a z = x, nearly.
fn solve(g: &mut Group, a: &Sparse<f64, Block>, x: &Vector, [z, r, p, q]: [&Vector; 4]) {
    z.local_mut().fill(0.0);
    r.local_mut().copy_from_slice(&x.local());
    p.local_mut().copy_from_slice(&x.local());
    let rr = dot(r, r);
    let mut rho = g.step(|s| s.reduce(rr, Sum));
    for _ in 0..STEPS {
        a.spmv(g, p, q);
        let pq = dot(p, q);
        let alpha = rho / g.step(|s| s.reduce(pq, Sum));
        let mut rr = 0.0;
        {
            let (mut z, mut r, p, q) = (z.local_mut(), r.local_mut(), p.local(), q.local());
            for (((z, r), p), q) in z.iter_mut().zip(r.iter_mut()).zip(p.iter()).zip(q.iter()) {
                *z += alpha * p;
                *r -= alpha * q;
                rr += *r * *r;
            }
        }
        let before = std::mem::replace(&mut rho, g.step(|s| s.reduce(rr, Sum)));
        let beta = rho / before;
        for (p, r) in p.local_mut().iter_mut().zip(r.local().iter()) {
            *p = r + beta * *p;
        }
    }
}

/// A sparse vector of random values, by place; one of them is given.
fn sparse_vector(random: &mut Random, n: usize, nonzero: usize, given: usize) -> Vec<(usize, f64)> {
    let size = n.next_power_of_two() as f64;
    let mut vector: Vec<(usize, f64)> = Vec::with_capacity(nonzero + 1);
    while vector.len() < nonzero {
        let (value, place) = (random.next(), (size * random.next()) as usize);
        if place < n && vector.iter().all(|&(other, _)| other != place) {
            vector.push((place, value));
        }
    }
    match vector.iter_mut().find(|(place, _)| *place == given) {
        Some((_, value)) => *value = 0.5,
        None => vector.push((given, 0.5)),
    }
    vector
}

/// The entries of some rows of the matrix, of which those for one place add up: a sum of outer products of sparse
/// vectors, with weights from 1 to `RCOND`, and the diagonal shifted.
///
/// ```
/// use superstep_programs::nas::{Class, cg};
///
/// let entries = cg::entries(&cg::size(Class::S), |row| row == 3);
/// assert!(entries.iter().any(|&(row, column, _)| row == 3 && column == 3));
/// ```
pub fn entries(size: &Size, is_wanted: impl Fn(usize) -> bool) -> Vec<(usize, usize, f64)> {
    let mut random = Random::new(SEED);
    // The suite draws one number before.
    random.next();
    let ratio = RCOND.powf(1.0 / size.order as f64);
    let (mut weight, mut entries) = (1.0, Vec::new());
    for i in 0..size.order {
        // Whether a number is used depends on the others, so everybody draws all of them, and keeps its own rows.
        let vector = sparse_vector(&mut random, size.order, size.nonzero, i);
        for &(row, value) in vector.iter().filter(|&&(row, _)| is_wanted(row)) {
            for &(column, other) in &vector {
                let shifted = if row == i && column == i { RCOND - size.shift } else { 0.0 };
                entries.push((row, column, other * (weight * value) + shifted));
            }
        }
        weight *= ratio;
    }
    entries
}
