//! Where the entries of a matrix stand, and what is needed for its columns.

use super::entries::Rows;
use crate::{
    engine::{Element, Group},
    error::Result,
    memory::{Array, Distribution, Plan},
};
use std::{marker::PhantomData, ops::Range, panic::Location};

/// Where the entries of this processor's rows stand.
pub(super) struct Pattern<D: Distribution, E: Distribution> {
    /// Where each row begins among the entries, and where the last one ends.
    starts: Vec<usize>,
    /// For each entry, which of the elements that the plan has its column is.
    pub(super) slots: Vec<u32>,
    /// The columns in which this processor has entries, in the order of the plan.
    pub(super) columns: Vec<usize>,
    /// What is needed for a product: one element for each of these columns.
    pub(super) plan: Plan<E>,
    /// The numbers of this processor's rows; none where the array that they lie like has padding.
    numbers: Vec<Option<usize>>,
    pub(super) shape: [usize; 2],
    /// How arrays lie that have an element for each row.
    layout: u64,
    rows: PhantomData<fn(D)>,
}

impl<D: Distribution, E: Distribution> Pattern<D, E> {
    /// Takes in compressed rows, and leaves their values. Collective.
    pub(super) fn new<T, A: Element, B: Element>(
        g: &Group,
        (rows, columns): (&Array<A, D>, &Array<B, E>),
        entries: Rows<T>,
        site: &'static Location<'static>,
    ) -> Result<(Self, Vec<T>)> {
        let (plan, slots) = g.plan_distinct(columns, &entries.columns, site)?;
        let numbers = (0..entries.starts.len() - 1).map(|place| rows.global(place)).collect();
        let pattern = Self {
            starts: entries.starts,
            slots,
            columns: plan.elements(columns).collect(),
            plan,
            numbers,
            shape: [rows.len(), columns.len()],
            layout: rows.layout(),
            rows: PhantomData,
        };
        Ok((pattern, entries.values))
    }

    /// How many rows are here.
    pub(super) fn count(&self) -> usize {
        self.numbers.len()
    }

    /// Where the entries of a row stand.
    #[track_caller]
    pub(super) fn row(&self, place: usize) -> Range<usize> {
        self.starts[place]..self.starts[place + 1]
    }

    /// Where the entries of each row stand, in the order of the rows.
    pub(super) fn rows(&self) -> impl Iterator<Item = Range<usize>> {
        self.starts.windows(2).map(|ends| ends[0]..ends[1])
    }

    /// The rows that there are, with where their entries stand.
    pub(super) fn numbered(&self) -> impl Iterator<Item = (usize, Range<usize>)> {
        self.numbers.iter().zip(self.rows()).filter_map(|(number, entries)| Some(((*number)?, entries)))
    }

    /// Refuses a group that did not make it, and one that has lost a member since; `what` is what it is of.
    pub(super) fn check_group(&self, g: &Group, what: &str, site: &Location<'_>) {
        self.plan.check_group(g.core(), what, site).unwrap_or_else(|error| error.raise());
    }

    /// Refuses an array that has no element for each row, where the row is.
    pub(super) fn check_rows<A: Element>(&self, array: &Array<A, D>, site: &Location<'_>) -> Result {
        self.plan.check_alike(array, site)?;
        array.check_layout(self.layout, "the rows of the matrix", site)
    }

    /// Refuses an array that has no element for each column, where the column is.
    pub(super) fn check_columns<A: Element>(&self, array: &Array<A, E>, site: &Location<'_>) -> Result {
        self.plan.check_alike(array, site)?;
        self.plan.check_like(array, "the columns of the matrix", site)
    }
}
