//! Calls that are under way at the same time.
//!
//! A call that was begun has told others what this processor knew then. Until it is finished this processor may make
//! further calls, and these may be about the same elements. Calls count in the order in which they were begun: whatever
//! a later one has told or brought is newer than what an earlier one brings when it is finished at last.

use super::{layout::Piece, letter::Mark};
use std::{cell::RefCell, collections::HashMap, ops::Range, panic::Location};

/// What later calls must know of one that was made while another was under way.
struct Call {
    number: u64,
    pieces: Vec<Piece>,
    /// What of them this processor had written.
    written: Vec<Mark>,
    is_finished: bool,
    site: &'static Location<'static>,
}

/// The calls of this processor on one array, from the first that is not finished on.
#[derive(Default)]
pub(super) struct Flight {
    calls: RefCell<Vec<Call>>,
}

impl Flight {
    /// Notes a call, if it can be outlasted by another or outlast one itself; returns its number among those.
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
        let (pieces, written) = (pieces.to_vec(), written.collect());
        calls.push(Call { number, pieces, written, is_finished: false, site });
        Some(number)
    }

    /// Notes that a call is finished.
    pub(super) fn finish(&self, number: Option<u64>) {
        let mut calls = self.calls.borrow_mut();
        for call in calls.iter_mut().filter(|call| Some(call.number) == number) {
            call.is_finished = true;
        }
        if calls.iter().all(|call| call.is_finished) {
            calls.clear();
        }
    }

    /// What was told and brought after the call with this number was begun.
    pub(super) fn since(&self, number: Option<u64>) -> Since {
        let mut since = Since::default();
        let Some(number) = number else { return since };
        for call in self.calls.borrow().iter().filter(|call| call.number > number) {
            for mark in &call.written {
                let piece = &call.pieces[mark.piece as usize];
                let first = piece.offset + mark.at as usize;
                since.newer.entry(piece.page).or_default().push(first..first + mark.len as usize);
            }
            for piece in &call.pieces {
                since.told.entry(piece.page).or_default().push((piece.range(), call.site));
                if call.is_finished {
                    since.newer.entry(piece.page).or_default().push(piece.range());
                }
            }
        }
        since
    }
}

/// What was told and brought by calls since one was begun, by page.
#[derive(Default)]
pub(super) struct Since {
    /// Runs of which this processor has something newer than the earlier call brings.
    newer: HashMap<usize, Vec<Range<usize>>>,
    /// Runs that others were told of, and where.
    told: HashMap<usize, Vec<(Range<usize>, &'static Location<'static>)>>,
}

impl Since {
    /// The runs of `range` of which there is something newer.
    pub(super) fn newer(&self, page: usize, range: &Range<usize>) -> impl Iterator<Item = Range<usize>> {
        let runs = self.newer.get(&page).into_iter().flatten();
        runs.map(|run| run.start.max(range.start)..run.end.min(range.end)).filter(|run| !run.is_empty())
    }

    /// Whether there is something newer of an element.
    pub(super) fn has_newer(&self, page: usize, offset: usize) -> bool {
        self.newer(page, &(offset..offset + 1)).next().is_some()
    }

    /// Where others were told what an element was before.
    pub(super) fn told(&self, page: usize, offset: usize) -> Option<&'static Location<'static>> {
        let runs = self.told.get(&page).into_iter().flatten();
        runs.into_iter().find(|(run, _)| run.contains(&offset)).map(|&(_, site)| site)
    }
}
