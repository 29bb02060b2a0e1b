//! Moving the rows of a matrix: to other processors, and to other places.

use super::{Sparse, entries};
use crate::{
    engine::{Any, Combine, Element, Group, Sum},
    error::ErrorKind,
    memory::{Array, Block, Distribution, Irregular},
};
use std::panic::Location;

impl<T: Element, D: Distribution, E: Distribution> Sparse<T, D, E> {
    /// How many rows that follow each other each processor should have, so that all have about as many entries: at most
    /// their share, and the entries of one more row. Collective.
    ///
    /// ```
    /// use superstep::{Array, Block, Config, Irregular, Sum};
    ///
    /// let here = Config::new().procs(2).run_all(|g| {
    ///     let (x, y) = (g.array::<f64, Block>(100), g.array::<f64, Block>(100));
    ///     let a = g.sparse_rows(&y, &x, |i| (0..=i).map(|j| (j, 1.0)), Sum);
    ///     let sizes = a.balanced(g);
    ///     let y: Array<f64, Irregular> = g.array_with([100], sizes);
    ///     let even = a.lay_like(g, &y, &x);
    ///     (a.local_len(), even.local_len())
    /// });
    /// assert_eq!(here.unwrap(), [(1275, 2556), (3775, 2494)]);
    /// ```
    ///
    /// # Cost
    ///
    /// Three steps, and n / p g for n rows.
    ///
    /// # Panics
    ///
    /// If another group made the matrix, or if a member has left since.
    #[track_caller]
    pub fn balanced(&self, g: &mut Group) -> Irregular {
        self.pattern.check_group(g, "matrix", Location::caller());
        let (size, rows) = (g.size(), self.shape()[0]);
        let counts = g.array::<u64, Block>(rows);
        let (numbers, lens): (Vec<usize>, Vec<u64>) =
            self.pattern.numbered().map(|(row, entries)| (row, entries.len() as u64)).unzip();
        let (total, ()) = g.step(|s| {
            s.scatter(&counts, &numbers, &lens, Any);
            (s.reduce(self.values.len() as u64, Sum), ())
        });
        let here: u64 = counts.local().iter().sum();
        let mut sum = g.step(|s| s.prefix(here, Sum));
        // A processor's rows end where its share of all entries has been reached.
        let mut ends: Vec<u64> = Vec::new();
        for (place, &count) in counts.local().iter().enumerate() {
            let share = |reached: u64| (u128::from(reached) * size as u128 / u128::from(total.max(1))) as u64;
            let (before, behind) = (share(sum), share(sum + count));
            sum += count;
            let row = counts.global(place).map_or(0, |row| row as u64 + 1);
            ends.extend((before..behind).map(|_| row));
        }
        let mut ends: Vec<u64> = g.step(|s| s.collect_slice(&ends)).into_iter().flatten().collect();
        if total == 0 {
            ends.extend((1..size).map(|rank| (rows / size * rank) as u64));
        }
        ends.truncate(size - 1);
        ends.push(rows as u64);
        let mut start = 0;
        Irregular(ends.into_iter().map(|end| (end - std::mem::replace(&mut start, end)) as usize).collect())
    }

