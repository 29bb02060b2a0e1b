//! The table of pages: how elements are read and written by page and offset.
//!
//! The invariants are those of the [pages](super).

#![expect(clippy::inline_always, reason = "loops over elements are made of these")]

use super::{
    entry::{EXCLUSIVE, Entry},
    lent::Outstanding,
};
use crate::{memory::Memory, plain::Plain};
use std::{
    cell::{Cell, RefCell},
    collections::HashMap,
    fmt,
    ops::Range,
    ptr::null_mut,
    rc::Rc,
    sync::Arc,
};

/// Which elements a line of pages has, and how many of them a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lines {
    /// How many elements a page has at most.
    pub page: usize,
    /// How many elements a line has; its last page may be shorter.
    pub line: usize,
    /// How many numbers each line has for its pages, a power of two.
    pub numbers: usize,
}

pub(super) struct Store<T> {
    pub(super) lines: Lines,
    /// The pages that were there from the start, one behind the other.
    pub(super) rooted: Arc<Memory<T>>,
    pub(super) added: RefCell<HashMap<usize, Memory<T>>>,
    /// What is lent to peers, and whether anything is.
    pub(super) loans: RefCell<Vec<Outstanding<T>>>,
    pub(super) is_lent: Cell<bool>,
    pub(super) slices: Cell<usize>,
}

/// Pages of one processor. Clones are the same pages.
///
/// ```
/// use fabric::{Lines, Pages};
///
/// // Three lines of one page with 4 elements each, of which there is the second.
/// let pages = Pages::<u32>::new(3, Lines { page: 4, line: 4, numbers: 1 }, &[1]).unwrap();
/// pages.show(1, 0..4);
/// assert!(pages.set(1, 2, 7));
/// assert_eq!((pages.get(1, 2), pages.get(0, 2)), (Some(7), None));
/// assert_eq!(pages.noted(1), 2..3);
/// ```
pub struct Pages<T> {
    pub(super) table: Rc<[Entry<T>]>,
    /// How many pages are lines of their own, if all are.
    lines: usize,
    /// Where page 0 would start and how long pages are, if those from the start are all in one row (G5).
    row: *mut T,
    stride: usize,
    pub(super) store: Rc<Store<T>>,
}

impl<T> Clone for Pages<T> {
    fn clone(&self) -> Self {
        let (lines, row, stride) = (self.lines, self.row, self.stride);
        Self { table: Rc::clone(&self.table), lines, row, stride, store: Rc::clone(&self.store) }
    }
}

impl<T: Plain> Pages<T> {
    /// A table for `count` pages, of which `rooted`, in rising order, have memory from the start and for good; all
    /// zeros. `None` where the system has no such memory.
    ///
    /// # Panics
    ///
    /// If a page has more elements than 32 bits can count, if a line has more than its pages hold, or if `rooted` names
    /// a page that there is not, or not in rising order.
    pub fn new(count: usize, lines: Lines, rooted: &[usize]) -> Option<Self> {
        assert!(u32::try_from(lines.page).is_ok() && lines.numbers.is_power_of_two(), "pages of a size that works");
        assert!(rooted.iter().all(|&page| page < count), "a page that there is");
        assert!(rooted.is_sorted_by(|a, b| a < b), "pages in rising order");
        // G5 needs it: where a line has one page, that is all of it.
        let held = lines.numbers.saturating_mul(lines.page);
        assert!(lines.line <= held, "a line of {} elements in pages for {held}", lines.line);
        let len = rooted.iter().try_fold(0usize, |sum, &page| sum.checked_add(room(lines, page)))?;
        let memory = Memory::<T>::zeroed(len)?;
        let mut entries = Vec::new();
        entries.try_reserve_exact(count.checked_add(1)?).ok()?;
        // G4.
        entries.resize_with(count + 1, Entry::default);
        let mut at = 0;
        for &page in rooted {
            entries[page].start.set(memory.start.as_ptr().wrapping_add(at));
            at += room(lines, page);
        }
        let store = Store {
            lines,
            rooted: Arc::new(memory),
            added: RefCell::default(),
            loans: RefCell::default(),
            is_lent: Cell::new(false),
            slices: Cell::new(0),
        };
        // G5.
        let first = rooted.first().copied().unwrap_or(0);
        let is_row = lines.numbers == 1 && rooted.iter().zip(first..).all(|(&page, number)| page == number);
        for &page in rooted {
            entries[page].is_in_row.set(is_row);
        }
        let row = store.rooted.start.as_ptr().wrapping_sub(first.wrapping_mul(lines.line));
        let stride = lines.line;
        let lines = if lines.numbers == 1 { count } else { 0 };
        Some(Self { table: entries.into(), lines, row, stride, store: Rc::new(store) })
    }

    /// How many elements a page has room for.
    #[inline]
    pub fn room(&self, page: usize) -> usize {
        room(self.store.lines, page)
    }

    /// How many bytes the table has.
    pub fn table_bytes(&self) -> usize {
        size_of_val(&*self.table)
    }

