//! CG: every thread has some rows, in compressed form, and copies what others have of the vector.

use super::{Member, team};
use crate::Sample;
use std::ops::Range;
use superstep_programs::nas::{Class, cg};

/// Compressed rows.
struct Rows {
    starts: Vec<usize>,
    columns: Vec<u32>,
    values: Vec<f64>,
}

impl Rows {
    fn new(size: &cg::Size, rows: Range<usize>) -> Self {
        let mut entries = cg::entries(size, |row| rows.contains(&row));
        entries.sort_by_key(|&(row, column, _)| (row, column));
        let (mut columns, mut values): (Vec<u32>, Vec<f64>) = (Vec::new(), Vec::new());
        let (mut starts, mut last) = (Vec::new(), None);
        for (row, column, value) in entries {
            if last == Some((row, column)) {
                *values.last_mut().expect("there is one") += value;
                continue;
            }
            if last.is_none_or(|(last, _)| last != row) {
                // No row is empty: all have an element of the diagonal.
                starts.push(columns.len());
            }
            columns.push(column as u32);
            values.push(value);
            last = Some((row, column));
        }
        starts.push(columns.len());
        Self { starts, columns, values }
    }

    fn multiply(&self, x: &[f64], y: &mut [f64]) {
        for (y, ends) in y.iter_mut().zip(self.starts.windows(2)) {
            let terms = self.columns[ends[0]..ends[1]].iter().zip(&self.values[ends[0]..ends[1]]);
            *y = terms.fold(0.0, |sum, (&column, value)| sum + value * x[column as usize]);
        }
    }
}

fn dot(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(x, y)| x * y).sum()
}

pub(crate) fn run(class: Class, threads: usize) -> Sample {
    team(threads, |member| {
        let size = cg::size(class);
        let mine = member.share(size.order);
        let rows = Rows::new(&size, mine.clone());
        let mut solver = Solver { member, rows, all: vec![0.0; size.order] };
        let iterate = |solver: &mut Solver<'_>, x: &mut Vec<f64>| {
            let z = solver.solve(x);
            let (xz, zz) = (member.sum(dot(x, &z)), member.sum(dot(&z, &z)));
            x.iter_mut().zip(&z).for_each(|(x, z)| *x = z / zz.sqrt());
            size.shift + 1.0 / xz
        };
        // The first one is not counted.
        iterate(&mut solver, &mut vec![1.0; mine.len()]);
        let mut x = vec![1.0; mine.len()];
        let (seconds, zeta) = member.timed(|| (0..size.iterations).fold(0.0, |_, _| iterate(&mut solver, &mut x)));
        (seconds, cg::value(class, zeta).is_right())
    })
}

struct Solver<'a> {
    member: &'a Member<'a>,
    rows: Rows,
    /// The whole of a vector.
    all: Vec<f64>,
}

impl Solver<'_> {
    /// Solves a z = x, nearly.
    fn solve(&mut self, x: &[f64]) -> Vec<f64> {
        let (mut z, mut r, mut p, mut q) = (vec![0.0; x.len()], x.to_vec(), x.to_vec(), vec![0.0; x.len()]);
        let mut rho = self.member.sum(dot(&r, &r));
        for _ in 0..cg::STEPS {
            self.member.say(|said| said.extend_from_slice(&p));
            self.all.clear();
            (0..self.member.size).for_each(|rank| self.all.extend_from_slice(&self.member.said_by(rank)));
            self.rows.multiply(&self.all, &mut q);
            let alpha = rho / self.member.sum(dot(&p, &q));
            let mut rr = 0.0;
            for (((z, r), p), q) in z.iter_mut().zip(&mut r).zip(&p).zip(&q) {
                *z += alpha * p;
                *r -= alpha * q;
                rr += *r * *r;
            }
            let before = std::mem::replace(&mut rho, self.member.sum(rr));
            p.iter_mut().zip(&r).for_each(|(p, r)| *p = r + rho / before * *p);
        }
        z
    }
}
