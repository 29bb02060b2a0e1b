//! The check that every member of a group reaches the same step (S5).
//!
//! A boundary costs the same whether it is checked or not: what a member is about to do is hashed into one number that
//! rides in the header of its contribution. Only when two of them differ do the members meet once more, each with an
//! [`Outline`] in words, and make the same error of it.

use super::{core::Core, exchange, registry::Given};
use crate::error::{Error, ErrorKind, Result, place};
use fabric::{Meld, Melded};
use serde::{Deserialize, Serialize};
use std::{
    any::TypeId,
    cell::Cell,
    hash::{Hash, Hasher},
    panic::Location,
};

/// Mixes `more` into a running fingerprint.
#[inline]
pub(crate) fn mix(hash: u64, more: u64) -> u64 {
    let wide = u128::from(hash ^ 0x9E37_79B9_7F4A_7C15).wrapping_mul(u128::from(more ^ 0xD6E8_FEB8_6659_FD93) | 1);
    (wide as u64) ^ ((wide >> 64) as u64) ^ more.rotate_left(17)
}

/// A number for a type, the same in every process of one build.
#[inline]
pub(crate) fn type_hash<T: 'static>() -> u64 {
    struct Mixer(u64);
    impl Hasher for Mixer {
        fn finish(&self) -> u64 {
            self.0
        }
        fn write(&mut self, bytes: &[u8]) {
            for chunk in bytes.chunks(8) {
                let mut word = [0; 8];
                word[..chunk.len()].copy_from_slice(chunk);
                self.write_u64(u64::from_le_bytes(word));
            }
        }
        fn write_u64(&mut self, word: u64) {
            self.0 = mix(self.0, word);
        }
    }
    let mut mixer = Mixer(0);
    TypeId::of::<T>().hash(&mut mixer);
    mixer.0
}

const CACHED: usize = 16;

/// Fingerprints of the places where steps begin, so that a loop hashes each file name once.
#[derive(Default)]
pub(crate) struct Sites([Cell<(usize, u64)>; CACHED]);

impl Sites {
    #[inline]
    pub(crate) fn hash(&self, site: &'static Location<'static>) -> u64 {
        let address = std::ptr::from_ref(site).addr();
        let cell = &self.0[address / align_of::<Location<'_>>() % CACHED];
        let (known, hash) = cell.get();
        if known == address {
            return hash;
        }
        let hash = hash_site(site);
        cell.set((address, hash));
        hash
    }
}

#[cold]
fn hash_site(site: &Location<'_>) -> u64 {
    let text = site.file().bytes().fold(0, |hash, byte| mix(hash, u64::from(byte)));
    mix(text, u64::from(site.line()) << 32 | u64::from(site.column()))
}

/// What a member was about to do, in words.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Outline {
    step: u64,
    what: String,
    site: String,
    /// The verbs of the step, in order.
    verbs: Vec<String>,
    /// What else must agree, in any order.
    terms: Vec<String>,
    declared: Vec<String>,
    /// Everything declared so far, as a number.
    declarations: u64,
    /// Where it was before.
    came_by: Vec<String>,
}

impl Outline {
    /// Whether two members do the same, wherever they came from.
    fn is_like(&self, other: &Self) -> bool {
        let all = |outline: &Self| {
            let Self { step, what, site, verbs, terms, declared, declarations, came_by: _ } = outline.clone();
            (step, what, site, verbs, terms, declared, declarations)
        };
        all(self) == all(other)
    }
}

/// The first outline of a segment of ranks, and the first one that differs from it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Differing {
    first: (usize, Outline),
    other: Option<(usize, Outline)>,
    /// Whether two of them have declared different things.
    declared: bool,
    /// The numbers that any of them has given.
    given: Given,
}

/// Keeps the first outline and the first that differs.
struct FindDifference;

impl Meld for FindDifference {
    fn meld(&mut self, left: &[u8], right: &[u8], out: &mut Vec<u8>) {
        let read = |bytes| postcard::from_bytes::<Differing>(bytes).unwrap_or_default();
        let (mut left, right) = (read(left), read(right));
        left.declared |= right.declared || left.first.1.declarations != right.first.1.declarations;
        left.given = left.given.meld(right.given);
        if left.other.is_none() {
            left.other = if left.first.1.is_like(&right.first.1) { right.other } else { Some(right.first) };
        }
        *out = postcard::to_stdvec(&left).expect("numbers and texts can be encoded");
    }
}

impl Core {
    /// What must agree on all members at this boundary, as one number.
    #[inline]
    pub(super) fn fingerprint(&self, what: super::Kind) -> u64 {
        let site = self.sites.hash(self.site.get()) ^ self.declared().rotate_left(7) ^ what as u64;
        let body = self.items.borrow().verbs.wrapping_add(self.terms.get().rotate_left(31));
        mix(mix(site, self.steps.get()), body)
    }