    /// The entry of a line that is a page; that of no page, where there is no such line or lines have several pages.
    #[inline(always)]
    fn line(&self, line: usize) -> &Entry<T> {
        let page = if line < self.lines { line } else { self.table.len() - 1 };
        // SAFETY: there are as many pages as lines, or no lines; and there is a last entry (G4).
        unsafe { self.table.get_unchecked(page) }
    }

    /// Reads an element of a line that is a page, if that can be done without a further question.
    #[inline(always)]
    pub fn get_line(&self, line: usize, offset: usize) -> Option<T> {
        let entry = self.line(line);
        if offset < entry.in_row.get() {
            // SAFETY: G1, G2 as below; G5: that is where the element lies.
            return Some(unsafe { self.row.wrapping_add(line.wrapping_mul(self.stride)).wrapping_add(offset).read() });
        }
        rarely();
        if offset >= entry.open.get() {
            return None;
        }
        // SAFETY: G1: the offset lies in the run that can be read. G2: that is empty while a slice for writing is lent.
        Some(unsafe { entry.start.get().wrapping_add(offset).read() })
    }

    /// Writes an element of a line that is a page, if it is noted as written already and there is no further question.
    #[inline(always)]
    pub fn set_line(&self, line: usize, offset: usize, value: T) -> bool {
        let entry = self.line(line);
        let behind = offset.wrapping_sub(entry.renewed.get());
        if behind < entry.renewed_in_row.get() {
            // SAFETY: G1, G2, G3 as below; G5: that is where the element lies.
            unsafe { self.row.wrapping_add(line.wrapping_mul(self.stride)).wrapping_add(offset).write(value) };
            return true;
        }
        rarely();
        if behind >= entry.renewed_len.get() {
            return false;
        }
        // SAFETY: G1: the offset lies in the run that can be written. G2, G3: that is empty while anything is lent.
        unsafe { entry.start.get().wrapping_add(offset).write(value) };
        true
    }

    /// Reads an element, if that can be done without a further question.
    #[inline(always)]
    pub fn get(&self, page: usize, offset: usize) -> Option<T> {
        let entry = self.table.get(page)?;
        if offset.wrapping_sub(entry.first.get() as usize) >= entry.readable.get() as usize {
            return None;
        }
        // SAFETY: G1: the offset lies in the run that can be read. G2: that is empty while a slice for writing is lent.
        Some(unsafe { entry.start.get().wrapping_add(offset).read() })
    }

    /// Writes an element and notes it, if that can be done without a further question.
    #[inline(always)]
    pub fn set(&self, page: usize, offset: usize, value: T) -> bool {
        let Some(entry) = self.table.get(page) else { return false };
        if offset.wrapping_sub(entry.first.get() as usize) >= entry.writable.get() as usize {
            return false;
        }
        let (noted, len) = (entry.noted.get() as usize, entry.noted_len.get());
        let behind = offset.wrapping_sub(noted);
        if behind >= len as usize {
            if behind != len as usize {
                if len != 0 {
                    return false;
                }
                entry.noted.set(offset as u32);
            }
            entry.noted_len.set(len + 1);
            entry.refresh();
        }
        // SAFETY: G1: the offset lies in the run that can be written. G2, G3: that is empty while anything is lent.
        unsafe { entry.start.get().wrapping_add(offset).write(value) };
        true
    }

    /// Whether a page has memory.
    #[inline]
    pub fn has(&self, page: usize) -> bool {
        self.table.get(page).is_some_and(|entry| !entry.start.get().is_null())
    }

    /// The entry of a page that has room for `range`, with where that starts.
    #[inline]
    pub(super) fn place(&self, page: usize, range: &Range<usize>) -> Option<(&Entry<T>, *mut T)> {
        let entry = self.table.get(page).filter(|entry| !entry.start.get().is_null())?;
        if range.start > range.end || range.end > self.room(page) {
            return None;
        }
        // SAFETY: G1: the range lies in the page's room.
        Some((entry, unsafe { entry.start.get().add(range.start) }))
    }

    /// Reads an element of a page that has memory, whether or not it is shown; not while it is lent for writing.
    pub fn peek(&self, page: usize, offset: usize) -> Option<T> {
        let (entry, start) = self.place(page, &(offset..offset.checked_add(1)?))?;
        // SAFETY: G1, M1; G2: nothing of the page is lent for writing.
        (entry.slices.get() != EXCLUSIVE).then(|| unsafe { *start })
    }

    /// Appends a run of a page that has memory to `out`, as [`peek`](Self::peek) reads it.
    pub fn copy_out(&self, page: usize, range: Range<usize>, out: &mut Vec<T>) -> bool {
        self.read_run(page, &range, |values| out.extend_from_slice(values))
    }

    /// Appends the bytes of a run to `out`, like [`copy_out`](Self::copy_out).
    pub fn copy_bytes_out(&self, page: usize, range: Range<usize>, out: &mut Vec<u8>) -> bool {
        self.read_run(page, &range, |values| out.extend_from_slice(bytemuck::cast_slice(values)))
    }

