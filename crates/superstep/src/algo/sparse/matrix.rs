//! Sparse matrices: how they are made, and what is here of them.

use super::{
    entries::{self, Entry, Rows},
    pattern::Pattern,
};
use crate::{
    engine::{Combine, Element, Group, Rule, Sum, type_hash},
    error::ErrorKind,
    memory::{Array, Distribution, Plan},
};
use bytemuck::bytes_of;
use std::{any::type_name, cell::RefCell, panic::Location};

/// A sparse matrix in compressed rows, spread over the processors of a group.
///
/// It lies like two arrays. A row is with the owner of the element of an array of distribution `D`; a vector that it is
/// multiplied with has an element for each column, and distribution `E`. Lengths are `usize`, and a processor may have
/// entries in fewer than 2^32 columns.
///
/// ```
/// use superstep::{Block, Config, Sum};
///
/// let product = Config::new().procs(2).run(|g| {
///     let (x, y) = (g.array::<f64, Block>(3), g.array::<f64, Block>(2));
///     // Everybody gives what it has, wherever that belongs; what meets is added up.
///     let entries = if g.rank() == 0 { [(0, 0, 1.0), (1, 2, 2.0)] } else { [(0, 1, 3.0), (1, 2, 0.5)] };
///     let a = g.sparse(&y, &x, &entries, Sum);                  // 1 3 0
///     x.forall_mut(|j, x| *x = (j + 1) as f64);                 // 0 0 2.5
///     a.spmv(g, &x, &y);
///     g.step(|s| s.mirror(&y, ..))
/// });
/// assert_eq!(product.unwrap(), [7.0, 7.5]);
/// ```
pub struct Sparse<T: Element, D: Distribution, E: Distribution = D> {
    pub(super) pattern: Pattern<D, E>,
    /// Of the entries, row by row.
    pub(super) values: Vec<T>,
    /// Elements of vectors for the columns of entries; kept for its room.
    pub(super) room: RefCell<Vec<T>>,
}

impl Group {
    /// Makes a [sparse matrix](Sparse) of entries: a row, a column and a value each. Every member gives some of them,
    /// for rows of any owner. Collective.
    ///
    /// The matrix has a row for each element of `rows` and a column for each of `columns`, and lies like them; what
    /// these arrays hold does not matter. Entries for one place are combined by `op`: those of lower ranks first, and
    /// each rank's in their order.
    ///
    /// ```
    /// use superstep::{Config, Cyclic, Sum};
    ///
    /// let entries = Config::new().procs(2).run(|g| {
    ///     let x = g.array::<u32, Cyclic>(4);
    ///     let a = g.sparse(&x, &x, &[(g.rank(), 3, 1), (2, 3, 5)], Sum);
    ///     a.len(g)
    /// });
    /// assert_eq!(entries.unwrap(), 3);                          // (0, 3), (1, 3) and (2, 3)
    /// ```
    ///
    /// # Cost
    ///
    /// 3 n g for n entries, and two boundaries. They are sorted where their rows are.
    ///
    /// # Panics
    ///
    /// If there is no such row or column, if another group made one of the arrays, if members name different operators
    /// (`DeclMismatch`), or if the operator refuses entries.
    #[track_caller]
    pub fn sparse<T: Element, A: Element, B: Element, D: Distribution, E: Distribution>(
        &mut self,
        rows: &Array<A, D>,
        columns: &Array<B, E>,
        entries: &[(usize, usize, T)],
        op: impl Combine<T>,
    ) -> Sparse<T, D, E> {
        entries::check(self, rows, entries.iter().map(|entry| entry.0));
        entries::check(self, columns, entries.iter().map(|entry| entry.1));
        let here = entries::send(self, rows, entries.iter().copied());
        Sparse::new(self, (rows, columns), here, op)
    }

