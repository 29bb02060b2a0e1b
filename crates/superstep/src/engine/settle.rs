//! What a step hands back: pending values become plain ones.

use super::{
    core::Core,
    outcome::Never,
    pending::{Local, Pending},
};

/// Where settled values come from.
#[doc(hidden)]
pub struct Settled<'a> {
    pub(super) core: &'a Core,
}

impl std::fmt::Debug for Settled<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Settled")
    }
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
#[diagnostic::on_unimplemented(
    message = "the body of a step cannot return `{Self}` as it is",
    label = "the body returns `{Self}`",
    note = "return what the verbs of the step give, or `Local(value)` for a value of this processor"
)]
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

macro_rules! mapped {
    ($([$($generics:tt)*] $type:ty => $out:ty;)*) => { $(
        impl<T: Settle, $($generics)*> Settle for $type {
            type Out = $out;

            fn settle(self, from: &mut Settled<'_>) -> Self::Out {
                self.map(|each| each.settle(from))
            }
        }
    )* };
}
mapped! {
    [] Option<T> => Option<T::Out>;
    [E] Result<T, E> => Result<T::Out, E>;
    [const N: usize] [T; N] => [T::Out; N];
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
