//! Processors that step together.

use super::{
    core::Core,
    fingerprint::Occasion,
    membership::{Membership, Phase},
    outcome::Plain,
    settle::{Settle, Settled},
    step::Step,
};
use crate::{
    error::{Causes, Result},
    panics,
};
use fabric::Circle;
use std::{marker::PhantomData, panic::Location, rc::Rc};

/// A group of processors that step together, as one of them sees it.
///
/// The root group holds all processors of a run; [`split`](Self::split) makes subgroups. A group stays on its
/// processor.
///
/// ```
/// use superstep::{Config, Sum};
///
/// let total = Config::new().procs(3).run(|g| {
///     let sum = g.step(|s| s.reduce(s.rank(), Sum));
///     g.step(|s| s.reduce(sum, Sum))
/// });
/// assert_eq!(total.unwrap(), 9);
/// ```
///
/// It can neither be sent nor shared:
///
/// ```compile_fail,E0277
/// superstep::run(|g| {
///     std::thread::scope(|threads| { threads.spawn(|| g.step(|_| ())); });   // a group is not Send
/// });
/// ```
pub struct Group {
    step: Step,
    /// Keeps it on its processor.
    _here: PhantomData<*mut ()>,
}

impl Group {
    pub(crate) fn new(core: Rc<Core>) -> Self {
        Self { step: Step { core }, _here: PhantomData }
    }

    /// The group of all processors of a run.
    pub(crate) fn root(
        circle: Box<dyn Circle>,
        site: &'static Location<'static>,
        first_step: u64,
        causes: Causes,
    ) -> Self {
        Self::new(Core::new(circle, None, (0, 0), site, first_step, causes))
    }

    /// Runs what calls an operator of a call at `site`, which does not know where it is called.
    pub(crate) fn operate<R>(&self, site: &Location<'_>, run: impl FnOnce() -> R) -> R {
        panics::placing(run, |error| self.core().placed_at(error, site))
    }

    pub(crate) fn core(&self) -> &Rc<Core> {
        &self.step.core
    }

    /// This processor's number in the group: 0 to `size() - 1`.
    ///
    /// ```
    /// let ranks = superstep::Config::new().procs(3).run_all(|g| g.rank());
    /// assert_eq!(ranks.unwrap(), [0, 1, 2]);
    /// ```
    #[inline]
    pub fn rank(&self) -> usize {
        self.core().rank()
    }

    /// How many processors the group has now; it shrinks when one of them leaves.
    ///
    /// ```
    /// let sizes = superstep::Config::new().procs(3).run_all(|g| (g.size(), g.split(2, |sub| sub.size())));
    /// assert_eq!(sizes.unwrap(), [(3, Some(2)), (3, Some(1)), (3, Some(2))]);
    /// ```
    #[inline]
    pub fn size(&self) -> usize {
        self.core().size()
    }

    /// The group's number among its siblings; 0 for the root group.
    ///
    /// ```
    /// let ids = superstep::Config::new().procs(3).run_all(|g| g.split(2, |sub| sub.id()));
    /// assert_eq!(ids.unwrap(), [Some(0), Some(1), Some(0)]);
    /// ```
    pub fn id(&self) -> usize {
        self.core().id
    }

    /// How many groups there are above this one.
    ///
    /// ```
    /// let depths = superstep::Config::new().procs(2).run(|g| (g.depth(), g.split(1, |sub| sub.depth())));
    /// assert_eq!(depths.unwrap(), (0, Some(1)));
    /// ```
    pub fn depth(&self) -> usize {
        self.core().depth
    }

    /// The group that this one was split from; `None` for the root group.
    ///
    /// ```
    /// let sizes = superstep::Config::new().procs(4).run(|g| {
    ///     g.split(2, |sub| (sub.size(), sub.parent().unwrap().size()))
    /// });
    /// assert_eq!(sizes.unwrap(), Some((2, 4)));
    /// ```
    pub fn parent(&self) -> Option<Ancestor> {
        self.core().parent.clone().map(|member| Ancestor { member })
    }

