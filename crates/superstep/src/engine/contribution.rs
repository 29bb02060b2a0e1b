//! The bytes that a member brings to a meeting.
//!
//! ```text
//! fingerprint u64 | flags u32 | number of leavers u32 | the leavers' ranks, u32 each |
//!     on FAILED: an encoded error
//!     on DEFERRED: two contributions, each: length, bytes
//!     else: per item of the step that speaks: length, bytes
//!           on WRITTEN: number u32, then per tenant: its number u32, length, bytes
//!           on DROPPED: number u32, then per tenant: its number u32, length, who has dropped it, u32 each
//! ```
//!
//! Length and bytes are a *portion*. Numbers of items, tenants and members are below 2^31, which is checked where they
//! are given. A length is a u32, in which `IS_LONG` says that the length itself follows as a u64, and `IS_REFUSED` that
//! the portion is an encoded error, because its operator has refused. Each portion says so for itself: an operator may
//! refuse what the ranks below a member contributed and not the whole, or the other way round.
//!
//! An empty step's contribution is the sixteen bytes of the header, the same on every member, and then nothing is
//! melded at all. Numbers are little-endian.

use crate::error::{Error, ErrorKind, Result};

/// What a contribution says about its step. Flags of several members are or-ed.
pub(crate) mod flags {
    /// Nobody on this side stays: it has no fingerprint and no items.
    pub(crate) const NOBODY: u32 = 1;
    /// Two fingerprints differ; no body follows.
    pub(crate) const DIVERGED: u32 = 1 << 1;
    /// Something failed that all must know; the body is an error.
    pub(crate) const FAILED: u32 = 1 << 2;
    /// Tenants were written that contribute.
    pub(crate) const WRITTEN: u32 = 1 << 3;
    /// Tenants were dropped.
    pub(crate) const DROPPED: u32 = 1 << 4;
    /// Trays were posted.
    pub(crate) const POSTED: u32 = 1 << 5;
    /// Somebody reads from others before the commit.
    pub(crate) const READS: u32 = 1 << 6;
    /// Somebody moves data straight from memory to memory.
    pub(crate) const DIRECT: u32 = 1 << 7;
    /// Some verb goes in two rounds.
    pub(crate) const FORWARDS: u32 = 1 << 8;
    /// Two contributions came together at a member that leaves and knows no operators: the body is both of them.
    pub(crate) const DEFERRED: u32 = 1 << 9;
    /// Somebody reads from others after the commit.
    pub(crate) const MIRRORS: u32 = 1 << 10;
    /// Somebody's records have data that is carried.
    pub(crate) const CARRIES: u32 = 1 << 11;
    /// Some portion is an error, because its operator has refused.
    pub(crate) const REFUSED: u32 = 1 << 12;
    /// Somebody writes to elements with an operator that may refuse.
    pub(crate) const DOUBTS: u32 = 1 << 13;
    /// Somebody has ended with an error, which is what counts, wherever the others are; the body is that error.
    pub(crate) const GAVE_UP: u32 = 1 << 14;
    /// Somebody has noted what could get in another's way: owners look for conflicts.
    pub(crate) const WATCHED: u32 = 1 << 15;
}

pub(crate) const HEADER: usize = 16;

/// A contribution that has been taken apart.
#[derive(Clone, Copy)]
pub(crate) struct Contribution<'a> {
    pub(crate) fingerprint: u64,
    pub(crate) flags: u32,
    pub(super) leavers: &'a [u8],
    pub(crate) body: &'a [u8],
}

pub(super) fn number(bytes: &[u8]) -> u32 {
    u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
}

#[inline]
fn split<'a>(bytes: &mut &'a [u8], count: usize) -> Result<&'a [u8]> {
    let (head, rest) = bytes.split_at_checked(count).ok_or_else(damaged)?;
    *bytes = rest;
    Ok(head)
}

#[inline]
fn split_number(bytes: &mut &[u8]) -> Result<u32> {
    let (number, rest) = bytes.split_first_chunk().ok_or_else(damaged)?;
    *bytes = rest;
    Ok(u32::from_le_bytes(*number))
}

/// How many bytes the length of a portion takes, unless it is long. With these few, a reduction and a prefix of 8 bytes
/// each fit into the one cache line of a slot (`fabric/src/threads/table.rs`).
pub(super) const LENGTH: usize = 4;
/// Set in the length of a portion that is an error.
const IS_REFUSED: u32 = 1 << 31;
/// Set, and alone but for `IS_REFUSED`, where the length follows in 8 bytes.
const IS_LONG: u32 = 1 << 30;

/// What one item or tenant amounts to.
#[derive(Clone, Copy)]
pub(crate) struct Portion<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) is_refused: bool,
}

impl<'a> Portion<'a> {
    /// Its bytes, or why its operator has refused.
    #[inline]
    pub(crate) fn get(self) -> Result<&'a [u8]> {
        if self.is_refused { Err(Error::read(0, self.bytes)) } else { Ok(self.bytes) }
    }

    /// Why its operator has refused, if it has.
    pub(super) fn refusal(self) -> Option<Error> {
        self.get().err()
    }
}

