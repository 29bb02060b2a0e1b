//! Values on their way out of a step.
//!
//! Everything that comes from elsewhere is [`Pending`] inside the step that asks for it, and a plain value outside: a
//! value cannot be read too early, because it does not exist yet.

use super::membership::StepMark;
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
    pub(super) of: StepMark,
    /// Keeps it on its processor.
    _value: PhantomData<Rc<T>>,
}

impl<T> Pending<T> {
    pub(crate) fn new(item: u32, of: StepMark) -> Self {
        Self { item, of, _value: PhantomData }
    }
}

impl<T> std::fmt::Debug for Pending<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Pending(item {} of step {})", self.item, self.of.step)
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
