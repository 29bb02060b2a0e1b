//! Reading arrays by index and by section.

use super::{
    Array,
    layout::{Distribution, Locator},
    reads::{Gather, Indices, Mirror, Read},
};
use crate::{
    engine::{Element, Pending, Step},
    error::Result,
    memory::section::{Section, Span},
};
use std::{panic::Location, rc::Rc};

impl Step {
    /// Reads the elements with the indices `at`, as they are when this step's writes have been committed.
    ///
    /// An index may come several times. An array of several dimensions takes row-major numbers, see [`Array::index`].
    ///
    /// ```
    /// use superstep::{Block, Config};
    ///
    /// let values = Config::new().procs(3).run(|g| {
    ///     let squares = g.array::<usize, Block>(10);
    ///     squares.forall_mut(|i, x| *x = i * i);
    ///     g.step(|s| s.gather(&squares, &[9, 2, 9]))
    /// });
    /// assert_eq!(values.unwrap(), [81, 4, 81]);
    /// ```
    ///
    /// # Cost
    ///
    /// n g for n words, and two more waits in the boundary; one, where no two members share memory.
    ///
    /// # Panics
    ///
    /// If there is no such element, or if another group made the array. [`try_gather`](Self::try_gather) returns the
    /// error.
    #[track_caller]
    pub fn gather<T: Element, D: Distribution, const N: usize>(
        &self,
        a: &Array<T, D, N>,
        at: &[usize],
    ) -> Pending<Vec<T>> {
        self.try_gather(a, at).unwrap_or_else(|error| error.raise())
    }

    /// Gathers like [`gather`](Self::gather), or returns why that cannot be done.
    ///
    /// ```
    /// use superstep::{Block, Config, ErrorKind, Local};
    ///
    /// let kind = Config::new().procs(2).run(|g| {
    ///     let a = g.array::<u8, Block>(4);
    ///     g.step(|s| Local(s.try_gather(&a, &[4]).unwrap_err().kind()))
    /// });
    /// assert_eq!(kind.unwrap(), ErrorKind::IndexOutOfRange);
    /// ```
    #[track_caller]
    pub fn try_gather<T: Element, D: Distribution, const N: usize>(
        &self,
        a: &Array<T, D, N>,
        at: &[usize],
    ) -> Result<Pending<Vec<T>>> {
        self.check_gather(a, at, Vec::new(), Location::caller())
    }

    /// Gathers like [`gather`](Self::gather), into the room of a vector that is given and comes back. What is in it is
    /// dropped. So a loop that gathers much need not allocate.
    ///
    /// ```
    /// use superstep::{Block, Config};
    ///
    /// let values = Config::new().procs(2).run(|g| {
    ///     let a = g.array::<usize, Block>(4);
    ///     a.forall_mut(|index, x| *x = 10 * index);
    ///     let mut values = Vec::new();
    ///     for _ in 0..3 { values = g.step(|s| s.gather_into(&a, &[3, 1], values)) }
    ///     values
    /// });
    /// assert_eq!(values.unwrap(), [30, 10]);
    /// ```
    ///
    /// # Panics
    ///
    /// As [`gather`](Self::gather).
    #[track_caller]
    pub fn gather_into<T: Element, D: Distribution, const N: usize>(
        &self,
        a: &Array<T, D, N>,
        at: &[usize],
        into: Vec<T>,
    ) -> Pending<Vec<T>> {
        self.check_gather(a, at, into, Location::caller()).unwrap_or_else(|error| error.raise())
    }

    fn check_gather<T: Element, D: Distribution, const N: usize>(
        &self,
        a: &Array<T, D, N>,
        at: &[usize],
        into: Vec<T>,
        site: &'static Location<'static>,
    ) -> Result<Pending<Vec<T>>> {
        let mut gatherer = Gatherer::new(self, a, into, site)?;
        if !gatherer.push_all(at) {
            gatherer.discard();
            let first = at.iter().copied().find(|&index| index >= a.len()).unwrap_or_default();
            return Err(a.bad_index(first, site));
        }
        Ok(gatherer.finish())
    }