#[inline]
fn split_portion<'a>(bytes: &mut &'a [u8]) -> Result<Portion<'a>> {
    let length = split_number(bytes)?;
    let is_refused = length & IS_REFUSED != 0;
    let length = if length & IS_LONG == 0 { (length & !IS_REFUSED) as usize } else { split_long(bytes)? };
    Ok(Portion { bytes: split(bytes, length)?, is_refused })
}

#[cold]
fn split_long(bytes: &mut &[u8]) -> Result<usize> {
    let (length, rest) = bytes.split_first_chunk().ok_or_else(damaged)?;
    *bytes = rest;
    usize::try_from(u64::from_le_bytes(*length)).map_err(|_| damaged())
}

#[cold]
pub(super) fn damaged() -> Error {
    Error::new(ErrorKind::Damaged, "a contribution to a boundary ends too early")
}

impl<'a> Contribution<'a> {
    #[inline]
    pub(crate) fn of(mut bytes: &'a [u8]) -> Result<Self> {
        let header = split(&mut bytes, HEADER)?;
        let fingerprint = u64::from_le_bytes(header[..8].try_into().map_err(|_| damaged())?);
        let leavers = split(&mut bytes, 4 * number(&header[12..]) as usize)?;
        Ok(Self { fingerprint, flags: number(&header[8..]), leavers, body: bytes })
    }

    /// What the ranks below contributed. They may all have left; then they had nothing to say, like nobody.
    #[inline]
    pub(crate) fn below(bytes: &'a [u8]) -> Result<Option<Self>> {
        let below = if bytes.is_empty() { None } else { Some(Self::of(bytes)?) };
        Ok(below.filter(|below| !below.has(flags::NOBODY)))
    }

    pub(crate) fn has(&self, flag: u32) -> bool {
        self.flags & flag != 0
    }

    /// Whether it is nothing but a step that goes well.
    #[inline]
    pub(super) fn is_whole(&self) -> bool {
        self.leavers.is_empty() && !self.has(flags::NOBODY | flags::DIVERGED | flags::FAILED | flags::DEFERRED)
    }

    /// The ranks that leave a group of `size`, lowest first; rank `me` does not.
    #[inline]
    pub(crate) fn left(&self, size: usize, me: usize) -> Result<Vec<usize>> {
        if self.leavers.is_empty() {
            return Ok(Vec::new());
        }
        let left: Vec<usize> = self.leavers.chunks_exact(4).map(|rank| number(rank) as usize).collect();
        let is_list = left.is_sorted_by(|rank, next| rank < next) && left.iter().all(|&rank| rank < size && rank != me);
        if is_list { Ok(left) } else { Err(damaged()) }
    }
}

#[inline]
pub(crate) fn open(fingerprint: u64, flags: u32, leavers: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(&fingerprint.to_le_bytes());
    out.extend_from_slice(&flags.to_le_bytes());
    out.extend_from_slice(&((leavers.len() / 4) as u32).to_le_bytes());
    out.extend_from_slice(leavers);
}

/// Appends a portion whose length is known only once `write` has written it.
pub(crate) fn push_portion<R>(out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>) -> R) -> R {
    let at = out.len();
    out.extend_from_slice(&[0; LENGTH]);
    let result = write(out);
    close_portion(out, at, false);
    result
}

/// Writes how long the portion that begins at `at` has become.
#[inline]
pub(super) fn close_portion(out: &mut Vec<u8>, at: usize, is_refused: bool) {
    let refused = if is_refused { IS_REFUSED } else { 0 };
    let length = out.len() - at - LENGTH;
    let short = u32::try_from(length).ok().filter(|&length| length < IS_LONG);
    out[at..at + LENGTH].copy_from_slice(&(short.unwrap_or(IS_LONG) | refused).to_le_bytes());
    if short.is_none() {
        make_long(out, at);
    }
}

/// Puts the length of the portion that begins at `at` between its field and its bytes, which move: so long a portion is
/// rare, and its bytes are copied more often than this on their way.
#[cold]
fn make_long(out: &mut Vec<u8>, at: usize) {
    let length = (out.len() - at - LENGTH) as u64;
    out.splice(at + LENGTH..at + LENGTH, length.to_le_bytes());
}

/// Appends a numbered portion for each of `numbers`, which are rising; nothing where there are none.
#[inline]
pub(super) fn push_numbered(
    out: &mut Vec<u8>,
    numbers: &[u32],
    mut write: impl FnMut(u32, &mut Vec<u8>) -> Result,
) -> Result {
    if numbers.is_empty() {
        return Ok(());
    }
    out.extend_from_slice(&(numbers.len() as u32).to_le_bytes());
    for &number in numbers {
        out.extend_from_slice(&number.to_le_bytes());
        push_portion(out, |out| write(number, out))?;
    }
    Ok(())
}

