//! Where packets leave a process and come in.
//!
//! Each processor of the process has a slot for what came for it. Whoever waits for something polls MPI for all of
//! them, one thread at a time. A short packet is one message, header and all; a long one is a header, and then its
//! bytes as they are, straight from the vector they were written to and into the one they will be read from.
//!
//! There is always one receive posted for headers. Nothing is received that was not sent here, and bodies of one
//! process arrive in the order of their headers, because MPI keeps the order between two processes and one tag.

use super::{
    calls::{Mpi, PIECE, Request},
    header::Header,
    slots::{Current, MailSlot},
};
use crate::{
    alarm::Alarm,
    failure::Failure,
    lock::lock,
    memory::try_make_room,
    messages::{Packet, Stamp, Tag},
    spares::Spares,
    tray::Tray,
};
use std::{
    ffi::c_int,
    sync::{Arc, Mutex},
};

/// Up to so many bytes travel with their header: twice copied, and faster than two messages.
pub(super) const SHORT: usize = 8 << 10;
/// So few leave at once, with no request to wait for.
const TINY: usize = 256;
const HEADER: usize = Header::BYTES;
const TO_HEADER: c_int = 0x55;
const TO_BODY: c_int = 0x56;

/// Bytes that are being sent; P3 of [`calls`](super::calls).
struct Sending {
    requests: Vec<Request>,
    bytes: Vec<u8>,
}

/// Bytes that are being received into a vector's spare room; P3.
struct Arriving {
    /// Each with the number of bytes that it waits for.
    requests: Vec<(Request, usize)>,
    /// Whether as many have come with all that are done.
    is_whole: bool,
    bytes: Vec<u8>,
    header: Header,
    process: usize,
}

pub(super) struct State {
    /// Where the next header goes; boxed, because its request is under way (P3).
    header: Box<[u8; HEADER + SHORT]>,
    posted: Option<Request>,
    sending: Vec<Sending>,
    arriving: Vec<Arriving>,
    /// Vectors whose bytes have been sent: those with room for a short packet, and longer ones.
    short_spares: Spares<u8>,
    spares: Spares<u8>,
    /// What came for a run that has not begun here.
    later: Vec<(u64, u32, usize, Packet)>,
    pub(super) run: Option<Current>,
    /// Bytes that come for nobody, in a run that has failed; P3.
    pub(super) strays: Vec<(Request, Vec<u8>)>,
    /// Which run another process has ended, after it had failed, for each time that one has.
    ended: Vec<u64>,
    /// Messages sent so far, with those to this process itself.
    pub(super) sent: u64,
}

pub(super) struct Endpoint {
    pub(super) mpi: Mpi,
    pub(super) me: usize,
    pub(super) processes: usize,
    pub(super) state: Mutex<State>,
}

impl Endpoint {
    pub(super) fn new(mpi: Mpi) -> Self {
        let (me, processes) = (mpi.rank(), mpi.size());
        let state = State {
            header: Box::new([0; HEADER + SHORT]),
            posted: None,
            sending: Vec::new(),
            arriving: Vec::new(),
            short_spares: Spares::default(),
            spares: Spares::default(),
            later: Vec::new(),
            run: None,
            strays: Vec::new(),
            ended: Vec::new(),
            sent: 0,
        };
        Self { mpi, me, processes, state: Mutex::new(state) }
    }

    /// Begins a run with so many processors in each process.
    pub(super) fn begin(&self, number: u64, per_process: usize, alarm: Arc<dyn Alarm>) {
        let mut state = lock(&self.state);
        let current = Current { number, slots: (0..per_process).map(|_| MailSlot::default()).collect(), alarm };
        let (now, later): (Vec<_>, Vec<_>) = state.later.drain(..).partition(|&(run, ..)| run == number);
        // What a run that has failed left behind is of no use to anybody.
        state.later = later.into_iter().filter(|&(run, ..)| run > number).collect();
        state.ended.retain(|&run| run >= number);
        for (_, to, from, packet) in now {
            current.put(to, from, packet);
        }
        state.run = Some(current);
        if state.posted.is_none() {
            let request = self.await_header(&mut state);
            state.posted = Some(request);
        }
    }