    /// The way from the root group to this one, such as `0/1/0/2`.
    ///
    /// ```
    /// let paths = superstep::Config::new().procs(2).run_all(|g| g.split(2, |sub| sub.path()));
    /// assert_eq!(paths.unwrap(), [Some("0/0".to_owned()), Some("0/1".to_owned())]);
    /// ```
    ///
    /// # Cost
    ///
    /// Made at the call, in time proportional to the depth.
    pub fn path(&self) -> String {
        self.core().path()
    }

    /// How many steps the group has closed.
    ///
    /// ```
    /// let steps = superstep::Config::new().procs(2).run(|g| {
    ///     g.step(|_| ());
    ///     g.step(|_| ());
    ///     g.steps()
    /// });
    /// assert_eq!(steps.unwrap(), 2);
    /// ```
    pub fn steps(&self) -> u64 {
        self.core().steps()
    }

    /// Whether this processor leads the group: whether its rank is 0.
    ///
    /// ```
    /// let leads = superstep::Config::new().procs(3).run_all(|g| g.is_leader());
    /// assert_eq!(leads.unwrap(), [true, false, false]);
    /// ```
    pub fn is_leader(&self) -> bool {
        self.rank() == 0
    }

    /// Runs `body` on the leader alone. Nobody waits.
    ///
    /// ```
    /// let words = superstep::Config::new().procs(2).run_all(|g| g.leader(|| "here"));
    /// assert_eq!(words.unwrap(), [Some("here"), None]);
    /// ```
    ///
    /// The group cannot step inside, because it is borrowed:
    ///
    /// ```compile_fail,E0500
    /// superstep::run(|g| { g.leader(|| g.step(|_| ())); });
    /// ```
    pub fn leader<R>(&self, body: impl FnOnce() -> R) -> Option<R> {
        self.is_leader().then(body)
    }

    /// Runs one superstep: `body`, then the boundary. Collective: every member calls it at the same place.
    ///
    /// What `body` returns may hold [`Pending`](crate::Pending) values; they come back as plain ones.
    ///
    /// ```
    /// use superstep::{Config, Max, Sum};
    ///
    /// let (sum, max) = Config::new()
    ///     .procs(3)
    ///     .run(|g| g.step(|s| (s.reduce(s.rank(), Sum), s.reduce(s.rank(), Max))))
    ///     .unwrap();
    /// assert_eq!((sum, max), (3, 2));
    /// ```
    ///
    /// A value cannot be read before the step has closed:
    ///
    /// ```compile_fail,E0369
    /// # use superstep::Sum;
    /// superstep::run(|g| { g.step(|s| { let sum = s.reduce(1, Sum); superstep::Local(sum + 1) }); });
    /// ```
    ///
    /// # Cost
    ///
    /// What the verbs cost, and l for the boundary.
    ///
    /// # Panics
    ///
    /// With the group's error, if the members diverge. [`try_step`](Self::try_step) returns it instead. It names this
    /// place, and the places of steps before it; a helper that steps can be `#[track_caller]`, and then errors name its
    /// callers.
    #[track_caller]
    #[inline]
    pub fn step<S: Settle>(&mut self, body: impl FnOnce(&Step) -> S) -> S::Out {
        self.try_step(body).unwrap_or_else(|error| error.raise())
    }

    /// Runs one superstep like [`step`](Self::step), and returns the group's error if there is one.
    ///
    /// Every member gets the same error, nothing of the step has taken effect, and the group can go on.
    ///
    /// ```
    /// use superstep::{Config, ErrorKind, Same};
    ///
    /// let kinds = Config::new().procs(2).run_all(|g| {
    ///     let rank = g.rank();
    ///     let error = g.try_step(|s| s.reduce(rank, Same)).unwrap_err();
    ///     g.step(|_| ());
    ///     error.kind()
    /// });
    /// assert_eq!(kinds.unwrap(), [ErrorKind::ReplicaDiverged; 2]);
    /// ```
    #[track_caller]
    #[inline]
    pub fn try_step<S: Settle>(&mut self, body: impl FnOnce(&Step) -> S) -> Result<S::Out> {
        let core = self.core();
        core.begin(Location::caller(), Phase::Step);
        let unwinding = Unwinding(core);
        let handed = body(&self.step);
        let closed = core.boundary(&Occasion::STEP);
        std::mem::forget(unwinding);
        closed?;
        Ok(handed.settle(&mut Settled { core }))
    }
}

