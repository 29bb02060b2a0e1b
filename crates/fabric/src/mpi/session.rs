//! A run in which each process is one processor, on the thread that begins it, and which ends when it is told to: for a
//! program that is not a closure.

use super::{
    link::MpiLink,
    unable::Unable,
    world::{RunAlarm, Turn, WORLD, World, numbers, world},
};
use crate::{
    alarm::Alarm,
    circle::{Circle, Meetings},
    failure::Failure,
    messages::MessageCircle,
    nest::Name,
    sight::{Limits, Pen},
    threads::ThreadAlarm,
};
use std::sync::{Arc, atomic::Ordering};

/// A process's part in a run.
pub struct Session {
    world: &'static World,
    alarm: Arc<RunAlarm>,
    end: Box<dyn Meetings>,
    pen: Pen,
    _turn: Turn,
}

impl Session {
    /// Begins a run with the other processes that were launched, and gives my end of the circle of all. `words` says
    /// what a failure comes to, for a process that has to be ended.
    pub fn begin(words: fn(&Failure) -> String) -> Result<(Self, Box<dyn Circle>), Unable> {
        let limits = Limits::from_environment().map_err(Unable::NoMpi)?;
        let world = world()?;
        let turn = world.take_turn()?;
        let endpoint = &world.endpoint;
        world.pulse.prepare();
        let local_alarm = Arc::new(ThreadAlarm::new(1, endpoint.me));
        local_alarm.enlist();
        let pen = local_alarm.pen(0);
        pen.begin();
        world.is_session.store(true, Ordering::Release);
        let alarm = world.begin(&local_alarm, words, limits);
        let link = MpiLink::new(endpoint, endpoint.me, Arc::clone(&alarm) as Arc<dyn Alarm>, pen.clone());
        let circle = MessageCircle::apart(link, endpoint.processes, endpoint.me, alarm.run, world.secret);
        let all: Vec<usize> = (0..endpoint.processes).collect();
        let end = circle.join(Name::END, &all, circle.rank());
        Ok((Self { world, alarm, end, pen, _turn: turn }, Box::new(circle)))
    }

    /// What process 0 says; the others are told. Every process must call it.
    pub fn agree(&self, mine: u64) -> u64 {
        numbers(&self.world.endpoint, [mine])[0][0]
    }

    /// Ends my part, when all others end theirs, and says what has stopped the run, if anything has.
    pub fn end(mut self) -> Option<Failure> {
        // If one fails, the alarm says so.
        let _ = self.end.wait();
        self.pen.end();
        self.world.end(&self.alarm)
    }
}

/// Ends all processes that were launched with this code, this one among them, if MPI was started here.
pub fn abort(code: i32) {
    if let Some(Ok(world)) = WORLD.get() {
        world.endpoint.mpi.abort(code);
    }
}
