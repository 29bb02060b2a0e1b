//! What an array is: its handle, and everything that needs no communication.

use super::{layout::Distribution, part::Part};
use crate::{
    engine::{Core, Element, Lease, Tenant as _, hash_numbers},
    error::{Error, ErrorKind, Result},
    memory::{
        place::{self, Place},
        section::{Section, Span},
    },
};
use std::{
    any::{Any, type_name},
    cell::{OnceCell, Ref, RefMut},
    panic::Location,
    rc::Rc,
};

/// An array that lies spread over the processors of a group.
///
/// Each element has one owner, which the [distribution](Distribution) `D` says. Its owner works on its part as a slice,
/// between boundaries. Everybody reads and writes all of it in bulk, by global index, with verbs of a
/// [`Step`](crate::Step): [`mirror`](crate::Step::mirror) and [`update`](crate::Step::update) for sections,
/// [`gather`](crate::Step::gather) and [`scatter`](crate::Step::scatter) for lists of indices.
///
/// ```
/// use superstep::{Block, Config, Sum};
///
/// let counts = Config::new().procs(3).run(|g| {
///     let counts = g.array::<u32, Block>(4);
///     g.step(|s| s.scatter_one(&counts, &[0, 2, 2], 1, Sum));       // everybody counts the same three
///     g.step(|s| s.mirror(&counts, ..))
/// });
/// assert_eq!(counts.unwrap(), [3, 0, 6, 0]);
/// ```
///
/// The distribution is part of the type, so an array cannot be taken for one that lies differently:
///
/// ```compile_fail,E0308
/// use superstep::{Array, Block, Cyclic};
///
/// fn wants_blocks(_: &Array<u8, Block>) {}
/// superstep::run(|g| {
///     let dealt = g.array::<u8, Cyclic>(4);
///     wants_blocks(&dealt);
/// });
/// ```
///
/// One to three of at most five dimensions are distributed:
///
/// ```compile_fail,E0080
/// use superstep::{Array, Block};
///
/// superstep::run(|g| {
///     let _: Array<u8, Block<4>, 4> = g.array_with([2, 2, 2, 2], Block);
/// });
/// ```
pub struct Array<T: Element, D: Distribution, const N: usize = 1> {
    pub(super) core: Lease,
    pub(super) part: Rc<Part<T, D::Map>>,
    pub(super) shape: [usize; N],
    pub(super) distribution: D,
}

impl<T: Element, D: Distribution, const N: usize> Array<T, D, N> {
    /// How many elements there are in all.
    ///
    /// ```
    /// let len = superstep::Config::new().procs(2).run(|g| g.array::<u8, superstep::Block>(5).len());
    /// assert_eq!(len.unwrap(), 5);
    /// ```
    pub fn len(&self) -> usize {
        self.part.len
    }

    /// Whether there are none.
    ///
    /// ```
    /// let empty = superstep::Config::new().procs(2).run(|g| g.array::<u8, superstep::Block>(0).is_empty());
    /// assert!(empty.unwrap());
    /// ```
    pub fn is_empty(&self) -> bool {
        self.part.len == 0
    }

    /// How many elements there are in each dimension.
    ///
    /// ```
    /// use superstep::{Block, Config};
    ///
    /// let shape = Config::new().procs(2).run(|g| g.array_with::<u8, _, 2>([3, 4], Block::<2>).shape());
    /// assert_eq!(shape.unwrap(), [3, 4]);
    /// ```
    pub fn shape(&self) -> [usize; N] {
        self.shape
    }

    /// How many places the part of member `rank` has; with [`Tiles`](crate::Tiles) padding counts.
    ///
    /// ```
    /// let len = superstep::Config::new().procs(2).run(|g| g.array::<u8, superstep::Block>(5).len_of(1));
    /// assert_eq!(len.unwrap(), 2);
    /// ```
    ///
    /// # Panics
    ///
    /// If there is no such member.
    #[track_caller]
    pub fn len_of(&self, rank: usize) -> usize {
        self.core.check_rank(rank, Location::caller()).unwrap_or_else(|error| error.raise());
        self.part.lens[rank]
    }

