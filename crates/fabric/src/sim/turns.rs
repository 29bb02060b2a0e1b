//! Whose turn it is: each processor is a thread, and waits until the table gives it the turn.

use super::{fate::Fate, plan::Plan, table::Table};
use crate::{
    alarm::Alarm,
    failure::Failure,
    lock::lock,
    sight::{self, Pen, Sighting},
    threads::exit,
};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

pub(super) struct Turns {
    table: Mutex<Table>,
    /// One for each processor, which waits there for its turn.
    calls: Vec<Condvar>,
    pub(super) sightings: Arc<[Sighting]>,
}

impl Turns {
    pub(super) fn new(processors: usize, plan: &Plan, fate: Fate) -> Self {
        let sightings = sight::sightings(processors);
        Self {
            table: Mutex::new(Table::new(processors, plan, fate, Arc::clone(&sightings))),
            calls: (0..processors).map(|_| Condvar::new()).collect(),
            sightings,
        }
    }

    pub(super) fn pen(&self, rank: usize) -> Pen {
        Pen::here(&self.sightings, rank)
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Table> {
        lock(&self.table)
    }

    /// Takes a place and waits for the first turn.
    pub(super) fn begin(&self, rank: usize) {
        let mut table = self.lock();
        if table.arrive() {
            self.pass(&mut table);
        }
        drop(self.await_turn(table, rank));
    }

    /// Gives the turn away for good when the result is dropped.
    pub(super) fn at_end(&self, rank: usize) -> impl Drop {
        struct End<'a>(&'a Turns, usize);
        impl Drop for End<'_> {
            fn drop(&mut self) {
                let mut table = self.0.lock();
                table.end(self.1);
                self.0.pass(&mut table);
            }
        }
        End(self, rank)
    }

    fn pass(&self, table: &mut Table) {
        if let Some(next) = table.pass() {
            self.calls[next].notify_one();
        }
    }

    fn await_turn<'a>(&'a self, table: MutexGuard<'a, Table>, rank: usize) -> MutexGuard<'a, Table> {
        let pen = self.pen(rank);
        let is_mine = table.turn != Some(rank) && pen.wait(|| None);
        let is_anothers = |table: &mut Table| table.turn != Some(rank);
        let table = self.calls[rank].wait_while(table, is_anothers).unwrap_or_else(PoisonError::into_inner);
        if is_mine {
            pen.go_on();
        }
        table
    }

    /// Lets the seed decide who goes on, this processor or another.
    pub(super) fn yield_turn<'a>(&'a self, mut table: MutexGuard<'a, Table>, rank: usize) -> MutexGuard<'a, Table> {
        table.tire(rank);
        self.pass(&mut table);
        self.await_turn(table, rank)
    }

    /// Waits until a packet has come for this processor.
    pub(super) fn await_mail(&self, rank: usize) -> Result<MutexGuard<'_, Table>, Failure> {
        let mut table = self.lock();
        table.suffer(rank)?;
        while !table.has_mail(rank) {
            table.wait(rank);
            table = self.yield_turn(table, rank);
            table.go_on(rank);
            table.hear(rank)?;
        }
        Ok(table)
    }
}

impl Alarm for Turns {
    fn raise(&self, failure: Failure) {
        self.lock().raise(exit::processor(), failure);
    }

    fn raised(&self) -> Option<Failure> {
        self.lock().raised(exit::processor())
    }
}

#[cfg(test)]
mod tests {
    use super::{super::plan::Memory, *};
    use std::thread;

    #[test]
    fn who_has_no_turn_is_seen_to_wait_until_it_has_one() {
        // Under this seed the first turn is that of processor 0.
        let plan = Plan::new(2, Memory::Apart);
        let turns = Turns::new(2, &plan, Fate::new(plan.faults, plan.seed));
        let progress = || turns.sightings[1].progress();
        turns.pen(1).begin();
        let before = progress();
        turns.lock().arrive();
        let [meanwhile, after] = thread::scope(|scope| {
            let other = scope.spawn(|| {
                turns.begin(1);
                let after = progress();
                drop(turns.at_end(1));
                after
            });
            // It gives the turn and waits before it lets go of the table.
            while turns.lock().turn.is_none() {
                thread::yield_now();
            }
            let meanwhile = progress();
            drop(turns.at_end(0));
            [meanwhile, other.join().expect("it does not panic")]
        });
        assert_ne!(meanwhile, before, "it is not seen to wait");
        assert_eq!(after, before);
    }
}
