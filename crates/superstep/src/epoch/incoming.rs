//! What has come to this processor and has not run.

use super::{
    letter::{Content, Requests},
    methods::Methods,
};
use fabric::Tray;
use std::{
    cell::{Cell, RefCell},
    collections::VecDeque,
    rc::Rc,
};

/// What has come from one processor and has not run.
#[derive(Default)]
pub(super) struct Backlog {
    pub(super) queue: RefCell<VecDeque<Requests<Content>>>,
    /// How many requests of a series that is under way have not begun: until they have, no later series may.
    pub(super) left: Cell<usize>,
}

impl Backlog {
    pub(super) fn is_empty(&self) -> bool {
        self.left.get() == 0 && self.queue.borrow().is_empty()
    }
}

#[derive(Default)]
pub(super) struct Incoming {
    pub(super) backlogs: Vec<Backlog>,
    pub(super) methods: Methods,
    /// The letter that is being taken in, and what the last one held: kept for their room.
    pub(super) letter: RefCell<Tray>,
    pub(super) page: Cell<Option<Rc<Vec<u8>>>>,
    /// Letters that have come in this epoch.
    pub(super) came: Cell<u64>,
    /// Series of requests that wait here.
    pub(super) held: Cell<u64>,
    /// Whether a request may run before one that was sent before it and whose object is busy.
    pub(super) is_loose: Cell<bool>,
}

impl Incoming {
    pub(super) fn new(size: usize) -> Self {
        Self { backlogs: (0..size).map(|_| Backlog::default()).collect(), ..Self::default() }
    }

    pub(super) fn begin(&self) {
        for backlog in &self.backlogs {
            backlog.queue.borrow_mut().clear();
            backlog.left.set(0);
        }
        self.methods.begin();
        self.came.set(0);
        self.held.set(0);
        self.is_loose.set(false);
    }

    pub(super) fn enter(&self, from: usize, requests: Requests<Content>) {
        self.held.update(|held| held + 1);
        self.backlogs[from].queue.borrow_mut().push_back(requests);
    }

    /// The next series of a source that may begin; `is_busy` says whether an object is borrowed.
    pub(super) fn next(&self, from: usize, is_busy: impl Fn(u64) -> bool) -> Option<Requests<Content>> {
        let Backlog { queue, left } = &self.backlogs[from];
        let mut queue = queue.borrow_mut();
        // What was sent before has not all begun, or cannot: its object is that of a method that waits.
        let at = if left.get() == 0 && !is_busy(queue.front()?.object) {
            0
        } else {
            let at = queue.iter().position(|it| self.is_loose.get() && !is_busy(it.object))?;
            self.is_loose.set(false);
            at
        };
        self.held.update(|held| held - 1);
        queue.remove(at)
    }

    /// Whether a series could begin in its order.
    pub(super) fn could_begin(&self, is_busy: impl Fn(u64) -> bool) -> bool {
        let is_free = |Backlog { queue, left }: &Backlog| {
            left.get() == 0 && queue.borrow().front().is_some_and(|it| !is_busy(it.object))
        };
        self.backlogs.iter().any(is_free)
    }
}
