//! What an array is: its handle, its making, and everything that needs no communication.

use super::{
    layout::{Distribution, Map},
    operator::Operator,
    part::{Part, Plan},
    place::{self, Place},
};
use crate::{
    engine::{Any, Combine, Core, Element, Group, Joint, Kind, Object, Phase, type_hash},
    error::{Error, ErrorKind, Result},
    memory::{
        notice::give_notice,
        owned::Owned,
        section::{BadSection, Section, Span},
    },
};
use fabric::{Common, Region, Shared};
use std::{
    any::type_name,
    cell::{Ref, RefMut},
    panic::Location,
    rc::Rc,
    sync::Arc,
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
    pub(super) core: Rc<Core>,
    pub(super) part: Rc<Part<T, D::Map>>,
    pub(super) number: u32,
    pub(super) shape: [usize; N],
    pub(super) distribution: D,
}

impl Group {
    /// Makes an array of `len` elements, all zero. Collective.
    ///
    /// ```
    /// use superstep::{Config, Cyclic};
    ///
    /// let here = Config::new().procs(2).run_all(|g| g.array::<f64, Cyclic>(5).local().len());
    /// assert_eq!(here.unwrap(), [3, 2]);
    /// ```
    ///
    /// # Cost
    ///
    /// One boundary. Each owner's memory is its own, and is touched first by it.
    #[track_caller]
    pub fn array<T: Element, D: Distribution + Default>(&mut self, len: usize) -> Array<T, D> {
        self.try_array_with([len], D::default()).unwrap_or_else(|error| error.raise())
    }

    /// Makes an array like [`array`](Self::array), or returns why that cannot be done.
    ///
    /// ```
    /// use superstep::{Block, Config, ErrorKind};
    ///
    /// let made = Config::new().procs(2).run(|g| g.try_array::<u64, Block>(usize::MAX).map(drop));
    /// assert_eq!(made.unwrap_err().kind(), ErrorKind::Overflow);
    /// ```
    #[track_caller]
    pub fn try_array<T: Element, D: Distribution + Default>(&mut self, len: usize) -> Result<Array<T, D>> {
        self.try_array_with([len], D::default())
    }

    /// Makes an array of this shape and distribution, all zero. Collective.
    ///
    /// ```
    /// use superstep::{BlockCyclic, Config};
    ///
    /// let shape = Config::new().procs(2).run(|g| g.array_with::<f64, _, 2>([5, 3], BlockCyclic::<1>(2)).shape());
    /// assert_eq!(shape.unwrap(), [5, 3]);
    /// ```
    ///
    /// # Cost
    ///
    /// As [`array`](Self::array).
    #[track_caller]
    pub fn array_with<T: Element, D: Distribution, const N: usize>(
        &mut self,
        shape: [usize; N],
        distribution: D,
    ) -> Array<T, D, N> {
        self.try_array_with(shape, distribution).unwrap_or_else(|error| error.raise())
    }

    /// Makes an array like [`array_with`](Self::array_with), or returns why that cannot be done.
    ///
    /// ```
    /// use superstep::{Config, ErrorKind, Irregular};
    ///
    /// let made = Config::new().procs(2).run(|g| {
    ///     g.try_array_with::<u8, _, 1>([4], Irregular(vec![1, 2])).map(drop)
    /// });
    /// assert_eq!(made.unwrap_err().kind(), ErrorKind::BadLength);
    /// ```
    #[track_caller]
    pub fn try_array_with<T: Element, D: Distribution, const N: usize>(
        &mut self,
        shape: [usize; N],
        distribution: D,
    ) -> Result<Array<T, D, N>> {
        self.make_array(shape, distribution, Location::caller())
    }

