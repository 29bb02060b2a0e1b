//! One processor's end of what carries packets between processes of MPI.

use super::{
    carry::Way,
    endpoint::{Endpoint, SHORT},
    header::Header,
    launcher,
    slots::{Current, MailSlot},
};
use crate::{
    alarm::Alarm,
    failure::Failure,
    messages::{Link, Packet, Stamp},
    sight::Pen,
    threads::{
        self,
        wait::{Habit, wait},
    },
    tray::Tray,
};
use std::{rc::Rc, sync::Arc};

/// What a poll costs, in spins of a wait.
const POLL: u32 = 4;

pub(super) struct MpiLink {
    pub(super) endpoint: &'static Endpoint,
    pub(super) alarm: Arc<dyn Alarm>,
    local_alarm: Arc<dyn Alarm>,
    slots: Arc<[MailSlot]>,
    run: u64,
    /// This processor's number in the run.
    number: usize,
    habit: Rc<Habit>,
    /// How many polls have found nothing.
    polls: u32,
    pen: Pen,
}

impl MpiLink {
    /// The end of the processor with this number in the run that has begun.
    pub(super) fn new(endpoint: &'static Endpoint, number: usize, alarm: Arc<dyn Alarm>, pen: Pen) -> Self {
        let Current { number: run, slots, alarm: local_alarm } = endpoint.current().expect("the run has begun");
        let is_crowded = launcher::neighbours().unwrap_or(1).saturating_mul(slots.len()) > threads::cores();
        let habit = Rc::new(Habit::of_poller(number, POLL, is_crowded));
        Self { endpoint, alarm, local_alarm, slots, run, number, habit, polls: 0, pen }
    }

    fn header(&self, stamp: Stamp, from: usize, to: usize, len: usize) -> Header {
        Header { run: self.run, stamp, len, from: from as u32, to: to as u32 }
    }

    fn check(&mut self) -> Result<(), Failure> {
        match self.local_alarm.raised() {
            None => Ok(()),
            Some(failure) => {
                self.pen.hear();
                Err(failure)
            }
        }
    }

    /// Waits until `look` finds something. Nobody wakes this processor, so it polls without end.
    #[inline]
    fn wait<R>(&mut self, mut look: impl FnMut(&mut Self) -> Option<R>) -> Result<R, Failure> {
        let (habit, pen) = (Rc::clone(&self.habit), Pen::default());
        let look = |link: &mut Self| match look(link) {
            None => link.check().map(|()| None),
            found => Ok(found),
        };
        // Whoever asks for packets has written down for whom it waits.
        wait(&habit, &pen, self, look, |_| None, Self::check)
    }

    /// What has come, after a poll if nothing had.
    #[inline]
    fn look(&mut self) -> Option<(usize, Packet)> {
        self.take().or_else(|| {
            self.endpoint.poll();
            self.take()
        })
    }

    fn take(&self) -> Option<(usize, Packet)> {
        self.slots[self.number % self.slots.len()].take()
    }
}

impl Link for MpiLink {
    fn send(&mut self, to: usize, packet: Packet) -> Result<(), Failure> {
        self.check()?;
        self.endpoint.send(self.run, self.slots.len(), self.number, to, packet);
        Ok(())
    }

    fn receive(&mut self) -> Result<(usize, Packet), Failure> {
        self.wait(Self::look)
    }

    fn try_receive(&mut self) -> Result<Option<(usize, Packet)>, Failure> {
        let found = self.look();
        // To look at the alarm costs more than a poll.
        self.polls = self.polls.wrapping_add(1);
        if found.is_none() && self.polls.is_multiple_of(64) {
            self.check()?;
        }
        Ok(found)
    }

    fn rest(&mut self) -> Result<(), Failure> {
        // Those who share this process poll too, and so do those on this machine who share its cores.
        self.polls = self.polls.wrapping_add(1);
        if self.habit.is_crowded() || self.polls.is_multiple_of(64) {
            self.check()?;
            std::thread::yield_now();
        }
        Ok(())
    }

    #[inline]
    fn send_short(&mut self, to: usize, stamp: Stamp, bytes: &[u8]) -> Result<(), Failure> {
        if bytes.len() > SHORT || to / self.slots.len() == self.endpoint.me {
            return self.send(to, Packet { stamp, tray: Tray::from(bytes.to_vec()) });
        }
        self.check()?;
        let header = self.header(stamp, self.number, to, bytes.len());
        self.endpoint.send_short(to / self.slots.len(), &header, bytes);
        Ok(())
    }

    #[inline]
    fn receive_short(
        &mut self,
        stamp: Stamp,
        from: usize,
        into: &mut Vec<u8>,
    ) -> Result<Option<(usize, Packet)>, Failure> {
        let wanted = self.header(stamp, from, self.number, 0);
        self.wait(|link| match link.take() {
            None => link.endpoint.poll_for(&wanted, into).then_some(None),
            mail => Some(mail),
        })
    }

    fn carry(&mut self, out: &[(usize, &[u8])], into: &mut [(usize, &mut [u8])]) -> Option<Result<(), Failure>> {
        let threads = self.slots.len();
        let ends = [self.number % threads, threads];
        let way = |other: usize, is_back: bool| Way::new(self.run, ends, other, is_back);
        let out = out.iter().map(|&(to, bytes)| Some((way(to, false)?, bytes))).collect::<Option<Vec<_>>>()?;
        let into = into.iter_mut().map(|(from, place)| Some((way(*from, true)?, &mut **place)));
        let mut into = into.collect::<Option<Vec<_>>>()?;
        Some(self.endpoint.carry(&out, &mut into, &*self.local_alarm))
    }

    fn pause(&mut self) -> Result<(), Failure> {
        self.endpoint.poll();
        self.check()
    }

    fn pen(&self) -> Pen {
        self.pen.clone()
    }

    fn alarm(&self) -> Arc<dyn Alarm> {
        Arc::clone(&self.alarm)
    }
}