    pub(super) fn current(&self) -> Option<Current> {
        lock(&self.state).run.clone()
    }

    /// Ends it: what still comes is for the next.
    pub(super) fn end(&self) {
        lock(&self.state).run = None;
    }

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

    pub(super) fn send(&self, run: u64, per_process: usize, from: usize, to: usize, packet: Packet) {
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
        let header = Header { run, stamp, len: tray.bytes.len(), from: from as u32, to: to as u32 };
        self.post(&mut state, process, header, tray.bytes);
        self.settle_sends(&mut state);
    }

    #[inline]
    pub(super) fn send_short(&self, process: usize, header: &Header, bytes: &[u8]) {
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
    pub(super) fn poll_for(&self, wanted: &Header, into: &mut Vec<u8>) -> bool {
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
        // Nobody knows the length before; it must only say that all bytes are here.
        if let Ok(header) = Header::read(&state.header[..arrived.len.min(HEADER + SHORT)])
            && (Header { len: wanted.len, ..header }) == *wanted
            && header.len <= SHORT
            && arrived.len == HEADER + header.len
        {
            into.extend_from_slice(&state.header[HEADER..arrived.len]);
            let next = self.await_header(&mut state);
            state.posted = Some(next);
            return true;
        }
        self.take_in(&mut state, arrived.from, arrived.len);
        self.poll_with(&mut state);
        false
    }

    #[inline]
    fn await_header(&self, state: &mut State) -> Request {
        // SAFETY: P3: the box stays in the state, and is looked at only when the request is done.
        unsafe { self.mpi.receive(&mut state.header[..], None, TO_HEADER) }
    }

    /// Begins to send a header and its bytes.
    fn post(&self, state: &mut State, process: usize, header: Header, bytes: Vec<u8>) {
        let mut first = state.short_spares.take(HEADER + SHORT);
        first.reserve_exact(HEADER + SHORT);
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
    pub(super) fn poll(&self) {
        if let Ok(mut state) = self.state.try_lock() {
            self.poll_with(&mut state);
        }
    }

    /// One packet at a time: who wants the next one asks again, and asking in vain costs as much as taking it in.
    pub(super) fn poll_with(&self, state: &mut State) {
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
            let Arriving { requests, is_whole, process, .. } = &mut state.arriving[at];
            requests.retain_mut(|(request, len)| {
                let arrived = self.mpi.is_done(request);
                *is_whole &= arrived.as_ref().is_none_or(|arrived| arrived.len == *len);
                arrived.is_none()
            });
            // What one process has sent is delivered in order.
            let (is_done, process) = (requests.is_empty(), *process);
            if is_done && !state.arriving[..at].iter().any(|before| before.process == process) {
                let mut done = state.arriving.remove(at);
                if !done.is_whole {
                    state.refuse(process);
                    continue;
                }
                // SAFETY: the requests covered so many bytes of the vector's room, and MPI has written all of them.
                unsafe { done.bytes.set_len(done.header.len) };
                state.deliver(done.header, done.bytes);
            } else {
                at += 1;
            }
        }
        if !state.sending.is_empty() {
            self.settle_sends(state);
        }
        state.strays.retain_mut(|(request, _)| self.mpi.is_done(request).is_none());
    }

    /// Takes in what has come with a header, of `len` bytes.
    fn take_in(&self, state: &mut State, from: usize, len: usize) {
        match Header::read(&state.header[..len.min(HEADER + SHORT)]) {
            Ok(header) if header.len <= SHORT && len == HEADER + header.len => {
                let bytes = state.header[HEADER..len].to_vec();
                // A tray or a letter waits for a longer one that was sent before it.
                let has_order = matches!(header.stamp.tag, Tag::Tray | Tag::Letter);
                if has_order && state.arriving.iter().any(|before| before.process == from) {
                    let requests = Vec::new();
                    state.arriving.push(Arriving { requests, is_whole: true, bytes, header, process: from });
                } else {
                    state.deliver(header, bytes);
                }
            }
            Ok(header) if header.len > SHORT && len == HEADER => self.await_body(state, from, header),
            _ => state.refuse(from),
        }
    }

    fn await_body(&self, state: &mut State, from: usize, header: Header) {
        let len = header.len;
        let mut bytes = state.spares.take(len);
        if !try_make_room(&mut bytes, len) {
            return state.refuse(from);
        }
        let mut requests = Vec::new();
        for piece in bytes.spare_capacity_mut()[..len].chunks_mut(PIECE) {
            // SAFETY: MPI writes into the room; nobody reads it before `set_len`.
            let piece = unsafe { std::slice::from_raw_parts_mut(piece.as_mut_ptr().cast::<u8>(), piece.len()) };
            // SAFETY: P3: the vector stays in `arriving` until its requests are done.
            requests.push((unsafe { self.mpi.receive(piece, Some(from), TO_BODY) }, piece.len()));
        }
        state.arriving.push(Arriving { requests, is_whole: true, bytes, header, process: from });
    }

    /// Tells every other process why the run cannot go on.
    pub(super) fn spread(&self, failure: &Failure) {
        self.tell_all(Tag::Alarm, &failure.write());
    }

    /// Tells every other process that this one has ended the run, which has failed.
    pub(super) fn say_ended(&self) {
        self.tell_all(Tag::Ended, &[]);
    }

    fn tell_all(&self, tag: Tag, bytes: &[u8]) {
        let mut state = lock(&self.state);
        let Some(number) = state.run.as_ref().map(|run| run.number) else { return };
        for process in (0..self.processes).filter(|&process| process != self.me) {
            let len = bytes.len().min(SHORT);
            let stamp = Stamp { circle: 0, meeting: 0, tag };
            let header = Header { run: number, stamp, len, from: self.me as u32, to: 0 };
            self.post(&mut state, process, header, bytes[..len].to_vec());
        }
        self.settle_sends(&mut state);
    }
}

impl State {
    /// Ends the run that is under way: what a process has sent makes no sense.
    fn refuse(&self, from: usize) {
        self.run.iter().for_each(|run| run.alarm.raise(Failure::Damaged { rank: from }));
    }