    /// Gathers like [`gather_into`](Self::gather_into) the elements with these numbers, which exist. The list is handed
    /// over where it can be read as it is.
    #[track_caller]
    pub(crate) fn gather_listed<T: Element, D: Distribution, const N: usize>(
        &self,
        a: &Array<T, D, N>,
        at: &Rc<Vec<u32>>,
        into: Vec<T>,
    ) -> Pending<Vec<T>> {
        let mut gatherer = Gatherer::new(self, a, into, Location::caller()).unwrap_or_else(|error| error.raise());
        match (&gatherer.at, gatherer.stride) {
            (Indices::Short(_), None) => gatherer.lend(Rc::clone(at)),
            _ => at.iter().for_each(|&index| gatherer.push(index as usize)),
        }
        gatherer.finish()
    }

    /// Gathers element by element: a loop pushes the indices it wants to read.
    ///
    /// ```
    /// use superstep::{Config, Cyclic};
    ///
    /// let values = Config::new().procs(2).run(|g| {
    ///     let a = g.array::<usize, Cyclic>(10);
    ///     a.forall_mut(|i, x| *x = 10 * i);
    ///     g.step(|s| {
    ///         let mut reads = s.gatherer(&a);
    ///         for i in [1, 5, 9] { reads.push(i) }
    ///         reads.finish()
    ///     })
    /// });
    /// assert_eq!(values.unwrap(), [10, 50, 90]);
    /// ```
    ///
    /// # Cost
    ///
    /// As [`gather`](Self::gather).
    ///
    /// # Panics
    ///
    /// If another group made the array.
    #[track_caller]
    pub fn gatherer<'a, T: Element, D: Distribution, const N: usize>(
        &'a self,
        a: &'a Array<T, D, N>,
    ) -> Gatherer<'a, T, D, N> {
        Gatherer::new(self, a, Vec::new(), Location::caller()).unwrap_or_else(|error| error.raise())
    }

    /// Reads a section, in row-major order, as it is when this step's writes have been committed.
    ///
    /// ```
    /// use superstep::{Array, Block, Config};
    ///
    /// let column = Config::new().procs(2).run(|g| {
    ///     let a: Array<usize, Block, 2> = g.array_with([3, 4], Block);
    ///     a.forall_mut_in((.., ..), |[i, j], x| *x = 10 * i + j);
    ///     g.step(|s| s.mirror(&a, (.., 2..3)))
    /// });
    /// assert_eq!(column.unwrap(), [2, 12, 22]);
    /// ```
    ///
    /// # Cost
    ///
    /// n g for n words, and two more waits in the boundary; one, where no two members share memory.
    ///
    /// # Panics
    ///
    /// If there is no such section, or if another group made the array. [`try_mirror`](Self::try_mirror) returns the
    /// error.
    #[track_caller]
    pub fn mirror<T: Element, D: Distribution, const N: usize>(
        &self,
        a: &Array<T, D, N>,
        at: impl Section<N>,
    ) -> Pending<Vec<T>> {
        self.try_mirror(a, at).unwrap_or_else(|error| error.raise())
    }

    /// Mirrors like [`mirror`](Self::mirror), or returns why that cannot be done.
    ///
    /// ```
    /// use superstep::{Block, Config, ErrorKind, Local, strided};
    ///
    /// let kind = Config::new().procs(2).run(|g| {
    ///     let a = g.array::<u8, Block>(4);
    ///     g.step(|s| Local(s.try_mirror(&a, strided(.., 0)).unwrap_err().kind()))
    /// });
    /// assert_eq!(kind.unwrap(), ErrorKind::BadSection);
    /// ```
    #[track_caller]
    pub fn try_mirror<T: Element, D: Distribution, const N: usize>(
        &self,
        a: &Array<T, D, N>,
        at: impl Section<N>,
    ) -> Result<Pending<Vec<T>>> {
        self.check_mirror(a, &at, Vec::new(), Location::caller())
    }

    /// Mirrors like [`mirror`](Self::mirror), into the room of a vector that is given and comes back. What is in it is
    /// dropped.
    ///
    /// ```
    /// use superstep::{Block, Config};
    ///
    /// let values = Config::new().procs(2).run(|g| {
    ///     let a = g.array::<usize, Block>(4);
    ///     a.forall_mut(|index, x| *x = 10 * index);
    ///     let mut values = Vec::new();
    ///     for _ in 0..3 { values = g.step(|s| s.mirror_into(&a, 1..3, values)) }
    ///     values
    /// });
    /// assert_eq!(values.unwrap(), [10, 20]);
    /// ```
    ///
    /// # Panics
    ///
    /// As [`mirror`](Self::mirror).
    #[track_caller]
    pub fn mirror_into<T: Element, D: Distribution, const N: usize>(
        &self,
        a: &Array<T, D, N>,
        at: impl Section<N>,
        into: Vec<T>,
    ) -> Pending<Vec<T>> {
        self.check_mirror(a, &at, into, Location::caller()).unwrap_or_else(|error| error.raise())
    }

    /// Mirrors as [`try_mirror`](Self::try_mirror) does, for a call at `site`, into the room of a vector.
    pub(crate) fn check_mirror<T: Element, D: Distribution, const N: usize>(
        &self,
        a: &Array<T, D, N>,
        at: &impl Section<N>,
        into: Vec<T>,
        site: &'static Location<'static>,
    ) -> Result<Pending<Vec<T>>> {
        a.check_whole(&self.core, site)?;
        let spans = a.check_section(at, site)?;
        Ok(self.mirror_spans(a, spans, into, site))
    }

    pub(super) fn mirror_spans<T: Element, D: Distribution, const N: usize>(
        &self,
        a: &Array<T, D, N>,
        spans: [Span; N],
        into: Vec<T>,
        site: &'static Location<'static>,
    ) -> Pending<Vec<T>> {
        Read::begin(self, a, Mirror { shape: a.shape, spans }, into, site)
    }
}

