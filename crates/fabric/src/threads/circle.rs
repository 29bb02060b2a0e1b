//! A circle of threads is a seat at a table.

use super::{seat::Seat, sync::Arc, table::Table};
use crate::{
    alarm::Alarm,
    circle::{Circle, Common},
    nest::Name,
    sight::Pen,
};

impl Circle for Seat {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.table.members.len()
    }

    fn number(&self, rank: usize) -> usize {
        self.alarm.number(self.number_of(rank))
    }

    fn shares(&self, _: usize) -> bool {
        true
    }

    fn common(&self, name: Name, make: &mut dyn FnMut() -> Common) -> Option<Common> {
        Some(self.table.commons.find(name, self.size(), make))
    }

    fn join(&self, name: Name, members: &[usize], rank: usize) -> Box<dyn Circle> {
        let lay = || Arc::new(Table::new(members.len()));
        let table = self.table.further.find(name, members.len(), lay);
        Box::new(Self::new(table, rank, self.number, Arc::clone(&self.alarm)))
    }

    fn pen(&self) -> Pen {
        self.pen.clone()
    }

    fn alarm(&self) -> Arc<dyn Alarm> {
        Arc::clone(&self.alarm) as Arc<dyn Alarm>
    }
}
