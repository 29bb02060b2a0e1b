//! A circle of threads: a seat at a table, and the hub that all circles of a run share.

use super::{
    alarm::Cord,
    seat::Seat,
    sync::{Arc, Mutex},
    table::Table,
};
use crate::{
    circle::{Alarm, Circle, Counts, Meld, Melded, Shared, Silence},
    failure::Failure,
    sight::Pen,
    tray::Tray,
};
use std::collections::HashMap;

/// What all circles of one run have in common.
pub(crate) struct Hub {
    cord: std::sync::Arc<Cord>,
    /// Tables that some of their members have not found yet, with how many have.
    laid: Mutex<HashMap<u64, (Arc<Table>, usize)>>,
    /// The same for what members have in common.
    commons: std::sync::Mutex<HashMap<u64, (Shared, usize)>>,
}

impl Hub {
    pub(crate) fn new(cord: std::sync::Arc<Cord>) -> Self {
        Self { cord, laid: Mutex::new(HashMap::new()), commons: std::sync::Mutex::default() }
    }

    /// The table with this key, laid by whoever asks first and forgotten here once all have found it.
    fn table(&self, key: u64, size: usize) -> Arc<Table> {
        let mut laid = self.laid.lock().expect("nothing panics under this lock");
        let (table, found) = laid.entry(key).or_insert_with(|| (Arc::new(Table::new(size)), 0));
        *found += 1;
        let table = Arc::clone(table);
        if laid[&key].1 == size {
            laid.remove(&key);
        }
        table
    }
}

pub(crate) struct ThreadCircle {
    seat: Seat,
    hub: Arc<Hub>,
    /// For `wait`, which has no use for an outcome.
    nothing: Melded,
}

impl ThreadCircle {
    /// The end of the circle of all threads of a run.
    pub(crate) fn root(hub: Arc<Hub>, table: Arc<Table>, rank: usize) -> Self {
        hub.cord.enlist();
        let pen = hub.cord.pen(rank);
        Self { seat: Seat::take(table, rank, rank, pen), hub, nothing: Melded::default() }
    }
}

impl Circle for ThreadCircle {
    fn rank(&self) -> usize {
        self.seat.rank()
    }

    fn size(&self) -> usize {
        self.seat.size()
    }

    fn meet(&mut self, mine: &[u8], how: &mut dyn Meld, outcome: &mut Melded) -> Result<(), Failure> {
        self.seat.meet(mine, how, outcome, &self.hub.cord)
    }

    fn leave(&mut self, mine: &[u8], how: &mut dyn Meld) -> Result<(), Failure> {
        self.seat.leave(mine, how, &self.hub.cord)
    }

    fn wait(&mut self) -> Result<(), Failure> {
        self.seat.meet(&[], &mut Silence, &mut self.nothing, &self.hub.cord)
    }

    fn post(&mut self, to: usize, tray: &mut Tray) -> Result<(), Failure> {
        self.seat.post(to, tray, &self.hub.cord)
    }

    fn take(&mut self, from: usize, into: &mut Tray) -> bool {
        self.seat.take_tray(from, into)
    }

    fn send_letter(&mut self, to: usize, letter: &mut Tray) -> Result<(), Failure> {
        self.seat.send_letter(to, letter, &self.hub.cord)
    }

    fn next_letter(&mut self, letter: &mut Tray) -> Result<Option<usize>, Failure> {
        self.seat.next_letter(letter, &self.hub.cord)
    }

    fn enter_count(&mut self, mine: Counts) -> Result<(), Failure> {
        self.seat.enter_count(mine, &self.hub.cord)
    }

    fn counted(&mut self) -> Result<Option<Counts>, Failure> {
        self.seat.counted(&self.hub.cord)
    }

    fn rest(&mut self) -> Result<(), Failure> {
        self.seat.rest(&self.hub.cord)
    }

    fn shares(&self, _: usize) -> bool {
        true
    }

    fn common(&self, key: u64, make: &mut dyn FnMut() -> Shared) -> Option<Shared> {
        let mut commons = self.hub.commons.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let (common, found) = commons.entry(key).or_insert_with(|| (make(), 0));
        *found += 1;
        let common = std::sync::Arc::clone(common);
        if commons[&key].1 == self.size() {
            commons.remove(&key);
        }
        Some(common)
    }

    fn join(&self, key: u64, members: &[usize], rank: usize) -> Box<dyn Circle> {
        let (number, pen) = self.seat.identity();
        let seat = Seat::take(self.hub.table(key, members.len()), rank, number, pen);
        Box::new(Self { seat, hub: Arc::clone(&self.hub), nothing: Melded::default() })
    }

    fn number(&self, rank: usize) -> usize {
        self.hub.cord.number(self.seat.number_of(rank))
    }

    fn pen(&self) -> Pen {
        self.seat.identity().1
    }

    fn alarm(&self) -> std::sync::Arc<dyn Alarm> {
        std::sync::Arc::clone(&self.hub.cord) as std::sync::Arc<dyn Alarm>
    }
}
