//! Writing to arrays by index.

use super::{
    Array,
    lanes::Lanes,
    layout::{Distribution, Map},
    operator::Operator,
    part::{Locator, Part},
};
use crate::{
    engine::{Combine, Element, Rule, Step},
    error::{ErrorKind, Result},
};
use std::panic::Location;

impl Step {
    /// Combines `values` into the elements with the indices `at`, one each, at the boundary.
    ///
    /// `op` may be any operator that captures nothing. Because the owner of an element calls it, one of the program's
    /// own has to be named for this array by all members in the same step, if only with no values, unless it is in a
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
        let operator = Operator::new(op);
        let mut lanes = a.open(operator, None);
        lanes.make_room(at.len());
        let outcome = lanes.scatter(&a.part.locator(), at, values);
        a.close(lanes);
        outcome.map_err(|index| a.bad_index(index, site))?;
        a.agree_on(operator);
        Ok(())
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
        let operator = Operator::new(op);
        let mut lanes = a.open(operator, Some(value));
        lanes.make_room(at.len());
        let outcome = lanes.scatter_one(&a.part.locator(), at);
        a.close(lanes);
        outcome.map_err(|index| a.bad_index(index, site))?;
        a.agree_on(operator);
        Ok(())
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
        a.check_whole(&self.core, Location::caller()).unwrap_or_else(|error| error.raise());
        let operator = Operator::new(op);
        a.agree_on(operator);
        Scatterer { array: a, locator: a.part.locator(), lanes: Some(a.open_apart(operator, None)) }
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
        a.check_whole(&self.core, Location::caller()).unwrap_or_else(|error| error.raise());
        let operator = Operator::new(op);
        a.agree_on(operator);
        let lanes = Some(a.open_apart(operator, Some(value)));
        OneScatterer(Scatterer { array: a, locator: a.part.locator(), lanes })
    }
}

impl<T: Element, D: Distribution, const N: usize> Array<T, D, N> {
    /// Takes lanes to write to.
    pub(super) fn open(&self, operator: Operator<T>, one: Option<T>) -> Lanes<T> {
        self.part.outgoing.borrow_mut().take(&self.part, operator, one)
    }

    /// Takes lanes with nothing in them: they may be given back after others, and what was written before must not.
    fn open_apart(&self, operator: Operator<T>, one: Option<T>) -> Lanes<T> {
        self.part.outgoing.borrow_mut().issue(&self.part);
        self.open(operator, one)
    }

    /// Gives them back with what was written.
    pub(super) fn close(&self, mut lanes: Lanes<T>) {
        if lanes.operator.rule == Rule::Leader && self.core.rank.get() != 0 {
            // Only the leader's count.
            lanes.clear();
        }
        self.part.outgoing.borrow_mut().put_back(lanes, &self.part);
        self.announce();
    }

    /// Makes the boundary send what was written.
    pub(super) fn announce(&self) {
        if !self.part.is_announced.replace(true) {
            self.core.registry().outgoing.push(self.number);
        }
    }
}

impl<T: Element> Lanes<T> {
    /// Makes room for about so many writes that spread evenly.
    fn make_room(&mut self, count: usize) {
        let share = count / self.by_target.len();
        // Few are not worth a look at every lane.
        if share >= 64 {
            let share = share + share / 16;
            for lane in &mut self.by_target {
                fabric::make_room(&mut lane.places, share);
                if self.one.is_none() {
                    fabric::make_room(&mut lane.values, share);
                }
            }
        }
    }

    /// Writes to an element; says if there is no such one.
    #[inline]
    fn push<M: Map>(&mut self, locator: &Locator<M>, index: usize, value: T) -> bool {
        let Some((lane, place)) = locator.lane(index) else { return false };
        let lane = &mut self.by_target[lane];
        lane.places.push(place);
        lane.values.push(value);
        true
    }

    #[inline]
    fn push_one<M: Map>(&mut self, locator: &Locator<M>, index: usize) -> bool {
        let Some((lane, place)) = locator.lane(index) else { return false };
        self.by_target[lane].places.push(place);
        true
    }

    /// Writes to a place of which the owner is known.
    pub(super) fn push_at<M: Map>(&mut self, part: &Part<T, M>, owner: usize, at: usize, value: T) {
        let lane = &mut self.by_target[owner * part.windows + (at >> 32)];
        lane.places.push(at as u32);
        lane.values.push(value);
    }

    /// Writes all, or nothing and returns the index that does not exist.
    pub(super) fn scatter<M: Map>(&mut self, locator: &Locator<M>, at: &[usize], values: &[T]) -> Result<(), usize> {
        let (locator, issued) = (locator.clone(), at);
        for (at, values) in fabric::chunks(at).zip(fabric::chunks(values)) {
            for (&index, &value) in at.iter().zip(values) {
                if !self.push(&locator, index, value) {
                    self.undo(&locator, issued);
                    return Err(index);
                }
            }
        }
        Ok(())
    }

    /// The same with one value for all.
    fn scatter_one<M: Map>(&mut self, locator: &Locator<M>, at: &[usize]) -> Result<(), usize> {
        let (locator, issued) = (locator.clone(), at);
        for at in fabric::chunks(at) {
            for &index in at {
                if !self.push_one(&locator, index) {
                    self.undo(&locator, issued);
                    return Err(index);
                }
            }
        }
        Ok(())
    }

    /// Takes back what was written last, to all of these elements or to those before the first that does not exist.
    #[cold]
    pub(super) fn undo<M: Map>(&mut self, locator: &Locator<M>, at: &[usize]) {
        for (lane, _) in at.iter().map_while(|&index| locator.lane(index)) {
            self.by_target[lane].places.pop();
            self.by_target[lane].values.pop();
        }
    }

    fn clear(&mut self) {
        for lane in &mut self.by_target {
            lane.places.clear();
            lane.values.clear();
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
    array: &'a Array<T, D, N>,
    locator: Locator<D::Map>,
    lanes: Option<Lanes<T>>,
}

impl<T: Element, D: Distribution, const N: usize> Scatterer<'_, T, D, N> {
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
pub struct OneScatterer<'a, T: Element, D: Distribution, const N: usize = 1>(Scatterer<'a, T, D, N>);

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
