//! Where a process's messages go out and come in.
//!
//! Each processor of the process has a desk for what came for it. Whoever waits for something polls MPI for all of
//! them, one thread at a time. A short packet is one message, header and all; a long one is a header, and then its
//! bytes as they are, straight from the vector they were written to and into the one they will be read from.
//!
//! There is always one receive posted for headers. Nothing is received that was not sent here, and bodies of one
//! process arrive in the order of their headers, because MPI keeps the order between two processes and one tag.

mod carry;
mod header;

use super::calls::{Mpi, PIECE, Request};
use crate::{
    circle::Alarm,
    failure::Failure,
    memory::{fitting, make_room},
    messages::{Kind, Packet, Stamp},
    sight::Pen,
    tray::Tray,
};
use header::Header;
use std::{
    collections::VecDeque,
    ffi::c_int,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};

/// Up to so many bytes travel with their header: twice copied, and faster than two messages.
const SHORT: usize = 8 << 10;
/// Up to so many need not even be waited for.
const TINY: usize = 256;
const HEADER: usize = 48;
/// How many vectors are kept for their room.
const SPARES: usize = 16;
const TO_HEADER: c_int = 0x55;
const TO_BODY: c_int = 0x56;
/// The kind of a packet that says why a run cannot go on.
const ALARM: u32 = 9;

/// Bytes that are being sent; P3 of [`calls`](super::calls).
struct Sending {
    requests: Vec<Request>,
    bytes: Vec<u8>,
}

/// Bytes that are being received into a vector's spare room; P3.
struct Arriving {
    requests: Vec<Request>,
    bytes: Vec<u8>,
    header: Header,
    /// The process it comes from.
    process: usize,
}

/// What came for a processor: the sender, and the packet.
type Mail = VecDeque<(usize, Packet)>;

struct State {
    /// Where the next header goes; boxed, because its request is under way (P3).
    header: Box<[u8; HEADER + SHORT]>,
    posted: Option<Request>,
    sending: Vec<Sending>,
    arriving: Vec<Arriving>,
    /// Vectors whose bytes have been sent.
    spare: Vec<Vec<u8>>,
    /// What came for a run that has not begun here.
    later: Vec<(u64, u32, usize, Packet)>,
    run: Option<Current>,
    /// Messages sent so far, with those to this process itself.
    sent: u64,
}

/// The run that is under way.
#[derive(Clone)]
struct Current {
    number: u64,
    desks: Arc<[Desk]>,
    cord: Arc<dyn Alarm>,
}

/// Where one processor finds what came for it.
#[derive(Default)]
struct Desk {
    mail: Mutex<Mail>,
    count: AtomicUsize,
}

pub(super) struct Office {
    pub(super) mpi: Mpi,
    pub(super) me: usize,
    pub(super) processes: usize,
    state: Mutex<State>,
}

