//! Writing to arrays by index.

use super::{
    Array,
    lanes::Lanes,
    layout::{Distribution, Locator},
    operator::Operator,
};
use crate::{
    engine::{Combine, Element, Rule, Step},
    error::{ErrorKind, Result},
};
use std::panic::Location;

impl Step {
    /// Combines `values` into the elements with the indices `at`, one each, at the boundary.
    ///
    /// `op` may be any operator that captures nothing. The owner of an element calls it. So all members name an
    /// operator of the program for this array in the same step, if only with no values, unless it is in a
    /// [`Fold`](crate::Fold) or is the one that the array [combines](Array::combining) with. Where several writes meet,
    /// those of lower ranks come first and each rank's in the order of issue, onto what the element holds:
    /// `a[i] = a[i] op x op y`. With [`Any`](crate::Any) the last write of the lowest rank that wrote stands (S3);
    /// where both meet, assignments come before what combines. An array of several dimensions takes row-major numbers,
    /// see [`Array::index`].
    ///
    /// ```
    /// use superstep::{Block, Config, Sum};
    ///
    /// let sums = Config::new().procs(3).run(|g| {
    ///     let sums = g.array::<f64, Block>(4);
    ///     g.step(|s| s.scatter(&sums, &[0, s.rank() + 1], &[0.5, 2.0], Sum));
    ///     g.step(|s| s.mirror(&sums, ..))
    /// });
    /// assert_eq!(sums.unwrap(), [1.5, 2.0, 2.0, 2.0]);
    /// ```
    ///
    /// # Cost
    ///
    /// n g for n values with their places, sent and received.
    ///
    /// # Panics
    ///
    /// If there are not as many values as indices, if there is no such element, or if another group made the array.
    /// Nothing is queued then; [`try_scatter`](Self::try_scatter) returns the error.
    #[track_caller]
    pub fn scatter<T: Element, D: Distribution, const N: usize>(
        &self,
        a: &Array<T, D, N>,
        at: &[usize],
        values: &[T],
        op: impl Combine<T>,
    ) {
        self.try_scatter(a, at, values, op).unwrap_or_else(|error| error.raise());
    }

    /// Scatters like [`scatter`](Self::scatter), or returns why that cannot be done.
    ///
    /// ```
    /// use superstep::{Any, Block, Config, ErrorKind, Local};
    ///
    /// let kind = Config::new().procs(2).run(|g| {
    ///     let a = g.array::<u8, Block>(4);
    ///     g.step(|s| Local(s.try_scatter(&a, &[1, 4], &[7, 8], Any).unwrap_err().kind()))
    /// });
    /// assert_eq!(kind.unwrap(), ErrorKind::IndexOutOfRange);
    /// ```
    #[track_caller]
    pub fn try_scatter<T: Element, D: Distribution, const N: usize>(
        &self,
        a: &Array<T, D, N>,
        at: &[usize],
        values: &[T],
        op: impl Combine<T>,
    ) -> Result {
        let site = Location::caller();
        a.check_whole(&self.core, site)?;
        if at.len() != values.len() {
            let what =
                format!("a scatter of {} values to {} indices; give one value per index", values.len(), at.len());
            return Err(self.core.error(ErrorKind::BadLength, what, site));
        }
        a.write(Operator::new(op), None, at, |lanes| lanes.scatter(&a.part.locator(), at, values), site)
    }

    /// Combines one value into all the elements with the indices `at`, at the boundary, as [`scatter`](Self::scatter)
    /// does. The value travels once: a histogram sends its indices alone.
    ///
    /// ```
    /// use superstep::{Config, Cyclic, Sum};
    ///
    /// let counts = Config::new().procs(2).run(|g| {
    ///     let counts = g.array::<u32, Cyclic>(3);
    ///     g.step(|s| s.scatter_one(&counts, &[2, 0, 2], 1, Sum));
    ///     g.step(|s| s.mirror(&counts, ..))
    /// });
    /// assert_eq!(counts.unwrap(), [2, 0, 4]);
    /// ```
    ///
    /// # Cost
    ///
    /// n g for n places, of half a word each.
    ///
    /// # Panics
    ///
    /// As [`scatter`](Self::scatter); [`try_scatter_one`](Self::try_scatter_one) returns the error.
    #[track_caller]
    pub fn scatter_one<T: Element, D: Distribution, const N: usize>(
        &self,
        a: &Array<T, D, N>,
        at: &[usize],
        value: T,
        op: impl Combine<T>,
    ) {
        self.try_scatter_one(a, at, value, op).unwrap_or_else(|error| error.raise());
    }