    pub(super) fn make_array<T: Element, D: Distribution, const N: usize>(
        &self,
        shape: [usize; N],
        distribution: D,
        site: &'static Location<'static>,
    ) -> Result<Array<T, D, N>> {
        const {
            assert!(N >= 1 && N <= 5, "an array has one to five dimensions");
            assert!(D::DISTRIBUTED >= 1 && D::DISTRIBUTED <= 3, "one to three dimensions are distributed");
            assert!(D::DISTRIBUTED <= N, "more dimensions are distributed than there are");
            assert!(size_of::<T>() > 0, "the elements of an array have a size");
        }
        let core = self.core();
        let plan = plan::<T, D, N>(&shape, &distribution, core.size.get(), site)
            .map_err(|(kind, what)| core.error(kind, what, site))?;
        let terms = shape.iter().map(|&extent| extent as u64).chain(distribution.terms());
        let kind = Core::hash_numbers(terms.chain([type_hash::<(T, D, [u8; N])>()]));
        let Some((region, stride)) = memory(core, &plan) else {
            let (me, here) = (core.rank.get(), plan.lens[core.rank.get()]);
            let what = format!("the system has no memory for {here} elements of {} on rank {me}", type_name::<T>());
            return Err(give_notice(
                core,
                Kind::Array,
                kind,
                || (),
                core.error(ErrorKind::OutOfMemory, what, site),
                site,
            ));
        };
        core.begin(site, Phase::Step);
        let part = Rc::new(Part::new(Owned::new(region, core), core.rank.get(), plan, Operator::new(Any), stride));
        let number = core.add_object(Rc::clone(&part) as Rc<dyn Object>, kind);
        let array = Array { core: Rc::clone(core), part, number, shape, distribution };
        array.part.owned.offer(core, number);
        core.boundary(Kind::Array)?;
        Ok(array)
    }
}

/// From so many bytes on, members that share memory lay their parts one behind the other.
const MUCH: usize = 64 << 10;

/// Makes memory for this processor's part; and says how far apart all parts lie, where they lie in one piece.
fn memory<T: Element, M>(core: &Core, plan: &Plan<M>) -> Option<(Region<T>, Option<usize>)> {
    let (rank, size) = (core.rank.get(), core.size.get());
    let longest = plan.lens.iter().copied().max().unwrap_or(0);
    let circle = core.circle.borrow();
    let is_even = longest.saturating_mul(size) <= plan.len.saturating_mul(2);
    if plan.len.saturating_mul(size_of::<T>()) >= MUCH && is_even && (0..size).all(|other| circle.shares(other)) {
        let mut make = || Arc::new(Common::<T>::new(size, longest).map(Arc::new)) as Shared;
        let common = circle.common(core.name(Joint::Array, 0), &mut make);
        // Whoever declares another array than the others finds theirs here, and an error at the boundary.
        if let Some(Some(common)) = common.as_ref().and_then(|common| common.downcast_ref::<Option<Arc<Common<T>>>>())
            && common.is_for(size, longest)
            && let Some(region) = Region::part_of(common, rank, plan.lens[rank])
        {
            return Some((region, Some(common.stride())));
        }
    }
    Region::try_new(plan.lens[rank]).map(|region| (region, None))
}

fn plan<T: Element, D: Distribution, const N: usize>(
    shape: &[usize; N],
    distribution: &D,
    size: usize,
    site: &'static Location<'static>,
) -> Result<Plan<D::Map>, (ErrorKind, String)> {
    let overflow = |what: &str| (ErrorKind::Overflow, format!("an array of shape {shape:?} has {what}"));
    let product = |extents: &[usize]| extents.iter().try_fold(1usize, |product, &extent| product.checked_mul(extent));
    let too_many = || overflow("more elements than a usize can count");
    // A dimension of 0 hides what the others come to, and then there is nothing to count.
    let len = if shape.contains(&0) { 0 } else { product(shape).ok_or_else(too_many)? };
    let outer = &shape[..D::DISTRIBUTED];
    let map = if len == 0 {
        // It has to fit all the same.
        product(outer).map_or(Ok(()), |_| distribution.lay(outer, size).map(drop))?;
        distribution.resized(0, size).lay(&[0; N][..D::DISTRIBUTED], size)?
    } else {
        distribution.lay(outer, size)?
    };
    let inner = if len == 0 { 1 } else { product(&shape[D::DISTRIBUTED..]).ok_or_else(too_many)? };
    let lens = (0..size).map(|rank| map.count(rank).checked_mul(inner));
    let lens: Vec<usize> = lens.collect::<Option<_>>().ok_or_else(too_many)?;
    let most = isize::MAX as usize / size_of::<T>();
    if lens.iter().any(|&len| len > most) {
        return Err(overflow("more elements on one processor than its addresses reach"));
    }
    let across = if N == 1 { String::new() } else { format!(" over {} dimensions", D::DISTRIBUTED) };
    let words = format!("array {shape:?} of {} ({distribution:?}{across})", type_name::<T>());
    Ok(Plan { map, inner, len, lens, words, site })
}

