//! A run in which each process is one processor, on the thread that begins it, and which ends when it is told to: for a
//! program that is not a closure.

use super::{
    Bell, Unable, WORLD, World, launcher,
    office::{MpiLink, POLLS},
    world,
};
use crate::{
    circle::{Alarm, Circle},
    failure::Failure,
    messages::MessageCircle,
    nest::Name,
    sight::{Limits, Pen},
    threads::{self, Cord},
};
use std::sync::{Arc, atomic::Ordering};

/// A process's part in a run.
pub struct Session {
    world: &'static World,
    bell: Arc<Bell>,
    end: Box<dyn Circle>,
    pen: Pen,
}

impl Session {
    /// Begins a run with the other processes that were launched, and gives my end of the circle of all. `words` says
    /// what a failure comes to, for a process that has to be ended.
    ///
    /// # Errors
    ///
    /// As [`run`](super::run).
    pub fn begin(words: fn(&Failure) -> String) -> Result<(Self, Box<dyn Circle>), Unable> {
        let limits = Limits::from_environment().map_err(Unable::NoMpi)?;
        let world = world()?;
        let office = &world.office;
        world.pulse.prepare();
        let run = world.runs.fetch_add(1, Ordering::Relaxed) + 1;
        let is_crowded = launcher::neighbours().unwrap_or(1) > threads::cores();
        let cord = Arc::new(Cord::new(1, office.me));
        cord.enlist();
        let (pen, board) = (cord.pen(0), Arc::clone(cord.board()));
        pen.begin();
        let cord = cord as Arc<dyn Alarm>;
        office.begin(run, 1, Arc::clone(&cord));
        let bell = Arc::new(Bell { run, cord: Arc::clone(&cord), world });
        world.pulse.begin(run, cord, Arc::clone(&bell) as Arc<dyn Alarm>, words, board, limits);
        world.is_session.store(true, Ordering::Release);
        world.is_running.store(true, Ordering::Release);
        let patience = if is_crowded { 0 } else { POLLS };
        let link = MpiLink::new(office, office.me, Arc::clone(&bell) as Arc<dyn Alarm>, patience, pen.clone());
        let circle = MessageCircle::apart(link, office.processes, office.me, run, world.secret);
        let all: Vec<usize> = (0..office.processes).collect();
        let end = circle.join(Name::END, &all, circle.rank());
        Ok((Self { world, bell, end, pen }, Box::new(circle)))
    }

    /// What process 0 says; the others are told. Every process must call it.
    pub fn agree(&self, mine: u64) -> u64 {
        let mut all = vec![0; 8 * self.world.office.processes];
        self.world.office.mpi.allgather(&mine.to_le_bytes(), &mut all);
        all.first_chunk().map_or(mine, |&bytes| u64::from_le_bytes(bytes))
    }

    /// Ends my part, when all others end theirs, and says what has stopped the run, if anything has.
    pub fn end(mut self) -> Option<Failure> {
        // If one fails, the bell says so.
        let _ = self.end.wait();
        self.pen.end();
        self.world.pulse.end();
        self.world.office.end();
        self.world.is_running.store(false, Ordering::Release);
        let failure = self.bell.raised();
        self.world.has_failed.store(failure.is_some(), Ordering::Release);
        failure
    }
}

/// Ends all processes that were launched with this code, this one among them, if MPI was started here.
pub fn abort(code: i32) {
    if let Some(Ok(world)) = WORLD.get() {
        world.office.mpi.abort(code);
    }
}
