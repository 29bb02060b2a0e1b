//! An epoch, as one of its processors sees it, and what that processor keeps from one epoch to the next.

use super::{
    book::{Book, Notes},
    incoming::Incoming,
    outgoing::Outgoing,
    trouble::Trouble,
    tuning::Tuning,
    verdict::Counting,
};
use crate::{
    engine::Core,
    error::{Error, ErrorKind},
};
use std::{
    cell::{Cell, RefCell},
    panic::Location,
    rc::Rc,
};

/// An epoch, as one of its processors sees it: what remote methods are sent with.
///
/// ```
/// use superstep::{Config, Epoch, Handle};
///
/// struct Part { seen: Vec<bool> }
///
/// // Visits the vertices of a ring of 12, of which processor v % p has vertex v.
/// fn visit(part: &mut Part, e: &Epoch, (graph, v): (Handle<Part>, usize)) {
///     if std::mem::replace(&mut part.seen[v / e.size()], true) { return }
///     let next = (v + 1) % 12;
///     e.send(next % e.size(), &graph, (graph, next), visit);
/// }
///
/// let seen = Config::new().procs(3).run_all(|g| {
///     let part = g.object(Part { seen: vec![false; 4] });
///     g.epoch(|e| if e.rank() == 0 { e.send(0, &part, (part.handle(), 0), visit) });
///     part.with(|part| part.seen.iter().all(|&seen| seen))
/// });
/// assert_eq!(seen.unwrap(), [true; 3]);
/// ```
///
/// It stays on its processor:
///
/// ```compile_fail,E0277
/// superstep::run(|g| {
///     g.epoch(|e| std::thread::scope(|threads| { threads.spawn(|| e.poll()); }));
/// });
/// ```
pub struct Epoch {
    pub(crate) core: Rc<Core>,
    pub(super) state: Rc<State>,
    pub(super) tuning: Tuning,
    pub(super) pace: Pace,
    pub(super) activity: Activity,
    pub(super) notes: Notes,
    pub(super) counting: Cell<Counting>,
    pub(super) trouble: Trouble,
}

/// What a processor keeps from one epoch of a group to the next.
pub(super) struct State {
    pub(super) rank: usize,
    pub(super) size: usize,
    pub(super) outgoing: Outgoing,
    pub(super) incoming: Incoming,
    pub(super) book: RefCell<Rc<Book>>,
}

impl State {
    /// The state that the group keeps, made anew if the group has changed.
    fn of(core: &Core) -> Rc<Self> {
        let kept = core.state::<Self>().filter(|state| (state.rank, state.size) == (core.rank(), core.size()));
        kept.unwrap_or_else(|| {
            let (rank, size) = (core.rank(), core.size());
            let (outgoing, incoming) = (Outgoing::new(rank, size, &**core.wire.circle()), Incoming::new(size));
            let book = RefCell::new(Rc::new(Book::new(size)));
            let state = Rc::new(Self { rank, size, outgoing, incoming, book });
            core.keep_state(Rc::clone(&state));
            state
        })
    }

    fn begin(&self, tuning: &Tuning) {
        self.outgoing.begin(tuning);
        self.incoming.begin();
        // Answers that were never taken may still be held by the program.
        let mut book = self.book.borrow_mut();
        if Rc::strong_count(&book) > 1 || !book.is_empty() {
            *book = Rc::new(Book::new(self.size));
        }
    }
}

/// The methods that run on this processor.
#[derive(Default)]
pub(super) struct Activity {
    /// How many are under way, inside each other.
    pub(super) depth: Cell<usize>,
    /// The method that began last.
    pub(super) method: Cell<&'static str>,
    /// How many series have been begun: a method that waits has not ended, and may have led to others here.
    pub(super) begun: Cell<u64>,
    /// How many series have been worked off, and how many of them `wait_one` knows of.
    pub(super) done: Cell<u64>,
    pub(super) seen: Cell<u64>,
}

/// When this processor looks for what came.
#[derive(Default)]
pub(super) struct Pace {
    /// Requests until the next look.
    until_look: Cell<u32>,
    /// Looks of a loop until the next one that sends on what waits.
    until_flush: Cell<u32>,
}

/// Every so often that a loop looks for what came, it sends on what waits.
const FLUSH: u32 = 16;

impl Pace {
    /// Notes that this processor looks now.
    pub(super) fn look(&self, tuning: &Tuning) {
        self.until_look.set(tuning.poll_every);
    }

    /// Whether it is time to look, after something that counts as so many requests.
    #[inline]
    pub(super) fn is_due(&self, requests: u32) -> bool {
        let left = self.until_look.get();
        if left > requests {
            self.until_look.set(left - requests);
        }
        left <= requests
    }

    /// Whether a loop that looks now should also send on what waits.
    pub(super) fn is_flush_due(&self) -> bool {
        let left = self.until_flush.get();
        self.until_flush.set(if left == 0 { FLUSH - 1 } else { left - 1 });
        left == 0
    }
}

impl Epoch {
    pub(super) fn begin(core: &Rc<Core>, tuning: Tuning) -> Self {
        let state = State::of(core);
        state.begin(&tuning);
        let pace = Pace::default();
        pace.look(&tuning);
        Self {
            core: Rc::clone(core),
            state,
            tuning,
            pace,
            activity: Activity::default(),
            notes: Notes::default(),
            counting: Cell::default(),
            trouble: Trouble::default(),
        }
    }

    #[cold]
    pub(super) fn error(&self, kind: ErrorKind, what: &str) -> Error {
        self.core.error(kind, what, self.core.site())
    }

    #[cold]
    pub(super) fn placed(&self, error: &Error, site: &Location<'_>) -> Error {
        self.core.error(error.kind(), error, site)
    }

    #[cold]
    pub(super) fn too_deep(&self, site: &Location<'_>) -> Error {
        let bound = self.tuning.nesting;
        let what = format!("remote methods call each other {bound} deep on this processor, and no more may");
        self.core.error(ErrorKind::TooDeep, what, site)
    }
}

impl std::fmt::Debug for Epoch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Epoch(rank {} of {})", self.state.rank, self.state.size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_has_asked_for_as_much_as_was_set_looks() {
        let pace = Pace::default();
        pace.look(&Tuning { poll_every: 8, ..Tuning::default() });
        let due: Vec<bool> = [1, 3, 3, 1].map(|requests| pace.is_due(requests)).into();
        assert_eq!(due, [false, false, false, true]);
        // It looks a little later, and one request more is enough.
        assert!(pace.is_due(1));
        pace.look(&Tuning { poll_every: 8, ..Tuning::default() });
        assert!(!pace.is_due(7) && pace.is_due(2));
    }

    #[test]
    fn a_loop_that_looks_sends_on_what_waits_now_and_then() {
        let pace = Pace::default();
        let due: Vec<u32> = (0..3 * FLUSH).filter(|_| pace.is_flush_due()).collect();
        assert_eq!(due, [0, FLUSH, 2 * FLUSH]);
    }
}
