//! What a step's body sees.

use super::{core::Core, exchange::Outbox};
use std::{cell::RefMut, rc::Rc};

/// One superstep of one group, seen from inside. Everything that communicates is a verb on it.
///
/// Nothing that is registered here takes effect before the step's boundary (S1). At the boundary, in this order (S2):
/// `get`s read their sources; puts and combines are committed; messages are in their queues and pending values settle.
///
/// It cannot be kept beyond its body:
///
/// ```compile_fail,E0521
/// superstep::run(|g| {
///     let mut kept = None;
///     g.step(|s| kept = Some(s));
/// });
/// ```
pub struct Step {
    pub(crate) core: Rc<Core>,
}

impl Step {
    /// This processor's number in the group.
    pub fn rank(&self) -> usize {
        self.core.rank.get()
    }

    /// How many processors the group has.
    pub fn size(&self) -> usize {
        self.core.size.get()
    }

    /// What this step has for others.
    #[inline]
    pub(crate) fn outbox(&self) -> RefMut<'_, Outbox> {
        self.core.stir();
        self.core.outbox.borrow_mut()
    }
}

impl std::fmt::Debug for Step {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Step({} of group {})", self.core.steps.get(), self.core.path())
    }
}