    /// The number of an element in row-major order, by which [`gather`](crate::Step::gather) and
    /// [`scatter`](crate::Step::scatter) name it. In one dimension that is its index.
    ///
    /// ```
    /// use superstep::{Block, Config};
    ///
    /// let index = Config::new().procs(2).run(|g| g.array_with::<u8, _, 2>([3, 4], Block::new()).index([2, 1]));
    /// assert_eq!(index.unwrap(), 9);
    /// ```
    ///
    /// # Panics
    ///
    /// If there is no such element.
    #[track_caller]
    #[inline]
    pub fn index(&self, at: impl Place<N>) -> usize {
        let (at, site) = (at.indices(), Location::caller());
        place::linear(at, &self.shape).unwrap_or_else(|dimension| self.refuse_place(&at, dimension, site))
    }

    /// The place of the element with this number in row-major order.
    ///
    /// ```
    /// use superstep::{Block, Config};
    ///
    /// let place = Config::new().procs(2).run(|g| g.array_with::<u8, _, 2>([3, 4], Block::new()).place(9));
    /// assert_eq!(place.unwrap(), [2, 1]);
    /// ```
    ///
    /// # Panics
    ///
    /// If there is no such element.
    #[track_caller]
    pub fn place(&self, index: usize) -> [usize; N] {
        if index >= self.part.len {
            self.bad_index(index, Location::caller()).raise();
        }
        place::place(index, &self.shape)
    }

    /// Which member owns an element.
    ///
    /// ```
    /// let owner = superstep::Config::new().procs(2).run(|g| g.array::<u8, superstep::Cyclic>(5).owner(3));
    /// assert_eq!(owner.unwrap(), 1);
    /// ```
    ///
    /// # Panics
    ///
    /// If there is no such element.
    #[track_caller]
    #[inline]
    pub fn owner(&self, at: impl Place<N>) -> usize {
        self.part.locate(self.index(at)).0
    }

    /// Whether this processor owns an element.
    ///
    /// ```
    /// let owned = superstep::Config::new().procs(2).run_all(|g| g.array::<u8, superstep::Block>(5).is_owned(3));
    /// assert_eq!(owned.unwrap(), [false, true]);
    /// ```
    ///
    /// # Panics
    ///
    /// If there is no such element.
    #[track_caller]
    #[inline]
    pub fn is_owned(&self, at: impl Place<N>) -> bool {
        self.owner(at) == self.part.rank
    }

    /// Where an element lies in its owner's part.
    ///
    /// ```
    /// let offset = superstep::Config::new().procs(2).run(|g| g.array::<u8, superstep::Block>(5).offset(4));
    /// assert_eq!(offset.unwrap(), 1);
    /// ```
    ///
    /// # Panics
    ///
    /// If there is no such element.
    #[track_caller]
    #[inline]
    pub fn offset(&self, at: impl Place<N>) -> usize {
        self.part.locate(self.index(at)).1
    }

    /// The number, in row-major order, of the element that lies at `offset` of this processor's part; `None` where
    /// there is none, because the part ends before or because that is the padding of a tile.
    ///
    /// ```
    /// let index = superstep::Config::new().procs(2).run_all(|g| g.array::<u8, superstep::Cyclic>(5).global(2));
    /// assert_eq!(index.unwrap(), [Some(4), None]);
    /// ```
    pub fn global(&self, offset: usize) -> Option<usize> {
        self.part.index(self.part.rank, offset)
    }

