//! What a step's body sees.

use super::{core::Core, exchange::Outbox};
use std::{cell::RefMut, rc::Rc};

/// One superstep of one group, seen from inside. Everything that communicates is a verb on it.
///
/// Nothing that is registered here takes effect before the step's boundary (S1). At the boundary, in this order (S2):
/// `get`s read their sources; puts and combines are committed; messages are in their queues and pending values settle.
///
/// ```
/// use superstep::{Config, Sum};
///
/// let (sum, ranks) = Config::new()
///     .procs(3)
///     .run(|g| g.step(|s| (s.reduce(1, Sum), s.collect(s.rank()))))
///     .unwrap();
/// assert_eq!((sum, ranks), (3, vec![0, 1, 2]));
/// ```
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
    ///
    /// ```
    /// use superstep::{Config, Local};
    ///
    /// let ranks = Config::new().procs(2).run_all(|g| g.step(|s| Local(s.rank())));
    /// assert_eq!(ranks.unwrap(), [0, 1]);
    /// ```
    pub fn rank(&self) -> usize {
        self.core.rank()
    }

    /// How many processors the group has.
    ///
    /// ```
    /// use superstep::{Config, Local};
    ///
    /// let size = Config::new().procs(2).run(|g| g.step(|s| Local(s.size())));
    /// assert_eq!(size.unwrap(), 2);
    /// ```
    pub fn size(&self) -> usize {
        self.core.size()
    }

    /// Charges this processor with so many operations, for predictions: the clock of the [simulator](crate::sim) goes
    /// on by so much work. Elsewhere it does nothing.
    ///
    /// ```
    /// use superstep::{Config, Fabric, sim::Trace};
    ///
    /// let trace = Trace::new();
    /// let fabric = Fabric::Sim { seed: 0, shares_memory: false };
    /// let config = Config::new().procs(2).fabric(fabric).trace(&trace);
    /// config.run(|g| g.step(|s| s.work(100 * s.rank() as u64))).unwrap();
    /// assert_eq!(trace.predicted()[0].work, 100);
    /// ```
    pub fn work(&self, operations: u64) {
        self.core.wire.circle().work(operations);
    }

    /// What this step has for others.
    #[inline]
    pub(crate) fn outbox(&self) -> RefMut<'_, Outbox> {
        self.core.outbox()
    }
}

impl std::fmt::Debug for Step {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Step({} of group {})", self.core.steps(), self.core.path())
    }
}
