//! Records: what travels between two members besides their contributions.
//!
//! ```text
//! address u32 | tag u8 | length u24 | the length again, u64, where 24 bits are too few | that many bytes
//! ```
//!
//! Short, so that a put of 8 bytes travels in the cache line that its target waits for anyway.
//!
//! A record is addressed to an item of the step or to a tenant of the group. Where two members share memory, a record
//! may stand for a value that moves along with the bytes; its length is 0 then.

use crate::error::{Error, ErrorKind, Result};
use fabric::wire::{Damaged, Reader};
use std::any::Any;

/// Whom a record is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Address {
    /// An item of the step, by number.
    Item(u32),
    /// A tenant of the group, by number.
    Tenant(u32),
}

impl Address {
    /// The tenant that it names; an item is not expected.
    pub(super) fn tenant(self) -> Result<u32> {
        match self {
            Self::Tenant(number) => Ok(number),
            Self::Item(_) => Err(damaged()),
        }
    }
}

/// What a record brings.
pub(crate) enum Payload<'a> {
    /// Bytes.
    Bytes(&'a [u8]),
    /// A value that has moved here.
    Moved(Box<dyn Any + Send>),
}

impl<'a> Payload<'a> {
    /// The bytes; a moved value is not expected.
    pub(crate) fn bytes(self) -> Result<&'a [u8]> {
        match self {
            Self::Bytes(bytes) => Ok(bytes),
            Self::Moved(_) => Err(damaged()),
        }
    }
}

fabric::tags! {
    /// What to do with a record, and when.
    pub(crate) enum Tag {
        /// Commit its bytes.
        Data = 0,
        /// Commit the value that moves with it.
        Moved,
        /// Answer it before anything is committed.
        ReadBefore,
        /// Take notice of a transfer from memory to memory.
        Notice,
        /// Answer it after everything is committed.
        ReadAfter,
        /// Know what its sender does to a section: conflicts are looked for.
        Touch,
        /// Forget what its sender has posted before it for this boundary: the step that posted it never closed.
        Recall,
    }
}

/// The length of a record's header, and of that of a long one.
pub(super) const SHORT: usize = 8;
pub(super) const LONG: usize = 16;
/// A length that says: look behind the header.
const TOO_LONG: usize = (1 << 24) - 1;
const ITEM: u32 = 1 << 31;

/// The head of a record, and how long it is as a whole.
pub(super) struct Record {
    pub(super) address: Address,
    pub(super) tag: Tag,
    pub(super) len: usize,
}

impl Record {
    /// The first record of these bytes, if there is one, with its payload.
    #[inline]
    pub(super) fn read(bytes: &[u8]) -> Result<Option<(Self, &[u8])>> {
        if bytes.is_empty() {
            return Ok(None);
        }
        let mut reader = Reader::new(bytes);
        let (address, tag, payload) = Self::take(&mut reader).map_err(|Damaged| damaged())?;
        Ok(Some((Self { address, tag, len: bytes.len() - reader.rest().len() }, payload)))
    }

    #[inline]
    fn take<'a>(reader: &mut Reader<'a>) -> std::result::Result<(Address, Tag, &'a [u8]), Damaged> {
        let header: u64 = reader.get()?;
        let short = (header >> 40) as usize;
        let len = if short == TOO_LONG { reader.get()? } else { short };
        let number = header as u32;
        let address = if number & ITEM == 0 { Address::Tenant(number) } else { Address::Item(number & !ITEM) };
        Ok((address, ((header >> 32) as u8).try_into()?, reader.bytes(len)?))
    }
}

/// Appends a record whose bytes `write` appends, about `expected` of them.
#[inline]
pub(super) fn append<R>(
    bytes: &mut Vec<u8>,
    (address, tag): (Address, Tag),
    expected: usize,
    write: impl FnOnce(&mut Vec<u8>) -> R,
) -> R {
    let at = bytes.len();
    let mut header = if expected < TOO_LONG { SHORT } else { LONG };
    // The padding is a constant, so that this is one store and no call.
    bytes.extend_from_slice(&[0; SHORT]);
    if header == LONG {
        bytes.extend_from_slice(&[0; LONG - SHORT]);
    }
    // A value's own code may unwind, and the program may catch that: half a record must not stay.
    let mut unwinding = TakeBack { bytes, at };
    let result = write(unwinding.bytes);
    unwinding.at = usize::MAX;
    let bytes = &mut *unwinding.bytes;
    let len = bytes.len() - at - header;
    if header == SHORT && len >= TOO_LONG {
        lengthen(bytes, at);
        header = LONG;
    }
    let address = match address {
        Address::Item(number) => number | ITEM,
        Address::Tenant(number) => number,
    };
    let short = if header == SHORT { len } else { TOO_LONG };
    let word = u64::from(address) | (tag as u64) << 32 | (short as u64) << 40;
    bytes[at..at + SHORT].copy_from_slice(&word.to_le_bytes());
    if header == LONG {
        bytes[at + SHORT..at + LONG].copy_from_slice(&(len as u64).to_le_bytes());
    }
    result
}

/// A record is longer than expected: everything moves up once.
#[cold]
fn lengthen(bytes: &mut Vec<u8>, at: usize) {
    bytes.splice(at + SHORT..at + SHORT, [0; LONG - SHORT]);
}

/// Cuts a record off again unless it was finished.
struct TakeBack<'a> {
    bytes: &'a mut Vec<u8>,
    at: usize,
}

impl Drop for TakeBack<'_> {
    fn drop(&mut self) {
        self.bytes.truncate(self.at);
    }
}

/// Takes numbers off the front of a record.
#[inline]
pub(crate) fn read_words<const N: usize>(bytes: &mut &[u8]) -> Result<[u64; N]> {
    let mut reader = Reader::new(bytes);
    let words = reader.get().map_err(|_| damaged())?;
    *bytes = reader.rest();
    Ok(words)
}

pub(crate) fn damaged() -> Error {
    Error::new(ErrorKind::Damaged, "a record from another processor makes no sense")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

    #[test]
    fn a_record_of_any_length_comes_back_as_it_was() {
        for len in [0, 1, TOO_LONG - 1, TOO_LONG, TOO_LONG + 1] {
            for expected in [0, len] {
                let mut bytes = Vec::new();
                append(&mut bytes, (Address::Item(3), Tag::Notice), expected, |out| out.resize(out.len() + len, 7));
                append(&mut bytes, (Address::Tenant(4), Tag::Recall), 0, |out| out.push(1));
                let (first, payload) = Record::read(&bytes).unwrap().unwrap();
                assert!(matches!((first.address, first.tag), (Address::Item(3), Tag::Notice)));
                assert!(payload.len() == len && payload.iter().all(|&byte| byte == 7), "{len} bytes");
                let (second, payload) = Record::read(&bytes[first.len..]).unwrap().unwrap();
                assert!(matches!((second.address, second.tag), (Address::Tenant(4), Tag::Recall)));
                assert_eq!((payload, first.len + second.len), (&[1][..], bytes.len()));
            }
        }
    }

    #[test]
    fn nothing_is_left_of_a_record_whose_value_unwinds() {
        let mut bytes = Vec::new();
        append(&mut bytes, (Address::Item(3), Tag::Data), 0, |out| out.push(7));
        let before = bytes.clone();
        let unwound = catch_unwind(AssertUnwindSafe(|| {
            append::<()>(&mut bytes, (Address::Item(4), Tag::Data), 0, |out| {
                out.push(8);
                resume_unwind(Box::new("no value"))
            });
        }));
        assert!(unwound.is_err() && bytes == before);
    }
}
