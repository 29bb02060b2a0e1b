//! The check that every member of a group reaches the same step (S5).
//!
//! A boundary costs the same whether it is checked or not: what a member is about to do is hashed into one number that
//! rides in the header of its contribution. Only when two of them differ do the members meet once more, each with an
//! [`Outline`] in words, and make the same error of it.

use super::{
    core::Core,
    fingerprint::{Occasion, mix},
    record::damaged,
    registry::Given,
};
use crate::error::{Error, ErrorKind, Result, place};
use fabric::{Meld, Melded};
use serde::{Deserialize, Serialize};

/// What a member was about to do, in words.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Outline {
    step: u64,
    what: String,
    site: String,
    /// Tells two calls on one line apart.
    column: u32,
    /// The verbs of the step, in order.
    verbs: Vec<String>,
    /// What else must agree, in any order.
    terms: Vec<String>,
    declared: Vec<String>,
    /// Everything declared so far, as a number.
    declarations: u64,
}

/// What one member was about to do, and where it was before.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Said {
    rank: usize,
    outline: Outline,
    came_by: Vec<String>,
}

/// The first outline of a segment of ranks, and the first one that differs from it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Differing {
    first: Said,
    other: Option<Said>,
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
        left.declared |= right.declared || left.first.outline.declarations != right.first.outline.declarations;
        left.given = left.given.meld(right.given);
        if left.other.is_none() {
            left.other = if left.first.outline == right.first.outline { right.other } else { Some(right.first) };
        }
        *out = postcard::to_stdvec(&left).expect("numbers and texts can be encoded");
    }
}

impl Core {
    /// What must agree on all members at this boundary, as one number.
    #[inline]
    pub(super) fn fingerprint(&self, occasion: &Occasion) -> u64 {
        let (site, step) = self.marks();
        let site = site ^ self.declared().rotate_left(7) ^ occasion.mark;
        mix(mix(site, step), self.log.mark())
    }

    /// Finds out with the others what differs, and makes the error of it that all of them get.
    #[cold]
    pub(super) fn explain(&self, occasion: &Occasion) -> Result<Error> {
        let registry = self.registry.borrow();
        let outline = Outline {
            step: self.steps(),
            what: occasion.words.to_owned(),
            site: place(self.site()),
            column: self.site().column(),
            verbs: self.log.items.borrow().collective().iter().map(|placed| placed.item.describe()).collect(),
            terms: self.log.terms(),
            declared: registry.words.clone(),
            declarations: registry.declared,
        };
        let first = Said { rank: self.rank(), outline, came_by: self.came_by() };
        let mine = Differing { first, other: None, declared: false, given: registry.given() };
        drop(registry);
        let mine = postcard::to_stdvec(&mine).expect("numbers and texts can be encoded");
        let mut melded = Melded::default();
        self.wire.circle_mut().meet(&mine, &mut FindDifference, &mut melded)?;
        let found = postcard::from_bytes::<Differing>(&melded.total).map_err(|_| damaged())?;
        if found.declared {
            self.void_declared(found.given);
        }
        // Equal in words and different in fingerprints: say at least where.
        let (first, second) = (&found.first, found.other.as_ref().unwrap_or(&found.first));
        let (kind, difference) = compare(first, second);
        let (step, came_by) = (first.outline.step, came_by(first, second));
        Ok(Error::placed(kind, format!("step {step} of group {}: {difference}{came_by}", self.path())))
    }
}

/// Says where two members were before, the latest place first: a helper that several callers share has one place.
fn came_by(first: &Said, second: &Said) -> String {
    let (a, left, b, right) = (first.rank, &first.came_by, second.rank, &second.came_by);
    match (&left[..], &right[..]) {
        ([], []) => String::new(),
        _ if left == right => format!("; they came by {}", left.join(", then ")),
        _ => format!("; rank {a} came by {}, rank {b} by {}", left.join(", "), right.join(", ")),
    }
}

/// Names the first thing in which two outlines differ.
fn compare(first: &Said, second: &Said) -> (ErrorKind, String) {
    let (a, left, b, right) = (first.rank, &first.outline, second.rank, &second.outline);
    if (left.step, &left.what, &left.site, left.column) != (right.step, &right.what, &right.site, right.column) {
        let is_one_line = left.site == right.site && left.column != right.column;
        let at = |outline: &Outline| {
            if is_one_line { format!("{}:{}", outline.site, outline.column) } else { outline.site.clone() }
        };
        let steps = if left.step == right.step { String::new() } else { format!(", its step {}", right.step) };
        let difference = format!(
            "rank {a} is at the {} at {}, rank {b} at the {} at {}{steps}; all members of a group must reach the same \
             step, or the group must be split first",
            left.what,
            at(left),
            right.what,
            at(right)
        );
        return (ErrorKind::StepMismatch, difference);
    }
    let site = &left.site;
    if let Some((mine, theirs)) = first_difference(&left.declared, &right.declared) {
        let difference = format!(
            "rank {a} declared {mine}, rank {b} {theirs}; all members declare the same things in the \
             same order ({site})"
        );
        return (ErrorKind::DeclMismatch, difference);
    }
    if let Some((mine, theirs)) = first_difference(&left.verbs, &right.verbs) {
        let difference = format!(
            "rank {a} calls {mine}, rank {b} {theirs}; all members make the same collective calls in \
             the same order ({site})"
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
    // Equal in words and different in fingerprints: who it is cannot be said.
    let difference = format!("the members differ in an argument of a collective call ({site})");
    (ErrorKind::StepMismatch, difference)
}

fn first_difference(left: &[String], right: &[String]) -> Option<(String, String)> {
    let get = |list: &[String], at: usize| list.get(at).cloned().unwrap_or_else(|| "nothing".to_owned());
    let at = (0..left.len().max(right.len())).find(|&at| left.get(at) != right.get(at))?;
    Some((get(left, at), get(right, at)))
}
