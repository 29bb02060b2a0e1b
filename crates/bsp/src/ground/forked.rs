//! A ground of forked processes: streams lie in the memory they share, and a meeting is a look at everybody's place.
//!
//! Every stream has two copies, used by turns, and so has what a process says. Two are enough: a process that fills a
//! copy again has met everybody since, and whoever has entered that meeting has read what was there before.
//!
//! # Invariants
//!
//! - **G1** A stream's copy is written by the process it belongs to alone, and only between the meeting after the one
//!   that handed it over and the next that does; others read it only from the latter to the former.
//! - **G2** The length beside a copy is at most the copy's room, and is written before the meeting that hands it over.
//! - **G3** Every range of the layout lies inside the mapping, and no two overlap.

use super::{CHANNELS, Ground, STREAMS, Stream, Words, heap::Heap};
use fabric::{
    Failure, Pen,
    procs::{Count, Mappable, Mapping, Speaker, Team, Terms, Waiter},
};
use std::{
    cell::Cell,
    ptr::NonNull,
    sync::{
        Arc,
        atomic::{AtomicU32, AtomicU64, Ordering},
    },
};

/// What a process shows to the others. What it says lies beside the number of the meeting, so that who waits for the
/// one has the other.
#[repr(C, align(128))]
struct Place {
    said: [Said; 2],
    /// How many boundaries it has come through; hardly anybody looks.
    settled: AtomicU32,
}

#[repr(C, align(128))]
struct Said {
    entered: Count,
    words: [AtomicU64; 7],
}

// SAFETY: atomics alone.
unsafe impl Mappable for Place {}

/// A stream's length.
#[repr(transparent)]
struct Length(AtomicU64);

// SAFETY: an atomic.
unsafe impl Mappable for Length {}

/// How much of a stream's memory is kept, however little is in it.
const KEPT: usize = 64 << 20;

/// After how many turns with much less in it a stream gives back what it had taken.
const TURNS_KEPT: u32 = 8;

/// A copy of a stream that has had very much in it.
struct Peak {
    number: usize,
    len: usize,
    /// How often it has had much less since.
    turns: u32,
}

/// How much memory to ask for; only what is used is taken.
const MEMORY: usize = 1 << 46;

/// How much to ask for under valgrind, which reads all memory to look for leaks, and so takes all of it.
const MEMORY_WATCHED: usize = 1 << 29;

fn memory() -> usize {
    let is_watched = std::env::var_os("LD_PRELOAD").is_some_and(|names| names.to_string_lossy().contains("vgpreload"));
    if is_watched { MEMORY_WATCHED } else { MEMORY }
}

/// Where everything lies (G3).
#[derive(Clone, Copy)]
struct Layout {
    size: usize,
    places: usize,
    lengths: usize,
    streams: usize,
    /// How much each stream has.
    room: usize,
    heaps: usize,
    /// How much each process has for itself.
    heap: usize,
}

impl Layout {
    fn new(size: usize, memory: usize) -> Self {
        let page = |at: usize| at.next_multiple_of(4096);
        let places = Team::free_from();
        let lengths = page(places + size * size_of::<Place>());
        let count = CHANNELS * 2 * size * size * STREAMS;
        let streams = page(lengths + count * size_of::<Length>());
        let rest = memory.saturating_sub(streams);
        let room = rest / 4 * 3 / count / 4096 * 4096;
        let heaps = streams + room * count;
        let heap = memory.saturating_sub(heaps) / size / 4096 * 4096;
        Self { size, places, lengths, streams, room, heaps, heap }
    }

    /// The number of a stream's copy among all.
    fn number(&self, channel: usize, copy: usize, from: usize, to: usize, stream: usize) -> usize {
        (((channel * 2 + copy) * self.size + from) * self.size + to) * STREAMS + stream
    }
}

/// A forked process among the others.
pub(crate) struct Forked {
    team: Team,
    shared: Arc<Mapping>,
    layout: Layout,
    /// The last meeting that I entered.
    entered: u32,
    settled: u32,
    /// Which copy of each channel's streams I fill now.
    copies: [usize; CHANNELS],
    waiter: Waiter,
    heap: Heap,
    can_reach: Cell<Option<bool>>,
    /// Mostly empty.
    peaks: Vec<Peak>,
}

