//! Rings of bytes, one for each ordered pair of processes, in the memory that they share.
//!
//! A ring is a stretch of memory and two positions, which only grow: up to `tail` it was written, up to `head` it was
//! read. What is written counts when it is handed over, and its room comes back when it is handed back. Packets begin
//! on cache lines of their own, so that who writes one and who reads the one before do not disturb each other.
//!
//! A writer that finds no room says so and sleeps on the bell of its process. To look at that after each packet would
//! cost the reader more than the packet, so it looks whenever a quarter of the ring was read since it last did. That is
//! enough, because a writer sleeps only when more than that was not read yet: either the look finds that it waits, or
//! the writer, which looks at `head` after it has said so, finds what was read until then.
//!
//! # Invariants
//!
//! - **R1** The bytes from `head` to `tail` are the reader's, all others are the writer's. The writer alone moves
//!   `tail`, after it has written; the reader alone moves `head`, after it has read.
//! - **R2** Each process makes one [`Writer`] for each ring it writes to and one [`Reader`] for each it reads.
//! - **R3** Every ring lies inside the mapping, and no two overlap.
//! - **R4** A position that another process has moved is believed only if no more than a ring lies between the two.

use super::{board::MOST, team::Team};
use crate::{
    failure::Failure,
    mapping::{Mappable, Mapping},
    memory::Padded,
};
use std::{
    ptr::NonNull,
    sync::atomic::{AtomicU32, AtomicU64, Ordering, fence},
};

/// Packets begin on multiples of this.
pub(super) const UNIT: usize = 64;
/// The largest ring: what is under way should stay in a core's own cache.
const ROOM_MAX: usize = 256 << 10;
/// The smallest, and how much all of them should have together, if the smallest are not more.
const ROOM_MIN: usize = 1 << 10;
const ROOM_ALL: usize = 64 << 20;

#[repr(C, align(128))]
struct Positions {
    tail: AtomicU64,
    /// Whether the writer sleeps until there is room.
    is_full: AtomicU32,
    head: Padded<AtomicU64>,
}

/// Who has ever written to a process, as bits: so it looks only at the rings of those.
#[repr(C, align(128))]
struct Callers([AtomicU64; MOST / 64]);

// SAFETY: atomics alone.
unsafe impl Mappable for Positions {}
// SAFETY: atomics alone.
unsafe impl Mappable for Callers {}

/// Where the rings lie (R3).
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout {
    size: usize,
    positions: usize,
    rings: usize,
    /// How many bytes a ring has; a power of two.
    room: usize,
}

impl Layout {
    /// How much memory the rings of so many processes would like to have.
    pub(super) fn wanted(size: usize) -> usize {
        let room = (ROOM_ALL / (size * size)).clamp(4 * ROOM_MIN, ROOM_MAX);
        Self::behind(size, 0).1 + size * size * room.next_power_of_two()
    }

    /// Lays them out in memory of this length; `None` if that is not enough.
    pub(super) fn new(size: usize, memory: usize) -> Option<Self> {
        let (positions, rings) = Self::behind(size, Team::free_from());
        let room = memory.checked_sub(rings)? / (size * size);
        let room = room.checked_ilog2().map_or(0, |log| 1 << log);
        (room >= ROOM_MIN).then_some(Self { size, positions, rings, room: room.min(ROOM_MAX) })
    }

    /// Where positions and rings begin.
    fn behind(size: usize, start: usize) -> (usize, usize) {
        let positions = start + size * size_of::<Callers>();
        (positions, (positions + size * size * size_of::<Positions>()).next_multiple_of(4096))
    }

    fn callers<'a>(&self, shared: &'a Mapping, of: usize) -> &'a Callers {
        debug_assert!(of < self.size);
        shared.get(Team::free_from() + of * size_of::<Callers>())
    }

    pub(super) fn announce(&self, shared: &Mapping, from: usize, to: usize) {
        self.callers(shared, to).0[from / 64].fetch_or(1 << (from % 64), Ordering::SeqCst);
    }

    /// Up to 64 of those who write to `to`, as bits; there are [`words`](Self::words) such numbers.
    #[inline]
    pub(super) fn announced(&self, shared: &Mapping, to: usize, word: usize) -> u64 {
        self.callers(shared, to).0[word].load(Ordering::Acquire)
    }

    pub(super) fn words(&self) -> usize {
        self.size.div_ceil(64)
    }

    fn ring(&self, from: usize, to: usize) -> Ring {
        assert!(from < self.size && to < self.size);
        let number = to * self.size + from;
        Ring {
            positions: self.positions + number * size_of::<Positions>(),
            start: self.rings + number * self.room,
            room: self.room,
        }
    }

    /// The end at which `from` writes to `to`; see R2.
    pub(super) fn writer(&self, from: usize, to: usize) -> Writer {
        Writer { ring: self.ring(from, to), from, to, tail: 0, written: 0, head: 0, is_announced: false }
    }

    /// The end at which `to` reads from `from`; see R2.
    pub(super) fn reader(&self, from: usize, to: usize) -> Reader {
        Reader { ring: self.ring(from, to), from, tail: 0, read: 0, head: 0, looked: 0 }
    }
}

