//! The check of conflicts: members whose calls in one step get in each other's way.
//!
//! A run that was asked to ([`Config::check`](crate::Config::check)) fails the step of a *conflict* on all members of
//! the group, with one and the same error and before anything of the step has taken effect. What is a conflict:
//!
//! 1. Two members write one element of an array without an operator, which is with [`Any`](crate::Any), also if they
//!    write the same value. One member may write an element twice. A write with an operator is in nobody's way.
//! 2. A permutation names an element twice, so that it names another one not at all.
//! 3. Two members put to one element of an area, with or without a copy. What a transfer (`hp_get`) brings counts as
//!    written by who asked for it.
//! 4. A transfer (`hp_put`, `hp_get`) writes what is read in the same step: by a `get`, or by a transfer, whoever makes
//!    the calls. A `put` may write what is read: that happens later (S2).
//!
//! What a member does to its own part by a borrow is seen by nobody.
//!
//! # How
//!
//! Each member *notes* the site of a call ([`super::watch`]), and the number of the note goes to the owner of the
//! elements: with the batches of an array, where there is room for it, and in a record of its own beside that of an
//! area's verb ([`super::touches`]). At the boundary an owner has everything that all members do to its part. It looks
//! for the first conflict there, and brings it to one more meeting, the one of the doubts ([`super::doubts`]); the
//! lowest owner's counts. Only if there is one do the members meet again, and the two that have a part in it bring the
//! lines that they have noted.
//!
//! A run that was not asked to look makes one comparison for each verb, and moves no byte more.

use super::{
    contribution::flags,
    core::Core,
    fingerprint::type_hash,
    record::{Address, Tag, damaged},
    touches,
    watch::{Clash, How, Words},
};
use crate::error::{Error, ErrorKind, Result};
use fabric::{Meld, Melded, Use};
use serde::{Deserialize, Serialize};
use std::panic::Location;

/// What the two parties say of themselves, as far as it is known.
#[derive(Default, Serialize, Deserialize)]
struct Known([Option<Words>; 2]);

/// Takes what either side knows.
struct Complete;

impl Meld for Complete {
    fn meld(&mut self, left: &[u8], right: &[u8], out: &mut Vec<u8>) {
        let read = |bytes| postcard::from_bytes::<Known>(bytes).unwrap_or_default();
        let (Known([a, b]), Known([c, d])) = (read(left), read(right));
        *out = encode(&Known([a.or(c), b.or(d)]));
    }
}

fn encode(what: &impl Serialize) -> Vec<u8> {
    postcard::to_stdvec(what).expect("numbers and texts can be encoded")
}

impl Core {
    /// Looks for conflicts on this member's parts. All records for those that keep them have been handed out. That
    /// there is no memory to look is an error of the step.
    pub(super) fn look_for_conflicts(&self) -> Result<Result<Option<Clash>>> {
        let registry = self.registry.borrow();
        let changed = registry.changed.borrow();
        let mut watching = changed.iter().filter_map(|&number| registry.hooks(number)?.watches.as_ref());
        if let Some(found) = watching.find_map(|tenant| tenant.look().transpose()) {
            return Ok(found.map(Some));
        }
        let mut touched = self.log.watch.touched.borrow_mut();
        touched.clear();
        self.wire.inbox.borrow_mut().visit(&[Tag::Touch], |from, address, payload| {
            let number = address.tenant()?;
            let tenant = registry.hooks(number).and_then(|hooks| hooks.touched.as_ref()).ok_or_else(damaged)?;
            touches::read(payload.bytes()?, from, (number, tenant.len()), &mut touched)
        })?;
        let describe = |number| registry.tenant(number).map(|tenant| tenant.describe()).unwrap_or_default();
        Ok(Ok(touches::look(&mut touched, self.rank(), describe)))
    }