    /// Lends this processor's part. Drop the borrow before the next boundary.
    ///
    /// ```
    /// let here = superstep::Config::new().procs(2).run(|g| {
    ///     let a = g.array::<u8, superstep::Block>(5);
    ///     g.step(|s| if s.rank() == 1 { s.update(&a, 2..5, &[7, 8, 9]) });
    ///     a.local().to_vec()
    /// });
    /// assert_eq!(here.unwrap(), [0, 0, 7]);
    /// ```
    #[track_caller]
    #[inline]
    pub fn local(&self) -> Ref<'_, [T]> {
        self.part.owned.lend(&self.core, Location::caller(), &|| self.part.describe())
    }

    /// Lends it like [`local`](Self::local), or returns why that cannot be done.
    pub(crate) fn try_local(&self, site: &Location<'_>) -> Result<Ref<'_, [T]>> {
        self.part.owned.try_lend(&self.core, site, &|| self.part.describe())
    }

    /// Lends this processor's part for writing. Drop the borrow before the next boundary.
    ///
    /// ```
    /// let here = superstep::Config::new().procs(2).run(|g| {
    ///     let a = g.array::<u8, superstep::Block>(4);
    ///     a.local_mut().fill(7);
    ///     a.local().to_vec()
    /// });
    /// assert_eq!(here.unwrap(), [7, 7]);
    /// ```
    #[track_caller]
    #[inline]
    pub fn local_mut(&self) -> RefMut<'_, [T]> {
        self.part.owned.lend_mut(&self.core, Location::caller(), &|| self.part.describe())
    }

    /// An element that this processor owns.
    ///
    /// ```
    /// use superstep::{Block, Config, ErrorKind};
    ///
    /// let remote = Config::new().procs(2).run(|g| g.array::<u8, Block>(4).get(3));
    /// assert_eq!(remote.unwrap_err().kind(), ErrorKind::NotMirrored);
    /// ```
    ///
    /// # Panics
    ///
    /// If there is no such element, or if somebody else owns it.
    #[track_caller]
    #[inline]
    pub fn get(&self, at: impl Place<N>) -> T {
        let offset = self.own(at, ErrorKind::NotMirrored, "mirror or gather it in the step before", Location::caller());
        self.local()[offset]
    }

    /// Writes an element that this processor owns.
    ///
    /// ```
    /// use superstep::{Block, Config};
    ///
    /// let x = Config::new().procs(2).run(|g| {
    ///     let a = g.array::<u8, Block>(4);
    ///     if a.is_owned(1) { a.set(1, 9) }
    ///     g.step(|s| s.mirror(&a, 1..2))[0]
    /// });
    /// assert_eq!(x.unwrap(), 9);
    /// ```
    ///
    /// # Panics
    ///
    /// If there is no such element, or if somebody else owns it.
    #[track_caller]
    #[inline]
    pub fn set(&self, at: impl Place<N>, value: T) {
        let offset = self.own(at, ErrorKind::NotOwned, "update or scatter it in a step", Location::caller());
        self.local_mut()[offset] = value;
    }

    /// Where an element lies in this processor's part.
    #[inline]
    fn own(&self, at: impl Place<N>, kind: ErrorKind, advice: &str, site: &Location<'_>) -> usize {
        let at = at.indices();
        let index = place::linear(at, &self.shape).unwrap_or_else(|dimension| self.refuse_place(&at, dimension, site));
        let (owner, offset) = self.part.locate(index);
        if owner == self.part.rank {
            return offset;
        }
        let what = format!("element {at:?} belongs to rank {owner}; {advice}");
        self.core.error(kind, what, site).raise()
    }

    /// Room for what a layer above keeps with the array.
    pub(crate) fn annex(&self) -> &OnceCell<Rc<dyn Any>> {
        &self.part.annex
    }

    #[cold]
    fn refuse_place(&self, at: &[usize; N], dimension: usize, site: &Location<'_>) -> ! {
        let (index, extent) = (at[dimension], self.shape[dimension]);
        let what = if N == 1 {
            format!("index {index} of an array of {extent}")
        } else {
            format!("index {index} in dimension {dimension} of an array of shape {:?}", self.shape)
        };
        self.core.error_of(ErrorKind::IndexOutOfRange, what, &*self.part, site).raise()
    }

    #[cold]
    pub(crate) fn bad_index(&self, index: usize, site: &Location<'_>) -> Error {
        let what = format!("index {index} of an array of {}", self.part.len);
        self.core.error_of(ErrorKind::IndexOutOfRange, what, &*self.part, site)
    }

    /// Refuses a section that the array does not have.
    pub(super) fn check_section(&self, section: &impl Section<N>, site: &Location<'_>) -> Result<[Span; N]> {
        section.spans(&self.shape).map_err(|(kind, what)| self.core.error_of(kind, what, &*self.part, site))
    }

    /// A number for how it lies: arrays of one distribution with the same number lie alike.
    pub(crate) fn layout(&self) -> u64 {
        let (rank, size) = (self.part.rank as u64, self.part.lens.len() as u64);
        let shape = self.shape.iter().map(|&extent| extent as u64);
        hash_numbers(shape.chain([self.part.terms, rank, size]))
    }

    /// Refuses an array that does not lie as the number says, and so not like `what`.
    pub(crate) fn check_layout(&self, layout: u64, what: &str, site: &Location<'_>) -> Result {
        if self.layout() == layout { Ok(()) } else { Err(self.lies_otherwise(what, site)) }
    }

    /// The error where it should lie like something.
    pub(super) fn lies_otherwise(&self, what: &str, site: &Location<'_>) -> Error {
        let what = format!("an array that does not lie like {what}");
        self.core.error_of(ErrorKind::BadDistribution, what, &*self.part, site)
    }

    /// How it lies.
    pub(crate) fn distribution(&self) -> &D {
        &self.distribution
    }

    /// Whether all that rank 0 owns comes first, then all that rank 1 owns and so on, each part upwards.
    pub(crate) fn is_in_order(&self) -> bool {
        let mut start = 0;
        (0..self.part.lens.len()).all(|rank| {
            let (first, len) = (start, self.part.lens[rank]);
            start += len;
            len == 0 || self.part.index(rank, 0) == Some(first) && self.part.stretch(first) >= len
        })
    }

    /// Refuses to communicate about an array that another group made, or of which an owner has left.
    pub(crate) fn check_whole(&self, core: &Core, site: &Location<'_>) -> Result {
        self.check_group(core, site)?;
        match self.part.lost.get() {
            None => Ok(()),
            Some(rank) => {
                let what = format!("rank {rank} of the group that made this array has left with its part of it");
                Err(core.error(ErrorKind::Departed, what, site))
            }
        }
    }

    /// Notes that a call at `site` is about this array; the next boundary sees whether it is for all members.
    pub(crate) fn declare(&self, core: &Core, site: &Location<'_>) {
        // Several may have been made at one line; the number tells them apart.
        let number = self.core.number;
        let words = format!("a call on the {}, number {number}", self.part.describe());
        core.declare_call([u64::from(number)], &words, site);
    }

    /// Refuses a group that did not make it.
    pub(crate) fn check_group(&self, core: &Core, site: &Location<'_>) -> Result {
        if std::ptr::eq(core, &raw const **self.core) {
            return Ok(());
        }
        let what = format!(
            "this array belongs to group {}; import a part of it with split_on, or use it in a step of its group",
            self.core.path()
        );
        Err(core.error(ErrorKind::NotMember, what, site))
    }
}

impl<T: Element, D: Distribution, const N: usize> std::fmt::Debug for Array<T, D, N> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Array<{}, {:?}>({:?})", type_name::<T>(), self.distribution, self.shape)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Block, BlockCyclic, Cyclic, Irregular};
    use crate::Config;

    #[test]
    fn what_lies_in_blocks_is_in_order_and_what_is_dealt_round_is_not() {
        let found = Config::new().procs(3).run(|g| {
            [
                g.array::<u8, Block>(8).is_in_order(),
                g.array_with::<u8, _, 1>([7], Irregular(vec![3, 0, 4])).is_in_order(),
                g.array::<u8, Cyclic>(3).is_in_order(),
                g.array::<u8, Cyclic>(4).is_in_order(),
                g.array_with::<u8, _, 1>([8], BlockCyclic::new(2)).is_in_order(),
            ]
        });
        assert_eq!(found.unwrap(), [true, true, true, false, false]);
    }
}
