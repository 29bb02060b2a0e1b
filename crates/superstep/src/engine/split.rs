//! Subgroups: who joins which, and the way there and back.

use super::{
    boundary::Kind,
    checks::{mix, type_hash},
    core::{Core, Joint, Phase},
    group::Group,
    items::Tally,
    outcome::Outcome,
};
use crate::error::{ErrorKind, Result};
use std::{
    panic::{AssertUnwindSafe, Location, catch_unwind},
    rc::Rc,
};

/// How a group splits.
///
/// ```
/// use superstep::{By, Every, Split, Weighted};
///
/// assert!(matches!(Split::from(3), Split::Even(3)));
/// assert!(matches!(Split::from(Every(3)), Split::Every(3)));
/// assert!(matches!(Split::from(Weighted(&[1.0, 2.0])), Split::Weighted([1.0, 2.0])));
/// assert!(matches!(Split::from(By(3, None)), Split::By(3, None)));
/// ```
#[derive(Clone, Copy, Debug)]
pub enum Split<'w> {
    /// Into so many subgroups; the last do not run where there are fewer processors.
    Even(usize),
    /// Into so many subgroups, all of which run.
    Every(usize),
    /// Into one subgroup per weight, with processors in proportion.
    Weighted(&'w [f64]),
    /// Into so many subgroups, of which each processor names its own.
    By(usize, Option<usize>),
}

/// Splits in proportion to weights, one subgroup per weight, whose members have consecutive ranks (G3).
///
/// A weight of zero does not run; every other subgroup gets at least one processor. With more of those than processors
/// the lightest do not run, of equal ones those with the higher number.
///
/// ```
/// use superstep::{Config, Weighted};
///
/// let ids = Config::new().procs(4).run_all(|g| g.split(Weighted(&[3.0, 0.0, 1.0]), |sub| sub.id()));
/// assert_eq!(ids.unwrap(), [Some(0), Some(0), Some(0), Some(2)]);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Weighted<'w>(pub &'w [f64]);

/// Splits into so many subgroups, all of which run: with fewer processors than that, some one after another (G2).
///
/// The body may then be called several times on one processor, so it is a closure that can be; `split` returns what the
/// last call returned. Subgroups are made when their turn comes, however many there are.
///
/// ```
/// use superstep::{Config, Every};
///
/// let runs = Config::new().procs(2).run_all(|g| {
///     let mut ids = Vec::new();
///     g.split(Every(5), |sub| ids.push(sub.id()));
///     ids
/// });
/// assert_eq!(runs.unwrap(), [vec![0, 2, 4], vec![1, 3]]);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Every(pub usize);

/// Splits into so many subgroups, of which each processor names its own; `None`, or a number out of range, skips the
/// body (G4). Ranks follow the parent's order.
///
/// ```
/// use superstep::{By, Config};
///
/// let sizes = Config::new().procs(5).run_all(|g| {
///     let choice = (g.rank() != 2).then_some(g.rank() % 2);
///     g.split(By(2, choice), |sub| sub.size())
/// });
/// assert_eq!(sizes.unwrap(), [Some(2), Some(2), None, Some(2), Some(2)]);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct By(pub usize, pub Option<usize>);

impl From<usize> for Split<'_> {
    fn from(count: usize) -> Self {
        Self::Even(count)
    }
}

impl<'w> From<Weighted<'w>> for Split<'w> {
    fn from(weights: Weighted<'w>) -> Self {
        Self::Weighted(weights.0)
    }
}

impl From<Every> for Split<'_> {
    fn from(every: Every) -> Self {
        Self::Every(every.0)
    }
}

impl From<By> for Split<'_> {
    fn from(by: By) -> Self {
        Self::By(by.0, by.1)
    }
}

/// The forms of split, each with what it asks of the body `F`: one that runs it once takes any closure.
///
/// ```
/// use superstep::{Config, Every, Group, Splitting};
///
/// /// Splits as `how` says, and tells how large this processor's subgroup is.
/// fn size_in<H: Splitting<fn(&mut Group) -> usize, usize>>(g: &mut Group, how: H) -> Option<usize> {
///     g.split(how, |sub| sub.size())
/// }
/// let sizes = Config::new().procs(4).run(|g| (size_in(g, 2), size_in(g, Every(4))));
/// assert_eq!(sizes.unwrap(), (Some(2), Some(1)));
/// ```
///
/// `A` is what the body gets besides its group: an [`Array`](crate::Array) in [`split_on`](Group::split_on).
pub trait Splitting<F, R, A = ()> {
    /// What it comes to.
    #[doc(hidden)]
    fn plan(&self) -> Split<'_>;