/// Each change to what is locked is one push or pop, or the process ends.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Office {
    pub(super) fn new(mpi: Mpi) -> Self {
        let (me, processes) = (mpi.rank(), mpi.size());
        let state = State {
            header: Box::new([0; HEADER + SHORT]),
            posted: None,
            sending: Vec::new(),
            arriving: Vec::new(),
            spare: Vec::new(),
            later: Vec::new(),
            run: None,
            sent: 0,
        };
        Self { mpi, me, processes, state: Mutex::new(state) }
    }

    /// Begins a run with so many processors in each process.
    pub(super) fn begin(&self, number: u64, per_process: usize, cord: Arc<dyn Alarm>) {
        let mut state = lock(&self.state);
        let current = Current { number, desks: (0..per_process).map(|_| Desk::default()).collect(), cord };
        let (now, later): (Vec<_>, Vec<_>) = state.later.drain(..).partition(|&(run, ..)| run == number);
        // What a run that has failed left behind is of no use to anybody.
        state.later = later.into_iter().filter(|&(run, ..)| run > number).collect();
        for (_, to, from, packet) in now {
            current.put(to, from, packet);
        }
        state.run = Some(current);
        if state.posted.is_none() {
            let request = self.await_header(&mut state);
            state.posted = Some(request);
        }
    }

    /// Ends it: what still comes is for the next.
    pub(super) fn end(&self) {
        lock(&self.state).run = None;
    }

    /// How many messages this process has sent so far.
    pub(super) fn sent(&self) -> u64 {
        lock(&self.state).sent
    }

    /// Waits until everything has been sent.
    pub(super) fn drain(&self) {
        let mut state = lock(&self.state);
        while !state.sending.is_empty() {
            self.settle_sends(&mut state);
        }
    }

    /// Gives up what is posted, so that MPI can be ended.
    pub(super) fn close(&self) {
        let mut state = lock(&self.state);
        if let Some(request) = state.posted.take() {
            self.mpi.cancel(request);
        }
    }

    fn send(&self, run: u64, per_process: usize, from: usize, to: usize, packet: Packet) {
        let Packet { stamp, tray } = packet;
        let mut state = lock(&self.state);
        state.sent += 1;
        let process = to / per_process;
        if process == self.me {
            if let Some(current) = &state.run {
                current.put(to as u32, from, Packet { stamp, tray });
            }
            return;
        }
        let header = Header {
            run,
            circle: stamp.circle,
            meeting: stamp.meeting,
            len: tray.bytes.len() as u64,
            kind: stamp.kind as u32,
            from: from as u32,
            to: to as u32,
        };
        self.post(&mut state, process, header, tray.bytes);
        self.settle_sends(&mut state);
    }

    /// Sends a few bytes to another process.
    #[inline]
    fn send_short(&self, process: usize, header: &Header, bytes: &[u8]) {
        let mut state = lock(&self.state);
        state.sent += 1;
        if bytes.len() > TINY {
            return self.post(&mut state, process, *header, bytes.to_vec());
        }
        let mut packet = [0; HEADER + TINY];
        packet[..HEADER].copy_from_slice(&header.write());
        packet[HEADER..HEADER + bytes.len()].copy_from_slice(bytes);
        self.mpi.send_now(&packet[..HEADER + bytes.len()], process, TO_HEADER);
    }

    /// Looks once for what has come, and takes the bytes of a packet with just this header without a detour; says
    /// whether it was there.
    #[inline]
    fn poll_for(&self, wanted: &Header, into: &mut Vec<u8>) -> bool {
        let Ok(mut state) = self.state.try_lock() else { return false };
        let mut request = match state.posted.take() {
            Some(request) => request,
            None => self.await_header(&mut state),
        };
        let Some(arrived) = self.mpi.is_done(&mut request) else {
            state.posted = Some(request);
            if !state.sending.is_empty() || !state.arriving.is_empty() {
                self.poll_with(&mut state);
            }
            return false;
        };
        let found = Header::read(&state.header[..arrived.len.min(HEADER + SHORT)]);
        if let Some(header) =
            found.filter(|header| header.is_like(wanted) && arrived.len == HEADER + header.len as usize)
        {
            into.extend_from_slice(&state.header[HEADER..HEADER + header.len as usize]);
            let next = self.await_header(&mut state);
            state.posted = Some(next);
            return true;
        }
        self.take_in(&mut state, arrived.from, arrived.len);
        self.poll_with(&mut state);
        false
    }

    /// Posts the receive of the next header.
    #[inline]
    fn await_header(&self, state: &mut State) -> Request {
        // SAFETY: P3: the box stays in the state, and is looked at only when the request is done.
        unsafe { self.mpi.receive(&mut state.header[..], None, TO_HEADER) }
    }

    /// Begins to send a header and its bytes.
    fn post(&self, state: &mut State, process: usize, header: Header, bytes: Vec<u8>) {
        let mut first = state
            .spare
            .iter()
            .position(|spare| spare.capacity() <= HEADER + SHORT)
            .map_or_else(|| Vec::with_capacity(HEADER + SHORT), |at| state.spare.swap_remove(at));
        first.clear();
        first.extend_from_slice(&header.write());
        let is_short = bytes.len() <= SHORT;
        if is_short {
            first.extend_from_slice(&bytes);
        }
        // SAFETY: P3: the vector's bytes stay where they are in `sending` until the request is done.
        let request = unsafe { self.mpi.send(&first, process, TO_HEADER) };
        state.sending.push(Sending { requests: vec![request], bytes: first });
        if is_short {
            state.keep(bytes);
            return;
        }
        let requests = bytes
            .chunks(PIECE)
            // SAFETY: P3, as above.
            .map(|piece| unsafe { self.mpi.send(piece, process, TO_BODY) })
            .collect();
        state.sending.push(Sending { requests, bytes });
    }

    /// Takes back the vectors whose bytes have been sent.
    fn settle_sends(&self, state: &mut State) {
        let mut at = 0;
        while at < state.sending.len() {
            let sending = &mut state.sending[at];
            sending.requests.retain_mut(|request| self.mpi.is_done(request).is_none());
            if sending.requests.is_empty() {
                let done = state.sending.swap_remove(at).bytes;
                state.keep(done);
            } else {
                at += 1;
            }
        }
    }

    /// Looks once for what has come, unless another thread does.
    #[inline]
    fn poll(&self) {
        if let Ok(mut state) = self.state.try_lock() {
            self.poll_with(&mut state);
        }
    }

    /// One packet at a time: who wants the next one asks again, and asking in vain costs as much as taking it in.
    fn poll_with(&self, state: &mut State) {
        let mut request = match state.posted.take() {
            Some(request) => request,
            None => self.await_header(state),
        };
        if let Some(arrived) = self.mpi.is_done(&mut request) {
            self.take_in(state, arrived.from, arrived.len);
            request = self.await_header(state);
        }
        state.posted = Some(request);
        let mut at = 0;
        while at < state.arriving.len() {
            let arriving = &mut state.arriving[at];
            arriving.requests.retain_mut(|request| self.mpi.is_done(request).is_none());
            // What one process has sent is delivered in order.
            let (is_done, process) = (arriving.requests.is_empty(), arriving.process);
            if is_done && !state.arriving[..at].iter().any(|before| before.process == process) {
                let mut done = state.arriving.remove(at);
                // SAFETY: the requests covered so many bytes of the vector's room, and MPI has written them.
                unsafe { done.bytes.set_len(done.header.len as usize) };
                state.deliver(done.header, done.bytes);
            } else {
                at += 1;
            }
        }
        if !state.sending.is_empty() {
            self.settle_sends(state);
        }
    }

    /// Takes in what has come with a header, of `len` bytes.
    fn take_in(&self, state: &mut State, from: usize, len: usize) {
        match Header::read(&state.header[..len.min(HEADER + SHORT)]) {
            Some(header) if header.len as usize <= SHORT && len == HEADER + header.len as usize => {
                let bytes = state.header[HEADER..len].to_vec();
                // A tray or a letter waits for a longer one that was sent before it.
                let has_order = [Kind::Tray as u32, Kind::Letter as u32].contains(&header.kind);
                if has_order && state.arriving.iter().any(|before| before.process == from) {
                    state.arriving.push(Arriving { requests: Vec::new(), bytes, header, process: from });
                } else {
                    state.deliver(header, bytes);
                }
            }
            Some(header) if header.len as usize > SHORT && len == HEADER => self.await_body(state, from, header),
            _ => state.refuse(from),
        }
    }

    /// Posts the receives of a long packet's bytes.
    fn await_body(&self, state: &mut State, from: usize, header: Header) {
        let len = header.len as usize;
        let mut bytes = fitting(&mut state.spare, len);
        make_room(&mut bytes, len);
        let mut requests = Vec::new();
        for piece in bytes.spare_capacity_mut()[..len].chunks_mut(PIECE) {
            // SAFETY: MPI writes into the room; nobody reads it before `set_len`.
            let piece = unsafe { std::slice::from_raw_parts_mut(piece.as_mut_ptr().cast::<u8>(), piece.len()) };
            // SAFETY: P3: the vector stays in `arriving` until its requests are done.
            requests.push(unsafe { self.mpi.receive(piece, Some(from), TO_BODY) });
        }
        state.arriving.push(Arriving { requests, bytes, header, process: from });
    }

    /// Tells every other process why the run cannot go on.
    pub(super) fn spread(&self, failure: &Failure) {
        let report = failure.write();
        let mut state = lock(&self.state);
        let Some(number) = state.run.as_ref().map(|run| run.number) else { return };
        for process in (0..self.processes).filter(|&process| process != self.me) {
            let len = report.len().min(SHORT);
            let header = Header {
                run: number,
                circle: 0,
                meeting: 0,
                len: len as u64,
                kind: ALARM,
                from: self.me as u32,
                to: 0,
            };
            self.post(&mut state, process, header, report[..len].to_vec());
        }
        self.settle_sends(&mut state);
    }
}

