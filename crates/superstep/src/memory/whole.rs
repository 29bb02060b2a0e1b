//! All of an array on one processor, whichever sort of array it is.

use crate::{
    engine::{Element, Pending, Step},
    error::Result,
};
use std::panic::Location;

/// An array of which one processor can have all: an [`Array`](crate::Array) or a [`Paged`](crate::Paged) one.
///
/// ```
/// use superstep::{Config, Cyclic, Group, arrays::Whole};
///
/// fn on_leader<A: Whole>(g: &mut Group, a: &A) -> Option<Vec<A::Element>> { g.step(|s| s.gather_to(0, a)) }
/// let lens = Config::new().procs(2).run(|g| {
///     let (dealt, paged) = (g.array::<u8, Cyclic>(5), g.paged::<u8, 2>([2, 3], [1, 3]));
///     [on_leader(g, &dealt), on_leader(g, &paged)].map(|all| all.map(|all| all.len()))
/// });
/// assert_eq!(lens.unwrap(), [Some(5), Some(6)]);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no array that lies spread over a group",
    note = "there are `Array` and `Paged`; values of all members are brought together by `collect`"
)]
pub trait Whole {
    /// What it holds.
    type Element: Element;

    /// Places what brings all of it to member `root`.
    #[doc(hidden)]
    fn bring(
        &self,
        step: &Step,
        root: usize,
        site: &'static Location<'static>,
    ) -> Result<Option<Pending<Vec<Self::Element>>>>;
}

impl Step {
    /// Reads the whole array, in row-major order, on member `root` alone. Collective.
    ///
    /// An [`Array`](crate::Array) is read as it is when this step's writes have been committed. Of a
    /// [`Paged`](crate::Paged) array each owner gives what it has now; what others have written and nobody has made
    /// coherent is not in it. Where one who has a part leaves in this boundary, all who stay have the error.
    ///
    /// ```
    /// use superstep::{Config, Cyclic};
    ///
    /// let all = Config::new().procs(2).run_all(|g| {
    ///     let a = g.array::<usize, Cyclic>(4);
    ///     a.forall_mut(|i, x| *x = i);
    ///     g.step(|s| s.gather_to(1, &a))
    /// });
    /// assert_eq!(all.unwrap(), [None, Some(vec![0, 1, 2, 3])]);
    /// ```
    ///
    /// # Cost
    ///
    /// n g for n words on `root`, and for an `Array` two more waits in the boundary; one, where no two members share
    /// memory.
    ///
    /// # Panics
    ///
    /// If there is no such member, if another group made the array, or if a part of a paged one is lent for writing;
    /// [`try_gather_to`](Self::try_gather_to) returns the error.
    #[track_caller]
    pub fn gather_to<A: Whole>(&self, root: usize, a: &A) -> Option<Pending<Vec<A::Element>>> {
        self.try_gather_to(root, a).unwrap_or_else(|error| error.raise())
    }

    /// Reads like [`gather_to`](Self::gather_to), or returns why that cannot be done.
    ///
    /// ```
    /// use superstep::{Block, Config, ErrorKind, Local};
    ///
    /// let kind = Config::new().procs(2).run(|g| {
    ///     let a = g.array::<u8, Block>(2);
    ///     g.step(|s| Local(s.try_gather_to(2, &a).unwrap_err().kind()))
    /// });
    /// assert_eq!(kind.unwrap(), ErrorKind::RankOutOfRange);
    /// ```
    #[track_caller]
    pub fn try_gather_to<A: Whole>(&self, root: usize, a: &A) -> Result<Option<Pending<Vec<A::Element>>>> {
        a.bring(self, root, Location::caller())
    }
}
