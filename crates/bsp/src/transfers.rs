//! Puts and gets, as records in streams.
//!
//! ```text
//! put:     slot u32 | length u32 | offset u64 | (length u64) | the bytes, up to a multiple of 8
//! get:     slot u32 | length u32 | offset u64 | (length u64)
//! answer:  the bytes, up to a multiple of 8
//! ```
//!
//! A length that has no room in 32 bits follows the offset. The sender has checked every record against the areas of
//! the target; the target checks again, because it trusts nobody with its memory.

use crate::{failing::Fault, program, registry::Registry};
use fabric::ground::{Ground, Stream};

/// A length that says: look behind the offset.
const LONG: u32 = u32::MAX;

/// A record makes no sense.
pub(crate) struct Damaged;

/// Appends a record for `len` bytes, of which `bytes` are there.
#[inline]
fn push(stream: &mut Stream, slot: u32, offset: usize, len: usize, bytes: &[u8]) -> bool {
    match u32::try_from(len) {
        Ok(short) if short < LONG => {
            stream.push_record([u64::from(slot) | u64::from(short) << 32, offset as u64], bytes)
        }
        _ => stream.push_record([u64::from(slot) | u64::from(LONG) << 32, offset as u64, len as u64], bytes),
    }
}

/// Takes a head off the front: slot, offset, length.
#[inline]
fn read_head(bytes: &mut &[u8]) -> Option<(u32, usize, usize)> {
    let (head, rest) = bytes.split_first_chunk::<16>()?;
    let [first, offset]: [u64; 2] = bytemuck::pod_read_unaligned(head);
    *bytes = rest;
    let mut len = (first >> 32) as usize;
    if len == LONG as usize {
        let (long, rest) = bytes.split_first_chunk()?;
        len = usize::try_from(u64::from_le_bytes(*long)).ok()?;
        *bytes = rest;
    }
    Some((first as u32, usize::try_from(offset).ok()?, len))
}

/// Appends a put; false if there is no memory for it.
#[inline]
pub(crate) fn put(stream: &mut Stream, slot: u32, offset: usize, bytes: &[u8]) -> bool {
    push(stream, slot, offset, bytes.len(), bytes)
}

/// Where in my memory a record of another process may write or read.
#[inline]
fn place(registry: &Registry, slot: u32, offset: usize, len: usize) -> Option<usize> {
    let area = registry.mine(slot)?;
    let end = offset.checked_add(len)?;
    (end <= area.size).then_some(area.address + offset)
}

/// Writes what another process has put here.
pub(crate) fn apply(mut puts: &[u8], registry: &Registry) -> Result<(), Damaged> {
    while !puts.is_empty() {
        let (slot, offset, len) = read_head(&mut puts).ok_or(Damaged)?;
        let address = place(registry, slot, offset, len).ok_or(Damaged)?;
        let (bytes, rest) = puts.split_at_checked(len).ok_or(Damaged)?;
        puts = rest.get(len.next_multiple_of(8) - len..).ok_or(Damaged)?;
        // Eight bytes at once, which is what most puts are.
        if let Ok(word) = <&[u8; 8]>::try_from(bytes) {
            // SAFETY: M1: these bytes lie in an area that the program has registered.
            unsafe { program::write(address, word) };
        } else {
            // SAFETY: as above.
            unsafe { program::write(address, bytes) };
        }
    }
    Ok(())
}

/// Reads what another process asks for.
pub(crate) fn serve(mut asked: &[u8], from: usize, registry: &Registry, answers: &mut Stream) -> Result<(), Fault> {
    while !asked.is_empty() {
        let damaged = || Fault::Damaged { from };
        let (slot, offset, len) = read_head(&mut asked).ok_or_else(damaged)?;
        let address = place(registry, slot, offset, len).ok_or_else(damaged)?;
        // SAFETY: M1: these bytes lie in an area that the program has registered.
        let bytes = unsafe { program::bytes(address, len) };
        if !answers.push_record([], bytes) {
            return Err(Fault::OutOfMemory);
        }
    }
    Ok(())
}

/// Where answers go, in the order in which they were asked for.
#[derive(Debug, Default)]
pub(crate) struct Gets {
    wanted: Vec<Wanted>,
    /// How much of each process's answers was read; kept for its room.
    read: Vec<usize>,
}

#[derive(Clone, Copy, Debug)]
struct Wanted {
    from: usize,
    address: usize,
    len: usize,
}

impl Gets {
    pub(crate) fn is_empty(&self) -> bool {
        self.wanted.is_empty()
    }

    /// Asks a process for bytes; false if there is no memory for it.
    #[inline]
    pub(crate) fn ask(
        &mut self,
        stream: &mut Stream,
        from: usize,
        (slot, offset): (u32, usize),
        (address, len): (usize, usize),
    ) -> bool {
        self.wanted.push(Wanted { from, address, len });
        push(stream, slot, offset, len, &[])
    }

    /// Writes what has come; an error names who sent something else.
    pub(crate) fn take(&mut self, ground: &dyn Ground) -> Result<(), usize> {
        self.read.clear();
        self.read.resize(ground.size(), 0);
        let answers: Vec<&[u8]> = (0..ground.size()).map(|from| ground.incoming(1, from, 0)).collect();
        for Wanted { from, address, len } in self.wanted.drain(..) {
            let read = &mut self.read[from];
            let bytes = answers[from].get(*read..*read + len).ok_or(from)?;
            *read += len.next_multiple_of(8);
            if let Ok(word) = <&[u8; 8]>::try_from(bytes) {
                // SAFETY: M1: the program has named this memory for the answer.
                unsafe { program::write(address, word) };
            } else {
                // SAFETY: as above.
                unsafe { program::write(address, bytes) };
            }
        }
        Ok(())
    }
}
