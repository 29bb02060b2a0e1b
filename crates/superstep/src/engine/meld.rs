//! How two contributions become one.

use super::{
    contribution::{
        Body, Contribution, HEADER, LENGTH, Portion, Portions, close_portion, damaged, fail, flags, number, open,
        push_portion,
    },
    fold::guard,
    items::{Items, Needs},
    registry::Registry,
};
use crate::error::{Error, Result};
use fabric::Meld;
use std::borrow::Cow;

/// Melds contributions with the operators of this processor's items and tenants, which S5 makes sure are everybody's.
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
        if let (Some((items, registry)), Ok(left), Ok(right)) =
            (self.operators, Contribution::of(left), Contribution::of(right))
            && left.is_whole()
            && right.is_whole()
            && left.fingerprint == right.fingerprint
            && self.fingerprint == Some(left.fingerprint)
        {
            // Nearly always.
            let either = left.flags | right.flags;
            open(left.fingerprint, either, &[], out);
            meld_bodies((items, registry), (&left, &right), either, &[], out);
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
        let (left, right) = match (Contribution::of(&left), Contribution::of(&right)) {
            (Ok(left), Ok(right)) => (left, right),
            (Err(error), _) | (_, Err(error)) => {
                return fail(&error, (self.fingerprint.unwrap_or(0), 0, &[]), out);
            }
        };
        let leavers = [left.leavers, right.leavers].concat();
        let either = left.flags | right.flags;
        if either & flags::GAVE_UP != 0 {
            let failed = if left.has(flags::GAVE_UP) { left } else { right };
            open(failed.fingerprint, flags::GAVE_UP | flags::FAILED, &leavers, out);
            out.extend_from_slice(failed.body);
        } else if left.has(flags::NOBODY) || right.has(flags::NOBODY) {
            let stays = if left.has(flags::NOBODY) { right } else { left };
            open(stays.fingerprint, stays.flags, &leavers, out);
            out.extend_from_slice(stays.body);
        } else if either & flags::DIVERGED != 0
            || left.fingerprint != right.fingerprint
            || self.fingerprint.is_some_and(|mine| mine != left.fingerprint)
        {
            // Also where the two agree and this processor does not: its operators are not theirs.
            open(left.fingerprint, either & !(flags::FAILED | flags::DEFERRED) | flags::DIVERGED, &leavers, out);
        } else if either & flags::FAILED != 0 {
            // The error stands for both sides, also for one that nobody could meld yet.
            let failed = if left.has(flags::FAILED) { left } else { right };
            open(failed.fingerprint, either & !flags::DEFERRED, &leavers, out);
            out.extend_from_slice(failed.body);
        } else if let Some((items, registry)) = self.operators {
            open(left.fingerprint, either, &leavers, out);
            meld_bodies((items, registry), (&left, &right), either, &leavers, out);
        } else {
            // The leavers are listed here; the two below need not say it again, so that each is listed once.
            open(left.fingerprint, either | flags::DEFERRED, &leavers, out);
            for side in [left, right] {
                push_portion(out, |out| {
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
        match Contribution::of(bytes) {
            Ok(both) => {
                let (mut sides, mut out, mut melded) = (Body::of(&both), Vec::new(), Vec::new());
                let mut side = || sides.item()?.get();
                match (side(), side()) {
                    (Ok(left), Ok(right)) => self.meld(left, right, &mut melded),
                    (Err(error), _) | (_, Err(error)) => fail(&error, (0, 0, &[]), &mut melded),
                }
                if let Ok(sides) = Contribution::of(&melded) {
                    open(sides.fingerprint, sides.flags, both.leavers, &mut out);
                    out.extend_from_slice(sides.body);
                }
                Cow::Owned(out)
            }
            Err(_) => Cow::Borrowed(bytes),
        }
    }
}

/// Appends what the bodies of two contributions amount to, behind a header that says `flags`.
#[inline]
fn meld_bodies(
    operators: (&Items, &Registry),
    (left, right): (&Contribution<'_>, &Contribution<'_>),
    flags: u32,
    leavers: &[u8],
    out: &mut Vec<u8>,
) {
    match meld_parts(operators, left, right, out) {
        Ok(false) => {}
        Ok(true) => out[8..12].copy_from_slice(&(flags | flags::REFUSED).to_le_bytes()),
        Err(error) => fail(&error, (left.fingerprint, flags, leavers), out),
    }
}

fn meld_parts(
    (items, registry): (&Items, &Registry),
    left: &Contribution<'_>,
    right: &Contribution<'_>,
    out: &mut Vec<u8>,
) -> Result<bool> {
    let mut is_refused = false;
    let (mut left_body, mut right_body) = (Body::of(left), Body::of(right));
    for placed in items.collective().iter().filter(|placed| placed.speaks) {
        let (left, right) = (left_body.item()?, right_body.item()?);
        is_refused |= meld_portion(left, right, out, |left, right, out| placed.item.meld(left, right, out));
    }
    if (left.flags | right.flags) & (flags::WRITTEN | flags::DROPPED) == 0 {
        return Ok(is_refused);
    }
    let (lefts, rights) = (left_body.numbered(left, flags::WRITTEN)?, right_body.numbered(right, flags::WRITTEN)?);
    is_refused |= merge(lefts, rights, out, |number, left, right, out| {
        registry.contributor(number).ok_or_else(damaged)?.meld(left, right, out)
    })?;
    let (lefts, rights) = (left_body.numbered(left, flags::DROPPED)?, right_body.numbered(right, flags::DROPPED)?);
    merge(lefts, rights, out, |_, left, right, out| {
        out.extend_from_slice(left);
        out.extend_from_slice(right);
        Ok(())
    })?;
    Ok(is_refused)
}

/// Merges two lists of numbered portions; those that are in both go through `meld`. Says whether one is a refusal.
fn merge(
    mut lefts: Portions<'_>,
    mut rights: Portions<'_>,
    out: &mut Vec<u8>,
    mut meld: impl FnMut(u32, &[u8], &[u8], &mut Vec<u8>) -> Result,
) -> Result<bool> {
    if lefts.left == 0 && rights.left == 0 {
        return Ok(false);
    }
    let mut is_refused = false;
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
        match (from_left, from_right) {
            (Some((_, left)), Some((_, right))) => {
                is_refused |= meld_portion(left, right, out, |left, right, out| meld(number, left, right, out));
            }
            (Some((_, only)), None) | (None, Some((_, only))) => {
                is_refused |= only.is_refused;
                let at = out.len();
                out.extend_from_slice(&[0; LENGTH]);
                out.extend_from_slice(only.bytes);
                close_portion(out, at, only.is_refused);
            }
            (None, None) => return Err(damaged()),
        }
        count += 1;
        if from_left.is_some() {
            left = lefts.next()?;
        }
        if from_right.is_some() {
            right = rights.next()?;
        }
    }
    out[at..at + 4].copy_from_slice(&count.to_le_bytes());
    Ok(is_refused)
}

/// Appends what two portions amount to, and says whether that is a refusal.
fn meld_portion(
    left: Portion<'_>,
    right: Portion<'_>,
    out: &mut Vec<u8>,
    meld: impl FnOnce(&[u8], &[u8], &mut Vec<u8>) -> Result,
) -> bool {
    let at = out.len();
    out.extend_from_slice(&[0; LENGTH]);
    let is_refused = left.is_refused || right.is_refused;
    if is_refused {
        // The lower rank's is the one that all get.
        out.extend_from_slice(if left.is_refused { left.bytes } else { right.bytes });
    } else if let Err(error) = guard(|| meld(left.bytes, right.bytes, out)) {
        out.truncate(at + LENGTH);
        out.extend_from_slice(&error.report());
        close_portion(out, at, true);
        return true;
    }
    close_portion(out, at, is_refused);
    is_refused
}

/// Why the step cannot be committed, if an operator has refused a total that somebody asked for.
#[cold]
pub(super) fn refusal(total: &Contribution<'_>, items: &Items) -> Result<Option<Error>> {
    let mut body = Body::of(total);
    for placed in items.collective().iter().filter(|placed| placed.speaks) {
        let refusal = body.item()?.refusal();
        if refusal.is_some() && placed.needs == Needs::Total {
            return Ok(refusal);
        }
    }
    let mut written = body.numbered(total, flags::WRITTEN)?;
    while let Some((_, portion)) = written.next()? {
        if let Some(refusal) = portion.refusal() {
            return Ok(Some(refusal));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::{
        super::{contribution::push_numbered, items::Tally},
        *,
    };

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
        assert!(Melder { operators: None, is_bare: true, fingerprint: None }.alike());
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
        assert!(Contribution::of(&deferred).unwrap().has(flags::DEFERRED));
        assert_eq!(melded(&deferred, &bare(8, 0, &[6])), bare(8, flags::READS, &[2, 4, 6]));
    }

    #[test]
    fn what_a_leaver_could_not_meld_gives_way_to_a_failure_or_a_divergence() {
        let mut leaver = Melder { operators: None, is_bare: false, fingerprint: None };
        let (mut deferred, mut failed) = (Vec::new(), bare(8, flags::FAILED, &[]));
        leaver.meld(&bare(8, 0, &[2]), &bare(8, flags::READS, &[]), &mut deferred);
        failed.push(77);
        for (left, right) in [(&deferred, &failed), (&failed, &deferred)] {
            let mut both = Vec::new();
            leaver.meld(left, right, &mut both);
            let met = melded(&both, &bare(8, 0, &[]));
            let met = Contribution::of(&met).unwrap();
            assert_eq!((met.has(flags::FAILED), met.body, met.left(4, 0)), (true, &[77][..], Ok(vec![2])));
        }
        let mut both = Vec::new();
        leaver.meld(&deferred, &bare(9, 0, &[]), &mut both);
        assert_eq!(melded(&both, &bare(8, 0, &[])), bare(8, flags::READS | flags::DIVERGED, &[2]));
    }

    #[test]
    fn damaged_contributions_become_a_failure() {
        for cut in 0..HEADER {
            let out = melded(&bare(7, 0, &[])[..cut], &bare(7, 0, &[]));
            assert!(Contribution::of(&out).unwrap().has(flags::FAILED), "cut at {cut}");
        }
        let out = melded(&bare(7, flags::WRITTEN, &[]), &bare(7, flags::WRITTEN, &[]));
        assert!(Contribution::of(&out).unwrap().has(flags::FAILED));
    }

    /// Appends a portion that says why an operator has refused.
    fn push_refused(error: &Error, out: &mut Vec<u8>) {
        let at = out.len();
        out.extend_from_slice(&[0; LENGTH]);
        out.extend_from_slice(&error.report());
        close_portion(out, at, true);
    }

    #[test]
    fn what_one_side_alone_has_written_and_dropped_is_passed_on() {
        let mut left = bare(7, flags::WRITTEN | flags::DROPPED, &[]);
        for bytes in [b"written", b"dropped"] {
            let write = |number: u32, out: &mut Vec<u8>| {
                out.extend_from_slice(&number.to_le_bytes());
                out.extend_from_slice(bytes);
                Ok(())
            };
            push_numbered(&mut left, &[3, 5], write).unwrap();
        }
        assert_eq!(melded(&left, &bare(7, 0, &[])), left);
        assert_eq!(melded(&bare(7, 0, &[]), &left), left);
    }

    #[test]
    fn what_was_refused_on_one_side_alone_is_refused() {
        let mut left = bare(7, flags::WRITTEN, &[]);
        for number in [1u32, 3] {
            left.extend_from_slice(&number.to_le_bytes());
        }
        push_refused(&damaged(), &mut left);
        let met = melded(&left, &bare(7, 0, &[]));
        assert!(Contribution::of(&met).unwrap().has(flags::REFUSED));
    }

    #[test]
    fn what_an_operator_has_written_before_it_refuses_is_cut_off() {
        let (portion, mut out) = (Portion { bytes: b"x", is_refused: false }, vec![9; 5]);
        let is_refused = meld_portion(portion, portion, &mut out, |_, _, out| {
            out.extend_from_slice(&[7; 100]);
            Err(damaged())
        });
        assert!(is_refused && out[..5] == [9; 5]);
        assert_eq!(out[5 + LENGTH..], *damaged().report());
    }

    #[test]
    fn a_total_that_is_refused_is_found_behind_one_that_is_not() {
        let mut items = Items::default();
        items.place(Tally::new(1));
        items.place(Tally::new(2));
        let mut total = bare(7, flags::REFUSED, &[]);
        push_portion(&mut total, |out| out.push(1));
        push_refused(&damaged(), &mut total);
        let total = Contribution::of(&total).unwrap();
        assert_eq!(refusal(&total, &items), Ok(Some(damaged())));
    }
}