/// Replaces whatever `out` holds by a failure that all members get.
pub(crate) fn fail(error: &Error, header: (u64, u32, &[u8]), out: &mut Vec<u8>) {
    out.clear();
    open(header.0, header.1 | flags::FAILED, header.2, out);
    out.extend_from_slice(&error.report());
}

/// The portions of a melded contribution.
pub(crate) struct Body<'a>(&'a [u8]);

impl<'a> Body<'a> {
    pub(crate) fn of(contribution: &Contribution<'a>) -> Self {
        Self(contribution.body)
    }

    #[inline]
    pub(crate) fn item(&mut self) -> Result<Portion<'a>> {
        split_portion(&mut self.0)
    }

    /// The numbered portions that `flag` announces, if they are there.
    pub(crate) fn numbered(&mut self, contribution: &Contribution<'_>, flag: u32) -> Result<Portions<'a>> {
        if !contribution.has(flag) {
            return Ok(Portions { left: 0, bytes: &[] });
        }
        let left = split_number(&mut self.0)?;
        let mut portions = Portions { left, bytes: self.0 };
        let mut behind = Portions { left, bytes: self.0 };
        while behind.next()?.is_some() {}
        let len = self.0.len() - behind.bytes.len();
        portions.bytes = split(&mut self.0, len)?;
        Ok(portions)
    }
}

/// Numbered portions, lowest number first.
#[derive(Clone, Copy)]
pub(crate) struct Portions<'a> {
    pub(super) left: u32,
    bytes: &'a [u8],
}

impl<'a> Portions<'a> {
    pub(crate) fn next(&mut self) -> Result<Option<(u32, Portion<'a>)>> {
        if self.left == 0 {
            return Ok(None);
        }
        self.left -= 1;
        Ok(Some((split_number(&mut self.bytes)?, split_portion(&mut self.bytes)?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Memory that is never touched takes no room, so that this needs none.
    #[test]
    fn a_portion_may_be_longer_than_32_bits_can_say() {
        const LONG: usize = (5 << 30) + 3;
        let mut out = vec![0; HEADER + LENGTH + 8 + LONG];
        let mut say = |field: u32, length: u64| {
            out[HEADER..HEADER + LENGTH].copy_from_slice(&field.to_le_bytes());
            out[HEADER + LENGTH..HEADER + LENGTH + 8].copy_from_slice(&length.to_le_bytes());
            let contribution = Contribution::of(&out).unwrap();
            let mut body = Body::of(&contribution);
            let portion = body.item().ok()?;
            assert!(body.0.is_empty());
            Some((portion.bytes.len(), portion.is_refused))
        };
        assert_eq!(say(IS_LONG, LONG as u64), Some((LONG, false)));
        assert_eq!(say(IS_LONG | IS_REFUSED, LONG as u64), Some((LONG, true)));
        // A length that is not there is an error, whatever it is.
        assert_eq!(say(IS_LONG, LONG as u64 + 1), None);
        assert_eq!(say(IS_LONG, u64::MAX), None);
    }

    /// X5: whoever stays must find itself among those who do.
    #[test]
    fn leavers_that_nobody_could_have_listed_are_damage() {
        let left = |ranks: &[u32]| {
            let (mut out, leavers) = (Vec::new(), ranks.iter().flat_map(|rank| rank.to_le_bytes()).collect::<Vec<_>>());
            open(7, 0, &leavers, &mut out);
            Contribution::of(&out).unwrap().left(4, 1)
        };
        assert_eq!(left(&[0, 2, 3]).unwrap(), [0, 2, 3]);
        for ranks in [&[1][..], &[4], &[u32::MAX], &[2, 0], &[2, 2]] {
            assert_eq!(left(ranks).unwrap_err().kind(), ErrorKind::Damaged, "{ranks:?}");
        }
    }

    #[test]
    fn a_long_portion_is_read_as_it_was_written() {
        let mut out = Vec::new();
        open(7, 0, &[], &mut out);
        out.extend_from_slice(&(IS_LONG | IS_REFUSED).to_le_bytes());
        out.extend_from_slice(b"long");
        make_long(&mut out, HEADER);
        push_portion(&mut out, |out| out.extend_from_slice(b"short"));
        let contribution = Contribution::of(&out).unwrap();
        let mut body = Body::of(&contribution);
        let (long, short) = (body.item().unwrap(), body.item().unwrap());
        assert_eq!((long.bytes, long.is_refused), (&b"long"[..], true));
        assert_eq!((short.bytes, short.is_refused), (&b"short"[..], false));
        assert!(body.0.is_empty());
    }

    /// With more of them, two numbers would not fit into a slot.
    #[test]
    fn the_length_of_a_short_portion_takes_four_bytes() {
        let mut out = Vec::new();
        push_portion(&mut out, |out| out.extend_from_slice(b"short"));
        assert_eq!(out.len(), LENGTH + 5);
    }
}