    /// Makes the error of a conflict, the same on all members, who all know of it.
    #[cold]
    pub(super) fn conflict(&self, clash: &[u8]) -> Result<Error> {
        let clash: Clash = postcard::from_bytes(clash).map_err(|_| damaged())?;
        let mine = clash.parties.each_ref().map(|party| {
            let is_mine = party.rank == self.rank();
            is_mine.then(|| self.log.watch.words(party))
        });
        let mut melded = Melded::default();
        self.wire.circle_mut().meet(&encode(&Known(mine)), &mut Complete, &mut melded)?;
        let Known([Some(first), Some(second)]) = postcard::from_bytes(&melded.total).map_err(|_| damaged())? else {
            return Err(damaged());
        };
        Ok(Error::placed(ErrorKind::Conflict, self.in_step(say(&clash, &first, &second))))
    }
}

/// A conflict in words.
fn say(clash: &Clash, first: &Words, second: &Words) -> String {
    let Clash { what, how: [how, its_how], parties: [one, other] } = clash;
    let (rank, its_rank) = (one.rank, other.rank);
    // Permutations alone have sources.
    let is_permutation = (&first.site, first.before) == (&second.site, second.before);
    if let (true, Some(source), Some(its_source)) = (is_permutation, first.source, second.source) {
        return format!(
            "{what} was named twice by a permutation, for element {source} of rank {rank} and for element {its_source} \
             of rank {its_rank}; it must name each element once ({})",
            first.site
        );
    }
    let was = if what.starts_with("elements") { "were" } else { "was" };
    let (by, its_by) = (format!("by rank {rank} ({})", first.site), format!("by rank {its_rank} ({})", second.site));
    let verb = |how: &How| match how {
        How::Read => "read",
        How::Put | How::Assign => "written",
        How::Transfer => "written without a copy",
    };
    let (does, its_does) = (verb(how), verb(its_how));
    let (tells, advice) = match (how, its_how) {
        (How::Assign, _) => (" without an operator", "name an operator, or write in different steps"),
        (How::Read, _) | (_, How::Read) => ("", "read and write in different steps, or write with a copy"),
        _ => ("", "write to different places, or in different steps"),
    };
    let its_does = if does == its_does { String::new() } else { format!("{its_does} ") };
    format!("{what} {was} {does} {by} and {its_does}{its_by}{tells}; {advice}")
}

impl Core {
    /// Makes this member and its subgroups look for conflicts from now on, which all members must do.
    pub(crate) fn watch(&self) {
        self.log.watch.set(true);
        self.declare(type_hash::<Clash>());
        self.registry().describe("the check of conflicts (SUPERSTEP_CHECK, or Config::check)".to_owned());
    }

    /// The number of a note for a call that writes without an operator; 0 unless conflicts are looked for.
    #[inline]
    pub(crate) fn note(&self, site: &'static Location<'static>) -> u32 {
        if self.log.watch.is_on() { self.take_note(site) } else { 0 }
    }

    #[cold]
    fn take_note(&self, site: &'static Location<'static>) -> u32 {
        self.raise_flag(flags::WATCHED);
        self.log.watch.note(site)
    }

    /// The same for a permutation, of which `sources` says what goes into each lane.
    #[inline]
    pub(crate) fn note_permutation(
        &self,
        site: &'static Location<'static>,
        sources: impl FnOnce() -> Vec<Vec<usize>>,
    ) -> u32 {
        if !self.log.watch.is_on() {
            return 0;
        }
        self.raise_flag(flags::WATCHED);
        self.log.watch.note_permutation(site, sources())
    }

    /// Tells the owner of a section what a call does to it, if conflicts are looked for.
    #[inline]
    pub(crate) fn touch(
        &self,
        (owner, tenant): (usize, u32),
        how: Use,
        section: (usize, isize, usize),
        site: &'static Location<'static>,
    ) {
        if self.log.watch.is_on() {
            let note = self.take_note(site);
            let address = Address::Tenant(tenant);
            self.outbox().push(owner, address, Tag::Touch, |out| touches::write(out, how, note, section));
        }
    }
}
