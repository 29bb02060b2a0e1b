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

#[cfg(test)]
mod tests {
    use super::*;

    fn said(rank: usize, change: impl FnOnce(&mut Outline)) -> Said {
        let mut outline =
            Outline { step: 4, what: "step".to_owned(), site: "a.rs:1".to_owned(), column: 5, ..Outline::default() };
        change(&mut outline);
        Said { rank, outline, came_by: Vec::new() }
    }

    fn words(all: &[&str]) -> Vec<String> {
        all.iter().map(|&one| one.to_owned()).collect()
    }

    /// S5: whatever differs first is what is named, with what each of the two has.
    #[test]
    fn the_first_difference_is_named_and_nothing_else() {
        type Change = fn(&mut Outline);
        let cases: [(ErrorKind, Change, Change, &str); 12] = [
            (ErrorKind::StepMismatch, |_| (), |o| o.step = 6, "at the step at a.rs:1, its step 6; all members"),
            (
                ErrorKind::StepMismatch,
                |_| (),
                |o| o.what = "split".into(),
                "rank 3 at the split at a.rs:1; all members",
            ),
            (ErrorKind::StepMismatch, |_| (), |o| o.site = "b.rs:2".into(), "rank 1 is at the step at a.rs:1, rank 3"),
            (
                ErrorKind::StepMismatch,
                |_| (),
                |o| o.site = "b.rs:2".into(),
                "rank 3 at the step at b.rs:2; all members",
            ),
            (ErrorKind::StepMismatch, |_| (), |o| o.column = 9, "at a.rs:1:5, rank 3 at the step at a.rs:1:9; all"),
            (
                ErrorKind::DeclMismatch,
                |o| o.declared = words(&["x", "y"]),
                |o| o.declared = words(&["x", "z"]),
                "rank 1 declared y, rank 3 z; all members declare the same things in the same order (a.rs:1)",
            ),
            (
                ErrorKind::CombineMismatch,
                |o| o.verbs = words(&["reduce"]),
                |o| o.verbs = words(&["reduce", "collect"]),
                "rank 1 calls nothing, rank 3 collect; all members make the same collective calls in the same order",
            ),
            (
                ErrorKind::ReplicaDiverged,
                |o| o.terms = words(&["weights 1"]),
                |o| o.terms = words(&["weights 2"]),
                "rank 1 has weights 1, rank 3 weights 2; the weights of a split must be the same",
            ),
            (
                ErrorKind::CombineMismatch,
                |o| o.terms = words(&["weights 1"]),
                |_| (),
                "rank 1 has weights 1, rank 3 nothing; all members must make the same collective calls",
            ),
            (
                ErrorKind::CombineMismatch,
                |o| o.terms = words(&["operator Sum"]),
                |_| (),
                "rank 3 nothing; all members must name the same operator, also those that did not write",
            ),
            (
                ErrorKind::CombineMismatch,
                |_| (),
                |o| o.terms = words(&["operator Sum"]),
                "rank 3 operator Sum; all members must name the same operator, also those that did not write",
            ),
            (
                ErrorKind::StepMismatch,
                |_| (),
                |_| (),
                "the members differ in an argument of a collective call (a.rs:1)",
            ),
        ];
        for (kind, left, right, says) in cases {
            let (found, difference) = compare(&said(1, left), &said(3, right));
            assert_eq!(found, kind, "{difference}");
            assert!(difference.contains(says), "`{difference}` does not say `{says}`");
        }
        let split = |terms: &[&str]| {
            let terms = words(terms);
            move |o: &mut Outline| (o.what, o.terms) = ("split".to_owned(), terms)
        };
        let (kind, difference) = compare(&said(0, split(&["2 subgroups"])), &said(1, split(&["3 subgroups"])));
        assert_eq!(kind, ErrorKind::SplitMismatch);
        assert!(
            difference.contains("rank 0 has 2 subgroups, rank 1 3 subgroups; all members must ask"),
            "{difference}"
        );
    }

    /// S5: of many members the first one is named, and the first that differs from it, however they are grouped.
    #[test]
    fn the_first_and_the_first_that_differs_are_kept() {
        let of = |rank: usize, step: u64, declarations: u64| {
            let first = said(rank, |o| (o.step, o.declarations) = (step, declarations));
            let given = Given::default();
            postcard::to_stdvec(&Differing { first, other: None, declared: false, given }).expect("it can be encoded")
        };
        let meld = |left: &[u8], right: &[u8]| {
            let mut out = Vec::new();
            FindDifference.meld(left, right, &mut out);
            out
        };
        let outcome = |bytes: &[u8]| {
            let found: Differing = postcard::from_bytes(bytes).expect("it was encoded");
            (found.first.rank, found.other.map(|other| other.rank), found.declared)
        };
        let [a, b, c, d] = [of(0, 1, 0), of(1, 1, 0), of(2, 2, 0), of(3, 3, 5)];
        assert_eq!(outcome(&meld(&a, &b)), (0, None, false));
        for all in [meld(&meld(&a, &b), &c), meld(&a, &meld(&b, &c)), meld(&meld(&a, &c), &b)] {
            assert_eq!(outcome(&all), (0, Some(2), false));
        }
        for all in [meld(&meld(&a, &b), &meld(&c, &d)), meld(&meld(&meld(&a, &b), &c), &d)] {
            assert_eq!(outcome(&all), (0, Some(2), true));
        }
    }

    /// S5: the way by which one came is said once if it is everybody's, latest place first.
    #[test]
    fn the_way_is_said_once_if_it_is_everybodys() {
        let by = |rank: usize, places: &[&str]| Said { came_by: words(places), ..said(rank, |_| ()) };
        assert_eq!(came_by(&by(0, &[]), &by(1, &[])), "");
        assert_eq!(came_by(&by(0, &["b", "a"]), &by(1, &["b", "a"])), "; they came by b, then a");
        assert_eq!(came_by(&by(0, &["b", "a"]), &by(2, &["c"])), "; rank 0 came by b, a, rank 2 by c");
    }
}
