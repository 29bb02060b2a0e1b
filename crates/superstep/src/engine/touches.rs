//! Sections that members say they read and write, and those of them that get in each other's way.
//!
//! Everything is a range here: of a section with a stride each element is one. So sorting by where they begin finds
//! what overlaps, and it is enough to remember what reaches furthest.

use super::{
    record::{damaged, read_words},
    watch::{Clash, Party, Use},
};
use crate::error::Result;
use fabric::wire::Writer as _;
use std::ops::Range;

/// What a record can say that is done to a section, by its number there.
const USES: [Use; 3] = [Use::Read, Use::Put, Use::Transfer];

/// A range of a tenant's part, and what a member does to it.
#[derive(Clone, Debug)]
pub(super) struct Touch {
    tenant: u32,
    range: Range<usize>,
    from: usize,
    note: u32,
    how: Use,
}

/// Appends what a record says of a section: first element, stride and number.
pub(super) fn write(out: &mut Vec<u8>, how: Use, note: u32, (first, step, count): (usize, isize, usize)) {
    out.put([u64::from(note) << 32 | how as u64, first as u64, step as u64, count as u64]);
}

/// Adds the section of a record.
pub(super) fn read(mut bytes: &[u8], from: usize, tenant: u32, touches: &mut Vec<Touch>) -> Result {
    let [head, first, step, count] = read_words(&mut bytes)?;
    let how = *USES.get((head & 0xFFFF_FFFF) as usize).ok_or_else(damaged)?;
    let (note, first, step, count) = ((head >> 32) as u32, first as usize, step as isize, count as usize);
    if count == 0 {
        return Ok(());
    }
    let mut add = |range| touches.push(Touch { tenant, range, from, note, how });
    if step == 1 {
        add(first..first.checked_add(count).ok_or_else(damaged)?);
        return Ok(());
    }
    let mut at = first;
    for more in (0..count).rev() {
        add(at..at.checked_add(1).ok_or_else(damaged)?);
        if more > 0 {
            at = at.checked_add_signed(step).ok_or_else(damaged)?;
        }
    }
    Ok(())
}

/// The first two that get in each other's way: writes of two members, or a transfer and something read.
///
/// `describe` names a tenant.
pub(super) fn look(touches: &mut [Touch], rank: usize, describe: impl Fn(u32) -> String) -> Option<Clash> {
    touches.sort_by_key(|touch| (touch.tenant, touch.range.start));
    let found = touches.chunk_by(|a, b| a.tenant == b.tenant).find_map(|those| {
        let (mut writes, mut transfers, mut reads) = (Furthest::default(), Furthest::default(), Furthest::default());
        those.iter().find_map(|touch| {
            let other = match touch.how {
                Use::Read => transfers.over(touch, false),
                Use::Put | Use::Assign => writes.over(touch, true),
                Use::Transfer => writes.over(touch, true).or_else(|| reads.over(touch, false)),
            };
            match touch.how {
                Use::Read => reads.add(touch),
                Use::Put | Use::Assign => writes.add(touch),
                Use::Transfer => {
                    writes.add(touch);
                    transfers.add(touch);
                }
            }
            other.map(|other| (other, touch))
        })
    });
    let (mut first, mut second) = found?;
    if (second.from, second.note) < (first.from, first.note) {
        std::mem::swap(&mut first, &mut second);
    }
    let (start, end) = (first.range.start.max(second.range.start), first.range.end.min(second.range.end));
    let elements = if end - start == 1 { format!("element {start}") } else { format!("elements {start} to {}", end - 1) };
    let party = |touch: &Touch| Party { rank: touch.from, note: touch.note, at: (0, 0) };
    Some(Clash {
        what: format!("{elements} of what rank {rank} has of the {}", describe(first.tenant)),
        how: [first, second].map(|touch| touch.how),
        parties: [first, second].map(party),
    })
}

/// Those of the ranges so far that reach furthest: of any member, and of any other member than that one.
#[derive(Default)]
struct Furthest<'a> {
    first: Option<&'a Touch>,
    other: Option<&'a Touch>,
}

impl<'a> Furthest<'a> {
    fn add(&mut self, touch: &'a Touch) {
        let end = |touch: Option<&Touch>| touch.map_or(0, |touch| touch.range.end);
        let is_of_first = self.first.is_some_and(|first| first.from == touch.from);
        if touch.range.end > end(self.first) {
            if !is_of_first {
                self.other = self.first;
            }
            self.first = Some(touch);
        } else if !is_of_first && touch.range.end > end(self.other) {
            self.other = Some(touch);
        }
    }

    /// One that reaches into `touch`, of another member if it must be.
    fn over(&self, touch: &Touch, is_of_other: bool) -> Option<&'a Touch> {
        let fits = |other: &&Touch| other.range.end > touch.range.start && !(is_of_other && other.from == touch.from);
        self.first.filter(fits).or(self.other.filter(fits))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The same, by looking at each two of them.
    fn has_any(touches: &[Touch]) -> bool {
        let is_clash = |a: &Touch, b: &Touch| {
            let overlap = a.tenant == b.tenant && a.range.start.max(b.range.start) < a.range.end.min(b.range.end);
            let (reads, transfers) = (
                a.how == Use::Read || b.how == Use::Read,
                a.how == Use::Transfer || b.how == Use::Transfer,
            );
            overlap && if reads { transfers } else { a.from != b.from }
        };
        touches.iter().enumerate().any(|(at, a)| touches[..at].iter().any(|b| is_clash(a, b)))
    }

    #[test]
    fn a_sweep_finds_what_looking_at_each_pair_finds() {
        let mut state = 1u64;
        let mut below = |bound: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % bound
        };
        let mut seen = [0; 2];
        for _ in 0..20_000 {
            let count = 2 + below(5);
            let mut touches: Vec<Touch> = Vec::new();
            for note in 0..count {
                let first = below(24);
                let section = (first, 1, 1 + below(4));
                let mut bytes = Vec::new();
                write(&mut bytes, USES[below(3)], note as u32, section);
                read(&bytes, below(3), below(2) as u32, &mut touches).unwrap();
            }
            let expected = has_any(&touches);
            seen[usize::from(expected)] += 1;
            let found = look(&mut touches.clone(), 0, |_| String::new());
            assert_eq!(found.is_some(), expected, "{touches:?}");
        }
        assert!(seen.iter().all(|&seen| seen > 1000), "{seen:?}");
    }

    #[test]
    fn a_section_with_a_stride_is_its_elements_alone() {
        let mut touches = Vec::new();
        let mut add = |how, from, section| {
            let mut bytes = Vec::new();
            write(&mut bytes, how, 1, section);
            read(&bytes, from, 0, &mut touches).unwrap();
            look(&mut touches.clone(), 0, |_| "area".to_owned())
        };
        assert_eq!(add(Use::Read, 0, (8, -2, 5)), None);
        assert_eq!(add(Use::Transfer, 1, (3, 1, 1)), None);
        let found = add(Use::Transfer, 2, (4, 1, 2)).expect("4 is read");
        assert_eq!(found.what, "element 4 of what rank 0 has of the area");
        assert_eq!(found.how, [Use::Read, Use::Transfer]);
    }
}
