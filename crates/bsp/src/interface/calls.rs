//! What each function does, whatever language calls it. Numbers are wide enough for all of them, and addresses are
//! numbers. `name` is that of the function that the program called; in Fortran it has no underscores.

use crate::{
    ending::{GETS, MESSAGES, PUTS},
    failing::{Fault, fail},
    ground::STREAMS,
    life::machine,
    machine::Machine,
    program,
    queue::Message,
    registry::{Area, Missing},
    transfers,
    watch::Call,
};

type Name = &'static str;

/// A high-performance transfer of at least so many bytes is worth a system call.
const DIRECT: usize = 16 << 10;

/// A size that the program hands over, unless it is negative.
fn size_of_call(name: Name, what: &'static str, value: i64) -> usize {
    usize::try_from(value).unwrap_or_else(|_| fail(name, Fault::BadSize { what, value }))
}

#[inline]
fn rank_of_call(name: Name, machine: &Machine, pid: i64) -> usize {
    match usize::try_from(pid) {
        Ok(rank) if rank < machine.size => rank,
        _ => fail(name, Fault::Rank { pid, size: machine.size }),
    }
}

pub(super) fn push_reg(name: Name, address: usize, size: i64) {
    let machine = machine(name);
    let size = size_of_call(name, "the size", size);
    if address == 0 && size > 0 {
        fail(name, Fault::NullPointer("the address"));
    }
    machine.registry.push(Area { address, size });
}

pub(super) fn pop_reg(name: Name, address: usize) {
    if !machine(name).registry.pop(address) {
        fail(name, Fault::Pop);
    }
}

/// A transfer that makes sense: the other process, the slot, the offset and the length there.
struct Transfer {
    rank: usize,
    slot: u32,
    offset: usize,
    len: usize,
}

