//! Making a paged array.

use super::{access::Paged, channel::Channel, layout::Layout, part::Part};
use crate::{
    engine::{Element, Group, Occasion, hash_numbers, type_hash},
    error::{ErrorKind, Result},
    memory::making::make,
};
use std::panic::Location;

const MAKING: Occasion = Occasion::new("making of a paged array");

impl Group {
    /// Makes a paged array of this shape, all zero, in blocks of these extents. Collective.
    ///
    /// ```
    /// let owners = superstep::Config::new().procs(2).run(|g| {
    ///     let a = g.paged::<f64, 2>([4, 4], [2, 2]);                // four blocks, dealt round
    ///     [a.owner([0, 0]), a.owner([0, 3]), a.owner([3, 0]), a.owner([3, 3])]
    /// });
    /// assert_eq!(owners.unwrap(), [0, 1, 0, 1]);
    /// ```
    ///
    /// # Cost
    ///
    /// One boundary. The table of pages has less than 100 bytes for each page that there could be: long pages make it
    /// small, so blocks had better be long in one dimension ([`table_bytes`](Paged::table_bytes)).
    #[track_caller]
    pub fn paged<T: Element, const N: usize>(&mut self, shape: [usize; N], block: [usize; N]) -> Paged<T, N> {
        self.try_paged(shape, block).unwrap_or_else(|error| error.raise())
    }

    /// Makes a paged array of which the lines of the first dimension are dealt round, one each. Collective.
    ///
    /// ```
    /// let owners = superstep::Config::new().procs(2).run(|g| {
    ///     let a = g.paged_cyclic::<f64, 2>([4, 4]);
    ///     [0, 1, 2, 3].map(|i| a.owner([i, 0]))
    /// });
    /// assert_eq!(owners.unwrap(), [0, 1, 0, 1]);
    /// ```
    ///
    /// # Cost
    ///
    /// As [`paged`](Self::paged). In one dimension neighbours share their pages, so each processor has memory for all.
    #[track_caller]
    pub fn paged_cyclic<T: Element, const N: usize>(&mut self, shape: [usize; N]) -> Paged<T, N> {
        let mut block = shape.map(|extent| extent.max(1));
        block[0] = 1;
        self.try_paged(shape, block).unwrap_or_else(|error| error.raise())
    }

    /// Makes a paged array like [`paged`](Self::paged), or returns why that cannot be done.
    ///
    /// ```
    /// use superstep::{Config, ErrorKind};
    ///
    /// let made = Config::new().procs(2).run(|g| g.try_paged::<u8, 1>([4], [0]).map(drop));
    /// assert_eq!(made.unwrap_err().kind(), ErrorKind::BadLength);
    /// ```
    #[track_caller]
    pub fn try_paged<T: Element, const N: usize>(
        &mut self,
        shape: [usize; N],
        block: [usize; N],
    ) -> Result<Paged<T, N>> {
        const {
            assert!(N >= 1 && N <= 3, "a paged array has one to three dimensions");
            assert!(size_of::<T>() > 0, "the elements of an array have a size");
        }
        let (core, site) = (self.core(), Location::caller());
        let layout = Layout::new(shape, block, core.size()).map_err(|(kind, what)| core.error(kind, what, site))?;
        let terms = shape.iter().chain(&layout.block).map(|&extent| extent as u64);
        let mark = hash_numbers(terms.chain([type_hash::<Part<T, N>>()]));
        let part = Part::<T, N>::new(layout, core.rank(), site).ok_or_else(|| {
            let what = format!("the system has no memory for rank {}'s part of {shape:?}", core.rank());
            core.error(ErrorKind::OutOfMemory, what, site)
        });
        let (made, ()) = make(
            core,
            (&MAKING, mark, site),
            part,
            || (),
            |part, core| {
                let pages = part.pages.clone();
                Paged { pages, locator: layout.locator, part, core }
            },
        )?;
        made.part.open(Channel::of(core, made.core.number));
        Ok(made)
    }
}
