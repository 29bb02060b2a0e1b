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
    carry,
    header::{Body, Header, whole},
    reach,
    ring::{Layout, Reader, UNIT, Writer},
    shared::Shared,
    team::{Cord, Team},
};
use crate::{
    circle::Alarm,
    failure::Failure,
    memory::{fitting, try_make_room},
    messages::{Kind, Link, Packet, Stamp},
    sight::Pen,
    threads::wait::{Habit, Patience, Turn},
    tray::Tray,
};
use std::{collections::VecDeque, rc::Rc, sync::Arc};

/// How many vectors are kept for their room.
const SPARES: usize = 16;

/// From how many bytes on a packet stays where it is.
const LONG: usize = 32 << 10;

/// A packet that has not gone, or not all of it.
struct Waiting {
    header: Header,
    bytes: Vec<u8>,
    /// How much of the bytes has gone; `None` if the header has not.
    gone: Option<usize>,
}

/// What goes to one process.
struct Outgoing {
    writer: Writer,
    waiting: VecDeque<Waiting>,
    /// Packets that stay here until they were read.
    lent: VecDeque<Vec<u8>>,
    /// Whether the system lets us read each other's memory, as far as is known.
    can_reach: Option<bool>,
}

/// What comes from one process.
struct Incoming {
    reader: Reader,
    /// A packet of which a part has come.
    begun: Option<(Header, Vec<u8>)>,
}

/// What a process has sent next.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Next {
    Nothing,
    /// What was wanted.
    Taken,
    /// Something else, or not yet all of it.
    Another,
}

/// One process's end of all the rings it reads and writes.
pub(super) struct ProcsLink {
    cord: Cord,
    layout: Layout,
    rank: usize,
    outgoing: Vec<Outgoing>,
    /// Those for whom something waits.
    blocked: Vec<usize>,
    incoming: Vec<Incoming>,
    /// What has come and nobody has asked for.
    mail: VecDeque<(usize, Packet)>,
    /// What has come for memory that is carried.
    pieces: VecDeque<(usize, Vec<u8>)>,
    /// Vectors whose bytes have gone.
    spare: Vec<Vec<u8>>,
    habit: Rc<Habit>,
    pen: Pen,
}

impl ProcsLink {
    /// This process's end; a process makes one. `None` if the team's memory is too small for rings. If it may not
    /// `reach` the memory of others, everything goes through the rings.
    pub(super) fn new(team: &Team, may_reach: bool) -> Option<Self> {
        let (rank, size) = (team.rank(), team.size());
        let layout = Layout::new(size, team.shared().len())?;
        let outgoing = |to| Outgoing {
            writer: layout.writer(rank, to),
            waiting: VecDeque::new(),
            lent: VecDeque::new(),
            can_reach: (!may_reach).then_some(false),
        };
        let incoming = |from| Incoming { reader: layout.reader(from, rank), begun: None };
        Some(Self {
            cord: team.cord(),
            layout,
            rank,
            outgoing: (0..size).map(outgoing).collect(),
            blocked: Vec::new(),
            incoming: (0..size).map(incoming).collect(),
            mail: VecDeque::new(),
            pieces: VecDeque::new(),
            spare: Vec::new(),
            habit: Rc::new(Habit::of_rank(rank)),
            pen: team.pen(),
        })
    }

    /// Sends at once if nothing waits and there is room.
    #[inline]
    fn send_now(&mut self, to: usize, header: &Header, bytes: &[u8]) -> Result<bool, Failure> {
        let Outgoing { writer, waiting, .. } = &mut self.outgoing[to];
        let (shared, total) = (self.cord.shared(), whole(bytes.len()));
        if !waiting.is_empty() || total > writer.room() / 4 || !writer.has_room(shared, total)? {
            return Ok(false);
        }
        writer.write(shared, &header.write());
        writer.write(shared, bytes);
        writer.end();
        writer.hand_over(&self.layout, shared);
        self.cord.bell(to).ring();
        Ok(true)
    }

    /// Sends when there is room.
    fn send_later(&mut self, to: usize, header: Header, bytes: Vec<u8>) -> Result<(), Failure> {
        let waiting = &mut self.outgoing[to].waiting;
        if waiting.is_empty() {
            self.blocked.push(to);
        }
        waiting.push_back(Waiting { header, bytes, gone: None });
        self.send_waiting()
    }

