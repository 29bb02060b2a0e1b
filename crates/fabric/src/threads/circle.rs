//! A circle of threads: a seat at a table, and the cord that all circles of a run share.

use super::{alarm::Cord, seat::Seat, sync::Arc, table::Table};
use crate::{
    circle::{Alarm, Circle, Counts, Meld, Melded, Shared, Silence},
    failure::Failure,
    nest::Name,
    sight::Pen,
    tray::Tray,
};

pub(crate) struct ThreadCircle {
    seat: Seat,
    cord: Arc<Cord>,
    /// For `wait`, which has no use for an outcome.
    nothing: Melded,
}

impl ThreadCircle {
    /// The end of the circle of all threads of a run.
    pub(crate) fn root(cord: Arc<Cord>, table: Arc<Table>, rank: usize) -> Self {
        cord.enlist();
        let pen = cord.pen(rank);
        Self { seat: Seat::take(table, rank, rank, pen), cord, nothing: Melded::default() }
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
        self.seat.meet(mine, how, outcome, &self.cord)
    }

    fn leave(&mut self, mine: &[u8], how: &mut dyn Meld) -> Result<(), Failure> {
        self.seat.leave(mine, how, &self.cord)
    }

    fn wait(&mut self) -> Result<(), Failure> {
        self.seat.meet(&[], &mut Silence, &mut self.nothing, &self.cord)
    }

    fn post(&mut self, to: usize, tray: &mut Tray) -> Result<(), Failure> {
        self.seat.post(to, tray, &self.cord)
    }

    fn take(&mut self, from: usize, into: &mut Tray) -> bool {
        self.seat.take_tray(from, into)
    }

    fn send_letter(&mut self, to: usize, letter: &mut Tray) -> Result<(), Failure> {
        self.seat.send_letter(to, letter, &self.cord)
    }

    fn next_letter(&mut self, letter: &mut Tray) -> Result<Option<usize>, Failure> {
        self.seat.next_letter(letter, &self.cord)
    }

    fn enter_count(&mut self, mine: Counts) -> Result<(), Failure> {
        self.seat.enter_count(mine, &self.cord)
    }

    fn counted(&mut self) -> Result<Option<Counts>, Failure> {
        self.seat.counted(&self.cord)
    }

    fn rest(&mut self) -> Result<(), Failure> {
        self.seat.rest(&self.cord)
    }

    fn shares(&self, _: usize) -> bool {
        true
    }

    fn common(&self, name: Name, make: &mut dyn FnMut() -> Shared) -> Option<Shared> {
        Some(self.seat.table().commons.find(name, self.size(), make))
    }

    fn join(&self, name: Name, members: &[usize], rank: usize) -> Box<dyn Circle> {
        let lay = || Arc::new(Table::new(members.len()));
        let table = self.seat.table().further.find(name, members.len(), lay);
        let (number, pen) = self.seat.identity();
        let seat = Seat::take(table, rank, number, pen);
        Box::new(Self { seat, cord: Arc::clone(&self.cord), nothing: Melded::default() })
    }

    fn number(&self, rank: usize) -> usize {
        self.cord.number(self.seat.number_of(rank))
    }

    fn pen(&self) -> Pen {
        self.seat.identity().1
    }

    fn alarm(&self) -> Arc<dyn Alarm> {
        Arc::clone(&self.cord) as Arc<dyn Alarm>
    }
}
