//! Writing to the elements of a plan.
//!
//! Values are sorted by slot: those of one element stay in the order of the list, and the order of different elements
//! does not matter. So the owner makes the same bits of them as of a scatter (S3). Several values for one element
//! become one before they leave where that is exact: of assignments the last one counts, and the library's operators on
//! integers may be grouped at will. Sums of floats and operators of the program may not; there all values travel.

use super::{
    Array,
    layout::Distribution,
    operator::Operator,
    plan::Plan,
    routes::{Route, Routes},
    writes::{Batch, Planned, Writes},
};
use crate::{
    engine::{Combine, Element, Rule, Step},
    error::{ErrorKind, Result},
};
use std::{panic::Location, sync::Arc};

impl Step {
    /// Combines `values` into the elements of a plan, one for each of its indices, at the boundary: what
    /// [`scatter`](Self::scatter) does at the same indices, bit for bit.
    ///
    /// No index travels. Where a plan names an element several times, one value travels for [`Any`](crate::Any), which
    /// is the last, and for the library's operators on integers, by which the values are combined first. With all other
    /// operators each value travels, because a sum of floats depends on its grouping. An operator of the program is
    /// named by all members, as for [`scatter`](Self::scatter). Members that write nothing in this step need not call
    /// it.
    ///
    /// ```
    /// use superstep::{Block, Config, Sum};
    ///
    /// let sums = Config::new().procs(3).run(|g| {
    ///     let sums = g.array::<f64, Block>(4);
    ///     let plan = g.plan(&sums, &[0, g.rank() + 1]);
    ///     for _ in 0..2 { g.step(|s| s.scatter_by(&sums, &plan, &[0.5, 2.0], Sum)) }
    ///     g.step(|s| s.mirror(&sums, ..))
    /// });
    /// assert_eq!(sums.unwrap(), [3.0, 4.0, 4.0, 4.0]);
    /// ```
    ///
    /// # Cost
    ///
    /// n g for n values, sent and received.
    ///
    /// # Panics
    ///
    /// If there are not as many values as indices, if the plan is of another group or for other arrays, or if a member
    /// has left since it was made. Nothing is queued then; [`try_scatter_by`](Self::try_scatter_by) returns the error.
    #[track_caller]
    pub fn scatter_by<T: Element, D: Distribution, const N: usize>(
        &self,
        a: &Array<T, D, N>,
        plan: &Plan<D, N>,
        values: &[T],
        op: impl Combine<T>,
    ) {
        self.try_scatter_by(a, plan, values, op).unwrap_or_else(|error| error.raise());
    }

    /// Scatters like [`scatter_by`](Self::scatter_by), or returns why that cannot be done.
    ///
    /// ```
    /// use superstep::{Any, Block, Config, ErrorKind, Local};
    ///
    /// let kind = Config::new().procs(2).run(|g| {
    ///     let a = g.array::<u8, Block>(4);
    ///     let plan = g.plan(&a, &[3, 1]);
    ///     g.step(|s| Local(s.try_scatter_by(&a, &plan, &[7], Any).unwrap_err().kind()))
    /// });
    /// assert_eq!(kind.unwrap(), ErrorKind::BadLength);
    /// ```
    #[track_caller]
    pub fn try_scatter_by<T: Element, D: Distribution, const N: usize>(
        &self,
        a: &Array<T, D, N>,
        plan: &Plan<D, N>,
        values: &[T],
        op: impl Combine<T>,
    ) -> Result {
        self.write_by(a, plan, values, op, Location::caller())
    }

    /// Scatters as [`try_scatter_by`](Self::try_scatter_by) does, for a call at `site`.
    pub(crate) fn write_by<T: Element, D: Distribution, const N: usize>(
        &self,
        a: &Array<T, D, N>,
        plan: &Plan<D, N>,
        values: &[T],
        op: impl Combine<T>,
        site: &'static Location<'static>,
    ) -> Result {
        plan.check(&self.core, a, site)?;
        if plan.len() != values.len() {
            let (given, needed) = (values.len(), plan.len());
            let what = format!("a scatter of {given} values by a plan of {needed} indices; give one value per index");
            return Err(self.core.error(ErrorKind::BadLength, what, site));
        }
        let operator = Operator::new(op);
        a.agree_on(operator);
        if operator.rule == Rule::Leader && self.core.rank() != 0 || values.is_empty() {
            return Ok(());
        }
        let (routes, note) = (&plan.part.routes, a.note(operator, site));
        let mut outgoing = a.part.outgoing.borrow_mut();
        for (number, route) in routes.all().iter().enumerate() {
            let repeated = routes.repeated(number);
            let is_repeated = repeated.len() > route.places.len() && !is_grouped(op);
            let places = Arc::clone(if is_repeated { repeated } else { &route.places });
            let mut sorted = a.part.pool.spares().values.take(places.len());
            fabric::make_room(&mut sorted, places.len());
            sort(routes, route, is_repeated, values, op, &mut sorted);
            let planned = Planned { places, plan: plan.core.number, is_repeated };
            let writes = Writes::Planned(planned, sorted);
            outgoing.push_batch(route.owner, Batch { operator, base: route.base, writes, note });
        }
        drop(outgoing);
        a.announce();
        Ok(())
    }
}

/// Whether several values for one element may become one before they leave.
fn is_grouped<T>(op: impl Combine<T>) -> bool {
    match op.rule() {
        Rule::Any | Rule::Leader => true,
        Rule::Fold => op.is_exact(),
        // The owner looks at all of them.
        Rule::Same => false,
    }
}

/// Appends the values of a route by slot: all of them if they are repeated, else one for each slot.
fn sort<T: Element>(
    routes: &Routes,
    route: &Route,
    is_repeated: bool,
    values: &[T],
    op: impl Combine<T>,
    sorted: &mut Vec<T>,
) {
    if routes.is_straight {
        sorted.extend_from_slice(&values[route.slots()]);
        return;
    }
    let order = routes.order();
    let named = order.named(route.slots());
    if is_repeated || named.len() == route.places.len() {
        fabric::load(values, &order.indices[named], sorted);
        return;
    }
    let folds = op.rule() == Rule::Fold;
    sorted.extend(route.slots().map(|slot| {
        let named = &order.indices[order.named(slot..slot + 1)];
        let value = |&index: &u32| values[index as usize];
        if !folds {
            return named.last().map_or_else(T::zeroed, value);
        }
        let mut all = named.first().map_or_else(T::zeroed, value);
        named.iter().skip(1).for_each(|index| op.combine(&mut all, &value(index)));
        all
    }));
}
