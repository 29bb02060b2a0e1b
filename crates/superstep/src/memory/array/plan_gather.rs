//! Reading the elements of a plan.

use super::{
    Array,
    answers::PLANNED,
    layout::{Distribution, Map},
    part::Part,
    plan::Plan,
    reads::Lenders,
    served::PlanPart,
};
use crate::{
    engine::{Address, Element, Item, Payload, Pending, Step, Tag, damaged, decode_into, flags},
    error::Result,
    memory::owned::{left_unserved, lends_nothing},
};
use fabric::{Flat, wire::Writer as _};
use std::{any::Any, panic::Location, rc::Rc};

impl Step {
    /// Reads the elements of a plan, as they are when this step's writes have been committed: what
    /// [`gather`](Self::gather) reads at the same indices, in the same order.
    ///
    /// No index travels. Each element travels once, however often the plan names it, and those that this processor can
    /// reach do not travel at all. Members that read nothing in this step need not call it.
    ///
    /// ```
    /// use superstep::{Config, Cyclic, Sum};
    ///
    /// let sums = Config::new().procs(2).run(|g| {
    ///     let a = g.array::<u32, Cyclic>(5);
    ///     let plan = g.plan(&a, &[4, 0, 4]);
    ///     let mut last = Vec::new();
    ///     for _ in 0..3 {
    ///         last = g.step(|s| {
    ///             s.scatter_by(&a, &plan, &[1, 1, 1], Sum);
    ///             s.gather_by(&a, &plan)
    ///         });
    ///     }
    ///     last
    /// });
    /// assert_eq!(sums.unwrap(), [12, 6, 12]);
    /// ```
    ///
    /// # Cost
    ///
    /// u g for u elements of other processors, and two more waits in the boundary; one, where no two members share
    /// memory.
    ///
    /// # Panics
    ///
    /// If the plan is of another group or for other arrays, or if a member has left since it was made.
    /// [`try_gather_by`](Self::try_gather_by) returns the error.
    #[track_caller]
    pub fn gather_by<T: Element, D: Distribution, const N: usize>(
        &self,
        a: &Array<T, D, N>,
        plan: &Plan<D, N>,
    ) -> Pending<Vec<T>> {
        self.read_by(a, plan, Vec::new(), Location::caller()).unwrap_or_else(|error| error.raise())
    }

    /// Gathers like [`gather_by`](Self::gather_by), or returns why that cannot be done.
    ///
    /// ```
    /// use superstep::{Block, Config, ErrorKind, Local};
    ///
    /// let kind = Config::new().procs(2).run(|g| {
    ///     let (a, longer) = (g.array::<u8, Block>(4), g.array::<u8, Block>(5));
    ///     let plan = g.plan(&a, &[3]);
    ///     g.step(|s| Local(s.try_gather_by(&longer, &plan).unwrap_err().kind()))
    /// });
    /// assert_eq!(kind.unwrap(), ErrorKind::BadDistribution);
    /// ```
    #[track_caller]
    pub fn try_gather_by<T: Element, D: Distribution, const N: usize>(
        &self,
        a: &Array<T, D, N>,
        plan: &Plan<D, N>,
    ) -> Result<Pending<Vec<T>>> {
        self.read_by(a, plan, Vec::new(), Location::caller())
    }

    /// Gathers like [`gather_by`](Self::gather_by), into the room of a vector that is given and comes back. What is in
    /// it is dropped. So a loop allocates nothing.
    ///
    /// ```
    /// use superstep::{Block, Config};
    ///
    /// let values = Config::new().procs(2).run(|g| {
    ///     let a = g.array::<usize, Block>(4);
    ///     a.forall_mut(|index, x| *x = 10 * index);
    ///     let (plan, mut values) = (g.plan(&a, &[3, 1]), Vec::new());
    ///     for _ in 0..3 { values = g.step(|s| s.gather_by_into(&a, &plan, values)) }
    ///     values
    /// });
    /// assert_eq!(values.unwrap(), [30, 10]);
    /// ```
    ///
    /// # Panics
    ///
    /// As [`gather_by`](Self::gather_by).
    #[track_caller]
    pub fn gather_by_into<T: Element, D: Distribution, const N: usize>(
        &self,
        a: &Array<T, D, N>,
        plan: &Plan<D, N>,
        into: Vec<T>,
    ) -> Pending<Vec<T>> {
        self.read_by(a, plan, into, Location::caller()).unwrap_or_else(|error| error.raise())
    }