impl<T: Element, D: Distribution, const N: usize> Array<T, D, N> {
    /// Declares how updates combine that name no operator of their own; without this it is [`Any`]. Collective.
    ///
    /// A combining operator adds to what an element holds: `a[i] = a[i] + x + y` where two processors update it by `x`
    /// and `y`, in the order of their ranks.
    ///
    /// ```
    /// use superstep::{Block, Config, Max};
    ///
    /// let highest = Config::new().procs(3).run(|g| {
    ///     let a = g.array::<usize, Block>(2).combining(Max);
    ///     g.step(|s| s.update(&a, .., &[s.rank(), 7]));
    ///     g.step(|s| s.mirror(&a, ..))
    /// });
    /// assert_eq!(highest.unwrap(), [2, 7]);
    /// ```
    ///
    /// The owner calls the operator, so it must not capture anything:
    ///
    /// ```compile_fail,E0080
    /// superstep::run(|g| {
    ///     let factor = 2;
    ///     let scale = move |x: &mut u64, y: &u64| *x += factor * y;
    ///     let _ = g.array::<u64, superstep::Block>(2).combining(scale);
    /// });
    /// ```
    #[must_use = "the array comes back with its operator"]
    pub fn combining<C: Combine<T>>(self, op: C) -> Self {
        let operator = Operator::new(op);
        let (part, before) = (Rc::clone(&self.part), self.part.operator.get());
        let what = Core::hash_numbers([operator.key, u64::from(self.number)]);
        self.core.declare_until(what, move || part.operator.set(before));
        self.core.registry().describe(format!("{} combining {}", self.part.describe(), type_name::<C>()));
        self.part.operator.set(operator);
        self
    }

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
    /// let index = Config::new().procs(2).run(|g| g.array_with::<u8, _, 2>([3, 4], Block::<1>).index([2, 1]));
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
    /// let place = Config::new().procs(2).run(|g| g.array_with::<u8, _, 2>([3, 4], Block::<1>).place(9));
    /// assert_eq!(place.unwrap(), [2, 1]);
    /// ```
    ///
    /// # Panics
    ///
    /// If there is no such element.
    #[track_caller]
    pub fn place(&self, index: usize) -> [usize; N] {
        self.check_index(index, Location::caller()).unwrap_or_else(|error| error.raise());
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
    /// let here = superstep::Config::new().procs(2).run(|g| g.array::<u8, superstep::Block>(5).local().to_vec());
    /// assert_eq!(here.unwrap(), [0, 0, 0]);
    /// ```
    #[track_caller]
    #[inline]
    pub fn local(&self) -> Ref<'_, [T]> {
        self.part.owned.lend(&self.core, self.number, Location::caller(), &|| self.part.describe())
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
        self.part.owned.lend_mut(&self.core, self.number, Location::caller(), &|| self.part.describe())
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

    /// Refuses the number of an element that there is not.
    pub(super) fn check_index(&self, index: usize, site: &Location<'_>) -> Result {
        if index < self.part.len { Ok(()) } else { Err(self.bad_index(index, site)) }
    }

    #[cold]
    pub(super) fn bad_index(&self, index: usize, site: &Location<'_>) -> Error {
        let what = format!("index {index} of an array of {}", self.part.len);
        self.core.error_of(ErrorKind::IndexOutOfRange, what, &*self.part, site)
    }

    /// Refuses a section that the array does not have.
    pub(super) fn check_section(&self, section: &impl Section<N>, site: &Location<'_>) -> Result<[Span; N]> {
        section.spans(&self.shape).map_err(|bad| match bad {
            BadSection::Beyond(what) => self.core.error_of(ErrorKind::OutOfBounds, what, &*self.part, site),
            BadSection::Contradicts(what) => self.core.error_of(ErrorKind::BadSection, what, &*self.part, site),
        })
    }

    /// Refuses to communicate about an array that another group made, or of which an owner has left.
    pub(super) fn check_whole(&self, core: &Core, site: &Location<'_>) -> Result {
        if !std::ptr::eq(core, &raw const *self.core) {
            let what = format!(
                "this array belongs to group {}; import a part of it with split_on, or use it in a step of its group",
                self.core.path()
            );
            return Err(core.error(ErrorKind::NotMember, what, site));
        }
        match self.part.lost.get() {
            None => Ok(()),
            Some(rank) => {
                let what = format!("rank {rank} of the group that made this array has left with its part of it");
                Err(core.error(ErrorKind::Departed, what, site))
            }
        }
    }
}

impl<T: Element, D: Distribution, const N: usize> Drop for Array<T, D, N> {
    fn drop(&mut self) {
        if self.core.phase.get() != Phase::Ended {
            self.core.registry().drop_object(self.number);
        }
    }
}

impl<T: Element, D: Distribution, const N: usize> std::fmt::Debug for Array<T, D, N> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Array<{}, {:?}>({:?})", type_name::<T>(), self.distribution, self.shape)
    }
}