    /// Sends now if there is room, or else when there is.
    fn send_any(&mut self, to: usize, header: Header, bytes: Vec<u8>) -> Result<(), Failure> {
        if self.send_now(to, &header, &bytes)? {
            keep(&mut self.spare, bytes);
            return Ok(());
        }
        self.send_later(to, header, bytes)
    }

    /// Whether the process `to` can read what stays here. What the system lets this one do it lets the other do.
    fn can_lend(&mut self, to: usize) -> bool {
        let pid = self.cord.pid(to);
        *self.outgoing[to].can_reach.get_or_insert_with(|| reach::is_allowed(pid))
    }

    /// Sends as much of what waits as there is room for.
    fn send_waiting(&mut self) -> Result<(), Failure> {
        let mut outcome = Ok(());
        let mut blocked = std::mem::take(&mut self.blocked);
        blocked.retain(|&to| match self.send_waiting_to(to) {
            Ok(is_blocked) => is_blocked,
            Err(failure) => {
                outcome = Err(failure);
                true
            }
        });
        self.blocked = blocked;
        outcome
    }

    /// Sends as much as there is room for to one process; says whether anything is left.
    fn send_waiting_to(&mut self, to: usize) -> Result<bool, Failure> {
        let Outgoing { writer, waiting, .. } = &mut self.outgoing[to];
        let shared = self.cord.shared();
        let portion = writer.room() / 4;
        while let Some(Waiting { header, bytes, gone }) = waiting.front_mut() {
            let left = bytes.len() - gone.unwrap_or(0);
            let head = if gone.is_none() { Header::BYTES } else { 0 };
            if !writer.has_room(shared, (head + left).next_multiple_of(UNIT).min(portion))? {
                return Ok(true);
            }
            if gone.is_none() {
                writer.write(shared, &header.write());
            }
            // Each piece but the last fills whole lines.
            let (start, len) = (gone.unwrap_or(0), left.min(portion - head));
            writer.write(shared, &bytes[start..start + len]);
            *gone = Some(start + len);
            if len == left {
                writer.end();
                let bytes = waiting.pop_front().map_or_else(Vec::new, |done| done.bytes);
                keep(&mut self.spare, bytes);
            }
            writer.hand_over(&self.layout, shared);
            self.cord.bell(to).ring();
        }
        Ok(false)
    }

    /// Takes in what has come from everybody but `except`.
    #[inline]
    fn take_in(&mut self, except: Option<usize>) -> Result<(), Failure> {
        for word in 0..self.layout.words() {
            let mut callers = self.layout.announced(self.cord.shared(), self.rank, word);
            while callers != 0 {
                let from = 64 * word + callers.trailing_zeros() as usize;
                callers &= callers - 1;
                let is_there = |incoming: &Incoming| incoming.reader.has_some(self.cord.shared());
                if Some(from) != except && self.incoming.get(from).is_some_and(is_there) {
                    self.take_from(from)?;
                }
            }
        }
        Ok(())
    }

    /// Takes in what has come from one process.
    fn take_from(&mut self, from: usize) -> Result<(), Failure> {
        let damaged = || Failure::Damaged { rank: from };
        loop {
            let Incoming { reader, begun } = &mut self.incoming[from];
            let (shared, portion) = (self.cord.shared(), reader.portion());
            if reader.available(shared)? == 0 {
                return Ok(());
            }
            let (header, mut bytes) = match begun.take() {
                Some(begun) => begun,
                None => begin(reader, shared, &mut self.spare).ok_or_else(damaged)?,
            };
            reader.read(shared, (header.behind() - bytes.len()).min(reader.left()).min(portion), &mut bytes);
            let is_whole = bytes.len() == header.behind();
            if is_whole {
                reader.end();
            } else {
                *begun = Some((header, std::mem::take(&mut bytes)));
            }
            if reader.hand_back(shared) {
                self.cord.bell(from).ring();
            }
            if is_whole {
                self.take_whole(from, header, bytes)?;
            }
        }
    }

    /// Takes in a packet of which all has come.
    fn take_whole(&mut self, from: usize, header: Header, bytes: Vec<u8>) -> Result<(), Failure> {
        let bytes = match header.body {
            Body::Here => bytes,
            Body::There => self.fetch(from, header, bytes)?,
            Body::Read => {
                let read = self.outgoing[from].lent.pop_front().ok_or(Failure::Damaged { rank: from })?;
                keep(&mut self.spare, read);
                return Ok(());
            }
        };
        if header.stamp.kind == Kind::Piece {
            self.pieces.push_back((from, bytes));
        } else {
            let tray = Tray { bytes, moved: Vec::new() };
            self.mail.push_back((from, Packet { stamp: header.stamp, tray }));
        }
        Ok(())
    }