    /// Calls the body; `body` is full at the first call and may stay so for the next.
    #[doc(hidden)]
    fn call(body: &mut Option<F>, group: &mut Group, with: &A) -> R;
}

macro_rules! runs_once {
    ($($type:ty),*) => { $(
        impl<R, F: FnOnce(&mut Group) -> R> Splitting<F, R> for $type {
            fn plan(&self) -> Split<'_> {
                (*self).into()
            }

            fn call(body: &mut Option<F>, group: &mut Group, (): &()) -> R {
                body.take().expect("this form of split runs its body once")(group)
            }
        }
    )* };
}
runs_once!(usize, Weighted<'_>, By);

macro_rules! may_run_again {
    ($($type:ty),*) => { $(
        impl<R, F: FnMut(&mut Group) -> R> Splitting<F, R> for $type {
            fn plan(&self) -> Split<'_> {
                (*self).into()
            }

            fn call(body: &mut Option<F>, group: &mut Group, (): &()) -> R {
                body.as_mut().expect("the body stays")(group)
            }
        }
    )* };
}
may_run_again!(Every, Split<'_>);

/// A subgroup that this processor is in: its number, its members by their ranks in the parent, and my rank in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Subgroup {
    pub(crate) id: usize,
    pub(crate) members: Vec<usize>,
    pub(crate) rank: usize,
}

impl Subgroup {
    fn new(id: usize, members: Vec<usize>, rank: usize) -> Option<Self> {
        let rank = members.iter().position(|&member| member == rank)?;
        Some(Self { id, members, rank })
    }
}

/// The subgroups that this processor runs in, one after another. There may be more than a list could hold.
pub(crate) enum Mine {
    /// One that it is in together with others, or none.
    One(Option<Subgroup>),
    /// Every `size`-th of `count`, each alone.
    Alone { rank: usize, count: usize, size: usize },
}

impl Mine {
    pub(crate) fn each(&self) -> impl Iterator<Item = Subgroup> {
        let (one, rank, alone) = match self {
            Self::One(one) => (one.clone(), 0, (0..0).step_by(1)),
            &Self::Alone { rank, count, size } => (None, rank, (rank..count).step_by(size)),
        };
        one.into_iter().chain(alone.map(move |id| Subgroup { id, members: vec![rank], rank: 0 }))
    }
}

/// What a split hands to its subgroups and takes back from them.
pub(crate) trait Luggage {
    /// What the body gets besides its group.
    type Item;

    /// Adds what must agree on all members to the boundary that leads into the subgroups, of which there are `count`.
    fn declare(&mut self, core: &Core, count: usize) -> Result;

    /// Fetches what this processor's subgroups need. Every member of the parent takes part.
    fn fetch(&mut self, core: &Rc<Core>, mine: &Mine, site: &'static Location<'static>) -> Result;

    /// Makes the item of this processor's next subgroup.
    fn unpack(&mut self, group: &mut Group, site: &'static Location<'static>) -> Result<Self::Item>;

    /// Takes it back.
    fn pack(&mut self, item: Self::Item);

    /// Leaves what was taken back for the boundary that leads out of the subgroups.
    fn leave(&mut self, core: &Rc<Core>);
}

/// A split without luggage.
impl Luggage for () {
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

    fn pack(&mut self, (): ()) {}

    fn leave(&mut self, _: &Rc<Core>) {}
}

