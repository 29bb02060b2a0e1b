//! Making an array: who gets what of it, and in which memory.

use super::{
    access::Array,
    layout::{Distribution, Map},
    operator::Operator,
    part::{Design, Part},
    served::Plans,
};
use crate::{
    engine::{Any, Core, Element, Group, Joint, Occasion, hash_numbers, type_hash},
    error::{ErrorKind, Result},
    memory::{making::make, owned::Owned},
};
use fabric::{Common, PartedMemory, Region};
use std::{any::type_name, panic::Location, sync::Arc};

const MAKING: Occasion = Occasion::new("making of an array");

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
    /// let shape = Config::new().procs(2).run(|g| g.array_with::<f64, _, 2>([5, 3], BlockCyclic::new(2)).shape());
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
        let design = design::<T, D, N>(&shape, &distribution, core.size(), site)
            .map_err(|(kind, what)| core.error(kind, what, site))?;
        let terms = shape.iter().map(|&extent| extent as u64).chain(distribution.terms());
        let mark = hash_numbers(terms.chain([type_hash::<(T, D, [u8; N])>()]));
        let part = if let Some((region, stride)) = memory(core, &design) {
            let (owned, plans) = (Owned::new(region, core), Plans::of(core));
            Ok(Part::new(owned, core.rank(), design, Operator::new(Any), stride, plans))
        } else {
            let (me, here) = (core.rank(), design.lens[core.rank()]);
            let what = format!("the system has no memory for {here} elements of {} on rank {me}", type_name::<T>());
            Err(core.error(ErrorKind::OutOfMemory, what, site))
        };
        let (array, ()) = make(
            core,
            (&MAKING, mark, site),
            part,
            || (),
            |part, core| {
                part.owned.offer(&core);
                Array { core, part, shape, distribution }
            },
        )?;
        Ok(array)
    }
}

/// From so many bytes on, members that share memory lay their parts one behind the other.
const MUCH: usize = 64 << 10;

/// Makes memory for this processor's part; and says how far apart all parts lie, where they lie in one piece.
fn memory<T: Element, M>(core: &Core, design: &Design<M>) -> Option<(Region<T>, Option<usize>)> {
    let (rank, size) = (core.rank(), core.size());
    let longest = design.lens.iter().copied().max().unwrap_or(0);
    let circle = core.wire.circle();
    let is_even = longest.saturating_mul(size) <= design.len.saturating_mul(2);
    if design.len.saturating_mul(size_of::<T>()) >= MUCH && is_even && (0..size).all(|other| circle.shares(other)) {
        let mut make = || Arc::new(PartedMemory::<T>::new(size, longest).map(Arc::new)) as Common;
        let common = circle.common(core.name(Joint::Tenant, core.tenants().next_number().into()), &mut make);
        // Whoever declares another array than the others finds theirs here, and an error at the boundary.
        if let Some(Some(common)) =
            common.as_ref().and_then(|common| common.downcast_ref::<Option<Arc<PartedMemory<T>>>>())
            && common.is_for(size, longest)
            && let Some(region) = Region::part_of(common, rank, design.lens[rank])
        {
            return Some((region, Some(common.stride())));
        }
    }
    Region::try_new(design.lens[rank]).map(|region| (region, None))
}

fn design<T: Element, D: Distribution, const N: usize>(
    shape: &[usize; N],
    distribution: &D,
    size: usize,
    site: &'static Location<'static>,
) -> Result<Design<D::Map>, (ErrorKind, String)> {
    let overflow = |what: &str| (ErrorKind::Overflow, format!("an array of shape {shape:?} has {what}"));
    let product = |extents: &[usize]| extents.iter().try_fold(1usize, |product, &extent| product.checked_mul(extent));
    let too_many = || overflow("more elements than a usize can count");
    // A dimension of 0 leaves nothing to count, however large the others are.
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
    let terms = hash_numbers(distribution.terms());
    Ok(Design { map, inner, len, lens, terms, words, site })
}

#[cfg(test)]
mod tests {
    use super::{
        super::distributions::{Block, Irregular},
        *,
    };
    use crate::{Config, Fabric};

    #[test]
    fn a_part_has_as_many_elements_as_its_addresses_reach() {
        let most = isize::MAX as usize / size_of::<u64>();
        let laid = |len: usize| design::<u64, _, 1>(&[len], &Irregular(vec![0, len]), 2, Location::caller()).map(drop);
        assert_eq!(laid(most), Ok(()));
        assert_eq!(laid(most + 1).unwrap_err().0, ErrorKind::Overflow);
    }

    #[test]
    fn parts_lie_in_one_piece_where_they_are_large_and_even() {
        let outcome = Config::new().procs(3).fabric(Fabric::Threads).run(|g| {
            assert!(g.array::<u8, Block>(MUCH).part.flat.is_some());
            assert!(g.array::<u8, Block>(MUCH - 1).part.flat.is_none());
            let uneven = g.array_with::<u8, _, 1>([MUCH], Irregular(vec![MUCH, 0, 0]));
            assert!(uneven.part.flat.is_none());
        });
        outcome.unwrap();
    }
}