    /// Reads a run of a page that has memory. `read` touches no page.
    fn read_run(&self, page: usize, range: &Range<usize>, read: impl FnOnce(&[T])) -> bool {
        let Some((entry, start)) = self.place(page, range) else { return false };
        let is_readable = entry.slices.get() != EXCLUSIVE;
        if is_readable {
            // SAFETY: G1, M1; G2: nothing of the page is lent for writing, and nothing writes while the slice is read.
            read(unsafe { std::slice::from_raw_parts(start, range.len()) });
        }
        is_readable
    }

    /// Writes a run from its bytes, whatever their alignment, like [`fill`](Self::fill).
    pub fn fill_bytes(&self, page: usize, offset: usize, bytes: &[u8]) -> bool {
        // Elements without a size have no bytes, and only 0 is a multiple of 0.
        if !bytes.len().is_multiple_of(size_of::<T>()) {
            return false;
        }
        let len = bytes.len().checked_div(size_of::<T>()).unwrap_or(0);
        let Some(start) = self.writable(page, offset, len) else { return false };
        // SAFETY: as in `fill`: so many bytes are there, and every pattern of them is a value (M1).
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), start.cast(), bytes.len()) };
        true
    }

    /// Where a run starts that is not lent in any way.
    fn writable(&self, page: usize, offset: usize, len: usize) -> Option<*mut T> {
        let end = offset.checked_add(len)?;
        let (entry, start) = self.place(page, &(offset..end))?;
        let is_in = |loan: &Outstanding<T>| loan.has_any(page, &(offset..end));
        let is_lent = entry.slices.get() != 0 || entry.lent.get() > 0 && self.store.loans.borrow().iter().any(is_in);
        (!is_lent).then_some(start)
    }

    /// Writes an element of a page that has memory, without noting it; not while anything of the page is lent.
    pub fn poke(&self, page: usize, offset: usize, value: T) -> bool {
        self.fill(page, offset, &[value])
    }

    /// Writes a run of a page that has memory, without noting it; not while slices of the page are lent, or any of
    /// these elements to peers.
    pub fn fill(&self, page: usize, offset: usize, values: &[T]) -> bool {
        let Some(start) = self.writable(page, offset, values.len()) else { return false };
        // SAFETY: G1; G2 and G3: none of it is lent. `values` borrows other memory: a slice of this page would be lent.
        unsafe { std::ptr::copy_nonoverlapping(values.as_ptr(), start, values.len()) };
        true
    }

    /// Says which run of a page can be read and written from now on.
    ///
    /// # Panics
    ///
    /// If the page has no memory for it.
    pub fn show(&self, page: usize, range: Range<usize>) {
        let (entry, _) = self.place(page, &range).expect("a run of a page that has memory");
        entry.first.set(range.start as u32);
        entry.shown.set(range.len() as u32);
        entry.refresh();
    }

    /// Which run of a page is shown.
    #[inline]
    pub fn shown(&self, page: usize) -> Range<usize> {
        let run = |entry: &Entry<T>| (entry.first.get() as usize, entry.shown.get() as usize);
        self.table.get(page).map(run).map_or(0..0, |(first, len)| first..first + len)
    }

    /// Which run of a page was noted as written.
    #[inline]
    pub fn noted(&self, page: usize) -> Range<usize> {
        let run = |entry: &Entry<T>| (entry.noted.get() as usize, entry.noted_len.get() as usize);
        self.table.get(page).map(run).map_or(0..0, |(first, len)| first..first + len)
    }

    /// Replaces the run of a page that is noted as written.
    ///
    /// # Panics
    ///
    /// If there is no such run.
    pub fn note(&self, page: usize, range: Range<usize>) {
        assert!(range.start <= range.end && range.end <= self.room(page), "a run of the page");
        self.table[page].noted.set(range.start as u32);
        self.table[page].noted_len.set(range.len() as u32);
        self.table[page].refresh();
    }

    /// Gives a page memory, all zeros, if it has none; returns whether it has some now.
    pub fn add(&self, page: usize) -> bool {
        let Some(entry) = self.table[..self.table.len() - 1].get(page) else { return false };
        if !entry.start.get().is_null() {
            return true;
        }
        let Some(memory) = Memory::zeroed(self.room(page)) else { return false };
        entry.start.set(memory.start.as_ptr());
        self.store.added.borrow_mut().insert(page, memory);
        true
    }

    /// Takes the memory of a page away that was added, and all notes on it; not while a slice of it is lent.
    pub fn remove(&self, page: usize) -> bool {
        let Some(entry) = self.table.get(page).filter(|entry| entry.slices.get() == 0) else { return false };
        if self.store.added.borrow_mut().remove(&page).is_none() {
            return false;
        }
        entry.start.set(null_mut());
        entry.shown.set(0);
        entry.noted_len.set(0);
        entry.refresh();
        true
    }
}

/// Says that its caller seldom gets here, so that loops go straight on where they do not.
#[cold]
#[inline]
fn rarely() {}

#[inline]
fn room(lines: Lines, page: usize) -> usize {
    let at = (page & (lines.numbers - 1)).saturating_mul(lines.page);
    lines.line.saturating_sub(at).min(lines.page)
}

impl<T> fmt::Debug for Pages<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Pages({} in the table)", self.table.len() - 1)
    }
}