    /// The same matrix, with rows that lie like `rows` and columns that lie like `columns`. Collective.
    ///
    /// ```
    /// use superstep::{Block, Config, Cyclic, Sum};
    ///
    /// let here = Config::new().procs(2).run_all(|g| {
    ///     let (blocks, dealt) = (g.array::<u8, Block>(4), g.array::<u8, Cyclic>(4));
    ///     let a = g.sparse_rows(&blocks, &blocks, |i| [(i, i as u8)], Sum).lay_like(g, &dealt, &dealt);
    ///     let mut rows = Vec::new();
    ///     a.forall(|i, _, _| rows.push(i));
    ///     rows
    /// });
    /// assert_eq!(here.unwrap(), [[0, 2], [1, 3]]);
    /// ```
    ///
    /// # Cost
    ///
    /// As [`sparse`](Group::sparse).
    ///
    /// # Panics
    ///
    /// If the arrays have not as many elements as the matrix has rows and columns, if another group made the matrix or
    /// one of them, or if a member has left since.
    #[track_caller]
    pub fn lay_like<A: Element, B: Element, F: Distribution, H: Distribution>(
        &self,
        g: &mut Group,
        rows: &Array<A, F>,
        columns: &Array<B, H>,
    ) -> Sparse<T, F, H> {
        self.pattern.check_group(g, "matrix", Location::caller());
        let mut all = Vec::with_capacity(self.values.len());
        self.forall(|row, column, value| all.push((row, column, value)));
        entries::check(g, rows, [].into_iter());
        entries::check(g, columns, [].into_iter());
        if self.shape() != [rows.len(), columns.len()] {
            let (shape, others) = (self.shape(), [rows.len(), columns.len()]);
            let what = format!("a matrix of shape {shape:?} that should lie like arrays of {others:?}");
            g.core().error(ErrorKind::BadLength, what, Location::caller()).raise();
        }
        let here = entries::send(g, rows, all.into_iter());
        Sparse::new(g, (rows, columns), here, Any)
    }

    /// The matrix with its rows and columns in another order: row i becomes row `rows[i]`, and column j becomes column
    /// `columns[j]`. Collective.
    ///
    /// Where these are no permutations, entries meet; then `op` combines them, as [`sparse`](Group::sparse) does.
    ///
    /// ```
    /// use superstep::{Block, Config, Sum};
    ///
    /// let here = Config::new().procs(2).run_all(|g| {
    ///     let to = g.array::<usize, Block>(4);
    ///     let a = g.sparse_rows(&to, &to, |i| [(i, i), ((i + 1) % 4, 10)], Sum);
    ///     to.forall_mut(|i, to| *to = 3 - i);
    ///     let (mut all, turned) = (Vec::new(), a.permute(g, &to, &to, Sum));
    ///     turned.forall(|i, j, value| all.push((i, j, value)));
    ///     all
    /// });
    /// let first = vec![(0, 0, 3), (0, 3, 10), (1, 0, 10), (1, 1, 2)];
    /// assert_eq!(here.unwrap(), [first, vec![(2, 1, 10), (2, 2, 1), (3, 2, 10), (3, 3, 0)]]);
    /// ```
    ///
    /// # Cost
    ///
    /// As [`sparse`](Group::sparse), and a gather.
    ///
    /// # Panics
    ///
    /// If one of the arrays lies otherwise than rows or columns do, or has a number that none of them has, if another
    /// group made the matrix, or if a member has left since.
    #[track_caller]
    #[must_use = "it is another matrix"]
    pub fn permute(
        &self,
        g: &mut Group,
        rows: &Array<usize, D>,
        columns: &Array<usize, E>,
        op: impl Combine<T>,
    ) -> Self {
        let site = Location::caller();
        self.pattern.check_group(g, "matrix", site);
        self.pattern.check_rows(rows, site).unwrap_or_else(|error| error.raise());
        self.pattern.check_columns(columns, site).unwrap_or_else(|error| error.raise());
        let to = g.step(|s| s.read_by(columns, self.plan(), Vec::new(), site).unwrap_or_else(|error| error.raise()));
        let mut all = Vec::with_capacity(self.values.len());
        for (&row, entries) in rows.local().iter().zip(self.pattern.rows()) {
            for (&slot, &value) in self.pattern.slots[entries.clone()].iter().zip(&self.values[entries]) {
                all.push((row, to[slot as usize], value));
            }
        }
        entries::check(g, rows, all.iter().map(|entry| entry.0));
        entries::check(g, columns, all.iter().map(|entry| entry.1));
        let here = entries::send(g, rows, all.into_iter());
        Self::new(g, (rows, columns), here, op)
    }
}
