//! One simulated processor's end.

use super::turns::Turns;
use crate::{
    alarm::Alarm,
    failure::Failure,
    messages::{Link, Packet, Stamp},
    sight::Pen,
};
use std::sync::Arc;

pub(super) struct TurnsLink {
    pub(super) turns: Arc<Turns>,
    pub(super) rank: usize,
    pub(super) shares: bool,
}

impl Link for TurnsLink {
    const KEEPS_TIME: bool = true;

    #[cfg_attr(not(fuzzing), expect(unused_mut, reason = "only fuzzing changes packets"))]
    fn send(&mut self, to: usize, mut packet: Packet) -> Result<(), Failure> {
        #[cfg(fuzzing)]
        crate::fuzzing::damage(&mut packet.tray.bytes);
        let mut table = self.turns.lock();
        table.suffer(self.rank)?;
        table.send(self.rank, to, packet);
        if table.hurries() {
            return Ok(());
        }
        self.turns.yield_turn(table, self.rank).hear(self.rank)
    }

    fn receive(&mut self) -> Result<(usize, Packet), Failure> {
        loop {
            if let Some(mail) = self.turns.await_mail(self.rank)?.take_mail(self.rank)? {
                return Ok(mail);
            }
        }
    }

    fn try_receive(&mut self) -> Result<Option<(usize, Packet)>, Failure> {
        self.pause()?;
        self.turns.lock().take_mail(self.rank)
    }

    fn rest(&mut self) -> Result<(), Failure> {
        self.turns.await_mail(self.rank).map(drop)
    }

    fn pause(&mut self) -> Result<(), Failure> {
        let mut table = self.turns.lock();
        table.suffer(self.rank)?;
        self.turns.yield_turn(table, self.rank).hear(self.rank)
    }

    fn enter(&mut self, meeting: Stamp, members: usize, said: usize) {
        let mut table = self.turns.lock();
        table.clock.enter(self.rank, meeting, said);
        let now = table.clock.now(self.rank);
        table.journal.note_place(now, self.rank, format_args!("meets {} others", members - 1));
    }

    fn come_out(&mut self, meeting: Stamp, heard: usize) {
        let mut table = self.turns.lock();
        if let Some(bill) = table.clock.come_out(self.rank, meeting, heard) {
            table.journal.bill(table.clock.now(self.rank), self.rank, &bill);
        }
    }

    fn work(&mut self, operations: u64) {
        let mut table = self.turns.lock();
        table.journal.note_place(table.clock.now(self.rank), self.rank, format_args!("works {operations} operations"));
        table.clock.work(self.rank, operations);
    }

    fn pen(&self) -> Pen {
        self.turns.pen(self.rank)
    }

    fn shares(&self, _: usize) -> bool {
        self.shares
    }

    fn alarm(&self) -> Arc<dyn Alarm> {
        Arc::clone(&self.turns) as Arc<dyn Alarm>
    }
}