impl State {
    /// Puts a packet on the desk of the processor it is for.
    fn deliver(&mut self, header: Header, bytes: Vec<u8>) {
        if header.kind == ALARM {
            if let Some(run) = self.run.as_ref().filter(|run| run.number == header.run) {
                let unclear = Failure::Damaged { rank: header.from as usize };
                run.cord.raise(Failure::read(&bytes).unwrap_or(unclear));
            }
            return;
        }
        let from = header.from as usize;
        let Some(stamp) = header.stamp() else { return self.refuse(from) };
        let packet = Packet { stamp, tray: Tray { bytes, moved: Vec::new() } };
        match &self.run {
            Some(run) if run.number == header.run => run.put(header.to, from, packet),
            Some(run) if run.number > header.run => {}
            _ => self.later.push((header.run, header.to, from, packet)),
        }
    }

    /// Ends the run over a message that makes no sense.
    fn refuse(&self, from: usize) {
        if let Some(run) = &self.run {
            run.cord.raise(Failure::Damaged { rank: from });
        }
    }

    /// Keeps a vector for its room.
    fn keep(&mut self, mut bytes: Vec<u8>) {
        if self.spare.len() < SPARES && bytes.capacity() > 0 {
            bytes.clear();
            self.spare.push(bytes);
        }
    }
}

