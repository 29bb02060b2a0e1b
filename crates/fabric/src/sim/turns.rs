//! Whose turn it is.

use crate::{
    circle::Alarm,
    failure::Failure,
    messages::{Link, Packet},
    sight::{self, Pen, Sighting},
};
use std::{
    collections::{BTreeMap, VecDeque},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
};

/// Deals numbers from a seed (`SplitMix64`).
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) % bound as u64) as usize
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// Not there yet; nobody gets a turn before all are.
    Coming,
    Ready,
    /// Waits for a packet from anybody.
    Waiting,
    Ended,
}

struct Table {
    dice: Dice,
    states: Vec<State>,
    turn: Option<usize>,
    /// Packets under way, by target, and by those sources that have sent it some.
    mail: Vec<BTreeMap<usize, VecDeque<Packet>>>,
    failure: Option<Failure>,
}

pub(super) struct Turns {
    table: Mutex<Table>,
    /// One for each processor, which waits there for its turn.
    calls: Vec<Condvar>,
    board: Arc<[Sighting]>,
}

impl Turns {
    pub(super) fn new(processors: usize, seed: u64) -> Self {
        let mail = (0..processors).map(|_| BTreeMap::new()).collect();
        let states = vec![State::Coming; processors];
        let table = Table { dice: Dice(seed), states, turn: None, mail, failure: None };
        Self {
            table: Mutex::new(table),
            calls: (0..processors).map(|_| Condvar::new()).collect(),
            board: sight::board(processors),
        }
    }

    /// What can be seen of the processors.
    pub(super) fn board(&self) -> &Arc<[Sighting]> {
        &self.board
    }

    pub(super) fn pen(&self, rank: usize) -> Pen {
        Pen::here(&self.board, rank)
    }

    fn lock(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a place and waits for the first turn.
    pub(super) fn begin(&self, rank: usize) {
        let mut table = self.lock();
        table.states[rank] = State::Ready;
        if !table.states.contains(&State::Coming) {
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
                table.states[self.1] = State::Ended;
                self.0.pass(&mut table);
            }
        }
        End(self, rank)
    }

    /// Gives the turn to one of those who can go on.
    fn pass(&self, table: &mut Table) {
        let can_go_on = |state: State| state == State::Ready || (table.failure.is_some() && state == State::Waiting);
        let mut ready: Vec<usize> = (0..table.states.len()).filter(|&r| can_go_on(table.states[r])).collect();
        if ready.is_empty() {
            ready = (0..table.states.len()).filter(|&r| table.states[r] == State::Waiting).collect();
            if ready.is_empty() {
                table.turn = None;
                return;
            }
            table.failure.get_or_insert(Failure::Deadlock);
        }
        let next = ready[table.dice.below(ready.len())];
        table.turn = Some(next);
        self.calls[next].notify_one();
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
    fn yield_turn<'a>(&'a self, mut table: MutexGuard<'a, Table>, rank: usize) -> MutexGuard<'a, Table> {
        self.pass(&mut table);
        self.await_turn(table, rank)
    }

    /// Waits until there is mail for this processor.
    fn await_mail(&self, rank: usize) -> Result<MutexGuard<'_, Table>, Failure> {
        let mut table = self.lock();
        loop {
            if let Some(failure) = &table.failure {
                return Err(failure.clone());
            }
            if !table.mail[rank].is_empty() {
                return Ok(table);
            }
            table.states[rank] = State::Waiting;
            table = self.yield_turn(table, rank);
            table.states[rank] = State::Ready;
        }
    }
}

impl Table {
    /// Takes a packet that has come for this processor, from whom the seed decides.
    fn take_mail(&mut self, rank: usize) -> Option<(usize, Packet)> {
        let mail = &mut self.mail[rank];
        let chosen = self.dice.below(mail.len().max(1));
        let (&source, packets) = mail.iter_mut().nth(chosen)?;
        let packet = packets.pop_front()?;
        if packets.is_empty() {
            mail.remove(&source);
        }
        Some((source, packet))
    }
}

impl Alarm for Turns {
    fn raise(&self, failure: Failure) {
        self.lock().failure.get_or_insert(failure);
    }

    fn raised(&self) -> Option<Failure> {
        self.lock().failure.clone()
    }
}

/// One simulated processor's end.
pub(super) struct TurnsLink {
    pub(super) turns: Arc<Turns>,
    pub(super) rank: usize,
    pub(super) shares: bool,
}

impl Link for TurnsLink {
    fn send(&mut self, to: usize, packet: Packet) -> Result<(), Failure> {
        let mut table = self.turns.lock();
        table.mail[to].entry(self.rank).or_default().push_back(packet);
        if table.states[to] == State::Waiting {
            table.states[to] = State::Ready;
        }
        drop(table);
        self.pause()
    }

    fn receive(&mut self) -> Result<(usize, Packet), Failure> {
        loop {
            if let Some(mail) = self.turns.await_mail(self.rank)?.take_mail(self.rank) {
                return Ok(mail);
            }
        }
    }

    fn try_receive(&mut self) -> Result<Option<(usize, Packet)>, Failure> {
        self.pause()?;
        Ok(self.turns.lock().take_mail(self.rank))
    }

    fn rest(&mut self) -> Result<(), Failure> {
        self.turns.await_mail(self.rank).map(drop)
    }

    fn pause(&mut self) -> Result<(), Failure> {
        let table = self.turns.yield_turn(self.turns.lock(), self.rank);
        table.failure.clone().map_or(Ok(()), Err)
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
