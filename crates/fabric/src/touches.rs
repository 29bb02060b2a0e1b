//! Ranges that members read and write in one step, and those of them that get in each other's way.
//!
//! Sorting by where ranges begin finds what overlaps, and it is enough to remember what reaches furthest. The library
//! and `libbsp` look for conflicts by the same rule:
//!
//! 1. Writes of two members must not overlap.
//! 2. A transfer, which writes without a copy, must not overlap what is read, whoever reads it.

use std::ops::Range;

/// What is done to a range.
///
/// ```
/// use fabric::{Touch, Use, first_clash};
///
/// let touch = |how, member| Touch { space: 0, range: 4..8, member, note: 0, how };
/// assert!(first_clash(&mut [touch(Use::Read, 0), touch(Use::Write, 1)]).is_none());
/// assert!(first_clash(&mut [touch(Use::Read, 0), touch(Use::Transfer, 1)]).is_some());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    /// It is read.
    Read,
    /// It is written when all have read.
    Write,
    /// It is written without a copy that would keep that apart from what is read.
    Transfer,
}

impl Use {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Read, Self::Write, Self::Transfer];
}

/// A range, and what a member does to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Touch {
    /// Ranges of different spaces do not overlap.
    pub space: u32,
    /// From where up to where; not empty.
    pub range: Range<usize>,
    /// Who does it.
    pub member: u32,
    /// What the member knows it by.
    pub note: u32,
    /// What is done.
    pub how: Use,
}

/// Two that get in each other's way, by member and note, if any two do. They are sorted for that: which two it is does
/// not depend on the order in which they come, and of several at one place it is those of the lowest members.
///
/// ```
/// use fabric::{Touch, Use, first_clash};
///
/// let touch = |member, range| Touch { space: 0, range, member, note: 0, how: Use::Write };
/// let mut touches = [touch(2, 6..9), touch(0, 0..4), touch(0, 1..3), touch(1, 4..7)];
/// let (first, second) = first_clash(&mut touches).unwrap();
/// assert_eq!((first.member, second.member), (1, 2));
/// ```
pub fn first_clash(touches: &mut [Touch]) -> Option<(&Touch, &Touch)> {
    touches.sort_unstable_by_key(|touch| (touch.space, touch.range.start, touch.member, touch.note));
    let (first, second) = touches.chunk_by(|a, b| a.space == b.space).find_map(|those| {
        let (mut writes, mut transfers, mut reads) = (Furthest::default(), Furthest::default(), Furthest::default());
        those.iter().find_map(|touch| {
            let other = match touch.how {
                Use::Read => transfers.over(touch, false),
                Use::Write => writes.over(touch, true),
                Use::Transfer => writes.over(touch, true).or_else(|| reads.over(touch, false)),
            };
            match touch.how {
                Use::Read => reads.add(touch),
                Use::Write => writes.add(touch),
                Use::Transfer => {
                    writes.add(touch);
                    transfers.add(touch);
                }
            }
            other.map(|other| (other, touch))
        })
    })?;
    let is_in_order = (first.member, first.note) <= (second.member, second.note);
    Some(if is_in_order { (first, second) } else { (second, first) })
}

/// The first of the ranges so far that reach furthest. Another one of another member is never needed: if a touch of the
/// same member began within both, the two would have clashed before.
#[derive(Default)]
struct Furthest<'a>(Option<&'a Touch>);

impl<'a> Furthest<'a> {
    fn add(&mut self, touch: &'a Touch) {
        if self.0.is_none_or(|furthest| furthest.range.end < touch.range.end) {
            self.0 = Some(touch);
        }
    }

    /// The one that reaches into `touch`, of another member if it must be.
    fn over(&self, touch: &Touch, is_of_other: bool) -> Option<&'a Touch> {
        self.0.filter(|other| other.range.end > touch.range.start && !(is_of_other && other.member == touch.member))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The same, by looking at each two of them.
    fn has_any(touches: &[Touch]) -> bool {
        let is_clash = |a: &Touch, b: &Touch| {
            let overlap = a.space == b.space && a.range.start.max(b.range.start) < a.range.end.min(b.range.end);
            let is_any = |how| a.how == how || b.how == how;
            overlap && if is_any(Use::Read) { is_any(Use::Transfer) } else { a.member != b.member }
        };
        touches.iter().enumerate().any(|(at, a)| touches[..at].iter().any(|b| is_clash(a, b)))
    }

    #[test]
    fn of_several_at_one_place_the_lowest_are_named() {
        let touch = |member, note, how| Touch { space: 0, range: 2..5, member, note, how };
        let (read, write) = (Use::Read, Use::Write);
        let mut touches = [touch(2, 0, read), touch(3, 1, Use::Transfer), touch(1, 4, read), touch(1, 3, read)];
        let (first, second) = first_clash(&mut touches).expect("what is read is transferred to");
        assert_eq!([first, second].map(|touch| (touch.member, touch.note)), [(1, 3), (3, 1)]);
        let mut touches = [touch(4, 2, write), touch(0, 6, write), touch(0, 5, write), touch(3, 1, write)];
        let (first, second) = first_clash(&mut touches).expect("they write the same");
        assert_eq!([first, second].map(|touch| (touch.member, touch.note)), [(0, 5), (3, 1)]);
    }

    #[test]
    fn a_sweep_finds_what_looking_at_each_pair_finds() {
        let mut state = 1u64;
        let mut below = |bound: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % bound
        };
        let (mut seen, rounds) = ([0; 2], if cfg!(miri) { 200 } else { 20_000 });
        for _ in 0..rounds {
            let count = 2 + below(5);
            let touches = (0..count).map(|note| {
                let start = below(24);
                let range = start..start + 1 + below(4);
                Touch {
                    space: below(2) as u32,
                    range,
                    member: below(3) as u32,
                    note: note as u32,
                    how: Use::ALL[below(3)],
                }
            });
            let mut touches: Vec<Touch> = touches.collect();
            let expected = has_any(&touches);
            seen[usize::from(expected)] += 1;
            if let Some((a, b)) = first_clash(&mut touches.clone()) {
                assert!(has_any(&[a.clone(), b.clone()]), "{a:?} and {b:?}");
            }
            assert_eq!(first_clash(&mut touches).is_some(), expected, "{touches:?}");
        }
        assert!(seen.iter().all(|&seen| seen > rounds / 20), "{seen:?}");
    }
}