    /// Fetches a packet that has stayed with its sender, and says so.
    fn fetch(&mut self, from: usize, header: Header, address: Vec<u8>) -> Result<Vec<u8>, Failure> {
        let damaged = Failure::Damaged { rank: from };
        let place = address.first_chunk().map(|bytes| u64::from_le_bytes(*bytes)).ok_or_else(|| damaged.clone())?;
        keep(&mut self.spare, address);
        let mut bytes = fitting(&mut self.spare, header.len);
        if !carry::fetch(self.cord.pid(from), place as usize, header.len, &mut bytes) {
            // It may be gone, and then that is the failure.
            self.cord.await_death_of(from);
            return Err(self.cord.check().err().unwrap_or(damaged));
        }
        self.send_any(from, Header { body: Body::Read, len: 0, ..header }, Vec::new())?;
        Ok(bytes)
    }

    /// Takes the bytes of the next packet of one process, if it is there whole and has this stamp.
    #[inline]
    fn take_short(&mut self, stamp: Stamp, from: usize, into: &mut Vec<u8>) -> Result<Next, Failure> {
        let Incoming { reader, begun } = &mut self.incoming[from];
        let shared = self.cord.shared();
        let available = reader.available(shared)?;
        if available == 0 {
            return Ok(Next::Nothing);
        }
        if begun.is_some() || available < Header::BYTES {
            return Ok(Next::Another);
        }
        match Header::read(reader.peek(shared, Header::BYTES).0) {
            Some(header)
                if header.stamp == stamp && header.body == Body::Here && header.len <= available - Header::BYTES =>
            {
                reader.skip(Header::BYTES);
                reader.read(shared, header.len, into);
                reader.end();
                if reader.hand_back(shared) {
                    self.cord.bell(from).ring();
                }
                Ok(Next::Taken)
            }
            _ => Ok(Next::Another),
        }
    }

    /// Passes some time; `patience` says how.
    #[inline]
    fn pass(&mut self, patience: &mut Patience<'_>) -> Result<(), Failure> {
        self.cord.check()?;
        if !self.blocked.is_empty() {
            self.send_waiting()?;
        }
        match patience.next() {
            Turn::Spin => std::hint::spin_loop(),
            Turn::Yield => patience.give_way(),
            Turn::Sleep => self.sleep()?,
        }
        Ok(())
    }

    /// Sleeps until something comes, or there is room for what waits.
    #[cold]
    fn sleep(&mut self) -> Result<(), Failure> {
        let Self { cord, layout, rank, outgoing, blocked, incoming, .. } = self;
        let shared = cord.shared();
        for &to in &*blocked {
            outgoing[to].writer.say_full(shared, true);
        }
        let mut outcome = Ok(());
        cord.bell(*rank).sleep_unless(|| {
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
            cord.is_raised() || has_mail() || blocked.iter().any(&mut has_room)
        });
        for &to in &*blocked {
            outgoing[to].writer.say_full(shared, false);
        }
        outcome
    }

    pub(super) fn rank(&self) -> usize {
        self.rank
    }

    /// Copies from the memory of another process; false if that cannot be done.
    pub(super) fn read_from(&self, from: usize, address: usize, into: &mut [u8]) -> bool {
        self.outgoing[from].can_reach != Some(false) && reach::read(self.cord.pid(from), address, into)
    }

    /// Waits for the next piece from this process.
    pub(super) fn next_piece(&mut self, from: usize) -> Result<Vec<u8>, Failure> {
        let habit = Rc::clone(&self.habit);
        let mut patience = Patience::new(&habit);
        self.cord.check()?;
        loop {
            if let Some(at) = self.pieces.iter().position(|&(source, _)| source == from) {
                patience.learn();
                return Ok(self.pieces.remove(at).map(|piece| piece.1).unwrap_or_default());
            }
            self.take_in(None)?;
            self.pass(&mut patience)?;
        }
    }

    /// Waits until everything has gone, or the team was stopped.
    fn drain(&mut self) -> Result<(), Failure> {
        let habit = Rc::clone(&self.habit);
        let mut patience = Patience::new(&habit);
        loop {
            self.take_in(None)?;
            // Who is done has all it wanted.
            let Self { cord, outgoing, blocked, .. } = self;
            blocked.retain(|&to| !cord.is_done(to));
            let is_read = |(to, it): (usize, &Outgoing)| it.lent.is_empty() || cord.is_done(to);
            if blocked.is_empty() && outgoing.iter().enumerate().all(is_read) {
                return Ok(());
            }
            self.pass(&mut patience)?;
        }
    }
}