    /// Finds out with the others what differs, and makes the error of it that all of them get.
    #[cold]
    pub(super) fn explain(&self, what: super::Kind) -> Result<Error> {
        let mut terms = if self.terms.get() == 0 { Vec::new() } else { self.terms_in_words.borrow().clone() };
        terms.sort();
        let outline = Outline {
            step: self.steps.get(),
            what: what.in_words().to_owned(),
            site: place(self.site.get()),
            verbs: self.items.borrow().collective().iter().map(|placed| placed.item.describe()).collect(),
            terms,
            declared: self.registry.borrow().declared.clone(),
            declarations: self.declared(),
            came_by: self.came_by(),
        };
        let mine = Differing { first: (self.rank.get(), outline), other: None, declared: false, given: self.given() };
        let mine = postcard::to_stdvec(&mine).expect("numbers and texts can be encoded");
        let mut melded = Melded::default();
        self.circle.borrow_mut().meet(&mine, &mut FindDifference, &mut melded)?;
        let found = postcard::from_bytes::<Differing>(&melded.total).map_err(|_| exchange::damaged())?;
        if found.declared {
            self.void_declared(&found.given);
        }
        let (first, (second, other)) = match found.other {
            Some(other) => (found.first, other),
            // Equal in words and different in fingerprints: say at least where.
            None => (found.first.clone(), found.first),
        };
        let (kind, difference) = compare((first.0, &first.1), (second, &other));
        let came_by = came_by((first.0, &first.1.came_by), (second, &other.came_by));
        Ok(Error::placed(kind, format!("step {} of group {}: {difference}{came_by}", first.1.step, self.path())))
    }
}

/// Says where two members were before, the latest place first: a helper that several callers share has one place.
fn came_by((a, left): (usize, &[String]), (b, right): (usize, &[String])) -> String {
    match (left, right) {
        ([], []) => String::new(),
        _ if left == right => format!("; they came by {}", left.join(", then ")),
        _ => format!("; rank {a} came by {}, rank {b} by {}", left.join(", "), right.join(", ")),
    }
}

/// Names the first thing in which two outlines differ.
fn compare((a, left): (usize, &Outline), (b, right): (usize, &Outline)) -> (ErrorKind, String) {
    if (left.step, &left.what, &left.site) != (right.step, &right.what, &right.site) {
        let steps = if left.step == right.step { String::new() } else { format!(", its step {}", right.step) };
        let difference = format!(
            "rank {a} is at the {} at {}, rank {b} at the {} at {}{steps}; all members of a group must reach the same \
             step, or the group must be split first",
            left.what, left.site, right.what, right.site
        );
        return (ErrorKind::StepMismatch, difference);
    }
    let site = &left.site;
    if let Some((mine, theirs)) = first_difference(&left.declared, &right.declared) {
        let difference = format!(
            "rank {a} declared {mine}, rank {b} {theirs}; all members declare the same things in \
                                  the same order ({site})"
        );
        return (ErrorKind::DeclMismatch, difference);
    }
    if let Some((mine, theirs)) = first_difference(&left.verbs, &right.verbs) {
        let difference = format!(
            "rank {a} calls {mine}, rank {b} {theirs}; all members make the same collective calls \
                                  in the same order ({site})"
        );
        return (ErrorKind::CombineMismatch, difference);
    }
    if let Some((mine, theirs)) = first_difference(&left.terms, &right.terms) {
        let (kind, advice) = if mine.starts_with("weights") && theirs.starts_with("weights") {
            (ErrorKind::ReplicaDiverged, "the weights of a split must be the same on all members")
        } else if left.what == "split" {
            (ErrorKind::SplitMismatch, "all members must ask for the same split")
        } else if mine.starts_with("operator") || theirs.starts_with("operator") {
            (ErrorKind::CombineMismatch, "all members must name the same operator, also those that did not write")
        } else {
            (ErrorKind::CombineMismatch, "all members must make the same collective calls")
        };
        return (kind, format!("rank {a} has {mine}, rank {b} {theirs}; {advice} ({site})"));
    }
    let difference =
        format!("the members differ in an argument of a collective call; the first rank of it is {b} ({site})");
    (ErrorKind::StepMismatch, difference)
}

fn first_difference(left: &[String], right: &[String]) -> Option<(String, String)> {
    let get = |list: &[String], at: usize| list.get(at).cloned().unwrap_or_else(|| "nothing".to_owned());
    let at = (0..left.len().max(right.len())).find(|&at| left.get(at) != right.get(at))?;
    Some((get(left, at), get(right, at)))
}
