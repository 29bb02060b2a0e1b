//! Plans: who sends what to whom, worked out once (P1, P2).

use super::{
    Array,
    layout::Distribution,
    routes::{Lost, Routes},
    served::{self, PlanPart, Plans},
};
use crate::{
    engine::{Address, Core, Element, Group, Lease, Occasion, Tag, Tenant as _, hash_numbers, type_hash},
    error::{ErrorKind, Result},
    memory::making::make,
};
use std::{panic::Location, rc::Rc};

const PLANNING: Occasion = Occasion::new("making of a plan");

/// Where the elements of a list of indices lie, and who sends which of them to whom; see [`Group::plan`].
///
/// [`gather_by`](crate::Step::gather_by) and [`scatter_by`](crate::Step::scatter_by) read and write these elements any
/// number of times. A plan is for the array that it was made with and for every other one of its group with the same
/// shape and distribution, whatever its elements are. What the array holds may change in every step.
///
/// ```
/// use superstep::{Block, Config, Sum};
///
/// let x = Config::new().procs(2).run(|g| {
///     // Each element becomes the sum of its two neighbours in a ring, ten times.
///     let x = g.array::<u64, Block>(6);
///     x.forall_mut(|i, x| *x = i as u64);
///     let neighbours: Vec<usize> = x.indices().flat_map(|[i]| [(i + 5) % 6, (i + 1) % 6]).collect();
///     let plan = g.plan(&x, &neighbours);
///     for _ in 0..10 {
///         let around = g.step(|s| s.gather_by(&x, &plan));
///         for (x, pair) in x.local_mut().iter_mut().zip(around.chunks(2)) { *x = pair[0] + pair[1] }
///     }
///     g.step(|s| s.reduce(x.local().iter().sum::<u64>(), Sum))
/// });
/// assert_eq!(x.unwrap(), 15 * 1024);
/// ```
///
/// It is made for one distribution, which is part of its type:
///
/// ```compile_fail,E0308
/// use superstep::{Block, Cyclic};
///
/// superstep::run(|g| {
///     let (blocks, dealt) = (g.array::<u8, Block>(4), g.array::<u8, Cyclic>(4));
///     let plan = g.plan(&blocks, &[1]);
///     g.step(|s| s.gather_by(&dealt, &plan));
/// });
/// ```
pub struct Plan<D: Distribution, const N: usize = 1> {
    pub(super) core: Lease,
    pub(super) part: Rc<PlanPart>,
    shape: [usize; N],
    distribution: D,
    /// As those of the array that it was made with.
    terms: u64,
}

impl Group {
    /// Works out who sends what to whom when the elements of `a` with the indices `at` are read or written.
    /// Collective; each member has indices of its own, and may have none.
    ///
    /// An index may come several times. An array of several dimensions takes row-major numbers, see [`Array::index`].
    ///
    /// ```
    /// use superstep::{Block, Config};
    ///
    /// let values = Config::new().procs(3).run(|g| {
    ///     let squares = g.array::<usize, Block>(10);
    ///     let plan = g.plan(&squares, &[9, 2, 9]);
    ///     squares.forall_mut(|i, x| *x = i * i);
    ///     g.step(|s| s.gather_by(&squares, &plan))
    /// });
    /// assert_eq!(values.unwrap(), [81, 4, 81]);
    /// ```
    ///
    /// # Cost
    ///
    /// One boundary. Indices are sorted by owner and place: for n of them n operations, or n log n where they are few
    /// beside the array. Between processes n g for half a word each. It keeps one or two words for each index.
    ///
    /// # Panics
    ///
    /// If somebody names an element that is not there, on all members, or if another group made the array.
    /// [`try_plan`](Self::try_plan) returns the error.
    #[track_caller]
    pub fn plan<T: Element, D: Distribution, const N: usize>(
        &mut self,
        a: &Array<T, D, N>,
        at: &[usize],
    ) -> Plan<D, N> {
        self.try_plan(a, at).unwrap_or_else(|error| error.raise())
    }

    /// Plans like [`plan`](Self::plan), or returns why that cannot be done: on all members the same.
    ///
    /// ```
    /// use superstep::{Block, Config, ErrorKind};
    ///
    /// let kind = Config::new().procs(2).run(|g| {
    ///     let a = g.array::<u8, Block>(4);
    ///     g.try_plan(&a, &[4]).unwrap_err().kind()
    /// });
    /// assert_eq!(kind.unwrap(), ErrorKind::IndexOutOfRange);
    /// ```
    #[track_caller]
    pub fn try_plan<T: Element, D: Distribution, const N: usize>(
        &mut self,
        a: &Array<T, D, N>,
        at: &[usize],
    ) -> Result<Plan<D, N>> {
        self.make_plan(a, at, |_| (), Location::caller()).map(|(plan, ())| plan)
    }

    /// Plans for the elements that the indices `at` name, each once. Returns also which of these each index names.
    pub(crate) fn plan_distinct<T: Element, D: Distribution, const N: usize>(
        &self,
        a: &Array<T, D, N>,
        at: &[usize],
        site: &'static Location<'static>,
    ) -> Result<(Plan<D, N>, Vec<u32>)> {
        self.make_plan(a, at, Routes::straighten, site)
    }