/// Reads a header, and makes room for what follows it.
fn begin(reader: &mut Reader, shared: &Shared, spare: &mut Vec<Vec<u8>>) -> Option<(Header, Vec<u8>)> {
    if reader.left() < Header::BYTES {
        return None;
    }
    let header = Header::read(reader.peek(shared, Header::BYTES).0)?;
    reader.skip(Header::BYTES);
    let mut bytes = if header.behind() == 0 { Vec::new() } else { fitting(spare, header.behind()) };
    try_make_room(&mut bytes, header.behind()).then_some((header, bytes))
}

/// Keeps a vector for its room, in the place of a smaller one if there are enough.
fn keep(spare: &mut Vec<Vec<u8>>, mut bytes: Vec<u8>) {
    bytes.clear();
    if spare.len() == SPARES {
        if let Some(least) = spare.iter_mut().min_by_key(|spare| spare.capacity())
            && least.capacity() < bytes.capacity()
        {
            *least = bytes;
        }
    } else if bytes.capacity() > 0 {
        spare.push(bytes);
    }
}

impl Link for ProcsLink {
    fn send(&mut self, to: usize, packet: Packet) -> Result<(), Failure> {
        self.cord.check()?;
        let Packet { stamp, tray } = packet;
        if to == self.rank {
            match stamp.kind {
                Kind::Piece => self.pieces.push_back((to, tray.bytes)),
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
        let habit = Rc::clone(&self.habit);
        let mut patience = Patience::new(&habit);
        self.cord.check()?;
        loop {
            if let Some(mail) = self.mail.pop_front() {
                patience.learn();
                return Ok(mail);
            }
            self.take_in(None)?;
            if self.mail.is_empty() {
                self.pass(&mut patience)?;
            }
        }
    }

    #[inline]
    fn try_receive(&mut self) -> Result<Option<(usize, Packet)>, Failure> {
        if self.mail.is_empty() {
            self.cord.check()?;
            self.take_in(None)?;
            if !self.blocked.is_empty() {
                self.send_waiting()?;
            }
        }
        Ok(self.mail.pop_front())
    }

    fn rest(&mut self) -> Result<(), Failure> {
        let habit = Rc::clone(&self.habit);
        let mut patience = Patience::new(&habit);
        loop {
            self.take_in(None)?;
            if !self.mail.is_empty() {
                patience.learn();
                return Ok(());
            }
            self.pass(&mut patience)?;
        }
    }

    #[inline]
    fn send_short(&mut self, to: usize, stamp: Stamp, bytes: &[u8]) -> Result<(), Failure> {
        self.cord.check()?;
        let header = Header { stamp, body: Body::Here, len: bytes.len() };
        if to != self.rank && header.len < LONG && self.send_now(to, &header, bytes)? {
            return Ok(());
        }
        self.send(to, Packet { stamp, tray: Tray { bytes: bytes.to_vec(), moved: Vec::new() } })
    }

    #[inline]
    fn receive_short(
        &mut self,
        stamp: Stamp,
        from: usize,
        into: &mut Vec<u8>,
    ) -> Result<Option<(usize, Packet)>, Failure> {
        let habit = Rc::clone(&self.habit);
        let mut patience = Patience::new(&habit);
        self.cord.check()?;
        loop {
            if let Some(mail) = self.mail.pop_front() {
                return Ok(Some(mail));
            }
            let next = self.take_short(stamp, from, into)?;
            if next == Next::Taken {
                patience.learn();
                return Ok(None);
            }
            // What is not wanted, or not there as a whole, is taken in like anything else; what is wanted is not.
            self.take_in((next == Next::Nothing).then_some(from))?;
            if self.mail.is_empty() {
                self.pass(&mut patience)?;
            }
        }
    }

    fn carry(&mut self, out: &[(usize, &[u8])], into: &mut [(usize, &mut [u8])]) -> Option<Result<(), Failure>> {
        Some(self.carry_all(out, into))
    }

    fn pause(&mut self) -> Result<(), Failure> {
        self.cord.check()?;
        self.take_in(None)?;
        self.send_waiting()
    }

    fn pen(&self) -> Pen {
        self.pen.clone()
    }

    fn shares(&self, _: usize) -> bool {
        false
    }

    fn alarm(&self) -> Arc<dyn Alarm> {
        Arc::new(self.cord.clone())
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
