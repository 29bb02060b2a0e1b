//! How runs of pages are lent and come back. The invariants are those of the [pages](super).

use super::{
    entry::EXCLUSIVE,
    lent::{Lent, Loan, Outstanding},
    table::Pages,
};
use crate::plain::Plain;
use std::{ptr::NonNull, sync::Arc};

impl<T: Plain> Pages<T> {
    /// Lends a peer these runs of pages that were there from the start, each a page, an offset and a length; `None`
    /// where one of them is not, or is lent for writing.
    pub fn lend(&self, runs: &[(usize, usize, usize)]) -> Option<Lent<T>> {
        let mut starts = Vec::with_capacity(runs.len());
        let added = self.store.added.borrow();
        for &(page, offset, len) in runs {
            let (entry, start) = self.place(page, &(offset..offset.checked_add(len)?))?;
            if entry.slices.get() == EXCLUSIVE || added.contains_key(&page) {
                return None;
            }
            starts.push((NonNull::new(start)?, len));
        }
        // Loans that are back make room, even if their owner never writes.
        self.reclaim();
        for &(page, ..) in runs {
            let entry = &self.table[page];
            entry.lent.set(entry.lent.get() + 1);
            entry.refresh();
        }
        let loan = Arc::new(Loan::new(starts, Arc::clone(&self.store.rooted)));
        let mut runs = runs.to_vec();
        runs.sort_unstable();
        self.store.loans.borrow_mut().push(Outstanding { loan: Arc::clone(&loan), runs });
        self.store.is_lent.set(true);
        Some(Lent(loan))
    }

    /// Whether all that was lent to peers is back; what is can be written again.
    #[inline]
    pub fn reclaim(&self) -> bool {
        !self.store.is_lent.get() || self.settle(Loan::is_done)
    }

    /// Takes back what peers have not begun to read: they find a copy. Says whether all that was lent is back then;
    /// else a peer is reading.
    pub fn take_back(&self) -> bool {
        self.settle(Loan::take_back)
    }

    /// Forgets the loans that are back; says whether that is all of them.
    fn settle(&self, is_back: impl Fn(&Loan<T>) -> bool) -> bool {
        let mut loans = self.store.loans.borrow_mut();
        loans.retain(|lent| {
            let is_back = is_back(&lent.loan);
            if is_back {
                for &(page, ..) in &lent.runs {
                    let entry = &self.table[page];
                    entry.lent.set(entry.lent.get() - 1);
                    entry.refresh();
                }
            }
            !is_back
        });
        self.store.is_lent.set(!loans.is_empty());
        loans.is_empty()
    }
}