impl Current {
    fn put(&self, to: u32, from: usize, packet: Packet) {
        // Numbers are dealt out process by process.
        if let Some(desk) = self.desks.get(to as usize % self.desks.len()) {
            lock(&desk.mail).push_back((from, packet));
            desk.count.fetch_add(1, Ordering::Release);
        }
    }
}

/// How many empty polls come before the core is given away, where there are enough: some tens of microseconds, in which
/// who runs has answered.
pub(super) const POLLS: u32 = 100;

/// One processor's end.
pub(super) struct MpiLink {
    pub(super) office: &'static Office,
    pub(super) bell: Arc<dyn Alarm>,
    cord: Arc<dyn Alarm>,
    desks: Arc<[Desk]>,
    run: u64,
    /// This processor's number in the run.
    number: usize,
    /// How many empty polls come before the core is given away.
    patience: u32,
    /// How many polls have found nothing, and how often it has rested.
    polls: u32,
    rests: u32,
    pen: Pen,
}

impl MpiLink {
    /// The end of the processor with this number in the run that has begun.
    pub(super) fn new(office: &'static Office, number: usize, bell: Arc<dyn Alarm>, patience: u32, pen: Pen) -> Self {
        let current = lock(&office.state).run.clone().expect("the run has begun");
        let Current { number: run, desks, cord } = current;
        Self { office, bell, cord, desks, run, number, patience, polls: 0, rests: 0, pen }
    }