#[derive(Clone, Copy, Debug)]
struct Ring {
    positions: usize,
    start: usize,
    room: usize,
}

impl Ring {
    #[inline]
    fn positions<'a>(&self, shared: &'a Mapping) -> &'a Positions {
        shared.get(self.positions)
    }

    /// Where the bytes from a position on lie, and how many of `len` before the ring begins again.
    #[inline]
    fn first(&self, position: u64, len: usize) -> (usize, usize) {
        let at = position as usize & (self.room - 1);
        (self.start + at, len.min(self.room - at))
    }
}

/// The end at which a process writes.
#[derive(Debug)]
pub(super) struct Writer {
    ring: Ring,
    from: usize,
    to: usize,
    /// Up to where it was handed over, and up to where it was written.
    tail: u64,
    written: u64,
    /// Up to where the reader has come, as far as is known here.
    head: u64,
    is_announced: bool,
}

impl Writer {
    pub(super) fn room(&self) -> usize {
        self.ring.room
    }

    #[inline]
    pub(super) fn has_room(&mut self, shared: &Mapping, len: usize) -> Result<bool, Failure> {
        if self.free() >= len {
            return Ok(true);
        }
        let head = self.ring.positions(shared).head.0.load(Ordering::Acquire);
        // R4.
        if self.written.checked_sub(head).is_none_or(|unread| unread > self.ring.room as u64) {
            return Err(Failure::Damaged { rank: self.to });
        }
        self.head = head;
        Ok(self.free() >= len)
    }

    fn free(&self) -> usize {
        self.ring.room - (self.written - self.head) as usize
    }

    /// Writes behind what is written. There must be room.
    #[inline]
    pub(super) fn write(&mut self, shared: &Mapping, bytes: &[u8]) {
        assert!(bytes.len() <= self.free());
        let (at, len) = self.ring.first(self.written, bytes.len());
        let (head, rest) = bytes.split_at(len);
        // SAFETY: R1, R2: these bytes are this writer's, for there is room; R3.
        unsafe { shared.range(at, len).copy_from_nonoverlapping(NonNull::from(head).cast(), len) };
        if !rest.is_empty() {
            let start = shared.range(self.ring.start, rest.len());
            // SAFETY: as above.
            unsafe { start.copy_from_nonoverlapping(NonNull::from(rest).cast(), rest.len()) };
        }
        self.written += bytes.len() as u64;
    }

    /// Ends a packet: the next one begins on the next line.
    #[inline]
    pub(super) fn end(&mut self) {
        self.written = self.written.next_multiple_of(UNIT as u64);
    }

    /// Hands over what is written. The caller then rings the reader's bell.
    #[inline]
    pub(super) fn hand_over(&mut self, layout: &Layout, shared: &Mapping) {
        if !self.is_announced {
            self.is_announced = true;
            layout.announce(shared, self.from, self.to);
        }
        self.tail = self.written;
        self.ring.positions(shared).tail.store(self.tail, Ordering::Release);
    }

    /// Says whether this process is about to sleep until there is room.
    pub(super) fn say_full(&self, shared: &Mapping, is_full: bool) {
        self.ring.positions(shared).is_full.store(u32::from(is_full), Ordering::SeqCst);
    }
}

/// The end at which a process reads.
#[derive(Debug)]
pub(super) struct Reader {
    ring: Ring,
    from: usize,
    /// Up to where there is something, as far as is known here.
    tail: u64,
    /// Up to where it was read, up to where that was handed back, and where `is_full` was last looked at.
    read: u64,
    head: u64,
    looked: u64,
}

impl Reader {
    /// A quarter of the ring: how much is read at most before it is handed back.
    pub(super) fn portion(&self) -> usize {
        self.ring.room / 4
    }

    #[inline]
    pub(super) fn has_some(&self, shared: &Mapping) -> bool {
        self.ring.positions(shared).tail.load(Ordering::Acquire) != self.read
    }

    #[inline]
    pub(super) fn available(&mut self, shared: &Mapping) -> Result<usize, Failure> {
        self.tail = self.ring.positions(shared).tail.load(Ordering::Acquire);
        let len = self.tail.wrapping_sub(self.read);
        // R4.
        if len > self.ring.room as u64 { Err(Failure::Damaged { rank: self.from }) } else { Ok(len as usize) }
    }

