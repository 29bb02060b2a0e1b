//! What is known of a page. The invariants are those of the [pages](super).

use std::{cell::Cell, ptr::null_mut};

/// What is known of a page. The runs are a first offset and a length.
pub(super) struct Entry<T> {
    /// G1.
    pub(super) start: Cell<*mut T>,
    /// How much from offset 0 on can be read now, if the page is in its row (G5), and otherwise.
    pub(super) in_row: Cell<usize>,
    pub(super) open: Cell<usize>,
    /// The run that can be written now and is noted as written already.
    pub(super) renewed: Cell<usize>,
    pub(super) renewed_in_row: Cell<usize>,
    pub(super) renewed_len: Cell<usize>,
    pub(super) is_in_row: Cell<bool>,
    pub(super) first: Cell<u32>,
    /// How much behind `first` can be read now: `shown`, or nothing while a slice for writing is lent.
    pub(super) readable: Cell<u32>,
    /// How much behind `first` can be written now: `shown`, or nothing while anything is lent.
    pub(super) writable: Cell<u32>,
    pub(super) shown: Cell<u32>,
    /// The run that was written.
    pub(super) noted: Cell<u32>,
    pub(super) noted_len: Cell<u32>,
    /// How many slices of it there are, or `EXCLUSIVE`.
    pub(super) slices: Cell<u16>,
    /// How many runs of it are lent to peers.
    pub(super) lent: Cell<u32>,
}

/// In place of the number of slices: there is one for writing.
pub(super) const EXCLUSIVE: u16 = u16::MAX;

impl<T> Default for Entry<T> {
    fn default() -> Self {
        Self {
            start: Cell::new(null_mut()),
            in_row: Cell::new(0),
            open: Cell::new(0),
            renewed: Cell::new(0),
            renewed_in_row: Cell::new(0),
            renewed_len: Cell::new(0),
            is_in_row: Cell::new(false),
            first: Cell::new(0),
            readable: Cell::new(0),
            writable: Cell::new(0),
            shown: Cell::new(0),
            noted: Cell::new(0),
            noted_len: Cell::new(0),
            slices: Cell::new(0),
            lent: Cell::new(0),
        }
    }
}

impl<T> Entry<T> {
    /// Lets nothing be written, until the next `refresh`.
    #[inline]
    pub(super) fn close_to_writes(&self) {
        self.writable.set(0);
        self.renewed_in_row.set(0);
        self.renewed_len.set(0);
    }

    /// Lets nothing be read, until the next `refresh`.
    #[inline]
    pub(super) fn close_to_reads(&self) {
        self.readable.set(0);
        self.in_row.set(0);
        self.open.set(0);
    }

    /// Allows what no slice and no loan forbids.
    pub(super) fn refresh(&self) {
        let (shown, slices) = (self.shown.get(), self.slices.get());
        self.readable.set(if slices == EXCLUSIVE { 0 } else { shown });
        let is_writable = slices == 0 && self.lent.get() == 0;
        self.writable.set(if is_writable { shown } else { 0 });
        // What is shown from the start of the page on; then all that is noted is shown, or may be read by nobody yet.
        let open = if self.first.get() == 0 { self.readable.get() } else { 0 };
        let is_in_row = self.is_in_row.get();
        let (in_row, open_elsewhere) = if is_in_row { (open, 0) } else { (0, open) };
        self.in_row.set(in_row as usize);
        self.open.set(open_elsewhere as usize);
        let (noted, end) = (self.noted.get(), self.noted.get() + self.noted_len.get());
        let renewed = if is_writable { end.min(open).saturating_sub(noted) } else { 0 };
        self.renewed.set(noted as usize);
        self.renewed_in_row.set(if is_in_row { renewed as usize } else { 0 });
        self.renewed_len.set(if is_in_row { 0 } else { renewed as usize });
    }
}