    /// Makes a [sparse matrix](Sparse) row by row: `row` is called with the number of each row of this processor, and
    /// gives its entries, a column and a value each. Collective.
    ///
    /// It lies like the arrays, as the one of [`sparse`](Self::sparse), and combines entries for one place by `op`.
    ///
    /// ```
    /// use superstep::{Block, Config, Sum};
    ///
    /// let sums = Config::new().procs(2).run(|g| {
    ///     let x = g.array::<i64, Block>(5);
    ///     // Differences of neighbours, in a ring.
    ///     let a = g.sparse_rows(&x, &x, |i| [(i, -1), ((i + 1) % 5, 1)], Sum);
    ///     a.row_sums(&x);
    ///     g.step(|s| s.mirror(&x, ..))
    /// });
    /// assert_eq!(sums.unwrap(), [0; 5]);
    /// ```
    ///
    /// # Cost
    ///
    /// One boundary.
    ///
    /// # Panics
    ///
    /// If there is no such column, or if another group made one of the arrays.
    #[track_caller]
    pub fn sparse_rows<T: Element, A: Element, B: Element, D: Distribution, E: Distribution, I>(
        &mut self,
        rows: &Array<A, D>,
        columns: &Array<B, E>,
        mut row: impl FnMut(usize) -> I,
        op: impl Combine<T>,
    ) -> Sparse<T, D, E>
    where
        I: IntoIterator<Item = (usize, T)>,
    {
        entries::check(self, rows, [].into_iter());
        let mut here: Vec<Entry<T>> = Vec::new();
        for place in 0..rows.len_of(self.rank()) {
            let entries = rows.global(place).map(&mut row).into_iter().flatten();
            here.extend(entries.map(|(column, value)| (place, column, value)));
        }
        entries::check(self, columns, here.iter().map(|entry| entry.1));
        Sparse::new(self, (rows, columns), here, op)
    }
}

impl<T: Element, D: Distribution, E: Distribution> Sparse<T, D, E> {
    /// Makes it of entries of rows that are here. Collective.
    #[track_caller]
    pub(super) fn new<A: Element, B: Element, C: Combine<T>>(
        g: &Group,
        lie: (&Array<A, D>, &Array<B, E>),
        entries: Vec<Entry<T>>,
        op: C,
    ) -> Self {
        let site = Location::caller();
        let words = format!("a matrix whose entries are combined by {}", type_name::<C>());
        g.core().declare_call([type_hash::<C>(), op.mark()], &words, site);
        let combine = |[place, column]: [usize; 2], there: &mut T, value: &T| {
            if op.rule() == Rule::Same && bytes_of(there) != bytes_of(value) {
                let row = lie.0.global(place).unwrap_or(place);
                let what = format!("entries for row {row} and column {column} that should be the same differ");
                g.core().error(ErrorKind::ReplicaDiverged, what, site).raise();
            }
            op.combine(there, value);
        };
        let rows: Rows<T> = g.operate(site, || entries::compress(lie.0.len_of(g.rank()), entries, combine));
        let made = Pattern::new(g, lie, rows, site);
        let (pattern, values) = made.unwrap_or_else(|error| error.raise());
        Self { pattern, values, room: RefCell::default() }
    }

    /// How many rows and columns there are.
    ///
    /// ```
    /// use superstep::{Any, Block, Config};
    ///
    /// let shape = Config::new().procs(2).run(|g| {
    ///     let (x, y) = (g.array::<f32, Block>(3), g.array::<f32, Block>(7));
    ///     g.sparse(&y, &x, &[(6, 2, 1.0)], Any).shape()
    /// });
    /// assert_eq!(shape.unwrap(), [7, 3]);
    /// ```
    pub fn shape(&self) -> [usize; 2] {
        self.pattern.shape
    }

    /// How many entries there are on all processors together. Collective.
    ///
    /// ```
    /// use superstep::{Any, Block, Config};
    ///
    /// let len = Config::new().procs(2).run(|g| {
    ///     let x = g.array::<f32, Block>(3);
    ///     g.sparse_rows(&x, &x, |i| [(i, 1.0)], Any).len(g)
    /// });
    /// assert_eq!(len.unwrap(), 3);
    /// ```
    ///
    /// # Cost
    ///
    /// One step.
    ///
    /// # Panics
    ///
    /// If another group made the matrix, or if a member has left since.
    #[track_caller]
    #[allow(clippy::len_without_is_empty, reason = "it is a collective call, and not the length of a list")]
    pub fn len(&self, g: &mut Group) -> usize {
        self.pattern.check_group(g, "matrix", Location::caller());
        g.step(|s| s.reduce(self.values.len(), Sum))
    }

    /// How many entries are here.
    ///
    /// ```
    /// use superstep::{Any, Block, Config};
    ///
    /// let len = Config::new().procs(2).run_all(|g| {
    ///     let x = g.array::<f32, Block>(3);
    ///     g.sparse_rows(&x, &x, |i| [(i, 1.0)], Any).local_len()
    /// });
    /// assert_eq!(len.unwrap(), [2, 1]);
    /// ```
    pub fn local_len(&self) -> usize {
        self.values.len()
    }

