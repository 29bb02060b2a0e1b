//! What a processor keeps of the epochs of one group, from one to the next.

use super::{
    book::Book,
    lane::{Lane, Pools, Way},
    letter::{Methods, Note, Requests},
    tuning::Tuning,
};
use crate::{engine::Core, error::Error};
use fabric::{Counts, Tray};
use std::{
    cell::{Cell, RefCell},
    collections::{HashMap, VecDeque},
    rc::Rc,
};

/// What has come from one processor and has not run.
#[derive(Default)]
pub(super) struct Source {
    pub(super) queue: RefCell<VecDeque<Requests>>,
    /// How many requests of a run that is under way have not begun: until they have, no later run may.
    pub(super) left: Cell<usize>,
}

/// Where the counting of letters is.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counting {
    /// Whether this processor has entered a count whose sum it has not seen.
    pub(super) is_entered: bool,
    /// The last sum.
    pub(super) last: Option<Counts>,
    /// How many letters had come when it was entered.
    pub(super) came: u64,
}

pub(super) struct State {
    pub(super) rank: usize,
    pub(super) size: usize,
    pub(super) tuning: Cell<Tuning>,
    pub(super) lanes: RefCell<Vec<Lane>>,
    pub(super) sources: Vec<Source>,
    pub(super) book: RefCell<Rc<Book>>,
    pub(super) pool: Pools,
    pub(super) methods: Methods,
    /// The letter that is being taken in, and what the last one held: kept for their room.
    pub(super) letter: RefCell<Tray>,
    pub(super) page: Cell<Option<Rc<Vec<u8>>>>,
    pub(super) notes: RefCell<HashMap<(u64, usize), (u64, Note)>>,
    /// The number of the next collective.
    pub(super) collective: Cell<u64>,
    /// Letters that were sent and that have come, in this epoch.
    pub(super) sent: Cell<u64>,
    pub(super) came: Cell<u64>,
    /// Runs of requests that wait here.
    pub(super) held: Cell<u64>,
    pub(super) counting: Cell<Counting>,
    /// How many methods are under way on this processor, inside each other.
    pub(super) depth: Cell<usize>,
    /// The method that began last.
    pub(super) method: Cell<&'static str>,
    /// How many runs have been worked off, and how many of them `wait_one` knows of.
    pub(super) runs: Cell<u64>,
    pub(super) waited: Cell<u64>,
    /// Requests until the next poll.
    pub(super) until_poll: Cell<u32>,
    /// Accesses to volatiles that looked for what came, until the next one that sends on what waits.
    pub(super) until_flush: Cell<u32>,
    /// Why the epoch cannot end well, and whether the others have yet to be told.
    pub(super) failure: RefCell<Option<Error>>,
    pub(super) is_untold: Cell<bool>,
    /// Whether a request may run before one that was sent before it and whose object is busy; and the last sum at which
    /// that was allowed.
    pub(super) is_loose: Cell<bool>,
    pub(super) loosened_at: Cell<Option<Counts>>,
    /// How many letters may be under way to one processor before requests wait here that might send it more; and
    /// whether so many were, when it was looked at last.
    pub(super) allowance: Cell<u64>,
    pub(super) is_crowded: Cell<bool>,
    /// Whether the epoch is over because nobody can go on.
    pub(super) is_stuck: Cell<bool>,
}

impl State {
    /// The state that the group keeps, made anew if the group has changed.
    pub(super) fn of(core: &Core) -> Rc<Self> {
        let mut annex = core.annex.borrow_mut();
        if let Some(kept) = annex.take()
            && let Ok(state) = kept.downcast::<Self>()
            && (state.rank, state.size) == (core.rank.get(), core.size.get())
        {
            *annex = Some(Rc::clone(&state) as Rc<dyn std::any::Any>);
            return state;
        }
        let state = Rc::new(Self::new(core));
        *annex = Some(Rc::clone(&state) as Rc<dyn std::any::Any>);
        state
    }

    fn new(core: &Core) -> Self {
        let (rank, size) = (core.rank.get(), core.size.get());
        let circle = core.circle.borrow();
        let way = |to| match to {
            _ if to == rank => Way::Here,
            _ if circle.shares(to) => Way::Near,
            _ => Way::Far,
        };
        Self {
            rank,
            size,
            tuning: Cell::default(),
            lanes: RefCell::new((0..size).map(|to| Lane::new(way(to))).collect()),
            sources: (0..size).map(|_| Source::default()).collect(),
            book: RefCell::new(Rc::new(Book::new(size))),
            pool: RefCell::default(),
            methods: Methods::default(),
            letter: RefCell::default(),
            page: Cell::default(),
            notes: RefCell::default(),
            collective: Cell::new(0),
            sent: Cell::new(0),
            came: Cell::new(0),
            held: Cell::new(0),
            counting: Cell::default(),
            depth: Cell::new(0),
            method: Cell::new(""),
            runs: Cell::new(0),
            waited: Cell::new(0),
            until_poll: Cell::new(0),
            until_flush: Cell::new(0),
            failure: RefCell::default(),
            is_untold: Cell::new(false),
            is_loose: Cell::new(false),
            loosened_at: Cell::new(None),
            allowance: Cell::new(0),
            is_crowded: Cell::new(false),
            is_stuck: Cell::new(false),
        }
    }

    /// Begins an epoch.
    pub(super) fn begin(&self, tuning: Tuning) {
        self.tuning.set(tuning);
        for lane in self.lanes.borrow_mut().iter_mut() {
            lane.begin(if lane.way == Way::Far { tuning.far } else { tuning.near });
        }
        for source in &self.sources {
            source.queue.borrow_mut().clear();
            source.left.set(0);
        }
        // Answers that were never taken may still be held by the program.
        let mut book = self.book.borrow_mut();
        if Rc::strong_count(&book) > 1 || !book.is_empty() {
            *book = Rc::new(Book::new(self.size));
        }
        self.notes.borrow_mut().clear();
        self.methods.begin();
        self.failure.take();
        self.is_untold.set(false);
        self.until_flush.set(0);
        for (count, start) in [
            (&self.collective, 0),
            (&self.sent, 0),
            (&self.came, 0),
            (&self.held, 0),
            (&self.runs, 0),
            (&self.waited, 0),
        ] {
            count.set(start);
        }
        self.counting.set(Counting::default());
        self.depth.set(0);
        self.method.set("");
        self.until_poll.set(tuning.poll_every);
        self.is_loose.set(false);
        self.loosened_at.set(None);
        // What bodies send is held back before.
        self.allowance.set(tuning.window.saturating_mul(2));
        self.is_crowded.set(false);
        self.is_stuck.set(false);
    }
}

/// Adds one to a count.
#[inline]
pub(super) fn add(count: &Cell<u64>, more: u64) {
    count.set(count.get().wrapping_add(more));
}
