//! Splitting a group: the way into its subgroups and back.

use super::{
    core::Core,
    fingerprint::{Occasion, mix},
    forms::{Split, Splitting},
    group::{Group, Unwinding},
    items::Tally,
    membership::{Joint, Phase},
    outcome::Outcome,
    share::{self, Mine, Subgroup},
};
use crate::error::{ErrorKind, Result};
use std::{
    panic::{AssertUnwindSafe, Location, catch_unwind},
    rc::Rc,
};

/// The way into subgroups, and the way back from them.
const SPLIT: Occasion = Occasion::new("split");
const REJOIN: Occasion = Occasion::new("end of the split");

/// What a split hands to its subgroups and takes back from them.
pub(crate) trait Handover {
    /// What the body gets besides its group.
    type Item;

    /// Adds what must agree on all members to the boundary that leads into the subgroups, of which there are `count`.
    fn declare(&mut self, core: &Core, count: usize) -> Result;

    /// Fetches what this processor's subgroups need. Every member of the parent takes part.
    fn fetch(&mut self, core: &Rc<Core>, mine: &Mine, site: &'static Location<'static>) -> Result;

    /// Makes the item of this processor's next subgroup.
    fn unpack(&mut self, group: &mut Group, site: &'static Location<'static>) -> Result<Self::Item>;

    /// Takes it back.
    fn pack(&mut self, item: Self::Item, site: &'static Location<'static>) -> Result;

    /// Leaves what was taken back for the boundary that leads out of the subgroups.
    fn leave(&mut self, core: &Rc<Core>);
}

/// A split without handover.
impl Handover for () {
    type Item = ();

    fn declare(&mut self, _: &Core, _: usize) -> Result {
        Ok(())
    }

    fn fetch(&mut self, _: &Rc<Core>, _: &Mine, _: &'static Location<'static>) -> Result {
        Ok(())
    }

    fn unpack(&mut self, _: &mut Group, _: &'static Location<'static>) -> Result {
        Ok(())
    }

    fn pack(&mut self, (): (), _: &'static Location<'static>) -> Result {
        Ok(())
    }

    fn leave(&mut self, _: &Rc<Core>) {}
}

impl Group {
    /// Splits the group, runs `body` in each subgroup, and goes on when all are done. Collective.
    ///
    /// `how` is a number of subgroups (processor i joins subgroup i modulo that number), or [`Every`](crate::Every),
    /// [`Weighted`](crate::Weighted) or [`By`](crate::By). A processor whose body returns early leaves its subgroup,
    /// which goes on without it. Shared variables of outer groups that were written inside are combined at the end.
    ///
    /// Returns what this processor's body returned, and `None` where it is in no subgroup. A body may return a
    /// `Result`; its error is then the error of the split, on every member of this group (see [`Outcome`]).
    ///
    /// ```
    /// use superstep::{Config, Sum, Weighted};
    ///
    /// let sums = Config::new().procs(4).run_all(|g| {
    ///     g.split(Weighted(&[1.0, 3.0]), |sub| sub.step(|s| s.reduce(1, Sum)))
    /// });
    /// assert_eq!(sums.unwrap(), [Some(1), Some(3), Some(3), Some(3)]);
    /// ```
    ///
    /// The group cannot step while its subgroups run:
    ///
    /// ```compile_fail,E0499
    /// superstep::run(|g| { g.split(2, |sub| { g.step(|_| ()); }); });
    /// ```
    ///
    /// # Cost
    ///
    /// l on the way in and l on the way out.
    ///
    /// # Panics
    ///
    /// With the group's error, if the members ask for different splits, for none at all, or with weights that are
    /// negative, infinite or no numbers; and with the error that a body returned.
    #[track_caller]
    pub fn split<H, F, R, V>(&mut self, how: H, body: F) -> Option<V>
    where
        F: FnOnce(&mut Group) -> R,
        H: Splitting<F, R>,
        R: Outcome<V>,
    {
        run_split(self.core(), how, body, &mut (), Location::caller()).unwrap_or_else(|error| error.raise())
    }