    /// Visits the entries that are here, row by row and by rising column: the row, the column and the value.
    ///
    /// ```
    /// use superstep::{Block, Config, Sum};
    ///
    /// let here = Config::new().procs(2).run_all(|g| {
    ///     let x = g.array::<u8, Block>(4);
    ///     let a = g.sparse(&x, &x, &[(3, 0, 1), (0, 2, 4)], Sum);
    ///     let mut here = Vec::new();
    ///     a.forall(|i, j, value| here.push((i, j, value)));
    ///     here
    /// });
    /// assert_eq!(here.unwrap(), [vec![(0, 2, 8)], vec![(3, 0, 2)]]);
    /// ```
    pub fn forall(&self, mut visit: impl FnMut(usize, usize, T)) {
        for (row, entries) in self.pattern.numbered() {
            for (&slot, &value) in self.pattern.slots[entries.clone()].iter().zip(&self.values[entries]) {
                visit(row, self.pattern.columns[slot as usize], value);
            }
        }
    }

    /// Visits them like [`forall`](Self::forall), and lends each value for changing. Entries stay where they are, also
    /// those that become zero.
    ///
    /// ```
    /// use superstep::{Any, Block, Config, Sum};
    ///
    /// let sum = Config::new().procs(2).run(|g| {
    ///     let x = g.array::<i32, Block>(4);
    ///     let mut a = g.sparse_rows(&x, &x, |i| [(i, 1), (3 - i, 1)], Any);
    ///     a.forall_mut(|i, j, value| if i == j { *value = 5 });
    ///     a.row_sums(&x);
    ///     g.step(|s| s.reduce(x.local().iter().sum::<i32>(), Sum))
    /// });
    /// assert_eq!(sum.unwrap(), 24);
    /// ```
    pub fn forall_mut(&mut self, mut visit: impl FnMut(usize, usize, &mut T)) {
        for (row, entries) in self.pattern.numbered() {
            for (&slot, value) in self.pattern.slots[entries.clone()].iter().zip(&mut self.values[entries]) {
                visit(row, self.pattern.columns[slot as usize], value);
            }
        }
    }

    /// The entries of the row at this place of the processor's part, by rising column: for each, the place of its
    /// column in what the [plan](Self::plan) gathers and scatters, and its value. [`number`](Self::number) says which
    /// column that is.
    ///
    /// ```
    /// use superstep::{Any, Block, Config};
    ///
    /// let nearest = Config::new().procs(2).run_all(|g| {
    ///     let x = g.array::<u32, Block>(4);
    ///     let roads = g.sparse(&x, &x, &[(0, 3, 9), (0, 1, 4), (2, 2, 1)], Any);
    ///     let (to, lengths) = roads.row(0);
    ///     to.iter().zip(lengths).map(|(&to, &length)| (length, roads.number(to))).min()
    /// });
    /// assert_eq!(nearest.unwrap(), [Some((4, 1)), Some((1, 2))]);
    /// ```
    ///
    /// # Panics
    ///
    /// If there is no such place.
    #[track_caller]
    #[inline]
    pub fn row(&self, place: usize) -> (&[u32], &[T]) {
        let entries = self.pattern.row(place);
        (&self.pattern.slots[entries.clone()], &self.values[entries])
    }

    /// The number of a column in which this processor has entries, by its place in what the plan gathers.
    ///
    /// ```
    /// use superstep::{Any, Block, Config};
    ///
    /// let columns = Config::new().procs(1).run(|g| {
    ///     let x = g.array::<u8, Block>(4);
    ///     let a = g.sparse(&x, &x, &[(0, 3, 1), (1, 1, 1)], Any);
    ///     [a.number(a.row(0).0[0]), a.number(a.row(1).0[0])]
    /// });
    /// assert_eq!(columns.unwrap(), [3, 1]);
    /// ```
    ///
    /// # Panics
    ///
    /// If there is no such place.
    #[track_caller]
    #[inline]
    pub fn number(&self, place: u32) -> usize {
        self.pattern.columns[place as usize]
    }

    /// What a product needs here: one element for each column in which this processor has entries. It reads and writes
    /// arrays that lie like the columns.
    ///
    /// ```
    /// use superstep::{Any, Block, Config};
    ///
    /// let needed = Config::new().procs(2).run_all(|g| {
    ///     let x = g.array::<u8, Block>(4);
    ///     g.sparse(&x, &x, &[(0, 3, 1), (1, 3, 1), (2, 2, 1)], Any).plan().len()
    /// });
    /// assert_eq!(needed.unwrap(), [1, 1]);
    /// ```
    pub fn plan(&self) -> &Plan<E> {
        &self.pattern.plan
    }
}

impl<T: Element, D: Distribution, E: Distribution> std::fmt::Debug for Sparse<T, D, E> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Sparse({:?}, {} entries here)", self.shape(), self.values.len())
    }
}