    /// How much of what was there at the last look is left.
    #[inline]
    pub(super) fn left(&self) -> usize {
        (self.tail - self.read) as usize
    }

    /// The next `len` bytes, which must be there, in two pieces where the ring begins again between them.
    #[inline]
    pub(super) fn peek<'a>(&'a self, shared: &'a Mapping, len: usize) -> (&'a [u8], &'a [u8]) {
        assert!(len <= self.left());
        let (at, first) = self.ring.first(self.read, len);
        // SAFETY: R1, R2: these bytes are this reader's until it hands them back, which ends this borrow; R3.
        let head = unsafe { std::slice::from_raw_parts(shared.range(at, first).as_ptr(), first) };
        let start = shared.range(self.ring.start, len - first);
        // SAFETY: as above.
        let rest = unsafe { std::slice::from_raw_parts(start.as_ptr(), len - first) };
        (head, rest)
    }

    /// Goes on behind the next `len` bytes.
    #[inline]
    pub(super) fn skip(&mut self, len: usize) {
        self.read += len as u64;
        debug_assert!(self.read <= self.tail);
    }

    #[inline]
    pub(super) fn read(&mut self, shared: &Mapping, len: usize, into: &mut Vec<u8>) {
        let (head, rest) = self.peek(shared, len);
        into.extend_from_slice(head);
        into.extend_from_slice(rest);
        self.skip(len);
    }

    /// Ends a packet: the next one begins on the next line.
    #[inline]
    pub(super) fn end(&mut self) {
        self.read = self.read.next_multiple_of(UNIT as u64);
    }

    /// Hands back what was read, and says whether the writer may sleep until it was.
    #[inline]
    pub(super) fn hand_back(&mut self, shared: &Mapping) -> bool {
        let positions = self.ring.positions(shared);
        if self.head != self.read {
            self.head = self.read;
            positions.head.0.store(self.head, Ordering::Release);
        }
        if self.head - self.looked < self.portion() as u64 {
            return false;
        }
        self.looked = self.head;
        fence(Ordering::SeqCst);
        positions.is_full.load(Ordering::Relaxed) != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    /// How many packets go through the ring, which is the smallest.
    const PACKETS: usize = if cfg!(miri) { 60 } else { 20_000 };

    /// The byte at a place of a packet, and how long that is.
    fn byte(packet: usize, at: usize) -> u8 {
        (packet * 31 + at) as u8
    }

    fn len(packet: usize) -> usize {
        packet * 37 % 300
    }

    fn shared() -> (Mapping, Layout) {
        let bytes = Layout::behind(2, Team::free_from()).1 + 4 * ROOM_MIN;
        let layout = Layout::new(2, bytes).expect("there is room for four rings");
        (Mapping::map(bytes, bytes).expect("there is memory"), layout)
    }

    #[test]
    fn packets_come_out_of_a_ring_as_they_went_in_however_often_it_begins_again() {
        let (shared, layout) = &shared();
        thread::scope(|scope| {
            scope.spawn(|| {
                let mut writer = layout.writer(0, 1);
                for packet in 0..PACKETS {
                    let bytes: Vec<u8> = (0..len(packet)).map(|at| byte(packet, at)).collect();
                    while !writer.has_room(shared, bytes.len().next_multiple_of(UNIT)).expect("nothing is damaged") {
                        thread::yield_now();
                    }
                    writer.write(shared, &bytes);
                    writer.end();
                    writer.hand_over(layout, shared);
                }
            });
            let mut reader = layout.reader(0, 1);
            for packet in 0..PACKETS {
                while reader.available(shared).expect("nothing is damaged") < len(packet) {
                    thread::yield_now();
                }
                let mut bytes = Vec::new();
                reader.read(shared, len(packet), &mut bytes);
                assert!(bytes.iter().enumerate().all(|(at, &found)| found == byte(packet, at)), "packet {packet}");
                assert_eq!(bytes.len(), len(packet));
                reader.end();
                reader.hand_back(shared);
            }
        });
        assert_eq!(layout.announced(shared, 1, 0), 1);
    }

    /// X5: a position that nobody can have reached is damage, at every look.
    #[test]
    fn no_position_is_believed() {
        let (shared, layout) = shared();
        let (mut writer, mut reader) = (layout.writer(0, 1), layout.reader(0, 1));
        let positions: &Positions = writer.ring.positions(&shared);
        for position in [ROOM_MIN as u64 + 1, 1 << 40, u64::MAX] {
            positions.tail.store(position, Ordering::Release);
            positions.head.0.store(position, Ordering::Release);
            for _ in 0..2 {
                assert_eq!(reader.available(&shared), Err(Failure::Damaged { rank: 0 }));
                assert_eq!(writer.has_room(&shared, ROOM_MIN + 1), Err(Failure::Damaged { rank: 1 }));
            }
        }
    }
}