    fn make_plan<T: Element, D: Distribution, const N: usize, R>(
        &self,
        a: &Array<T, D, N>,
        at: &[usize],
        change: impl FnOnce(&mut Routes) -> R,
        site: &'static Location<'static>,
    ) -> Result<(Plan<D, N>, R)> {
        let core = self.core();
        a.check_whole(core, site)?;
        let reached: Vec<bool> = a.part.owned.reaches.borrow().iter().map(Option::is_some).collect();
        let routes = Routes::find(at, &a.part.locator(), &a.part.lens, &reached).map_err(|lost| match lost {
            Lost::Index(index) => a.bad_index(index, site),
            Lost::TooLong => {
                let what = format!("a plan of {} indices; one of a processor has fewer than 2^32", at.len());
                core.error(ErrorKind::Overflow, what, site)
            }
        });
        let (shape, distribution) = (a.shape, a.distribution.clone());
        let words = [format!("plan for arrays of shape {shape:?} ({distribution:?})"), a.part.describe()];
        let (mut changed, len) = (None, a.part.lens[core.rank()]);
        let part = routes.map(|mut routes| {
            changed = Some(change(&mut routes));
            PlanPart::new(routes, len, words, site)
        });
        let mark = hash_numbers([u64::from(a.core.number), type_hash::<Plan<D, N>>()]);
        let (plan, ()) = make(
            core,
            (&PLANNING, mark, site),
            part,
            || (),
            |part, core| {
                Plans::of(&core).add(core.number, &part);
                let plan = Plan { core, part, shape, distribution, terms: a.part.terms };
                plan.tell_owners();
                plan
            },
        )?;
        Ok((plan, changed.expect("whoever has a part has changed its routes")))
    }
}

impl<D: Distribution, const N: usize> Plan<D, N> {
    /// How many indices this processor has in it: as many values as a gather hands it and a scatter takes from it.
    ///
    /// ```
    /// let len = superstep::Config::new().procs(2).run(|g| {
    ///     let a = g.array::<u8, superstep::Block>(4);
    ///     g.plan(&a, &[3, 0, 3]).len()
    /// });
    /// assert_eq!(len.unwrap(), 3);
    /// ```
    pub fn len(&self) -> usize {
        self.part.routes.count
    }

    /// Whether this processor has none.
    ///
    /// ```
    /// let empty = superstep::Config::new().procs(2).run(|g| {
    ///     let a = g.array::<u8, superstep::Block>(4);
    ///     g.plan(&a, &[]).is_empty()
    /// });
    /// assert!(empty.unwrap());
    /// ```
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The elements that it names of an array that it is for, by their numbers, each once.
    pub(crate) fn elements<'a, T: Element>(&'a self, a: &'a Array<T, D, N>) -> impl Iterator<Item = usize> {
        let routes = self.part.routes.all().iter();
        let places = routes.flat_map(|route| route.places.iter().map(|&at| (route.owner, route.base + at as usize)));
        places.filter_map(|(owner, at)| a.part.index(owner, at))
    }

    /// Tells owners with whom this processor shares no memory what it means of their parts, at the next boundary.
    fn tell_owners(&self) {
        let (routes, mut outbox) = (&self.part.routes, self.core.outbox());
        for owner in self.owners_asked() {
            let expected = 16 + 4 * routes.count;
            outbox.push_sized(owner, Address::Tenant(self.core.number), Tag::Data, expected, |out| {
                served::write(routes, owner, out);
            });
        }
    }

    /// The owners that have to be asked, each once.
    pub(super) fn owners_asked(&self) -> impl Iterator<Item = usize> {
        let by_owner = self.part.routes.asked().chunk_by(|one, next| one.owner == next.owner);
        by_owner.map(|routes| routes[0].owner)
    }

    /// Refuses an array that the plan is not for, and a plan that cannot be followed any more (P2).
    pub(super) fn check<T: Element>(&self, core: &Core, a: &Array<T, D, N>, site: &Location<'_>) -> Result {
        a.check_whole(core, site)?;
        self.check_group(core, "plan", site)?;
        if self.fits(a) {
            return Ok(());
        }
        let what = format!("the {} does not fit; make another one for this array", self.part.describe());
        Err(core.error_of(ErrorKind::BadDistribution, what, &*a.part, site))
    }

    fn fits<T: Element>(&self, a: &Array<T, D, N>) -> bool {
        self.shape == a.shape && self.terms == a.part.terms
    }

    /// Refuses an array that lies otherwise than the one that the plan was made for, which is `what`.
    pub(crate) fn check_like<T: Element>(&self, a: &Array<T, D, N>, what: &str, site: &Location<'_>) -> Result {
        if self.fits(a) { Ok(()) } else { Err(a.lies_otherwise(what, site)) }
    }

    /// Refuses a group that did not make the plan, and one that has lost a member since; `what` has the plan.
    pub(crate) fn check_group(&self, core: &Core, what: &str, site: &Location<'_>) -> Result {
        core.check_member(&self.core, what, site)?;
        match self.part.lost.get() {
            None => Ok(()),
            Some(rank) => {
                let what = format!("rank {rank} has left the group that made the {}", self.part.describe());
                Err(core.error(ErrorKind::Departed, what, site))
            }
        }
    }

    /// Refuses an array that another group made.
    pub(crate) fn check_alike<T: Element, E: Distribution>(&self, a: &Array<T, E>, site: &Location<'_>) -> Result {
        a.check_group(&self.core, site)
    }
}

impl<D: Distribution, const N: usize> std::fmt::Debug for Plan<D, N> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Plan({} of {:?}, {:?})", self.len(), self.shape, self.distribution)
    }
}