    /// Splits like [`split`](Self::split), and returns the group's error if there is one.
    ///
    /// ```
    /// use superstep::{Config, ErrorKind};
    ///
    /// let kind = Config::new().procs(2).run(|g| g.try_split(0, |_| ()).unwrap_err().kind());
    /// assert_eq!(kind.unwrap(), ErrorKind::BadGroupCount);
    ///
    /// let errors = Config::new().procs(3).run_all(|g| {
    ///     let error = g.try_split(3, |sub| if sub.id() == 1 { Err("no input") } else { Ok(()) }).unwrap_err();
    ///     g.step(|_| ()); // the group can go on
    ///     error
    /// });
    /// assert!(errors.unwrap().iter().all(|error| error.to_string().contains("no input")));
    /// ```
    #[track_caller]
    pub fn try_split<H, F, R, V>(&mut self, how: H, body: F) -> Result<Option<V>>
    where
        F: FnOnce(&mut Group) -> R,
        H: Splitting<F, R>,
        R: Outcome<V>,
    {
        run_split(self.core(), how, body, &mut (), Location::caller())
    }
}

pub(crate) fn run_split<H, F, R, V, L>(
    core: &Rc<Core>,
    how: H,
    body: F,
    handover: &mut L,
    site: &'static Location<'static>,
) -> Result<Option<V>>
where
    H: Splitting<F, R, L::Item>,
    L: Handover,
    R: Outcome<V>,
{
    let subgroups = enter(core, &how.plan(), handover, site)?;
    handover.fetch(core, &subgroups, site)?;
    core.set_phase(Phase::Split);
    let mut body = Some(body);
    let mut result = Ok(None);
    for subgroup in subgroups.each() {
        let sub = join(core, &subgroup, site);
        let mut group = Group::new(Rc::clone(&sub));
        *core.inner.borrow_mut() = Some(Rc::clone(&sub));
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            let item = handover.unpack(&mut group, site).unwrap_or_else(|error| error.raise());
            let outcome = H::call(&mut body, &mut group, &item).outcome();
            if outcome.is_ok() {
                handover.pack(item, site).unwrap_or_else(|error| error.raise());
            }
            outcome
        }));
        core.inner.take();
        result = sub.end_body(outcome, site)?.map(Some);
        if result.is_err() {
            break;
        }
    }
    core.begin(site, Phase::Split);
    match &result {
        Ok(_) => handover.leave(core),
        Err(error) => core.fail_with(error.clone()),
    }
    core.boundary(&REJOIN)?;
    result
}

/// Agrees with the others on the split. Returns the subgroups that this processor runs in.
fn enter(
    core: &Rc<Core>,
    how: &Split<'_>,
    handover: &mut impl Handover,
    site: &'static Location<'static>,
) -> Result<Mine> {
    core.begin(site, Phase::Split);
    let unwinding = Unwinding(core);
    let (term, words) = how.terms();
    core.log.add_term(term, words);
    handover.declare(core, how.count())?;
    let choices = match *how {
        Split::By(count, choice) => {
            let choice = choice.filter(|&choice| choice < count).map_or(u64::MAX, |choice| choice as u64);
            Some(core.place::<Tally, Vec<u64>>(Tally::new(choice), 0))
        }
        _ => None,
    };
    let agreed = core.boundary(&SPLIT);
    std::mem::forget(unwinding);
    agreed?;
    let (rank, size) = (core.rank(), core.size());
    let subgroups = match *how {
        Split::Even(0) | Split::Every(0) | Split::By(0, _) => {
            let what = "a split into 0 subgroups; ask for at least 1";
            return Err(core.closed_error(ErrorKind::BadGroupCount, what));
        }
        Split::Even(count) => Mine::One(share::even(count, rank, size)),
        Split::Every(count) if count <= size => Mine::One(share::even(count, rank, size)),
        Split::Every(count) => Mine::Alone { rank, count, size },
        Split::Weighted(weights) => {
            let sizes = share::share(weights, size).map_err(|what| core.closed_error(ErrorKind::BadWeight, what))?;
            Mine::One(share::consecutive(&sizes, rank))
        }
        Split::By(..) => {
            let all = choices.map(|choices| core.settled(&choices)).unwrap_or_default();
            let of = |rank: usize| all.get(rank).copied().unwrap_or(u64::MAX);
            let id = of(rank);
            let members: Vec<usize> = (0..size).filter(|&member| of(member) == id).collect();
            Mine::One(if id == u64::MAX { None } else { Subgroup::new(id as usize, members, rank) })
        }
    };
    Ok(subgroups)
}

fn join(core: &Rc<Core>, subgroup: &Subgroup, site: &'static Location<'static>) -> Rc<Core> {
    let name = core.name(Joint::Subgroup, subgroup.id as u64);
    let circle = core.wire.circle().join(name, &subgroup.members, subgroup.rank);
    let key = mix(mix(core.key, name.serial), name.part);
    Core::new(circle, Some(core), (subgroup.id, key), site, 0, core.causes.clone())
}
