//! The bytes that a member brings to a meeting, and how two of them meld.
//!
//! ```text
//! fingerprint u64 | flags u32 | number of leavers u32 | the leavers' ranks, u32 each |
//!     on FAILED: an encoded error
//!     on DEFERRED: two contributions, each: length u32, bytes
//!     else: per item of the step that needs the wave: length u32, bytes
//!           on WRITTEN: number u32, then per variable: its number u32, length u32, bytes
//!           on DROPPED: number u32, then per object: its number u32, length u32, who has dropped it, u32 each
//! ```
//!
//! An empty step's contribution is the sixteen bytes of the header, the same on every member, and then nothing is
//! melded at all. Numbers are little-endian.

use super::{
    items::{Items, Needs},
    registry::Registry,
};
use crate::{
    error::{Error, ErrorKind, Result},
    panics,
};
use fabric::Meld;
use std::{
    borrow::Cow,
    panic::{AssertUnwindSafe, catch_unwind},
};

/// What a contribution says about its step. Flags of several members are or-ed.
pub(crate) mod flags {
    /// Nobody on this side stays: it has no fingerprint and no items.
    pub(crate) const NOBODY: u32 = 1;
    /// Two fingerprints differ; no body follows.
    pub(crate) const DIVERGED: u32 = 1 << 1;
    /// Something failed that all must know; the body is an error.
    pub(crate) const FAILED: u32 = 1 << 2;
    /// Shared variables were written.
    pub(crate) const WRITTEN: u32 = 1 << 3;
    /// Objects were dropped.
    pub(crate) const DROPPED: u32 = 1 << 4;
    /// Trays were posted.
    pub(crate) const POSTED: u32 = 1 << 5;
    /// Somebody reads from others before the commit.
    pub(crate) const READS: u32 = 1 << 6;
    /// Somebody moves data straight from area to area.
    pub(crate) const DIRECT: u32 = 1 << 7;
    /// Some verb goes in two phases.
    pub(crate) const FORWARDS: u32 = 1 << 8;
    /// Two contributions came together at a member that leaves and knows no operators: the body is both of them.
    pub(crate) const DEFERRED: u32 = 1 << 9;
    /// Somebody reads from others after the commit.
    pub(crate) const MIRRORS: u32 = 1 << 10;
    /// Somebody's records have data that is carried.
    pub(crate) const CARRIES: u32 = 1 << 11;
}

pub(crate) const HEADER: usize = 16;

/// A contribution that has been taken apart.
#[derive(Clone, Copy)]
pub(crate) struct Parts<'a> {
    pub(crate) fingerprint: u64,
    pub(crate) flags: u32,
    leavers: &'a [u8],
    pub(crate) body: &'a [u8],
}

fn number(bytes: &[u8]) -> u32 {
    u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
}

/// Splits `count` bytes off the front.
#[inline]
fn split<'a>(bytes: &mut &'a [u8], count: usize) -> Result<&'a [u8]> {
    let (head, rest) = bytes.split_at_checked(count).ok_or_else(damaged)?;
    *bytes = rest;
    Ok(head)
}

fn split_number(bytes: &mut &[u8]) -> Result<u32> {
    split(bytes, 4).map(number)
}

fn split_part<'a>(bytes: &mut &'a [u8]) -> Result<&'a [u8]> {
    let len = split_number(bytes)? as usize;
    split(bytes, len)
}

fn damaged() -> Error {
    Error::new(ErrorKind::Damaged, "a contribution to a boundary ends too early")
}

impl<'a> Parts<'a> {
    #[inline]
    pub(crate) fn of(mut bytes: &'a [u8]) -> Result<Self> {
        let header = split(&mut bytes, HEADER)?;
        let fingerprint = u64::from_le_bytes(header[..8].try_into().map_err(|_| damaged())?);
        let leavers = split(&mut bytes, 4 * number(&header[12..]) as usize)?;
        Ok(Self { fingerprint, flags: number(&header[8..]), leavers, body: bytes })
    }

    pub(crate) fn has(&self, flag: u32) -> bool {
        self.flags & flag != 0
    }

    /// Whether it is nothing but a step that goes well.
    #[inline]
    fn is_whole(&self) -> bool {
        self.leavers.is_empty() && !self.has(flags::NOBODY | flags::DIVERGED | flags::FAILED | flags::DEFERRED)
    }

    /// The ranks that leave, lowest first.
    #[inline]
    pub(crate) fn left(&self) -> Vec<usize> {
        if self.leavers.is_empty() {
            return Vec::new();
        }
        self.leavers.chunks_exact(4).map(|rank| number(rank) as usize).collect()
    }
}