/// Checks a transfer, except for the memory at its unregistered end; `None` if there is nothing to do.
#[inline]
fn transfer(
    name: Name,
    machine: &mut Machine,
    pid: i64,
    registered: usize,
    (offset, len): (i64, i64),
    other: (usize, &'static str),
) -> Option<Transfer> {
    if len == 0 {
        return None;
    }
    let rank = rank_of_call(name, machine, pid);
    if (offset | len) < 0 {
        size_of_call(name, "the offset", offset);
        size_of_call(name, "the number of bytes", len);
    }
    let (offset, len) = (offset as usize, len as usize);
    let slot = match machine.registry.find(registered) {
        Ok(slot) => slot,
        Err(Missing::NotRegistered) => fail(name, Fault::NotRegistered),
        Err(Missing::NotYet) => fail(name, Fault::NotYetActive),
    };
    let size = machine.registry.area(slot, rank).size;
    if offset.checked_add(len).is_none_or(|end| end > size) {
        fail(name, Fault::Bounds { offset, len, size, rank });
    }
    if other.0 == 0 {
        fail(name, Fault::NullPointer(other.1));
    }
    Some(Transfer { rank, slot, offset, len })
}

#[inline]
pub(super) fn put(name: Name, pid: i64, source: usize, target: usize, at: (i64, i64)) {
    let machine = machine(name);
    let Some(to) = transfer(name, machine, pid, target, at, (source, "the source")) else { return };
    if let Some(watch) = &mut machine.watch {
        watch.touch(Call::Put, to.rank, (to.slot, to.offset, to.len));
    }
    put_to(name, machine, source, &to);
}

#[inline]
fn put_to(name: Name, machine: &mut Machine, source: usize, to: &Transfer) {
    let &Transfer { rank, slot, offset, len } = to;
    let stream = &mut machine.out[rank * STREAMS + PUTS];
    // SAFETY: M1: the program has as many bytes there.
    let bytes = unsafe { program::bytes(source, len) };
    if !transfers::put(stream, slot, offset, bytes) {
        fail(name, Fault::OutOfMemory);
    }
}

#[inline]
pub(super) fn get(name: Name, pid: i64, source: usize, target: usize, at: (i64, i64)) {
    let machine = machine(name);
    let Some(from) = transfer(name, machine, pid, source, at, (target, "the destination")) else { return };
    if let Some(watch) = &mut machine.watch {
        watch.touch(Call::Get, from.rank, (from.slot, from.offset, from.len));
    }
    get_from(name, machine, target, &from);
}

#[inline]
fn get_from(name: Name, machine: &mut Machine, target: usize, from: &Transfer) {
    let &Transfer { rank, slot, offset, len } = from;
    let there = machine.registry.area(slot, rank).address + offset;
    let stream = &mut machine.out[rank * STREAMS + GETS];
    if !machine.gets.ask(stream, rank, (slot, offset, there), (target, len)) {
        fail(name, Fault::OutOfMemory);
    }
}

/// Whether the memory of another process is reached at once.
fn is_direct(machine: &Machine, rank: usize, address: usize, len: usize) -> bool {
    rank == machine.rank || len >= DIRECT || machine.ground.is_common(address, len)
}

pub(super) fn hp_put(name: Name, pid: i64, source: usize, target: usize, at: (i64, i64)) {
    let this = machine(name);
    let Some(to) = transfer(name, this, pid, target, at, (source, "the source")) else { return };
    let Transfer { rank, slot, offset, len } = to;
    if let Some(watch) = &mut this.watch {
        watch.touch(Call::HpPut, rank, (slot, offset, len));
        watch.touch_mine(Call::HpPutSource, source, len);
    }
    let address = this.registry.area(slot, rank).address + offset;
    if is_direct(this, rank, address, len) {
        // SAFETY: M1, for this process and for the other one, which has registered them. The program leaves them alone.
        let bytes = unsafe { program::bytes(source, len) };
        if rank == this.rank {
            // SAFETY: M1.
            return unsafe { program::write(address, bytes) };
        }
        // SAFETY: as above.
        if unsafe { this.ground.write_to(rank, address, bytes) } {
            return;
        }
    }
    put_to(name, this, source, &to);
}

pub(super) fn hp_get(name: Name, pid: i64, source: usize, target: usize, at: (i64, i64)) {
    let this = machine(name);
    let Some(from) = transfer(name, this, pid, source, at, (target, "the destination")) else { return };
    let Transfer { rank, slot, offset, len } = from;
    if let Some(watch) = &mut this.watch {
        watch.touch(Call::HpGet, rank, (slot, offset, len));
        watch.touch_mine(Call::HpGetTarget, target, len);
    }
    let address = this.registry.area(slot, rank).address + offset;
    if is_direct(this, rank, address, len) {
        if rank == this.rank {
            // SAFETY: M1; the two may overlap, which a copy by `write` allows.
            let bytes = unsafe { program::bytes(address, len) };
            // SAFETY: M1.
            return unsafe { program::write(target, bytes) };
        }
        // SAFETY: M1.
        let into = unsafe { program::bytes_mut(target, len) };
        // SAFETY: M1 for the other process, which has registered them. The program leaves them alone.
        if unsafe { this.ground.read_from(rank, address, into) } {
            return;
        }
    }
    get_from(name, this, target, &from);
}

/// Sets the tag size and returns the one before.
pub(super) fn set_tag_size(name: Name, size: i64) -> usize {
    let machine = machine(name);
    let size = size_of_call(name, "the tag size", size);
    machine.queue.set_tag(size)
}

#[inline]
pub(super) fn send(name: Name, pid: i64, tag: usize, payload: usize, len: i64) {
    let machine = machine(name);
    let rank = rank_of_call(name, machine, pid);
    let (len, tag_len) = (size_of_call(name, "the payload's size", len), machine.queue.tag_sent());
    if tag == 0 && tag_len > 0 {
        fail(name, Fault::NullPointer("the tag"));
    }
    if payload == 0 && len > 0 {
        fail(name, Fault::NullPointer("the payload"));
    }
    // SAFETY: M1: the program has as many bytes there.
    let tag = unsafe { program::bytes(tag, tag_len) };
    // SAFETY: as above.
    let payload = unsafe { program::bytes(payload, len) };
    if !machine.queue.send(&mut machine.out[rank * STREAMS + MESSAGES], rank, tag, payload) {
        fail(name, Fault::OutOfMemory);
    }
}

/// How many messages are left, and how many bytes their payloads have.
pub(super) fn queue_size(name: Name) -> [u64; 2] {
    machine(name).queue.left()
}

/// Copies the tag of the first message, and returns the length of its payload, if there is one.
pub(super) fn get_tag(name: Name, tag: usize) -> Option<usize> {
    let machine = machine(name);
    let message = machine.queue.first()?;
    if tag == 0 && machine.queue.tag_come() > 0 {
        fail(name, Fault::NullPointer("the tag"));
    }
    let stream = machine.queue.stream(message.from);
    if !message.tag.is_empty() {
        // SAFETY: M1: the program has room for a tag there.
        unsafe { program::write(tag, &stream[message.tag]) };
    }
    Some(message.payload.len())
}

/// Copies the payload of the first message, as far as there is room, and takes it off the queue.
pub(super) fn move_first(name: Name, payload: usize, room: i64) {
    let machine = machine(name);
    let room = size_of_call(name, "the room for the payload", room);
    if payload == 0 && room > 0 {
        fail(name, Fault::NullPointer("the payload"));
    }
    let Some(message) = machine.queue.first() else { fail(name, Fault::EmptyQueue) };
    machine.queue.remove(&message);
    let bytes = &machine.queue.stream(message.from)[message.payload];
    let len = bytes.len().min(room);
    if len > 0 {
        // SAFETY: M1: the program has that much room there.
        unsafe { program::write(payload, &bytes[..len]) };
    }
}

/// Takes the first message off the queue, and returns where its tag and its payload lie, and the payload's length.
pub(super) fn hp_move(name: Name) -> Option<(usize, usize, usize)> {
    let machine = machine(name);
    let message = machine.queue.first()?;
    machine.queue.remove(&message);
    let Message { from, tag, payload } = message;
    let start = machine.queue.stream(from).as_ptr().expose_provenance();
    Some((start + tag.start, start + payload.start, payload.len()))
}

/// Memory that other processes of this machine reach directly; null if there is none left.
pub(super) fn alloc(name: Name, len: usize) -> *mut libc::c_void {
    let machine = machine(name);
    if let Some(start) = machine.ground.alloc(len) {
        start.as_ptr().expose_provenance();
        return start.as_ptr().cast();
    }
    // Where there is no such memory, any will do.
    // SAFETY: it asks for new memory.
    let start = unsafe { libc::malloc(len.max(1)) };
    machine.given.insert(start.addr());
    start
}

/// Gives back what [`alloc`] gave.
pub(super) fn free(name: Name, start: *mut libc::c_void) {
    let Some(place) = std::ptr::NonNull::new(start.cast()) else { return };
    let machine = machine(name);
    if machine.ground.free(place) {
        return;
    }
    if !machine.given.remove(&start.addr()) {
        fail(name, Fault::NotAllocated);
    }
    // SAFETY: it was given by `alloc`, and not given back since, so it comes from `malloc`.
    unsafe { libc::free(start) };
}
