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

#[cfg(test)]
mod tests {
    use super::{
        super::methods::{Absent, Entrance},
        *,
    };

    fn series(object: u64) -> Requests<Content> {
        let (method, arguments) = (Entrance::new::<Absent>(()), Content::Moved(Box::new(())));
        Requests { method, object, ticket: None, count: 0, arguments, is_last: false }
    }

    #[test]
    fn series_begin_in_their_order_unless_they_are_let_loose() {
        let incoming = Incoming::new(3);
        let (busy, free) = (|object: u64| object == 7, |_: u64| false);
        let next = |from, is_busy: &dyn Fn(u64) -> bool| incoming.next(from, is_busy).map(|series| series.object);
        assert!(!incoming.could_begin(free) && incoming.backlogs.iter().all(Backlog::is_empty));
        assert_eq!(next(1, &free), None);
        for object in [7, 8, 9] {
            incoming.enter(1, series(object));
        }
        assert_eq!(incoming.held.get(), 3);
        assert!(incoming.could_begin(free) && !incoming.could_begin(busy));
        assert!(!incoming.backlogs[1].is_empty() && incoming.backlogs[0].is_empty());
        // The first one's object is busy, so nothing of this source begins. Let loose, the next one does, and it alone.
        assert_eq!(next(1, &busy), None);
        incoming.is_loose.set(true);
        assert_eq!(next(0, &busy), None);
        assert_eq!((next(1, &busy), incoming.is_loose.get(), incoming.held.get()), (Some(8), false, 2));
        assert_eq!(next(1, &busy), None);
        // While a series has not all begun, no later one does.
        incoming.backlogs[1].left.set(2);
        assert!(!incoming.could_begin(free) && !incoming.backlogs[1].is_empty());
        assert_eq!(next(1, &free), None);
        incoming.backlogs[1].left.set(0);
        assert_eq!([next(1, &free), next(1, &free), next(1, &free)], [Some(7), Some(9), None]);
        assert_eq!(incoming.held.get(), 0);
        incoming.backlogs[1].left.set(1);
        assert!(!incoming.backlogs[1].is_empty());
        // Another epoch begins with nothing.
        incoming.enter(2, series(1));
        incoming.came.set(4);
        incoming.is_loose.set(true);
        incoming.begin();
        assert!(incoming.backlogs.iter().all(Backlog::is_empty));
        assert_eq!((incoming.came.get(), incoming.held.get(), incoming.is_loose.get()), (0, 0, false));
    }
}