/// Starts a contribution.
#[inline]
pub(crate) fn open(fingerprint: u64, flags: u32, leavers: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(&fingerprint.to_le_bytes());
    out.extend_from_slice(&flags.to_le_bytes());
    out.extend_from_slice(&((leavers.len() / 4) as u32).to_le_bytes());
    out.extend_from_slice(leavers);
}

/// Appends a part whose length is known only once `write` has written it.
pub(crate) fn push_part<R>(out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>) -> R) -> R {
    let at = out.len();
    out.extend_from_slice(&[0; 4]);
    let result = write(out);
    let len = (out.len() - at - 4) as u32;
    out[at..at + 4].copy_from_slice(&len.to_le_bytes());
    result
}

/// Replaces whatever `out` holds by a failure that all members get.
pub(crate) fn fail(error: &Error, parts: (u64, u32, &[u8]), out: &mut Vec<u8>) {
    out.clear();
    open(parts.0, parts.1 | flags::FAILED, parts.2, out);
    out.extend_from_slice(&error.report());
}

/// The items' and variables' parts of a melded contribution.
pub(crate) struct Body<'a>(&'a [u8]);

impl<'a> Body<'a> {
    pub(crate) fn of(parts: &Parts<'a>) -> Self {
        Self(parts.body)
    }

    /// The next item's part.
    pub(crate) fn item(&mut self) -> Result<&'a [u8]> {
        split_part(&mut self.0)
    }

    /// The section of numbered entries that `flag` announces, if it is there.
    pub(crate) fn entries(&mut self, parts: &Parts<'_>, flag: u32) -> Result<Entries<'a>> {
        if !parts.has(flag) {
            return Ok(Entries { left: 0, bytes: &[] });
        }
        let left = split_number(&mut self.0)?;
        let mut entries = Entries { left, bytes: self.0 };
        let mut behind = Entries { left, bytes: self.0 };
        while behind.next()?.is_some() {}
        let len = self.0.len() - behind.bytes.len();
        entries.bytes = split(&mut self.0, len)?;
        Ok(entries)
    }
}

/// Numbered entries, lowest number first.
#[derive(Clone, Copy)]
pub(crate) struct Entries<'a> {
    left: u32,
    bytes: &'a [u8],
}

impl<'a> Entries<'a> {
    pub(crate) fn next(&mut self) -> Result<Option<(u32, &'a [u8])>> {
        if self.left == 0 {
            return Ok(None);
        }
        self.left -= 1;
        Ok(Some((split_number(&mut self.bytes)?, split_part(&mut self.bytes)?)))
    }
}

/// Melds contributions with the operators of this processor's items and variables, which S5 makes sure are everybody's.
pub(crate) struct Melder<'a> {
    /// `None` on a member that leaves: it takes no part in the step and has no operators for it.
    pub(crate) operators: Option<(&'a Items, &'a Registry)>,
    /// Whether this processor's contribution is a bare header.
    pub(crate) is_bare: bool,
    /// What this processor is about to do; `None` on a member that leaves.
    pub(crate) fingerprint: Option<u64>,
}

impl Meld for Melder<'_> {
    fn meld(&mut self, left: &[u8], right: &[u8], out: &mut Vec<u8>) {
        if let (Some((items, registry)), Ok(left), Ok(right)) = (self.operators, Parts::of(left), Parts::of(right))
            && left.is_whole()
            && right.is_whole()
            && left.fingerprint == right.fingerprint
            && self.fingerprint == Some(left.fingerprint)
        {
            // Nearly always.
            let either = left.flags | right.flags;
            open(left.fingerprint, either, &[], out);
            if let Err(error) = meld_bodies(items, registry, &left, &right, out) {
                fail(&error, (left.fingerprint, either, &[]), out);
            }
            return;
        }
        self.meld_with_care(left, right, out);
    }

    fn alike(&self) -> bool {
        self.is_bare
    }

    fn wants_before(&self) -> bool {
        // A member that leaves does not know whether the others ask, and passes on what they may ask for.
        self.operators.is_none_or(|(items, _)| items.collective().iter().any(|item| item.needs == Needs::Before))
    }
}