    /// Puts a packet on the slot of the processor it is for.
    fn deliver(&mut self, header: Header, bytes: Vec<u8>) {
        let from = header.from as usize;
        if header.stamp.tag == Tag::Alarm {
            if let Some(run) = self.run.as_ref().filter(|run| run.number == header.run) {
                run.alarm.raise(Failure::read(&bytes).unwrap_or_else(Failure::damaged_by(from)));
            }
            return;
        }
        if header.stamp.tag == Tag::Ended {
            return self.ended.push(header.run);
        }
        let packet = Packet { stamp: header.stamp, tray: Tray::from(bytes) };
        match &self.run {
            Some(run) if run.number == header.run => run.put(header.to, from, packet),
            Some(run) if run.number > header.run => {}
            _ => self.later.push((header.run, header.to, from, packet)),
        }
    }

    /// How many other processes have ended the run under way, which has failed.
    pub(super) fn count_ended(&self) -> usize {
        let number = self.run.as_ref().map(|run| run.number);
        self.ended.iter().filter(|&&run| Some(run) == number).count()
    }

    fn keep(&mut self, bytes: Vec<u8>) {
        let spares = if bytes.capacity() <= HEADER + SHORT { &mut self.short_spares } else { &mut self.spares };
        spares.keep(bytes);
    }
}
