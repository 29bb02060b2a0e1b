//! What a step hands back.
//!
//! Everything that comes from elsewhere is [`Pending`] inside the step that asks for it, and a plain value outside: a
//! value cannot be read too early, because it does not exist yet.

use super::{core::Core, outcome::Never};
use std::{marker::PhantomData, rc::Rc};

/// A value that exists once the step has closed. Return it from the step's body to get it.
///
/// ```
/// use superstep::{Config, Pending, Sum};
///
/// let sum = Config::new().procs(3).run(|g| {
///     g.step(|s| {
///         let sum: Pending<u32> = s.reduce(2, Sum);
///         sum
///     })
/// });
/// assert_eq!(sum.unwrap(), 6);
/// ```
#[must_use = "return it from the step's body to get its value"]
pub struct Pending<T> {
    /// Which of the step's items makes the value.
    pub(crate) item: u32,
    /// The step that it belongs to.
    pub(crate) step: u64,
    /// The group that the step is one of, by its number in this process.
    pub(crate) group: u64,
    /// Keeps it on its processor.
    _value: PhantomData<Rc<T>>,
}

impl<T> Pending<T> {
    pub(crate) fn new(item: u32, step: u64, group: u64) -> Self {
        Self { item, step, group, _value: PhantomData }
    }
}

impl<T> std::fmt::Debug for Pending<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Pending(item {} of step {})", self.item, self.step)
    }
}

/// Carries a plain value out of a step.
///
/// ```
/// use superstep::{Config, Local, Sum};
///
/// let (sum, mine) = Config::new()
///     .procs(2)
///     .run(|g| {
///         g.step(|s| {
///             let mine = s.rank() + 1;
///             (s.reduce(mine, Sum), Local(mine))
///         })
///     })
///     .unwrap();
/// assert_eq!((sum, mine), (3, 1));
/// ```
#[derive(Debug)]
pub struct Local<T>(pub T);

/// Where settled values come from.
#[doc(hidden)]
pub struct Settled<'a> {
    pub(crate) core: &'a Core,
}

/// What a step's body may return, and what `step` makes of it: pending values become values.
///
/// Tuples of up to eight, arrays, `Vec`, `Option` and `Result` of such things may be returned as well; wrap a plain
/// value in [`Local`].
///
/// ```
/// use superstep::{Config, Local, Sum};
///
/// let (sums, rank) = Config::new()
///     .procs(2)
///     .run(|g| g.step(|s| (vec![s.reduce(1, Sum), s.reduce(s.rank(), Sum)], Local(s.rank()))))
///     .unwrap();
/// assert_eq!((sums, rank), (vec![2, 1], 0));
/// ```
pub trait Settle {
    /// What comes out.
    type Out;

    /// Takes the value out of the closed step.
    #[doc(hidden)]
    fn settle(self, from: &mut Settled<'_>) -> Self::Out;
}

impl<T: 'static> Settle for Pending<T> {
    type Out = T;

    fn settle(self, from: &mut Settled<'_>) -> T {
        from.core.settled(&self)
    }
}

impl<T> Settle for Local<T> {
    type Out = T;

    fn settle(self, _: &mut Settled<'_>) -> T {
        self.0
    }
}

impl Settle for () {
    type Out = ();

    fn settle(self, _: &mut Settled<'_>) {}
}

impl Settle for Never {
    type Out = Self;

    fn settle(self, _: &mut Settled<'_>) -> Self {
        self
    }
}

impl<T: Settle> Settle for Vec<T> {
    type Out = Vec<T::Out>;

    fn settle(self, from: &mut Settled<'_>) -> Self::Out {
        self.into_iter().map(|each| each.settle(from)).collect()
    }
}

impl<T: Settle> Settle for Option<T> {
    type Out = Option<T::Out>;

    fn settle(self, from: &mut Settled<'_>) -> Self::Out {
        self.map(|each| each.settle(from))
    }
}

impl<T: Settle, E> Settle for Result<T, E> {
    type Out = Result<T::Out, E>;

    fn settle(self, from: &mut Settled<'_>) -> Self::Out {
        self.map(|each| each.settle(from))
    }
}

impl<T: Settle, const N: usize> Settle for [T; N] {
    type Out = [T::Out; N];

    fn settle(self, from: &mut Settled<'_>) -> Self::Out {
        self.map(|each| each.settle(from))
    }
}

macro_rules! tuples {
    ($(($($name:ident $index:tt),+))*) => { $(
        impl<$($name: Settle),+> Settle for ($($name,)+) {
            type Out = ($($name::Out,)+);

            fn settle(self, from: &mut Settled<'_>) -> Self::Out {
                ($(self.$index.settle(from),)+)
            }
        }
    )* };
}

tuples! {
    (A 0)
    (A 0, B 1)
    (A 0, B 1, C 2)
    (A 0, B 1, C 2, D 3)
    (A 0, B 1, C 2, D 3, E 4)
    (A 0, B 1, C 2, D 3, E 4, F 5)
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6)
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7)
}