    /// Gathers as [`try_gather_by`](Self::try_gather_by) does, for a call at `site`, into the room of a vector.
    pub(crate) fn read_by<T: Element, D: Distribution, const N: usize>(
        &self,
        a: &Array<T, D, N>,
        plan: &Plan<D, N>,
        mut into: Vec<T>,
        site: &'static Location<'static>,
    ) -> Result<Pending<Vec<T>>> {
        plan.check(&self.core, a, site)?;
        into.clear();
        let (part, routes) = (Rc::clone(&a.part), &plan.part.routes);
        self.core.raise_flag(flags::MIRRORS);
        let item = self.core.next_alone();
        for owner in plan.owners_asked() {
            self.outbox().push(owner, Address::Tenant(a.core.number), Tag::ReadAfter, |out| {
                out.put([u64::from(item), PLANNED, u64::from(plan.core.number)]);
            });
        }
        // What comes by slot is what is wanted, or is looked up in.
        let found = if routes.is_straight {
            std::mem::take(&mut into)
        } else if routes.asked().is_empty() && part.flat.is_some() {
            Vec::new()
        } else {
            part.pool.spares().values.take(routes.elements())
        };
        let of = Some((part, Rc::clone(&plan.part)));
        Ok(self.core.place_alone(ByPlan { of, found, heard: 0, into, values: None, site }))
    }
}

/// What is read, and by which plan.
type Source<T, M> = (Rc<Part<T, M>>, Rc<PlanPart>);

/// A read by a plan on its way.
struct ByPlan<T: Element, M> {
    /// Until it has been read: both may be dropped then, and this item be kept for its room.
    of: Option<Source<T, M>>,
    /// The values that have come, by slot.
    found: Vec<T>,
    /// How many routes have been answered.
    heard: usize,
    /// Where the values go; kept for its room.
    into: Vec<T>,
    values: Option<Vec<T>>,
    site: &'static Location<'static>,
}

impl<T: Element, M: Map> Item for ByPlan<T, M> {
    /// Owners answer in the order of their ranks, which is that of the routes.
    fn deliver(&mut self, from: usize, payload: Payload<'_>) -> Result {
        let (_, plan) = self.of.as_ref().ok_or_else(damaged)?;
        let before = self.found.len();
        decode_into(payload.bytes()?, &mut self.found)?;
        let answered = plan.routes.asked()[self.heard..].iter().take_while(|route| route.owner == from);
        let (mut count, mut places) = (0, 0);
        for route in answered {
            (count, places) = (count + 1, places + route.places.len());
        }
        self.heard += count;
        if count > 0 && self.found.len() - before == places { Ok(()) } else { Err(damaged()) }
    }

    fn read_after(&mut self, left: &[usize]) -> Result {
        if let Some(&rank) = left.first() {
            return Err(left_unserved(rank, "planned gather", self.site));
        }
        let (part, plan) = self.of.take().ok_or_else(damaged)?;
        if self.heard != plan.routes.asked().len() {
            return Err(damaged());
        }
        let is_loaded = !plan.routes.is_straight && self.load_flat(&part, &plan)?;
        if !is_loaded {
            self.load(&part, &plan)?;
        }
        Ok(())
    }

    fn outcome(&mut self) -> &mut dyn Any {
        &mut self.values
    }
}

