//! Packets between processes, through [rings](super::ring) of shared memory.
//!
//! A packet is a header and its bytes. A long one stays where it is: what goes through the ring is its address, and the
//! other side has the system copy it from there, and says when that is done. Where the system does not let it, a packet
//! may still be longer than the ring: then it goes through in pieces, and is put together on the other side.
//!
//! Nobody waits to send. What finds no room stays with the sender, and goes on its way whenever that process sends,
//! receives or passes the time; and whoever waits for a packet takes in everything that comes for it, wanted or not. So
//! every ring is emptied while its reader waits for anything, and no circle of full rings can stand still.

use super::{
    board::TeamAlarm,
    header::{Body, Header},
    reach,
    ring::{Layout, Reader, Writer},
    team::Team,
};
use crate::{
    alarm::Alarm,
    failure::Failure,
    messages::{Link, Packet, Stamp, Tag},
    sight::Pen,
    spares::Spares,
    threads::wait::{Habit, wait},
    tray::Tray,
};
use std::{collections::VecDeque, rc::Rc, sync::Arc};

/// From how many bytes on a packet stays where it is.
const LONG: usize = 32 << 10;

/// A packet that has not gone, or not all of it.
pub(super) struct Waiting {
    pub(super) header: Header,
    pub(super) bytes: Vec<u8>,
    /// How much of the bytes has gone; `None` if the header has not.
    pub(super) gone: Option<usize>,
}

pub(super) struct Outgoing {
    pub(super) writer: Writer,
    pub(super) waiting: VecDeque<Waiting>,
    /// Packets that stay here until they were read.
    pub(super) lent: VecDeque<Vec<u8>>,
    /// Whether the system lets us read each other's memory, as far as is known.
    pub(super) can_reach: Option<bool>,
}

pub(super) struct Incoming {
    pub(super) reader: Reader,
    /// A packet of which a part has come.
    pub(super) begun: Option<(Header, Vec<u8>)>,
}

/// What a process has sent next.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    Nothing,
    /// What was wanted.
    Taken,
    /// Something else, or not yet all of it.
    Another,
}

/// One process's end of all the rings it reads and writes.
pub(super) struct ProcsLink {
    pub(super) alarm: TeamAlarm,
    pub(super) layout: Layout,
    pub(super) rank: usize,
    pub(super) outgoing: Vec<Outgoing>,
    /// Those for whom something waits.
    pub(super) blocked: Vec<usize>,
    pub(super) incoming: Vec<Incoming>,
    /// What has come and nobody has asked for.
    pub(super) mail: VecDeque<(usize, Packet)>,
    /// What has come for memory that is carried.
    pub(super) pieces: VecDeque<(usize, Vec<u8>)>,
    /// Vectors whose bytes have gone.
    pub(super) spares: Spares<u8>,
    pub(super) habit: Rc<Habit>,
    pub(super) pen: Pen,
}

impl ProcsLink {
    /// This process's end; a process makes one. `None` if the team's memory is too small for rings. If it may not
    /// `reach` the memory of others, everything goes through the rings.
    pub(super) fn new(team: &Team, may_reach: bool) -> Option<Self> {
        let layout = Layout::new(team.size(), team.shared().len())?;
        Some(Self::of(team.alarm(), layout, team.size(), may_reach))
    }

    /// The end of the process that `alarm` names.
    pub(super) fn of(alarm: TeamAlarm, layout: Layout, size: usize, may_reach: bool) -> Self {
        let rank = alarm.rank;
        let outgoing = |to| Outgoing {
            writer: layout.writer(rank, to),
            waiting: VecDeque::new(),
            lent: VecDeque::new(),
            can_reach: (!may_reach).then_some(false),
        };
        let incoming = |from| Incoming { reader: layout.reader(from, rank), begun: None };
        Self {
            layout,
            rank,
            outgoing: (0..size).map(outgoing).collect(),
            blocked: Vec::new(),
            incoming: (0..size).map(incoming).collect(),
            mail: VecDeque::new(),
            pieces: VecDeque::new(),
            spares: Spares::default(),
            habit: Rc::new(Habit::of_rank(rank)),
            pen: alarm.pen(),
            alarm,
        }
    }

    /// Waits until `look` finds something, and sends what waits as there is room for it.
    #[inline]
    fn wait<R>(&mut self, mut look: impl FnMut(&mut Self) -> Result<Option<R>, Failure>) -> Result<R, Failure> {
        self.alarm.check()?;
        let (habit, pen) = (Rc::clone(&self.habit), Pen::default());
        let look = |link: &mut Self| {
            let found = look(link)?;
            if found.is_none() {
                link.alarm.check()?;
                if !link.blocked.is_empty() {
                    link.send_waiting()?;
                }
            }
            Ok(found)
        };
        // Whoever asks for packets has written down for whom it waits.
        wait(&habit, &pen, self, look, |_| None, Self::sleep)
    }

    /// Sleeps until something comes, or there is room for what waits.
    #[cold]
    fn sleep(&mut self) -> Result<(), Failure> {
        let Self { alarm, layout, rank, outgoing, blocked, incoming, .. } = self;
        let shared = &*alarm.shared;
        for &to in &*blocked {
            outgoing[to].writer.say_full(shared, true);
        }
        let mut outcome = Ok(());
        alarm.bell(*rank).sleep_unless(|| {
            let mut has_room = |&to: &usize| {
                let writer = &mut outgoing[to].writer;
                let portion = writer.room() / 4;
                writer.has_room(shared, portion).unwrap_or_else(|failure| {
                    outcome = Err(failure);
                    true
                })
            };
            let has_mail = || {
                let callers = |word| layout.announced(shared, *rank, word);
                let is_caller = |from: usize| callers(from / 64) >> (from % 64) & 1 == 1;
                incoming.iter().enumerate().any(|(from, it)| is_caller(from) && it.reader.has_some(shared))
            };
            alarm.is_raised() || has_mail() || blocked.iter().any(&mut has_room)
        });
        for &to in &*blocked {
            outgoing[to].writer.say_full(shared, false);
        }
        outcome
    }