    fn header(&self, stamp: Stamp, from: usize, to: usize, len: usize) -> Header {
        let Stamp { circle, meeting, kind } = stamp;
        let (kind, from, to) = (kind as u32, from as u32, to as u32);
        Header { run: self.run, circle, meeting, len: len as u64, kind, from, to }
    }

    fn check(&self) -> Result<(), Failure> {
        match self.cord.raised() {
            None => Ok(()),
            Some(failure) => {
                self.pen.hear();
                Err(failure)
            }
        }
    }

    fn take(&self) -> Option<(usize, Packet)> {
        let desk = &self.desks[self.number % self.desks.len()];
        if desk.count.load(Ordering::Acquire) == 0 {
            return None;
        }
        let mail = lock(&desk.mail).pop_front()?;
        desk.count.fetch_sub(1, Ordering::Relaxed);
        Some(mail)
    }
}

impl crate::messages::Link for MpiLink {
    fn send(&mut self, to: usize, packet: Packet) -> Result<(), Failure> {
        self.check()?;
        self.office.send(self.run, self.desks.len(), self.number, to, packet);
        Ok(())
    }

    fn receive(&mut self) -> Result<(usize, Packet), Failure> {
        let mut polls = 0u32;
        loop {
            if let Some(mail) = self.take() {
                return Ok(mail);
            }
            self.office.poll();
            if let Some(mail) = self.take() {
                return Ok(mail);
            }
            self.check()?;
            polls = polls.saturating_add(1);
            if polls > self.patience {
                std::thread::yield_now();
            }
        }
    }

    fn try_receive(&mut self) -> Result<Option<(usize, Packet)>, Failure> {
        if let Some(mail) = self.take() {
            return Ok(Some(mail));
        }
        self.office.poll();
        if let Some(mail) = self.take() {
            return Ok(Some(mail));
        }
        // The cord is looked at now and then: it costs more than a poll.
        self.polls = self.polls.wrapping_add(1);
        if self.polls.is_multiple_of(64) {
            self.check()?;
        }
        Ok(None)
    }

    fn rest(&mut self) -> Result<(), Failure> {
        // Those who share this process poll too, and so do those on this machine who share its cores.
        self.rests = self.rests.wrapping_add(1);
        if self.rests.is_multiple_of(self.patience.max(1)) {
            self.check()?;
            std::thread::yield_now();
        }
        Ok(())
    }

    #[inline]
    fn send_short(&mut self, to: usize, stamp: Stamp, bytes: &[u8]) -> Result<(), Failure> {
        if bytes.len() > SHORT || to / self.desks.len() == self.office.me {
            return self.send(to, Packet { stamp, tray: Tray { bytes: bytes.to_vec(), moved: Vec::new() } });
        }
        self.check()?;
        let header = self.header(stamp, self.number, to, bytes.len());
        self.office.send_short(to / self.desks.len(), &header, bytes);
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
        let mut polls = 0u32;
        loop {
            if let Some(mail) = self.take() {
                return Ok(Some(mail));
            }
            if self.office.poll_for(&wanted, into) {
                return Ok(None);
            }
            polls = polls.saturating_add(1);
            // The cord is looked at now and then: it costs more than a poll.
            if polls.is_multiple_of(64) || polls > self.patience {
                self.check()?;
            }
            if polls > self.patience {
                std::thread::yield_now();
            }
        }
    }

    /// Threads of one process could not tell each other's pieces apart.
    fn carry(&mut self, out: &[(usize, &[u8])], into: &mut [(usize, &mut [u8])]) -> Option<Result<(), Failure>> {
        (self.desks.len() == 1).then(|| self.office.carry(out, into, &*self.cord))
    }

    fn pause(&mut self) -> Result<(), Failure> {
        self.office.poll();
        self.check()
    }

    fn pen(&self) -> Pen {
        self.pen.clone()
    }

    fn shares(&self, _: usize) -> bool {
        false
    }

    fn alarm(&self) -> Arc<dyn Alarm> {
        Arc::clone(&self.bell)
    }
}
