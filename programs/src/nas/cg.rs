//! CG: the smallest eigenvalue of a large sparse matrix, by inverse iteration with conjugate gradients.
//!
//! The matrix lies in rows, and keeps a plan of which elements of a vector its rows need. A step of the conjugate
//! gradients is a product, which is one superstep, and two sums over all, which are one each.

use super::{Class, Kernel, Outcome, Value, random::Random};
use std::time::Instant;
use superstep::{Array, Block, Group, Max, Sum, sparse::Sparse};

const SEED: u64 = 314_159_265;
const RCOND: f64 = 0.1;
/// Steps of the conjugate gradients in each iteration.
const STEPS: usize = 25;

type Vector = Array<f64, Block>;

pub(super) fn run(g: &mut Group, class: Class) -> Outcome {
    let (n, nonzero, shift, iterations) =
        class.pick([(1400, 7, 10.0, 15), (7000, 8, 12.0, 15), (14000, 11, 20.0, 15), (75000, 13, 60.0, 75)]);
    let [x, z, r, p, q] = [(); 5].map(|()| g.array::<f64, Block>(n));
    let a = matrix(g, (n, nonzero, shift), &x);
    let vectors = [&z, &r, &p, &q];
    let mut zeta = 0.0;
    let mut start = Instant::now();
    for iteration in 0..=iterations {
        if iteration <= 1 {
            // The first one is not counted.
            x.local_mut().fill(1.0);
            g.step(|_| ());
            start = Instant::now();
        }
        solve(g, &a, &x, vectors);
        let (xz, zz) = (dot(&x, &z), dot(&z, &z));
        let (xz, zz) = g.step(|s| (s.reduce(xz, Sum), s.reduce(zz, Sum)));
        zeta = shift + 1.0 / xz;
        let norm = 1.0 / zz.sqrt();
        for (x, z) in x.local_mut().iter_mut().zip(z.local().iter()) {
            *x = norm * z;
        }
    }
    let taken = start.elapsed().as_secs_f64();
    let seconds = g.step(|s| s.reduce(taken, Max));
    let official = match class {
        Class::S => Some((8.597_177_507_864_8, 1e-10)),
        Class::W => Some((10.362_595_087_124, 1e-10)),
        _ => None,
    };
    let values = vec![Value { name: "zeta".into(), found: zeta, official }];
    Outcome { kernel: Kernel::Cg, class, values, is_sound: zeta.is_finite(), seconds }
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

/// The matrix: a sum of outer products of sparse vectors, with weights from 1 to `RCOND`, and the diagonal shifted.
fn matrix(g: &mut Group, (n, nonzero, shift): (usize, usize, f64), like: &Vector) -> Sparse<f64, Block> {
    let mut random = Random::new(SEED);
    // The suite draws one number before.
    random.next();
    let ratio = RCOND.powf(1.0 / n as f64);
    let (mut weight, mut entries) = (1.0, Vec::new());
    for i in 0..n {
        // Whether a number is used depends on the others, so everybody draws all of them, and keeps its own rows.
        let vector = sparse_vector(&mut random, n, nonzero, i);
        for &(row, value) in vector.iter().filter(|&&(row, _)| like.is_owned(row)) {
            for &(column, other) in &vector {
                let shifted = if row == i && column == i { RCOND - shift } else { 0.0 };
                entries.push((row, column, other * (weight * value) + shifted));
            }
        }
        weight *= ratio;
    }
    g.sparse(like, like, &entries, Sum)
}
