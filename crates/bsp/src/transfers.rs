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

use crate::{
    failing::Fault,
    ground::{Ground, Stream},
    program,
    registry::Registry,
};
use fabric::wire::{Damaged, Reader};

/// A length that says: look behind the offset.
const LONG: u32 = u32::MAX;

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
fn read_head(records: &mut Reader<'_>) -> Result<(u32, usize, usize), Damaged> {
    let [slot, short]: [u32; 2] = records.get()?;
    let offset = records.get()?;
    let len = if short == LONG { records.get()? } else { short as usize };
    Ok((slot, offset, len))
}

/// Appends a put; false if there is no memory for it.
#[inline]
pub(crate) fn put(stream: &mut Stream, slot: u32, offset: usize, bytes: &[u8]) -> bool {
    push(stream, slot, offset, bytes.len(), bytes)
}

/// Where in my memory a record of another process may write or read.
#[inline]
fn place(registry: &Registry, slot: u32, offset: usize, len: usize) -> Result<usize, Damaged> {
    let area = registry.mine(slot).ok_or(Damaged)?;
    let end = offset.checked_add(len).ok_or(Damaged)?;
    if end <= area.size { Ok(area.address + offset) } else { Err(Damaged) }
}

/// Writes what another process has put here.
pub(crate) fn apply(puts: &[u8], registry: &Registry) -> Result<(), Damaged> {
    let mut puts = Reader::new(puts);
    while !puts.is_empty() {
        let (slot, offset, len) = read_head(&mut puts)?;
        let address = place(registry, slot, offset, len)?;
        let bytes = puts.bytes(len)?;
        puts.bytes(len.next_multiple_of(8) - len)?;
        // SAFETY: M1: these bytes lie in an area that the program has registered.
        unsafe { program::write(address, bytes) };
    }
    Ok(())
}

/// A get of at least so many bytes is worth another meeting that saves a copy.
pub(crate) const DIRECT_GET: usize = 256 << 10;

/// Takes the requests of another process off their stream: where in my memory the bytes are, and how many.
fn requests(asked: &[u8], registry: &Registry) -> impl Iterator<Item = Result<(usize, usize), Damaged>> {
    let mut asked = Reader::new(asked);
    std::iter::from_fn(move || {
        if asked.is_empty() {
            return None;
        }
        let head = read_head(&mut asked);
        Some(head.and_then(|(slot, offset, len)| Ok((place(registry, slot, offset, len)?, len))))
    })
}

/// Reads what another process asks for. Without `with_long` that process reads long stretches itself.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::Area;

    /// Three changes of some bytes, which a number decides: other bytes, or a shorter end.
    fn changed(bytes: &[u8], number: u64) -> Vec<u8> {
        let mut state = number.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
        let mut below = |bound: usize| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 33) as usize % bound
        };
        let mut bytes = bytes.to_vec();
        for _ in 0..3 {
            let at = below(bytes.len().max(1));
            match below(8) {
                0 => bytes.truncate(at),
                1 => bytes[at..].iter_mut().take(8).for_each(|byte| *byte = 0xFF),
                _ => bytes[at..].iter_mut().take(1).for_each(|byte| *byte = [0, 1, 8, 0x7F, 0x80, 0xFF][below(6)]),
            }
        }
        bytes
    }

    /// X5: what another process has damaged writes nowhere but into areas, and reads from nowhere else.
    #[test]
    fn damaged_records_touch_nothing_outside_of_the_area_they_name() {
        const AREA: std::ops::Range<usize> = 64..96;
        let mut memory = vec![7u8; 160];
        let start = memory.as_mut_ptr().expose_provenance();
        let mut registry = Registry::new(0, 1);
        let area = Area { address: start + AREA.start, size: AREA.len() };
        registry.push(area);
        registry.settle(&[area], &[]).expect("it is the only process");
        let (mut puts, mut asked) = (Stream::default(), Stream::default());
        for (offset, len) in [(0, 8), (5, 3), (24, 8), (32, 0), (0, 32)] {
            assert!(put(&mut puts, 0, offset, &vec![1; len]));
            assert!(push(&mut asked, 0, offset, len, &[]));
        }
        let (mut refused, numbers) = (0, if cfg!(miri) { 0..100 } else { 0..50_000 });
        for number in numbers {
            refused += u32::from(apply(&changed(puts.as_slice(), number), &registry).is_err());
            let mut answers = Stream::default();
            refused += u32::from(serve(&changed(asked.as_slice(), number), 0, &registry, &mut answers, true).is_err());
            // SAFETY: nobody else has a reference to it now.
            let now = unsafe { program::bytes(start, 160) };
            assert!(now[..AREA.start].iter().chain(&now[AREA.end..]).all(|&byte| byte == 7), "{number}");
        }
        assert!(refused > 20, "{refused} were refused");
        drop(memory);
    }
}
