//! The forms of a split, and what each asks of its body.

use super::{
    fingerprint::{hash_numbers, mix, type_hash},
    group::Group,
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

macro_rules! from {
    ($($pattern:pat = $form:ty => $split:expr;)*) => { $(
        impl<'w> From<$form> for Split<'w> {
            fn from($pattern: $form) -> Self {
                $split
            }
        }
    )* };
}
from! {
    count = usize => Split::Even(count);
    Weighted(weights) = Weighted<'w> => Split::Weighted(weights);
    Every(count) = Every => Split::Every(count);
    By(count, choice) = By => Split::By(count, choice);
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

macro_rules! forms {
    ($($bound:ident $call:tt: $($type:ty),*;)*) => { $($(
        impl<R, F: $bound(&mut Group) -> R> Splitting<F, R> for $type {
            fn plan(&self) -> Split<'_> {
                (*self).into()
            }

            fn call(body: &mut Option<F>, group: &mut Group, (): &()) -> R {
                body.$call().expect("a body runs once unless it can run again")(group)
            }
        }
    )*)* };
}
forms! {
    FnOnce take: usize, Weighted<'_>, By;
    FnMut as_mut: Every, Split<'_>;
}

/// The form of split that is a plain number: only its type is used.
enum Even {}

impl Split<'_> {
    /// How many subgroups there are.
    pub(super) fn count(&self) -> usize {
        match *self {
            Self::Even(count) | Self::Every(count) | Self::By(count, _) => count,
            Self::Weighted(weights) => weights.len(),
        }
    }

    /// What must agree on all members, as a number and in words.
    pub(super) fn terms(&self) -> (u64, String) {
        match self {
            Self::Even(count) => (mix(type_hash::<Even>(), *count as u64), format!("{count} subgroups")),
            Self::Every(count) => (mix(type_hash::<Every>(), *count as u64), format!("every one of {count} subgroups")),
            Self::Weighted(weights) => {
                let bits = weights.iter().map(|weight| weight.to_bits());
                (mix(type_hash::<Weighted<'static>>(), hash_numbers(bits)), format!("weights {weights:?}"))
            }
            Self::By(count, _) => (mix(type_hash::<By>(), *count as u64), format!("a choice of {count} subgroups")),
        }
    }
}