/// Gathers element by element; see [`Step::gatherer`].
///
/// ```
/// use superstep::{Block, Config};
///
/// let value = Config::new().procs(2).run(|g| {
///     let a = g.array::<usize, Block>(3);
///     a.forall_mut(|index, x| *x = 10 * index);
///     g.step(|s| {
///         let mut reads = s.gatherer(&a);
///         reads.push(2);
///         reads.finish()
///     })
/// });
/// assert_eq!(value.unwrap(), [20]);
/// ```
#[must_use = "finish it to read what was pushed"]
pub struct Gatherer<'a, T: Element, D: Distribution, const N: usize = 1> {
    step: &'a Step,
    pub(super) array: &'a Array<T, D, N>,
    at: Indices,
    locator: Locator<D::Map>,
    /// Where the indices are places in all parts together: how far apart the parts lie.
    stride: Option<usize>,
    into: Vec<T>,
    site: &'static Location<'static>,
}

impl<'a, T: Element, D: Distribution, const N: usize> Gatherer<'a, T, D, N> {
    fn new(step: &'a Step, array: &'a Array<T, D, N>, into: Vec<T>, site: &'static Location<'static>) -> Result<Self> {
        array.check_whole(&step.core, site)?;
        let is_short = u32::try_from(array.len().saturating_sub(1)).is_ok();
        let at = if is_short {
            Indices::Short(array.part.pool.spares().places.take(usize::MAX))
        } else {
            Indices::Long(Vec::new())
        };
        let part = &array.part;
        // Parts in one piece have at most 2^32 places together.
        let stride = part.flat.filter(|flat| !flat.is_straight).map(|flat| flat.stride);
        Ok(Self { step, array, at, locator: part.locator(), stride, into, site })
    }

