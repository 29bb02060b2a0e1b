//! Products of a matrix with vectors, and sums of its rows and columns.

use super::Sparse;
use crate::{
    engine::{Combine, Element, Group, Sum},
    memory::{Array, Distribution},
};
use std::{
    ops::{Add, Mul},
    panic::Location,
};

impl<T: Element, D: Distribution, E: Distribution> Sparse<T, D, E> {
    /// Multiplies the matrix with `x`, which lies like its columns, into `y`, which lies like its rows. Collective.
    ///
    /// Each row is added up from its first column to its last, so the result does not depend on the number of
    /// processors. `x` and `y` may be the same array.
    ///
    /// ```
    /// use superstep::{Block, Config, Sum};
    ///
    /// let fibonacci = Config::new().procs(2).run(|g| {
    ///     let x = g.array::<u64, Block>(2);
    ///     let a = g.sparse_rows(&x, &x, |i| if i == 0 { vec![(1, 1)] } else { vec![(0, 1), (1, 1)] }, Sum);
    ///     x.forall_mut(|i, x| *x = i as u64);
    ///     for _ in 0..10 { a.spmv(g, &x, &x) }
    ///     g.step(|s| s.mirror(&x, ..))
    /// });
    /// assert_eq!(fibonacci.unwrap(), [55, 89]);
    /// ```
    ///
    /// # Cost
    ///
    /// u g for u columns of others in which a processor has entries, three waits, and two operations for each entry.
    ///
    /// # Panics
    ///
    /// If one of the arrays lies otherwise or is of another group, or if a member has left since the matrix was made.
    #[track_caller]
    pub fn spmv(&self, g: &mut Group, x: &Array<T, E>, y: &Array<T, D>)
    where
        T: Add<Output = T> + Mul<Output = T>,
    {
        let site = Location::caller();
        self.pattern.check_group(g, "matrix", site);
        self.pattern.check_columns(x, site).unwrap_or_else(|error| error.raise());
        self.pattern.check_rows(y, site).unwrap_or_else(|error| error.raise());
        let room = self.room.take();
        let x = g.step(|s| {
            let x = s.read_by(x, self.plan(), room, site);
            x.unwrap_or_else(|error| error.raise())
        });
        self.add_rows(&mut y.local_mut(), |slot, value| value * x[slot as usize]);
        self.room.replace(x);
    }

    /// Multiplies the transposed matrix with `x`, which lies like the rows, into `y`, which lies like the columns.
    /// Collective.
    ///
    /// Each processor adds up what its rows make of a column, by rising row; these sums are added by rising rank.
    ///
    /// ```
    /// use superstep::{Block, Config, Sum};
    ///
    /// let product = Config::new().procs(2).run(|g| {
    ///     let (x, y) = (g.array::<i32, Block>(3), g.array::<i32, Block>(2));
    ///     let a = g.sparse_rows(&y, &x, |i| [(i, 10), (i + 1, 1)], Sum);
    ///     y.forall_mut(|i, y| *y = i as i32 + 1);
    ///     a.spmv_transposed(g, &y, &x);
    ///     g.step(|s| s.mirror(&x, ..))
    /// });
    /// assert_eq!(product.unwrap(), [10, 21, 2]);
    /// ```
    ///
    /// # Cost
    ///
    /// u g for u columns of others in which a processor has entries, one wait, and two operations for each entry.
    ///
    /// # Panics
    ///
    /// As [`spmv`](Self::spmv).
    #[track_caller]
    pub fn spmv_transposed(&self, g: &mut Group, x: &Array<T, D>, y: &Array<T, E>)
    where
        T: Add<Output = T> + Mul<Output = T>,
        Sum: Combine<T>,
    {
        let site = Location::caller();
        self.pattern.check_group(g, "matrix", site);
        self.pattern.check_rows(x, site).unwrap_or_else(|error| error.raise());
        let mut sums = self.room.take();
        sums.clear();
        sums.resize(self.plan().len(), T::zeroed());
        for (&x, entries) in x.local().iter().zip(self.pattern.rows()) {
            for (&slot, &value) in self.pattern.slots[entries.clone()].iter().zip(&self.values[entries]) {
                let sum = &mut sums[slot as usize];
                *sum = *sum + value * x;
            }
        }
        self.add_up(g, y, sums, site);
    }