    /// Copies from the memory of another process; false if that cannot be done.
    pub(super) fn read_from(&self, from: usize, address: usize, into: &mut [u8]) -> bool {
        self.outgoing[from].can_reach != Some(false) && reach::read(self.alarm.pid(from), address, into)
    }

    /// Waits for the next piece from this process.
    pub(super) fn next_piece(&mut self, from: usize) -> Result<Vec<u8>, Failure> {
        self.wait(|link| {
            let is_there = |link: &Self| link.pieces.iter().position(|&(source, _)| source == from);
            if is_there(link).is_none() {
                link.take_in(None)?;
            }
            Ok(is_there(link).and_then(|at| link.pieces.remove(at)).map(|(_, piece)| piece))
        })
    }

    /// Waits until everything has gone, or the team was stopped.
    fn drain(&mut self) -> Result<(), Failure> {
        self.wait(|link| {
            link.take_in(None)?;
            // Who is done has all it wanted.
            let Self { alarm, outgoing, blocked, .. } = link;
            blocked.retain(|&to| !alarm.is_done(to));
            let is_read = |(to, it): (usize, &Outgoing)| it.lent.is_empty() || alarm.is_done(to);
            Ok((blocked.is_empty() && outgoing.iter().enumerate().all(is_read)).then_some(()))
        })
    }
}

impl Link for ProcsLink {
    fn send(&mut self, to: usize, packet: Packet) -> Result<(), Failure> {
        self.alarm.check()?;
        let Packet { stamp, tray } = packet;
        if to == self.rank {
            match stamp.tag {
                Tag::Piece => self.pieces.push_back((to, tray.bytes)),
                _ => self.mail.push_back((to, Packet { stamp, tray })),
            }
            return Ok(());
        }
        let header = Header { stamp, body: Body::Here, len: tray.bytes.len() };
        if header.len < LONG || !self.can_lend(to) {
            return self.send_any(to, header, tray.bytes);
        }
        let address = tray.bytes.as_ptr().expose_provenance() as u64;
        self.outgoing[to].lent.push_back(tray.bytes);
        let header = Header { body: Body::There, ..header };
        if self.send_now(to, &header, &address.to_le_bytes())? {
            return Ok(());
        }
        self.send_later(to, header, address.to_le_bytes().to_vec())
    }

    fn receive(&mut self) -> Result<(usize, Packet), Failure> {
        self.wait(|link| {
            if link.mail.is_empty() {
                link.take_in(None)?;
            }
            Ok(link.mail.pop_front())
        })
    }

    #[inline]
    fn try_receive(&mut self) -> Result<Option<(usize, Packet)>, Failure> {
        if self.mail.is_empty() {
            self.alarm.check()?;
            self.take_in(None)?;
            if !self.blocked.is_empty() {
                self.send_waiting()?;
            }
        }
        Ok(self.mail.pop_front())
    }

    fn rest(&mut self) -> Result<(), Failure> {
        self.wait(|link| {
            link.take_in(None)?;
            Ok((!link.mail.is_empty()).then_some(()))
        })
    }

    #[inline]
    fn send_short(&mut self, to: usize, stamp: Stamp, bytes: &[u8]) -> Result<(), Failure> {
        self.alarm.check()?;
        let header = Header { stamp, body: Body::Here, len: bytes.len() };
        if to != self.rank && header.len < LONG && self.send_now(to, &header, bytes)? {
            return Ok(());
        }
        self.send(to, Packet { stamp, tray: Tray::from(bytes.to_vec()) })
    }

    #[inline]
    fn receive_short(
        &mut self,
        stamp: Stamp,
        from: usize,
        into: &mut Vec<u8>,
    ) -> Result<Option<(usize, Packet)>, Failure> {
        self.wait(|link| {
            if let Some(mail) = link.mail.pop_front() {
                return Ok(Some(Some(mail)));
            }
            let next = link.take_short(stamp, from, into)?;
            if next == Next::Taken {
                return Ok(Some(None));
            }
            // What is not wanted, or not there as a whole, is taken in like anything else; what is wanted is not.
            link.take_in((next == Next::Nothing).then_some(from))?;
            Ok(link.mail.pop_front().map(Some))
        })
    }

    fn carry(&mut self, out: &[(usize, &[u8])], into: &mut [(usize, &mut [u8])]) -> Option<Result<(), Failure>> {
        Some(self.carry_all(out, into))
    }

    fn pause(&mut self) -> Result<(), Failure> {
        self.alarm.check()?;
        self.take_in(None)?;
        self.send_waiting()
    }

    fn pen(&self) -> Pen {
        self.pen.clone()
    }

    fn alarm(&self) -> Arc<dyn Alarm> {
        Arc::new(self.alarm.clone())
    }
}

impl Drop for ProcsLink {
    /// What was sent must go before the process ends. When the team was stopped, nobody waits for it any more.
    fn drop(&mut self) {
        if !std::thread::panicking() {
            let _ = self.drain();
        }
    }
}