impl Forked {
    /// Forks this process; see [`Team::fork`].
    pub(crate) fn fork(size: usize, terms: Terms) -> std::io::Result<Self> {
        let team = Team::fork(size, memory(), terms)?;
        let shared = Arc::clone(team.shared());
        let layout = Layout::new(size, shared.len());
        if layout.room == 0 {
            if team.rank() > 0 {
                // Process 0 says why.
                team.excuse();
                std::process::exit(0);
            }
            return Err(std::io::ErrorKind::OutOfMemory.into());
        }
        let heap = Heap::new(layout.heaps + team.rank() * layout.heap, layout.heap);
        Ok(Self {
            waiter: Waiter::new(&team),
            team,
            shared,
            layout,
            entered: 0,
            settled: 0,
            copies: [0; CHANNELS],
            heap,
            can_reach: Cell::new(None),
            peaks: Vec::new(),
        })
    }

    #[inline]
    fn place(&self, rank: usize) -> &Place {
        self.shared.get(self.layout.places + rank * size_of::<Place>())
    }

    fn length(&self, number: usize) -> &AtomicU64 {
        &self.shared.get::<Length>(self.layout.lengths + number * size_of::<Length>()).0
    }

    fn memory(&self, number: usize) -> NonNull<u8> {
        self.shared.range(self.layout.streams + number * self.layout.room, self.layout.room)
    }

    fn lend(&self, channel: usize, to: usize, stream: usize) -> Stream {
        let number = self.layout.number(channel, self.copies[channel], self.rank(), to, stream);
        // SAFETY: G1, G3: until it is handed over, this process alone uses this copy. Rooms are whole pages.
        unsafe { Stream::lent(self.memory(number), self.layout.room) }
    }

    fn meet(&mut self, mine: &Words, said: &mut Vec<Words>) -> Result<(), Failure> {
        if self.team.is_raised() {
            return Err(self.team.raised().unwrap_or(Failure::Damaged { rank: 0 }));
        }
        self.entered = self.entered.wrapping_add(1);
        let copy = (self.entered & 1) as usize;
        let mine_there = &self.place(self.rank()).said[copy];
        for (slot, &word) in mine_there.words.iter().zip(mine) {
            slot.store(word, Ordering::Relaxed);
        }
        self.waiter.set(&mine_there.entered, self.entered);
        said.clear();
        for rank in 0..self.layout.size {
            let Said { entered, words } = &self.place(rank).said[copy];
            self.waiter.wait(&self.team, rank, entered, self.entered)?;
            said.push(std::array::from_fn(|at| words[at].load(Ordering::Relaxed)));
        }
        Ok(())
    }

    /// Remembers which streams have had very much in them.
    fn note_peaks(&mut self, peaks: Vec<Peak>) {
        for peak in peaks {
            match self.peaks.iter_mut().find(|known| known.number == peak.number) {
                Some(known) => known.len = known.len.max(peak.len),
                None => self.peaks.push(peak),
            }
        }
    }

    /// Gives back memory of copies that this process is about to fill, if they had very much in them once, and for a
    /// while much less: memory that is shared stays until it is given back.
    fn give_back(&mut self, numbers: std::ops::Range<usize>) {
        let mut peaks = std::mem::take(&mut self.peaks);
        peaks.retain_mut(|peak| {
            if !numbers.contains(&peak.number) {
                return true;
            }
            let last = self.length(peak.number).load(Ordering::Relaxed) as usize;
            peak.turns = if last < peak.len / 4 { peak.turns + 1 } else { 0 };
            if peak.turns < TURNS_KEPT {
                return true;
            }
            let at = self.layout.streams + peak.number * self.layout.room + KEPT;
            let len = (peak.len - KEPT).next_multiple_of(4096).min(self.layout.room - KEPT);
            // SAFETY: G1: this copy is this process's alone now, and nothing is in it. Its pages are whole (G3).
            unsafe { libc::madvise(self.shared.range(at, len).as_ptr().cast(), len, libc::MADV_REMOVE) };
            false
        });
        self.peaks = peaks;
    }

    /// Waits until another process has come through all boundaries that I have: before that it may still write what was
    /// put before this step.
    fn wait_settled(&self, other: usize) -> bool {
        self.waiter.wait_awake(&self.team, other, &self.place(other).settled, self.settled).is_ok()
    }
}

impl Ground for Forked {
    fn rank(&self) -> usize {
        self.team.rank()
    }

    fn size(&self) -> usize {
        self.layout.size
    }