    /// Scatters like [`scatter_one`](Self::scatter_one), or returns why that cannot be done.
    ///
    /// ```
    /// use superstep::{Block, Config, ErrorKind, Local, Sum};
    ///
    /// let kind = Config::new().procs(2).run(|g| {
    ///     let a = g.array::<u8, Block>(4);
    ///     g.step(|s| Local(s.try_scatter_one(&a, &[1, 4], 7, Sum).unwrap_err().kind()))
    /// });
    /// assert_eq!(kind.unwrap(), ErrorKind::IndexOutOfRange);
    /// ```
    #[track_caller]
    pub fn try_scatter_one<T: Element, D: Distribution, const N: usize>(
        &self,
        a: &Array<T, D, N>,
        at: &[usize],
        value: T,
        op: impl Combine<T>,
    ) -> Result {
        let site = Location::caller();
        a.check_whole(&self.core, site)?;
        a.write(Operator::new(op), Some(value), at, |lanes| lanes.scatter_one(&a.part.locator(), at), site)
    }

    /// Scatters element by element: a loop pushes what it has to write. It is issued when the builder is dropped.
    ///
    /// ```
    /// use superstep::{Block, Config, Max};
    ///
    /// let highest = Config::new().procs(3).run(|g| {
    ///     let a = g.array::<usize, Block>(4);
    ///     g.step(|s| {
    ///         let mut writes = s.scatterer(&a, Max);
    ///         for i in 0..4 { writes.push(i, (i + s.rank()) % 3) }
    ///     });
    ///     g.step(|s| s.mirror(&a, ..))
    /// });
    /// assert_eq!(highest.unwrap(), [2, 2, 2, 2]);
    /// ```
    ///
    /// # Cost
    ///
    /// As [`scatter`](Self::scatter).
    ///
    /// # Panics
    ///
    /// If another group made the array.
    #[track_caller]
    pub fn scatterer<'a, T: Element, D: Distribution, const N: usize>(
        &'a self,
        a: &'a Array<T, D, N>,
        op: impl Combine<T>,
    ) -> Scatterer<'a, T, D, N> {
        Scatterer::new(self, a, Operator::new(op), None, Location::caller())
    }

    /// Scatters one value element by element: a loop pushes the indices. It is issued when the builder is dropped.
    ///
    /// ```
    /// use superstep::{Block, Config, Sum};
    ///
    /// let counts = Config::new().procs(2).run(|g| {
    ///     let counts = g.array::<u64, Block>(10);
    ///     g.step(|s| {
    ///         let mut count = s.scatterer_one(&counts, 1, Sum);
    ///         for x in 0..100 { count.push(x * x % 10) }
    ///     });
    ///     g.step(|s| s.mirror(&counts, ..))
    /// });
    /// assert_eq!(counts.unwrap(), [20, 40, 0, 0, 40, 20, 40, 0, 0, 40]);
    /// ```
    ///
    /// # Cost
    ///
    /// As [`scatter_one`](Self::scatter_one).
    ///
    /// # Panics
    ///
    /// If another group made the array.
    #[track_caller]
    pub fn scatterer_one<'a, T: Element, D: Distribution, const N: usize>(
        &'a self,
        a: &'a Array<T, D, N>,
        value: T,
        op: impl Combine<T>,
    ) -> OneScatterer<'a, T, D, N> {
        OneScatterer(Scatterer::new(self, a, Operator::new(op), Some(value), Location::caller()))
    }
}

impl<T: Element, D: Distribution, const N: usize> Array<T, D, N> {
    pub(super) fn open(&self, operator: Operator<T>, one: Option<T>, note: u32) -> Lanes<T> {
        self.part.outgoing.borrow_mut().take(operator, one, note)
    }

    /// The note of a call that writes with `operator`, for the check of conflicts; else 0.
    #[inline]
    pub(super) fn note(&self, operator: Operator<T>, site: &'static Location<'static>) -> u32 {
        if operator.rule == Rule::Any { self.core.note(site) } else { 0 }
    }

    /// Writes to the elements at these indices what `scatter` puts into the lanes, or nothing.
    #[inline]
    fn write(
        &self,
        operator: Operator<T>,
        one: Option<T>,
        at: &[usize],
        scatter: impl FnOnce(&mut Lanes<T>) -> Result<(), usize>,
        site: &'static Location<'static>,
    ) -> Result {
        let mut lanes = self.open(operator, one, self.note(operator, site));
        lanes.make_room(at.len());
        let outcome = scatter(&mut lanes);
        self.close(lanes);
        outcome.map_err(|index| self.bad_index(index, site))?;
        self.agree_on(operator);
        Ok(())
    }

