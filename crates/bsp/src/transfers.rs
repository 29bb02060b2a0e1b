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
        // SAFETY: M1: these bytes lie in an area that the program has registered.
        unsafe { program::write(address, bytes) };
    }
    Ok(())
}

/// From so many bytes on a get is worth a meeting more, if that saves a copy.
pub(crate) const DIRECT_GET: usize = 256 << 10;

/// Takes the requests of another process off their stream: where in my memory the bytes are, and how many.
fn requests(mut asked: &[u8], registry: &Registry) -> impl Iterator<Item = Result<(usize, usize), Damaged>> {
    std::iter::from_fn(move || {
        if asked.is_empty() {
            return None;
        }
        let head = read_head(&mut asked);
        Some(head.and_then(|(slot, offset, len)| Some((place(registry, slot, offset, len)?, len))).ok_or(Damaged))
    })
}

/// Reads what another process asks for; what is long only if `with_long`, for else it reads that itself.
pub(crate) fn serve(
    asked: &[u8],
    from: usize,
    registry: &Registry,
    answers: &mut Stream,
    with_long: bool,
) -> Result<(), Fault> {
    for request in requests(asked, registry) {
        let (address, len) = request.map_err(|Damaged| Fault::Damaged { from })?;
        if len >= DIRECT_GET && !with_long {
            continue;
        }
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
    has_long: bool,
}

#[derive(Clone, Copy, Debug)]
struct Wanted {
    from: usize,
    address: usize,
    len: usize,
    /// Where it lies in the other process's memory.
    source: usize,
}

impl Gets {
    pub(crate) fn is_empty(&self) -> bool {
        self.wanted.is_empty()
    }

    /// Whether there are long ones among them.
    pub(crate) fn has_long(&self) -> bool {
        self.has_long
    }

    /// Whether none of them is written to where `asked` reads long stretches. Where there are many, nobody looks.
    pub(crate) fn is_clear(&self, asked: &[u8], registry: &Registry) -> bool {
        const MANY: usize = 64;
        let long = requests(asked, registry).filter_map(Result::ok).filter(|&(_, len)| len >= DIRECT_GET);
        let long: Vec<(usize, usize)> = long.collect();
        long.is_empty()
            || (long.len() <= MANY
                && self.wanted.len() <= MANY
                && long.iter().all(|&(start, len)| {
                    self.wanted.iter().all(|to| to.address + to.len <= start || start + len <= to.address)
                }))
    }

    /// Asks a process for bytes; false if there is no memory for it.
    #[inline]
    pub(crate) fn ask(
        &mut self,
        stream: &mut Stream,
        from: usize,
        (slot, offset, source): (u32, usize, usize),
        (address, len): (usize, usize),
    ) -> bool {
        self.has_long |= len >= DIRECT_GET;
        self.wanted.push(Wanted { from, address, len, source });
        push(stream, slot, offset, len, &[])
    }

    /// Writes what has come, and reads what is long from those that are `direct`; an error names who sent something
    /// else, or cannot be read from.
    pub(crate) fn take(&mut self, ground: &dyn Ground, is_direct: impl Fn(usize) -> bool) -> Result<(), usize> {
        self.has_long = false;
        self.read.clear();
        self.read.resize(ground.size(), 0);
        let answers: Vec<&[u8]> = (0..ground.size()).map(|from| ground.incoming(1, from, 0)).collect();
        for Wanted { from, address, len, source } in self.wanted.drain(..) {
            if len >= DIRECT_GET && is_direct(from) {
                // SAFETY: M1: the program has named this memory for the answer.
                let into = unsafe { program::bytes_mut(address, len) };
                // SAFETY: M1 for the other process, which has registered it and waits until all have read.
                if !unsafe { ground.read_from(from, source, into) } {
                    return Err(from);
                }
                continue;
            }
            let read = &mut self.read[from];
            let bytes = answers[from].get(*read..*read + len).ok_or(from)?;
            *read += len.next_multiple_of(8);
            // SAFETY: M1: the program has named this memory for the answer.
            unsafe { program::write(address, bytes) };
        }
        Ok(())
    }
}