    /// Adds up each row, into an array that lies like the rows.
    ///
    /// ```
    /// use superstep::{Block, Config, Sum};
    ///
    /// let sums = Config::new().procs(2).run(|g| {
    ///     let x = g.array::<i32, Block>(3);
    ///     let a = g.sparse_rows(&x, &x, |i| (0..i).map(|j| (j, 10)), Sum);
    ///     a.row_sums(&x);
    ///     g.step(|s| s.mirror(&x, ..))
    /// });
    /// assert_eq!(sums.unwrap(), [0, 10, 20]);
    /// ```
    ///
    /// # Cost
    ///
    /// No communication.
    ///
    /// # Panics
    ///
    /// If the array lies otherwise or is of another group.
    #[track_caller]
    pub fn row_sums(&self, y: &Array<T, D>)
    where
        T: Add<Output = T>,
    {
        self.pattern.check_rows(y, Location::caller()).unwrap_or_else(|error| error.raise());
        self.add_rows(&mut y.local_mut(), |_, value| value);
    }

    /// Adds up each column, into an array that lies like the columns. Collective.
    ///
    /// ```
    /// use superstep::{Block, Config, Sum};
    ///
    /// let sums = Config::new().procs(2).run(|g| {
    ///     let x = g.array::<i32, Block>(3);
    ///     let a = g.sparse_rows(&x, &x, |i| (0..i).map(|j| (j, 10)), Sum);
    ///     a.column_sums(g, &x);
    ///     g.step(|s| s.mirror(&x, ..))
    /// });
    /// assert_eq!(sums.unwrap(), [20, 10, 0]);
    /// ```
    ///
    /// # Cost
    ///
    /// As [`spmv_transposed`](Self::spmv_transposed).
    ///
    /// # Panics
    ///
    /// If the array lies otherwise or is of another group, or if a member has left since the matrix was made.
    #[track_caller]
    pub fn column_sums(&self, g: &mut Group, x: &Array<T, E>)
    where
        T: Add<Output = T>,
        Sum: Combine<T>,
    {
        self.pattern.check_group(g, "matrix", Location::caller());
        let mut sums = self.room.take();
        sums.clear();
        sums.resize(self.plan().len(), T::zeroed());
        for (&slot, &value) in self.pattern.slots.iter().zip(&self.values) {
            let sum = &mut sums[slot as usize];
            *sum = *sum + value;
        }
        self.add_up(g, x, sums, Location::caller());
    }

    /// Sets each element of `y`, which has one for each row, to the sum of what `term` makes of the row's entries.
    #[inline]
    fn add_rows(&self, y: &mut [T], term: impl Fn(u32, T) -> T)
    where
        T: Add<Output = T>,
    {
        for (y, entries) in y.iter_mut().zip(self.pattern.rows()) {
            let entries = self.pattern.slots[entries.clone()].iter().zip(&self.values[entries]);
            *y = entries.fold(T::zeroed(), |sum, (&slot, &value)| sum + term(slot, value));
        }
    }

    /// Sets each element of `y` to the sum of what all processors have for its column.
    #[track_caller]
    fn add_up(&self, g: &mut Group, y: &Array<T, E>, sums: Vec<T>, site: &'static Location<'static>)
    where
        Sum: Combine<T>,
    {
        self.pattern.check_columns(y, site).unwrap_or_else(|error| error.raise());
        // Whoever holds a borrow hears of it here, and not from within the step.
        drop(y.local_mut());
        g.step(|s| {
            s.write_by(y, self.plan(), &sums, Sum, site).unwrap_or_else(|error| error.raise());
            y.local_mut().fill(T::zeroed());
        });
        self.room.replace(sums);
    }
}
