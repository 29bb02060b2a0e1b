//! How a member merges the news of all others of a set: each of them comes to the same result.

use super::{
    access::Paged,
    flight::Since,
    layout::Piece,
    news::{Mark, NewValues, Writes},
};
use crate::{
    engine::{Element, damaged},
    error::{Error, ErrorKind, Result, place},
};
use rustc_hash::FxHashMap;
use std::{iter::once, ops::Range, panic::Location};

impl<T: Element, const N: usize> Paged<T, N> {
    /// Takes the owner's values of a piece, except where this processor has, or had and dropped, something newer.
    pub(super) fn take_in(&self, piece: &Piece, values: NewValues<'_, T>, since: &Since<'_>) -> Result {
        let (page, range) = (piece.page, piece.range());
        let mut newer = self.part.written(page, &range);
        newer.extend(since.newer(page, &range));
        for run in gaps(&range, newer) {
            self.part.make_room(page)?;
            let values = values.part(run.start - range.start..run.end - range.start);
            let is_in = match values {
                NewValues::Bytes(bytes) => self.pages.fill_bytes(page, run.start, bytes),
                NewValues::Values(values) => self.pages.fill(page, run.start, values),
            };
            if !is_in {
                return Err(damaged());
            }
            self.part.make_present(page, run);
        }
        // What was there and what has come may be one run now.
        if self.part.missing(page, range.clone()).is_none() {
            self.part.make_present(page, range);
        }
        Ok(())
    }

    /// Finds the value of each element that was written by another than its owner.
    ///
    /// From the highest rank down: what a rank wrote of others' elements replaces what higher ones wrote; and where an
    /// owner wrote, its value, which is in place already, replaces theirs.
    pub(super) fn resolve(&self, pieces: &[Piece], mut all: Vec<(usize, Writes<T>)>, since: &Since<'_>) -> Result {
        all.sort_by_key(|&(rank, _)| std::cmp::Reverse(rank));
        // In the same order in every run: the first error counts.
        let mut found: FxHashMap<(usize, usize), (T, usize)> = FxHashMap::default();
        let places = |mark: Mark| {
            let piece = &pieces[mark.piece as usize];
            let first = piece.offset + mark.at as usize;
            (first..first + mark.len as usize).map(move |offset| (piece.page, offset))
        };
        for (rank, writes) in all {
            let foreign = writes.foreign.into_iter().flat_map(places);
            found.extend(foreign.zip(writes.values.into_iter().map(|value| (value, rank))));
            for place in writes.own.into_iter().flat_map(places) {
                found.remove(&place);
            }
        }
        // Peers may still be reading what they were lent.
        self.part.reclaim()?;
        for ((page, offset), (value, writer)) in found {
            if let Some(told) = since.told_old(page, offset) {
                self.check_told([page, offset], writer, told)?;
            }
            let is_newest = !since.has_newer(page, offset) && self.part.written(page, &(offset..offset + 1)).is_empty();
            if is_newest && !self.pages.poke(page, offset, value) {
                return Err(damaged());
            }
        }
        Ok(())
    }

    /// Refuses a value of another for an element of which this processor, its owner, has told the old one elsewhere.
    #[cold]
    fn check_told(&self, [page, offset]: [usize; 2], writer: usize, told: &Location<'_>) -> Result {
        let (at, me) = (self.part.layout.index(page, offset), self.part.rank);
        if self.part.layout.owner(at) != me {
            return Ok(());
        }
        let what = format!(
            "rank {writer} wrote element {at:?} of rank {me}, which made the coherence call at {} on it before it had \
             finished the one that takes this in; finish a call before the next one on what others write",
            place(told)
        );
        Err(Error::new(ErrorKind::CoherenceMismatch, what))
    }
}

/// The parts of `range` that none of these runs covers; they may overlap.
fn gaps(range: &Range<usize>, mut runs: Vec<Range<usize>>) -> impl Iterator<Item = Range<usize>> + use<> {
    runs.sort_unstable_by_key(|run| run.start);
    let mut at = range.start;
    runs.into_iter().chain(once(range.end..range.end)).filter_map(move |run| {
        let gap = at..run.start;
        at = at.max(run.end);
        (!gap.is_empty()).then_some(gap)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_are_what_no_run_has() {
        let found = |range, runs| gaps(&range, runs).map(|gap| (gap.start, gap.end)).collect::<Vec<_>>();
        assert_eq!(found(2..9, vec![]), [(2, 9)]);
        assert_eq!(found(2..9, vec![4..5, 2..3, 4..7]), [(3, 4), (7, 9)]);
        assert_eq!(found(2..9, vec![5..9, 2..6]), []);
        assert_eq!(found(2..2, vec![]), []);
    }
}
