//! What leaves this processor: a lane to each processor, and how much is under way in them.

use super::{
    lane::{Lane, Way},
    pool::Pool,
    tuning::Tuning,
};
use crate::error::{Error, Result};
use fabric::{Circle, Tray};
use std::cell::{Cell, RefCell};

#[derive(Default)]
pub(super) struct Outgoing {
    pub(super) lanes: RefCell<Vec<Lane>>,
    pub(super) pool: RefCell<Pool>,
    /// Letters that were sent in this epoch.
    pub(super) sent: Cell<u64>,
    /// How many letters may be under way to one processor before requests wait here that might send it more.
    allowance: Cell<u64>,
    /// Whether so many were, when it was looked at last.
    is_crowded: Cell<bool>,
}

impl Outgoing {
    pub(super) fn new(rank: usize, size: usize, circle: &dyn Circle) -> Self {
        let way = |to| match to {
            _ if to == rank => Way::Here,
            _ if circle.shares(to) => Way::Near,
            _ => Way::Far,
        };
        Self { lanes: RefCell::new((0..size).map(|to| Lane::new(way(to))).collect()), ..Self::default() }
    }

    pub(super) fn begin(&self, tuning: &Tuning) {
        for lane in self.lanes.borrow_mut().iter_mut() {
            lane.begin(if lane.way == Way::Far { tuning.far } else { tuning.near });
        }
        self.sent.set(0);
        // What bodies send is held back before.
        self.allowance.set(tuning.window.saturating_mul(2));
        self.is_crowded.set(false);
    }

    /// Takes what waits for another processor as a letter, which is about to be sent.
    pub(super) fn take_letter(&self, to: usize) -> Tray {
        let lane = &mut self.lanes.borrow_mut()[to];
        // One that only says how many were taken in is not answered by another.
        lane.sent += u64::from(!lane.is_empty());
        if lane.under_way() > self.allowance.get() {
            self.is_crowded.set(true);
        }
        self.sent.update(|sent| sent + 1);
        if lane.is_all_written() {
            return Tray { bytes: lane.take_bytes(), moved: Vec::new() };
        }
        let (empty, mut tray) = self.pool.borrow_mut().take_letter();
        tray.moved.push(lane.take_moved(empty));
        tray
    }

    /// Counts a letter of `from` as taken in; says whether it is time to tell that, even if nothing else goes there.
    pub(super) fn acknowledge(&self, from: usize, window: u64) -> bool {
        let lane = &mut self.lanes.borrow_mut()[from];
        lane.taken_here += 1;
        lane.taken_here - lane.told > window / 2
    }

    pub(super) fn tell(&self, error: &Error) -> Result {
        let mut lanes = self.lanes.borrow_mut();
        lanes.iter_mut().filter(|lane| lane.way != Way::Here).try_for_each(|lane| lane.fault(error))
    }

    /// Whether so many letters are under way to `to` that this processor waits for it.
    pub(super) fn is_behind(&self, to: usize, window: u64) -> bool {
        let lane = &self.lanes.borrow()[to];
        lane.way != Way::Here && lane.under_way() > window
    }

    /// Whether so many letters are under way to somebody that what might send more has to wait.
    pub(super) fn is_crowded(&self) -> bool {
        if self.is_crowded.get() {
            self.is_crowded.set(self.lanes.borrow().iter().any(|lane| lane.under_way() > self.allowance.get()));
        }
        self.is_crowded.get()
    }

    /// Whether requests of `from` may run while this processor waits. A slow one may wait for its own.
    pub(super) fn may_run(&self, from: usize) -> bool {
        !self.is_crowded() || self.lanes.borrow()[from].under_way() > self.allowance.get()
    }

    /// Lets more letters be under way: nobody can go on otherwise.
    pub(super) fn allow_more(&self) {
        if self.is_crowded() {
            let most = self.lanes.borrow().iter().map(Lane::under_way).max().unwrap_or_default();
            self.allowance.set(most.saturating_mul(2));
        }
    }
}