impl Melder<'_> {
    /// Melds where somebody leaves, something failed or the members diverge.
    #[cold]
    fn meld_with_care(&mut self, left: &[u8], right: &[u8], out: &mut Vec<u8>) {
        let (left, right) = (self.resolve(left), self.resolve(right));
        let (left, right) = match (Parts::of(&left), Parts::of(&right)) {
            (Ok(left), Ok(right)) => (left, right),
            (Err(error), _) | (_, Err(error)) => {
                return fail(&error, (self.fingerprint.unwrap_or(0), 0, &[]), out);
            }
        };
        let leavers = [left.leavers, right.leavers].concat();
        let either = left.flags | right.flags;
        if left.has(flags::NOBODY) || right.has(flags::NOBODY) {
            let stays = if left.has(flags::NOBODY) { right } else { left };
            open(stays.fingerprint, stays.flags, &leavers, out);
            out.extend_from_slice(stays.body);
        } else if either & flags::DIVERGED != 0
            || left.fingerprint != right.fingerprint
            || self.fingerprint.is_some_and(|mine| mine != left.fingerprint)
        {
            // Also where the two agree and this processor does not: its operators are not theirs.
            open(left.fingerprint, either & !flags::FAILED | flags::DIVERGED, &leavers, out);
        } else if either & flags::FAILED != 0 {
            let failed = if left.has(flags::FAILED) { left } else { right };
            open(failed.fingerprint, either, &leavers, out);
            out.extend_from_slice(failed.body);
        } else if let Some((items, registry)) = self.operators {
            open(left.fingerprint, either, &leavers, out);
            if let Err(error) = meld_bodies(items, registry, &left, &right, out) {
                fail(&error, (left.fingerprint, either, &leavers), out);
            }
        } else {
            // The leavers are listed here; the two below need not say it again, so that each is listed once.
            open(left.fingerprint, either | flags::DEFERRED, &leavers, out);
            for side in [left, right] {
                push_part(out, |out| {
                    open(side.fingerprint, side.flags, &[], out);
                    out.extend_from_slice(side.body);
                });
            }
        }
    }

    /// Melds what a member that left could not, now that the operators are at hand.
    #[inline]
    pub(crate) fn resolve<'b>(&mut self, bytes: &'b [u8]) -> Cow<'b, [u8]> {
        let is_deferred = bytes.len() > HEADER && number(&bytes[8..]) & flags::DEFERRED != 0;
        if is_deferred && self.operators.is_some() { self.resolve_deferred(bytes) } else { Cow::Borrowed(bytes) }
    }

    #[cold]
    fn resolve_deferred<'b>(&mut self, bytes: &'b [u8]) -> Cow<'b, [u8]> {
        match Parts::of(bytes) {
            Ok(parts) => {
                let (mut sides, mut out, mut melded) = (Body::of(&parts), Vec::new(), Vec::new());
                match (sides.item(), sides.item()) {
                    (Ok(left), Ok(right)) => self.meld(left, right, &mut melded),
                    (Err(error), _) | (_, Err(error)) => fail(&error, (0, 0, &[]), &mut melded),
                }
                if let Ok(sides) = Parts::of(&melded) {
                    open(sides.fingerprint, sides.flags, parts.leavers, &mut out);
                    out.extend_from_slice(sides.body);
                }
                Cow::Owned(out)
            }
            Err(_) => Cow::Borrowed(bytes),
        }
    }
}

fn meld_bodies(items: &Items, registry: &Registry, left: &Parts<'_>, right: &Parts<'_>, out: &mut Vec<u8>) -> Result {
    guard(|| meld_parts(items, registry, left, right, out))
}

fn meld_parts(items: &Items, registry: &Registry, left: &Parts<'_>, right: &Parts<'_>, out: &mut Vec<u8>) -> Result {
    let (mut left_body, mut right_body) = (Body::of(left), Body::of(right));
    for placed in items.collective().iter().filter(|placed| placed.speaks) {
        let (left, right) = (left_body.item()?, right_body.item()?);
        push_part(out, |out| placed.item.meld(left, right, out))?;
    }
    if (left.flags | right.flags) & (flags::WRITTEN | flags::DROPPED) == 0 {
        return Ok(());
    }
    let (lefts, rights) = (left_body.entries(left, flags::WRITTEN)?, right_body.entries(right, flags::WRITTEN)?);
    merge(lefts, rights, out, |number, left, right, out| {
        let variable = registry.variable(number).ok_or_else(damaged)?;
        variable.meld(left, right, out)
    })?;
    let (lefts, rights) = (left_body.entries(left, flags::DROPPED)?, right_body.entries(right, flags::DROPPED)?);
    merge(lefts, rights, out, |_, left, right, out| {
        out.extend_from_slice(left);
        out.extend_from_slice(right);
        Ok(())
    })
}