impl<T: Element, M: Map> ByPlan<T, M> {
    /// Loads from parts that were made in one piece: no owner has to be found, and no slot. False if they were not, or
    /// lie elsewhere now.
    fn load_flat(&mut self, part: &Part<T, M>, plan: &PlanPart) -> Result<bool> {
        let (Some(flat), []) = (part.flat, plan.routes.asked()) else { return Ok(false) };
        let reaches = part.owned.reaches.borrow();
        let all = Flat::of(&reaches).map_err(|refused| lends_nothing("the array", refused, self.site))?;
        let (Some(all), Some(places)) = (all, plan.flat(flat.stride)) else { return Ok(false) };
        fabric::make_room(&mut self.into, places.len());
        fabric::load(&all, &places, &mut self.into);
        self.values = Some(std::mem::take(&mut self.into));
        Ok(true)
    }

    /// Loads what can be reached behind what has come, and looks each index up there.
    fn load(&mut self, part: &Part<T, M>, plan: &PlanPart) -> Result {
        let (routes, reaches) = (&plan.routes, part.owned.reaches.borrow());
        let lenders = Lenders { reaches: &reaches, site: self.site };
        let mut found = std::mem::take(&mut self.found);
        let more = routes.elements().saturating_sub(found.len());
        fabric::make_room(&mut found, more);
        for route in routes.reached() {
            let loan = lenders.lend(route.owner)?.ok_or_else(damaged)?;
            match route.stretch() {
                Some(stretch) => found.extend_from_slice(&loan[stretch]),
                None => fabric::load(&loan[route.base..], &route.places, &mut found),
            }
        }
        if routes.is_straight {
            self.values = Some(found);
            return Ok(());
        }
        let mut into = std::mem::take(&mut self.into);
        fabric::make_room(&mut into, routes.count);
        fabric::load(&found, &routes.slots, &mut into);
        part.pool.spares().values.keep(found);
        self.values = Some(into);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::{distributions::Block, divisor::Divisor, layout::Locator, routes::Routes},
        *,
    };
    use crate::{Config, Fabric, engine::Sum};

    /// X5: whoever was not asked, or says too little, has not answered.
    #[test]
    fn an_answer_has_as_many_values_as_were_planned() {
        let outcome = Config::new().procs(1).run(|g| {
            let a = g.array::<u16, Block>(8);
            let deliver = |from: usize, bytes: &[u8]| {
                let map = Block::new().lay(&[8], 2).unwrap();
                let locator = Locator { map, inner: 1, by_inner: Divisor::new(1), len: 8, windows: 1 };
                let routes = Routes::find(&[6, 5, 6], &locator, &[4, 4], &[true, false]);
                let (Ok(routes), site) = (routes, Location::caller()) else { panic!("all of them are there") };
                let plan = Rc::new(PlanPart::new(routes, 4, [String::new(), String::new()], site));
                let of = Some((Rc::clone(&a.part), plan));
                let mut read = ByPlan { of, found: Vec::new(), heard: 0, into: Vec::new(), values: None, site };
                read.deliver(from, Payload::Bytes(bytes))
            };
            assert!(deliver(1, &[1, 0, 2, 0]).is_ok());
            assert!(deliver(1, &[1, 0]).is_err() && deliver(0, &[]).is_err());
        });
        outcome.unwrap();
    }

    /// Such a plan has no list of places in one piece.
    #[test]
    fn a_plan_that_names_each_element_once_reads_them_by_slot() {
        let outcome = Config::new().procs(2).fabric(Fabric::Threads).run(|g| {
            let a = g.array::<u64, Block>(8192);
            assert!(a.part.flat.is_some());
            let (plan, slots) = g.plan_distinct(&a, &[5000, 3, 5000], Location::caller()).unwrap();
            g.step(|s| s.scatter(&a, &[3, 5000], &[7, 8], Sum));
            let values = g.step(|s| s.gather_by(&a, &plan));
            assert_eq!((values, slots), (vec![14, 16], vec![1, 0, 1]));
        });
        outcome.unwrap();
    }
}
