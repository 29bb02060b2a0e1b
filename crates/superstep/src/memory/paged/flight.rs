//! Calls that are under way at the same time.
//!
//! A call that was begun has told others what this processor knew then. Until it is finished this processor may make
//! further calls, and these may be about the same elements. Calls count in the order in which they were begun: whatever
//! a later one has told or brought is newer than what an earlier one brings when it is finished at last. That holds
//! where the newer is not here any more, because its page was dropped meanwhile: the older must not come in its place.

use super::{layout::Piece, news::Mark};
use std::{
    cell::{Ref, RefCell},
    ops::Range,
    panic::Location,
};

/// What later calls must know of one that was made while another was under way.
struct Call {
    number: u64,
    /// By page and offset, as a section is cut.
    pieces: Vec<Piece>,
    /// What of them this processor had written, in the same order.
    written: Vec<Piece>,
    is_finished: bool,
    site: &'static Location<'static>,
}

impl Call {
    /// The parts of a run for which this call has something newer than the calls before it.
    fn newer(&self, page: usize, range: &Range<usize>) -> impl Iterator<Item = Range<usize>> {
        within(if self.is_finished { &self.pieces } else { &self.written }, page, range)
    }

    /// Whether others were told an element, and whether this processor had written it.
    fn told(&self, page: usize, offset: usize) -> Option<bool> {
        let has = |pieces| within(pieces, page, &(offset..offset + 1)).next().is_some();
        has(&self.pieces).then(|| has(&self.written))
    }
}

/// The parts of a run that sorted pieces cover.
fn within(pieces: &[Piece], page: usize, range: &Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let (start, end) = (range.start, range.end);
    let first = pieces.partition_point(|piece| (piece.page, piece.range().end) <= (page, start));
    let meet = pieces[first..].iter().take_while(move |piece| piece.page == page && piece.offset < end);
    meet.map(move |piece| piece.offset.max(start)..piece.range().end.min(end))
}

/// The calls of this processor on one array, by rising number, from the first that is not finished on.
#[derive(Default)]
pub(super) struct Flight {
    calls: RefCell<Vec<Call>>,
}

impl Flight {
    /// Notes a call, if calls may overlap it; returns its number among those.
    pub(super) fn enter(
        &self,
        is_begun: bool,
        pieces: &[Piece],
        written: impl Iterator<Item = Mark>,
        site: &'static Location<'static>,
    ) -> Option<u64> {
        let mut calls = self.calls.borrow_mut();
        if calls.is_empty() && !is_begun {
            return None;
        }
        let number = calls.last().map_or(0, |last| last.number + 1);
        let run = |mark: Mark| {
            let piece = pieces[mark.piece as usize];
            Piece { offset: piece.offset + mark.at as usize, len: mark.len as usize, ..piece }
        };
        let mut written: Vec<Piece> = written.map(run).collect();
        written.sort_unstable_by_key(|run| (run.page, run.offset));
        calls.push(Call { number, pieces: pieces.to_vec(), written, is_finished: false, site });
        Some(number)
    }

    pub(super) fn finish(&self, number: Option<u64>) {
        let Some(number) = number else { return };
        let mut calls = self.calls.borrow_mut();
        if let Ok(at) = calls.binary_search_by_key(&number, |call| call.number) {
            calls[at].is_finished = true;
        }
        let first = calls.iter().position(|call| !call.is_finished).unwrap_or(calls.len());
        calls.drain(..first);
    }

    /// What was told and brought after the call with this number was begun.
    pub(super) fn since(&self, number: Option<u64>) -> Since<'_> {
        Since(Ref::map(self.calls.borrow(), |calls| {
            let first = number.map_or(calls.len(), |number| calls.partition_point(|call| call.number <= number));
            &calls[first..]
        }))
    }

    /// Whether something on a page was written here and told in a call that is not finished.
    pub(super) fn holds(&self, page: usize) -> bool {
        let calls = self.calls.borrow();
        let mut open = calls.iter().filter(|call| !call.is_finished);
        open.any(|call| within(&call.written, page, &(0..usize::MAX)).next().is_some())
    }
}

pub(super) struct Since<'a>(Ref<'a, [Call]>);

impl Since<'_> {
    /// The runs of `range` of which there is or was something newer; they may overlap.
    pub(super) fn newer(&self, page: usize, range: &Range<usize>) -> impl Iterator<Item = Range<usize>> {
        self.0.iter().flat_map(move |call| call.newer(page, range))
    }

    /// Whether there is or was something newer of an element.
    pub(super) fn has_newer(&self, page: usize, offset: usize) -> bool {
        self.newer(page, &(offset..offset + 1)).next().is_some()
    }

    /// Where others were first told an old value of an element, if this processor had not written it again.
    pub(super) fn told_old(&self, page: usize, offset: usize) -> Option<&'static Location<'static>> {
        // What this processor has told first is what the calls behind that one go on with.
        let first = self.0.iter().find_map(|call| call.told(page, offset).map(|is_written| (is_written, call.site)));
        first.filter(|&(is_written, _)| !is_written).map(|(_, site)| site)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece(page: usize, offset: usize, len: usize) -> Piece {
        Piece { page, offset, len, owner: 0 }
    }

    #[test]
    fn runs_are_found_where_pieces_meet_them() {
        let pieces = [piece(1, 4, 4), piece(3, 0, 2), piece(3, 5, 1), piece(3, 7, 3), piece(4, 0, 9)];
        let found = |page, range| within(&pieces, page, &range).map(|run| (run.start, run.end)).collect::<Vec<_>>();
        assert_eq!(found(3, 1..8), [(1, 2), (5, 6), (7, 8)]);
        assert_eq!(found(3, 2..5), []);
        assert_eq!(found(1, 0..usize::MAX), [(4, 8)]);
        assert_eq!((found(0, 0..9), found(2, 0..9), found(5, 0..9)), (vec![], vec![], vec![]));
    }

    #[test]
    fn only_what_came_later_is_newer() {
        let (flight, here) = (Flight::default(), Location::caller());
        let mark = Mark { piece: 0, at: 2, len: 1 };
        let enter = |marks: &[Mark]| flight.enter(true, &[piece(7, 0, 4)], marks.iter().copied(), here);
        let newer = |number| {
            let since = flight.since(number);
            since.newer(7, &(0..9)).map(|run| (run.start, run.end)).collect::<Vec<_>>()
        };
        let (first, second, third) = (enter(&[]), enter(&[mark]), enter(&[]));
        assert_eq!((newer(first), newer(second), newer(None)), (vec![(2, 3)], vec![], vec![]));
        assert!(flight.holds(7) && !flight.holds(6));
        let since = flight.since(first);
        assert_eq!((since.told_old(7, 2), since.told_old(7, 1).is_some(), since.told_old(7, 4)), (None, true, None));
        drop(since);
        flight.finish(second);
        assert!(!flight.holds(7));
        assert_eq!(newer(first), [(0, 4)]);
        flight.finish(first);
        assert_eq!(flight.calls.borrow().len(), 1);
        flight.finish(third);
        assert_eq!(enter(&[]), Some(0));
    }
}