    pub(super) fn close(&self, mut lanes: Lanes<T>) {
        if lanes.operator.rule == Rule::Leader && self.core.rank() != 0 {
            // Only the leader's count.
            lanes.clear();
        }
        self.part.outgoing.borrow_mut().put_back(lanes);
        self.announce();
    }

    /// Makes the boundary send what was written.
    pub(super) fn announce(&self) {
        if !self.part.is_announced.replace(true) {
            self.core.registry().announce(self.core.number);
        }
    }
}

/// Scatters element by element; see [`Step::scatterer`].
///
/// ```
/// use superstep::{Any, Block, Config};
///
/// let values = Config::new().procs(2).run(|g| {
///     let a = g.array::<usize, Block>(3);
///     g.step(|s| {
///         let mut writes = s.scatterer(&a, Any);
///         if s.rank() == 1 { writes.push(0, 5) }
///     });
///     g.step(|s| s.mirror(&a, ..))
/// });
/// assert_eq!(values.unwrap(), [5, 0, 0]);
/// ```
pub struct Scatterer<'a, T: Element, D: Distribution, const N: usize = 1> {
    pub(super) array: &'a Array<T, D, N>,
    locator: Locator<D::Map>,
    lanes: Option<Lanes<T>>,
}

impl<'a, T: Element, D: Distribution, const N: usize> Scatterer<'a, T, D, N> {
    /// Takes empty lanes: they may be given back after others, and must not hold what was written before those.
    fn new(
        step: &Step,
        array: &'a Array<T, D, N>,
        operator: Operator<T>,
        one: Option<T>,
        site: &'static Location<'static>,
    ) -> Self {
        array.check_whole(&step.core, site).unwrap_or_else(|error| error.raise());
        array.agree_on(operator);
        array.part.outgoing.borrow_mut().issue();
        let lanes = Some(array.open(operator, one, array.note(operator, site)));
        Self { array, locator: array.part.locator(), lanes }
    }

    /// Writes `value` to the element with this index.
    ///
    /// ```
    /// use superstep::{Any, Block, Config, ErrorKind};
    ///
    /// let wrote = Config::new().procs(2).run(|g| {
    ///     let a = g.array::<usize, Block>(3);
    ///     g.step(|s| s.scatterer(&a, Any).push(3, 7));
    /// });
    /// assert_eq!(wrote.unwrap_err().kind(), ErrorKind::IndexOutOfRange);
    /// ```
    ///
    /// # Panics
    ///
    /// If there is no such element.
    #[track_caller]
    #[inline]
    pub fn push(&mut self, at: usize, value: T) {
        if let Some(lanes) = &mut self.lanes
            && !lanes.push(&self.locator, at, value)
        {
            self.array.bad_index(at, Location::caller()).raise();
        }
    }
}

impl<T: Element, D: Distribution, const N: usize> Drop for Scatterer<'_, T, D, N> {
    fn drop(&mut self) {
        if let Some(lanes) = self.lanes.take() {
            self.array.close(lanes);
        }
    }
}

/// Scatters one value element by element; see [`Step::scatterer_one`].
///
/// ```
/// use superstep::{Block, Config, Sum};
///
/// let values = Config::new().procs(2).run(|g| {
///     let a = g.array::<usize, Block>(3);
///     g.step(|s| s.scatterer_one(&a, 5, Sum).push(0));
///     g.step(|s| s.mirror(&a, ..))
/// });
/// assert_eq!(values.unwrap(), [10, 0, 0]);
/// ```
pub struct OneScatterer<'a, T: Element, D: Distribution, const N: usize = 1>(pub(super) Scatterer<'a, T, D, N>);

impl<T: Element, D: Distribution, const N: usize> OneScatterer<'_, T, D, N> {
    /// Writes the value to the element with this index.
    ///
    /// ```
    /// use superstep::{Block, Config, Or};
    ///
    /// let values = Config::new().procs(2).run(|g| {
    ///     let seen = g.array::<u8, Block>(3);
    ///     g.step(|s| s.scatterer_one(&seen, 1, Or).push(2));
    ///     g.step(|s| s.mirror(&seen, ..))
    /// });
    /// assert_eq!(values.unwrap(), [0, 0, 1]);
    /// ```
    ///
    /// # Panics
    ///
    /// If there is no such element.
    #[track_caller]
    #[inline]
    pub fn push(&mut self, at: usize) {
        if let Some(lanes) = &mut self.0.lanes
            && !lanes.push_one(&self.0.locator, at)
        {
            self.0.array.bad_index(at, Location::caller()).raise();
        }
    }
}