/// Abandons the step if its body unwinds, before anybody can look at what it has left.
pub(super) struct Unwinding<'a>(pub(super) &'a Core);

impl Drop for Unwinding<'_> {
    fn drop(&mut self) {
        // It drops values of the program's, whose own code may unwind as well: that would be one time too many.
        panics::quietly(|| self.0.abandon());
    }
}

impl std::fmt::Debug for Group {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Group({}, rank {} of {})", self.path(), self.rank(), self.size())
    }
}

/// What a group can tell of a group above it. That one is inactive and cannot step.
///
/// ```
/// let places = superstep::Config::new().procs(4).run_all(|g| {
///     g.split(2, |sub| (sub.rank(), sub.parent().unwrap().rank()))
/// });
/// assert_eq!(places.unwrap(), [Some((0, 0)), Some((0, 1)), Some((1, 2)), Some((1, 3))]);
/// ```
#[derive(Clone)]
pub struct Ancestor {
    member: Rc<Membership>,
}

impl Plain for Ancestor {}

impl Ancestor {
    /// This processor's number in that group.
    ///
    /// ```
    /// let ranks = superstep::Config::new().procs(2).run_all(|g| g.split(2, |sub| sub.parent().unwrap().rank()));
    /// assert_eq!(ranks.unwrap(), [Some(0), Some(1)]);
    /// ```
    pub fn rank(&self) -> usize {
        self.member.rank()
    }

    /// How many processors it has.
    ///
    /// ```
    /// let size = superstep::Config::new().procs(3).run(|g| g.split(3, |sub| sub.parent().unwrap().size()));
    /// assert_eq!(size.unwrap(), Some(3));
    /// ```
    pub fn size(&self) -> usize {
        self.member.size()
    }

    /// Its number among its siblings.
    ///
    /// ```
    /// let ids = superstep::Config::new().procs(2).run_all(|g| {
    ///     g.split(2, |sub| sub.split(1, |inner| inner.parent().unwrap().id())).flatten()
    /// });
    /// assert_eq!(ids.unwrap(), [Some(0), Some(1)]);
    /// ```
    pub fn id(&self) -> usize {
        self.member.id
    }

    /// How many groups there are above it.
    ///
    /// ```
    /// let depth = superstep::Config::new().procs(2).run(|g| g.split(2, |sub| sub.parent().unwrap().depth()));
    /// assert_eq!(depth.unwrap(), Some(0));
    /// ```
    pub fn depth(&self) -> usize {
        self.member.depth
    }

    /// The way from the root group to it.
    ///
    /// ```
    /// let path = superstep::Config::new().procs(2).run(|g| g.split(2, |sub| sub.parent().unwrap().path()));
    /// assert_eq!(path.unwrap(), Some("0".to_owned()));
    /// ```
    pub fn path(&self) -> String {
        self.member.path()
    }

    /// How many steps it has closed.
    ///
    /// ```
    /// let same = superstep::Config::new().procs(2).run(|g| {
    ///     g.split(2, |sub| {
    ///         let before = sub.parent().unwrap().steps();
    ///         sub.step(|_| ());
    ///         sub.parent().unwrap().steps() == before
    ///     })
    /// });
    /// assert_eq!(same.unwrap(), Some(true));
    /// ```
    pub fn steps(&self) -> u64 {
        self.member.steps()
    }

    /// The group above it; `None` for the root group.
    ///
    /// ```
    /// let is_root = superstep::Config::new().procs(2).run(|g| {
    ///     g.split(2, |sub| sub.parent().unwrap().parent().is_none())
    /// });
    /// assert_eq!(is_root.unwrap(), Some(true));
    /// ```
    pub fn parent(&self) -> Option<Ancestor> {
        self.member.parent.clone().map(|member| Self { member })
    }
}

impl std::fmt::Debug for Ancestor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Ancestor({}, rank {} of {})", self.path(), self.rank(), self.size())
    }
}