    /// Asks for the element with this index.
    ///
    /// ```
    /// use superstep::{Block, Config, ErrorKind};
    ///
    /// let read = Config::new().procs(2).run(|g| {
    ///     let a = g.array::<u8, Block>(3);
    ///     g.step(|s| {
    ///         let mut reads = s.gatherer(&a);
    ///         reads.push(3);
    ///         reads.finish()
    ///     })
    /// });
    /// assert_eq!(read.unwrap_err().kind(), ErrorKind::IndexOutOfRange);
    /// ```
    ///
    /// # Panics
    ///
    /// If there is no such element.
    #[track_caller]
    #[inline]
    pub fn push(&mut self, at: usize) {
        if at >= self.array.part.len {
            self.array.bad_index(at, Location::caller()).raise();
        }
        match (&mut self.at, self.stride) {
            (Indices::Short(all), None) => all.push(at as u32),
            (Indices::Short(all), Some(stride)) => {
                let (owner, at) = self.locator.locate(at);
                all.push((owner * stride + at) as u32);
            }
            (Indices::Long(all), _) => all.push(at),
            (Indices::Lent(_), _) => debug_assert!(false, "whoever lends a list pushes nothing"),
        }
    }

    /// Asks for what is in a list, and for nothing else.
    fn lend(&mut self, list: Rc<Vec<u32>>) {
        if let Indices::Short(places) = std::mem::replace(&mut self.at, Indices::Lent(list)) {
            self.array.part.pool.spares().places.keep(places);
        }
    }

    /// Asks for all of these in one pass that copies and checks; false if one does not exist.
    fn push_all(&mut self, at: &[usize]) -> bool {
        let Some(last) = self.array.len().checked_sub(1) else { return at.is_empty() };
        // With at most 2^32 elements, exactly the indices beyond the last one set the highest bit of this. Processors
        // do it to several indices at once, so it is cheaper than to compare.
        let mut seen = 0;
        let mut look = |index: usize| seen |= index | last.wrapping_sub(index);
        match (&mut self.at, self.stride) {
            (Indices::Short(all), None) => {
                fabric::make_room(all, at.len());
                for chunk in fabric::chunks(at) {
                    all.extend(chunk.iter().map(|&index| {
                        look(index);
                        index as u32
                    }));
                }
            }
            (Indices::Short(all), Some(stride)) => {
                fabric::make_room(all, at.len());
                let locator = self.locator.clone();
                for chunk in fabric::chunks(at) {
                    all.extend(chunk.iter().map(|&index| {
                        look(index);
                        let (owner, at) = locator.locate(index);
                        owner.wrapping_mul(stride).wrapping_add(at) as u32
                    }));
                }
            }
            (Indices::Long(all), _) => {
                all.extend_from_slice(at);
                return at.iter().all(|&index| index <= last);
            }
            (Indices::Lent(_), _) => return false,
        }
        seen >> (usize::BITS - 1) == 0
    }

    /// The elements that were asked for, in the order of asking.
    ///
    /// ```
    /// use superstep::{Block, Config};
    ///
    /// let values = Config::new().procs(2).run(|g| {
    ///     let a = g.array::<usize, Block>(3);
    ///     a.forall_mut(|index, x| *x = 10 * index);
    ///     g.step(|s| {
    ///         let mut reads = s.gatherer(&a);
    ///         [2, 0].map(|index| reads.push(index));
    ///         reads.finish()
    ///     })
    /// });
    /// assert_eq!(values.unwrap(), [20, 0]);
    /// ```
    pub fn finish(self) -> Pending<Vec<T>> {
        let Self { step, array, at, into, site, .. } = self;
        let is_flat = array.part.flat.is_some();
        Read::begin(step, array, Gather { at, is_flat, places: Vec::new() }, into, site)
    }

    /// Gives its room back and asks for nothing.
    fn discard(self) {
        if let Indices::Short(places) = self.at {
            self.array.part.pool.spares().places.keep(places);
        }
    }
}