/// Runs a user's operator; what it panics with becomes an error.
fn guard(operate: impl FnOnce() -> Result) -> Result {
    catch_unwind(AssertUnwindSafe(operate)).unwrap_or_else(|payload| {
        let error = panics::caught(payload);
        Err(match error.kind() {
            ErrorKind::Panicked => Error::new(ErrorKind::Panicked, format!("a combine function panicked: {error}")),
            _ => error,
        })
    })
}

/// Merges two lists of numbered entries; those that are in both go through `meld`.
fn merge(
    mut lefts: Entries<'_>,
    mut rights: Entries<'_>,
    out: &mut Vec<u8>,
    mut meld: impl FnMut(u32, &[u8], &[u8], &mut Vec<u8>) -> Result,
) -> Result {
    if lefts.left == 0 && rights.left == 0 {
        return Ok(());
    }
    let at = out.len();
    out.extend_from_slice(&[0; 4]);
    let mut count = 0u32;
    let (mut left, mut right) = (lefts.next()?, rights.next()?);
    loop {
        let number = match (left, right) {
            (None, None) => break,
            (Some((number, _)), None) | (None, Some((number, _))) => number,
            (Some((left, _)), Some((right, _))) => left.min(right),
        };
        let from_left = left.filter(|&(at, _)| at == number);
        let from_right = right.filter(|&(at, _)| at == number);
        out.extend_from_slice(&number.to_le_bytes());
        push_part(out, |out| match (from_left, from_right) {
            (Some((_, left)), Some((_, right))) => meld(number, left, right, out),
            (Some((_, only)), None) | (None, Some((_, only))) => {
                out.extend_from_slice(only);
                Ok(())
            }
            (None, None) => Err(damaged()),
        })?;
        count += 1;
        if from_left.is_some() {
            left = lefts.next()?;
        }
        if from_right.is_some() {
            right = rights.next()?;
        }
    }
    out[at..at + 4].copy_from_slice(&count.to_le_bytes());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bare(fingerprint: u64, flags: u32, leavers: &[u32]) -> Vec<u8> {
        let mut out = Vec::new();
        let leavers: Vec<u8> = leavers.iter().flat_map(|rank| rank.to_le_bytes()).collect();
        open(fingerprint, flags, &leavers, &mut out);
        out
    }

    fn melded(left: &[u8], right: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        let (items, registry) = (Items::default(), Registry::default());
        Melder { operators: Some((&items, &registry)), is_bare: true, fingerprint: None }.meld(left, right, &mut out);
        out
    }

    #[test]
    fn equal_headers_meld_into_themselves() {
        assert_eq!(melded(&bare(7, 0, &[]), &bare(7, 0, &[])), bare(7, 0, &[]));
    }

    #[test]
    fn different_fingerprints_diverge_and_stay_so() {
        let diverged = melded(&bare(7, 0, &[]), &bare(8, 0, &[]));
        assert_eq!(diverged, bare(7, flags::DIVERGED, &[]));
        assert_eq!(melded(&bare(7, 0, &[]), &diverged), bare(7, flags::DIVERGED, &[]));
    }

    #[test]
    fn leavers_have_no_fingerprint_and_are_listed() {
        let left = melded(&bare(0, flags::NOBODY, &[0]), &bare(8, 0, &[]));
        assert_eq!(left, bare(8, 0, &[0]));
        assert_eq!(melded(&left, &bare(0, flags::NOBODY, &[5])), bare(8, 0, &[0, 5]));
        assert_eq!(
            melded(&bare(0, flags::NOBODY, &[0]), &bare(0, flags::NOBODY, &[1])),
            bare(0, flags::NOBODY, &[0, 1])
        );
    }

    #[test]
    fn what_a_leaver_cannot_meld_is_melded_later_with_each_leaver_listed_once() {
        let mut leaver = Melder { operators: None, is_bare: false, fingerprint: None };
        let mut deferred = Vec::new();
        leaver.meld(&bare(8, 0, &[2]), &bare(8, flags::READS, &[4]), &mut deferred);
        assert!(Parts::of(&deferred).unwrap().has(flags::DEFERRED));
        assert_eq!(melded(&deferred, &bare(8, 0, &[6])), bare(8, flags::READS, &[2, 4, 6]));
    }

    #[test]
    fn damaged_contributions_become_a_failure() {
        for cut in 0..HEADER {
            let out = melded(&bare(7, 0, &[])[..cut], &bare(7, 0, &[]));
            assert!(Parts::of(&out).unwrap().has(flags::FAILED), "cut at {cut}");
        }
        let out = melded(&bare(7, flags::WRITTEN, &[]), &bare(7, flags::WRITTEN, &[]));
        assert!(Parts::of(&out).unwrap().has(flags::FAILED));
    }
}