    fn streams(&mut self, channel: usize) -> Vec<Stream> {
        let all = (0..self.layout.size).flat_map(|to| (0..STREAMS).map(move |stream| (to, stream)));
        all.map(|(to, stream)| self.lend(channel, to, stream)).collect()
    }

    fn turn(&mut self, channel: usize, out: &mut [Stream], mine: &Words, said: &mut Vec<Words>) -> Result<(), Failure> {
        let first = self.layout.number(channel, self.copies[channel], self.rank(), 0, 0);
        let mut peaks = Vec::new();
        for (at, stream) in out.iter().enumerate() {
            let (length, len) = (self.length(first + at), stream.len() as u64);
            if length.load(Ordering::Relaxed) != len {
                length.store(len, Ordering::Relaxed);
                if stream.len() > KEPT {
                    peaks.push(Peak { number: first + at, len: stream.len(), turns: 0 });
                }
            }
        }
        self.meet(mine, said)?;
        self.copies[channel] ^= 1;
        let first = self.layout.number(channel, self.copies[channel], self.rank(), 0, 0);
        for (at, stream) in out.iter_mut().enumerate() {
            // SAFETY: as in `lend`.
            unsafe { stream.move_to(self.memory(first + at), self.layout.room) };
        }
        self.note_peaks(peaks);
        self.give_back(first..first + out.len());
        Ok(())
    }

    fn incoming(&self, channel: usize, from: usize, stream: usize) -> &[u8] {
        let number = self.layout.number(channel, self.copies[channel] ^ 1, from, self.rank(), stream);
        let len = self.length(number).load(Ordering::Relaxed) as usize;
        let start = self.memory(number).as_ptr();
        // SAFETY: G1, G2: it was handed over at the last turn, and is not written to before this process takes the next
        // one, for which it has to end this borrow. A length from another process is kept within the room.
        unsafe { std::slice::from_raw_parts(start, len.min(self.layout.room)) }
    }

    fn settle(&mut self) {
        self.settled = self.settled.wrapping_add(1);
        self.place(self.rank()).settled.store(self.settled, Ordering::Release);
    }

    fn reaches(&self) -> bool {
        self.can_reach.get().unwrap_or_else(|| {
            let can_reach = self.team.reaches((self.rank() + 1) % self.size());
            self.can_reach.set(Some(can_reach));
            can_reach
        })
    }

    // SAFETY: what the trait asks of the caller is all that is needed.
    unsafe fn write_to(&self, to: usize, address: usize, bytes: &[u8]) -> bool {
        if !self.wait_settled(to) {
            return false;
        }
        if self.shared.holds(address, bytes.len()) {
            // SAFETY: the address is the same here, and the caller says that nobody else uses these bytes.
            unsafe { std::ptr::copy(bytes.as_ptr(), std::ptr::with_exposed_provenance_mut(address), bytes.len()) };
            return true;
        }
        // SAFETY: the caller's promise is the same.
        self.reaches() && unsafe { self.team.write(to, address, bytes) }
    }

    unsafe fn read_from(&self, from: usize, address: usize, into: &mut [u8]) -> bool {
        if !self.wait_settled(from) {
            return false;
        }
        if self.shared.holds(address, into.len()) {
            // SAFETY: the address is the same here, and the caller says that nobody changes these bytes.
            unsafe { std::ptr::copy(std::ptr::with_exposed_provenance(address), into.as_mut_ptr(), into.len()) };
            return true;
        }
        self.reaches() && self.team.read(from, address, into)
    }

    fn is_common(&self, address: usize, len: usize) -> bool {
        self.shared.holds(address, len)
    }

    fn alloc(&mut self, len: usize) -> Option<NonNull<u8>> {
        let at = self.heap.alloc(len)?;
        Some(self.shared.range(at, len))
    }

    fn free(&mut self, start: NonNull<u8>) -> bool {
        let base = self.shared.range(0, 0).addr().get();
        start.addr().get().checked_sub(base).is_some_and(|at| self.heap.free(at))
    }

    fn pen(&self) -> Pen {
        self.waiter.pen()
    }

    fn speaker(&self) -> Option<Speaker> {
        Some(self.team.speaker())
    }

    fn raise(&self, failure: Failure) {
        self.team.raise(&failure);
    }

    fn stop(&self) {
        if self.rank() == 0 {
            self.team.end_others();
        }
    }

    fn end(self: Box<Self>) -> Option<Failure> {
        let Self { team, waiter, .. } = *self;
        drop(waiter);
        team.end()
    }
}