pub(crate) fn run_split<H, F, R, V, L>(
    core: &Rc<Core>,
    how: H,
    body: F,
    luggage: &mut L,
    site: &'static Location<'static>,
) -> Result<Option<V>>
where
    H: Splitting<F, R, L::Item>,
    L: Luggage,
    R: Outcome<V>,
{
    let subgroups = enter(core, &how.plan(), luggage, site)?;
    luggage.fetch(core, &subgroups, site)?;
    core.phase.set(Phase::Split);
    let mut body = Some(body);
    let mut result = Ok(None);
    for subgroup in subgroups.each() {
        let sub = join(core, &subgroup, site);
        let mut group = Group::new(Rc::clone(&sub));
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            let item = luggage.unpack(&mut group, site).unwrap_or_else(|error| error.raise());
            let result = H::call(&mut body, &mut group, &item);
            luggage.pack(item);
            result.outcome()
        }));
        result = sub.end_body(outcome, site)?.map(Some);
        if result.is_err() {
            break;
        }
    }
    core.begin(site, Phase::Split);
    match &result {
        Ok(_) => luggage.leave(core),
        Err(error) => core.fail_with(error.clone()),
    }
    core.boundary(Kind::Rejoin)?;
    result
}

/// Agrees with the others on the split. Returns the subgroups that this processor runs in.
fn enter(
    core: &Rc<Core>,
    how: &Split<'_>,
    luggage: &mut impl Luggage,
    site: &'static Location<'static>,
) -> Result<Mine> {
    core.begin(site, Phase::Split);
    let (term, words) = terms(how);
    core.add_term(term, words);
    let count = match *how {
        Split::Even(count) | Split::Every(count) | Split::By(count, _) => count,
        Split::Weighted(weights) => weights.len(),
    };
    luggage.declare(core, count).inspect_err(|_| core.phase.set(Phase::Between))?;
    let choices = match *how {
        Split::By(count, choice) => {
            let choice = choice.filter(|&choice| choice < count).map_or(u64::MAX, |choice| choice as u64);
            Some(core.place::<Tally, Vec<u64>>(Tally::new(choice), 0))
        }
        _ => None,
    };
    core.boundary(Kind::Split)?;
    let (rank, size) = (core.rank.get(), core.size.get());
    let subgroups = match *how {
        Split::Even(0) | Split::Every(0) | Split::By(0, _) => {
            let what = "a split into 0 subgroups; ask for at least 1";
            return Err(core.closed_error(ErrorKind::BadGroupCount, what));
        }
        Split::Even(count) => Mine::One(even(count, rank, size)),
        Split::Every(count) if count <= size => Mine::One(even(count, rank, size)),
        Split::Every(count) => Mine::Alone { rank, count, size },
        Split::Weighted(weights) => {
            let sizes = share(weights, size).map_err(|what| core.closed_error(ErrorKind::BadWeight, what))?;
            Mine::One(consecutive(&sizes, rank))
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

/// Makes the subgroup.
fn join(core: &Rc<Core>, subgroup: &Subgroup, site: &'static Location<'static>) -> Rc<Core> {
    let name = core.name(Joint::Split, subgroup.id as u64);
    let circle = core.circle.borrow().join(name, &subgroup.members, subgroup.rank);
    let key = mix(mix(core.key(), name.serial), name.part);
    Core::new(circle, key, Some(Rc::clone(core)), subgroup.id, site, 0, core.sources.clone())
}

/// The form of split that is a plain number: only its type is used.
enum Even {}

/// What must agree on all members, as a number and in words.
fn terms(how: &Split<'_>) -> (u64, String) {
    match how {
        Split::Even(count) => (mix(type_hash::<Even>(), *count as u64), format!("{count} subgroups")),
        Split::Every(count) => (mix(type_hash::<Every>(), *count as u64), format!("every one of {count} subgroups")),
        Split::Weighted(weights) => {
            let bits = weights.iter().map(|weight| weight.to_bits());
            (mix(type_hash::<Weighted<'static>>(), Core::hash_numbers(bits)), format!("weights {weights:?}"))
        }
        Split::By(count, _) => (mix(type_hash::<By>(), *count as u64), format!("a choice of {count} subgroups")),
    }
}

fn even(count: usize, rank: usize, size: usize) -> Option<Subgroup> {
    let id = rank % count;
    Subgroup::new(id, (id..size).step_by(count).collect(), rank)
}

fn consecutive(sizes: &[usize], rank: usize) -> Option<Subgroup> {
    let mut first = 0;
    for (id, &size) in sizes.iter().enumerate() {
        if rank < first + size {
            return Subgroup::new(id, (first..first + size).collect(), rank);
        }
        first += size;
    }
    None
}

/// Shares `processors` out in proportion to `weights`, at least one to each that is not zero.
fn share(weights: &[f64], processors: usize) -> Result<Vec<usize>, String> {
    if let Some((at, weight)) = weights.iter().enumerate().find(|(_, weight)| !weight.is_finite() || **weight < 0.0) {
        return Err(format!("weight {at} is {weight}; weights are finite and not negative"));
    }
    let mut sizes = vec![0; weights.len()];
    let mut runs: Vec<usize> = (0..weights.len()).filter(|&at| weights[at] > 0.0).collect();
    if runs.len() > processors {
        runs.sort_by(|&a, &b| weights[b].total_cmp(&weights[a]).then(a.cmp(&b)));
        runs.truncate(processors);
    }
    if runs.is_empty() {
        return Ok(sizes);
    }
    // Scaled so that the sum stays finite, and by a power of two so that no bit is lost: equal claims stay equal.
    let heaviest = runs.iter().map(|&at| weights[at]).fold(0.0, f64::max);
    let scale = 2f64.powi((-heaviest.log2().floor()).clamp(-1023.0, 1023.0) as i32);
    let sum: f64 = runs.iter().map(|&at| weights[at] * scale).sum();
    let claim = |at: usize| processors as f64 * (weights[at] * scale);
    for &at in &runs {
        sizes[at] = ((claim(at) / sum).floor() as usize).clamp(1, processors);
    }
    let lack = |sizes: &[usize], at: usize| claim(at) - sizes[at] as f64 * sum;
    let mut given: usize = sizes.iter().sum();
    while given < processors {
        let most = |&a: &usize, &b: &usize| lack(&sizes, a).total_cmp(&lack(&sizes, b)).then(b.cmp(&a));
        let at = runs.iter().copied().max_by(most).expect("somebody runs");
        sizes[at] += 1;
        given += 1;
    }
    while given > processors {
        let least = |&a: &usize, &b: &usize| lack(&sizes, a).total_cmp(&lack(&sizes, b)).then(b.cmp(&a));
        let at = runs.iter().copied().filter(|&at| sizes[at] > 1).min_by(least);
        sizes[at.expect("no more run than there are processors")] -= 1;
        given -= 1;
    }
    Ok(sizes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_as_near_the_ratios_as_whole_numbers_allow() {
        assert_eq!(share(&[1.0, 1.0], 4).unwrap(), [2, 2]);
        assert_eq!(share(&[1.0, 2.0], 4).unwrap(), [1, 3]);
        assert_eq!(share(&[0.0, 2.0, 1.0], 3).unwrap(), [0, 2, 1]);
        assert_eq!(share(&[1000.0, 1.0, 1.0], 4).unwrap(), [2, 1, 1]);
        assert_eq!(share(&[1.0, 1.0, 1.0], 8).unwrap(), [3, 3, 2]);
        assert_eq!(share(&[f64::MAX, f64::MAX], 3).unwrap(), [2, 1]);
        assert_eq!(share(&[5e-324, 5e-324], 2).unwrap(), [1, 1]);
    }

    #[test]
    fn the_lightest_do_not_run_and_ties_go_by_number() {
        assert_eq!(share(&[1.0, 3.0, 2.0], 2).unwrap(), [0, 1, 1]);
        assert_eq!(share(&[1.0, 1.0, 1.0], 2).unwrap(), [1, 1, 0]);
        assert_eq!(share(&[0.0, 0.0], 2).unwrap(), [0, 0]);
        assert_eq!(share(&[], 2).unwrap(), [0usize; 0]);
    }

    #[test]
    fn bad_weights_are_named() {
        assert!(share(&[1.0, -1.0], 2).unwrap_err().contains("weight 1 is -1"));
        assert!(share(&[f64::NAN], 2).unwrap_err().contains("weight 0 is NaN"));
        assert!(share(&[f64::INFINITY], 2).unwrap_err().contains("weight 0 is inf"));
    }

    #[test]
    fn even_parts_deal_the_ranks_round() {
        assert_eq!(even(2, 3, 5), Some(Subgroup { id: 1, members: vec![1, 3], rank: 1 }));
        assert_eq!(even(7, 2, 3), Some(Subgroup { id: 2, members: vec![2], rank: 0 }));
    }
}
