//! Pages of plain memory: one processor reads and writes elements by page and offset, and lends runs of them to peers.
//!
//! A table has an entry for each page that there could be. An entry says where the page's memory is, if there is any,
//! which run of it can be read and written without a further question, and which run was written. So an access is one
//! look into the table, one comparison and one load; along a line of which the page holds all, what a loop does in each
//! turn is no more than that ([`Pages::get_line`], [`Pages::set_line`]). Everything else (pages of which scattered
//! elements are there, writes that do not follow each other) is kept above and asks the slow way, by [`Pages::peek`]
//! and [`Pages::poke`].
//!
//! Pages that were there from the start lie one behind the other; the rest have memory of their own and may go again.
//!
//! # Invariants
//!
//! - **M1** is that of [`memory`](crate::memory): all elements are there, and every pattern of bytes is a value.
//! - **G1** The start of an entry is null, or valid for [`Pages::room`] elements, for as long as the page is not taken
//!   away; that happens only while nothing of it is lent. The run that can be read lies in the room.
//! - **G2** All access by this processor is through a `Pages`, which stays on its thread. Each is over before the next
//!   begins, except that of a [`Slice`], which only reads, and of a [`SliceMut`]. While a page has a slice of either
//!   kind, nothing else writes to it; while it has one for writing, nothing else reads it.
//! - **G3** Peers only read, and only what a [`Lent`] names, from where they have noted in its state that they read it
//!   until they drop it, which is noted there too. This processor writes to none of the runs that are lent before it
//!   has seen the end of the loan, or has noted itself that it took the loan back; then no peer begins to read it any
//!   more. A loan keeps the memory.
//! - **G4** The table has one entry more than there are pages, of a page that never has any memory.
//! - **G5** A page is in its row if it was there from the start, as one of pages that are lines and whose numbers
//!   follow each other. Then it starts at `row`, as many times `stride` on as its number says.

mod lent;
#[cfg(test)]
mod tests;

pub use lent::{Lent, Slice, SliceMut};

use crate::{memory::Memory, region::Plain};
use lent::Outstanding;
use std::{
    cell::{Cell, RefCell},
    collections::HashMap,
    fmt,
    ops::Range,
    ptr::{NonNull, null_mut},
    rc::Rc,
    sync::Arc,
};

/// What is known of a page. The runs are a first offset and a length.
struct Entry<T> {
    /// G1.
    start: Cell<*mut T>,
    /// How much from offset 0 on can be read now, if the page is in its row (G5), and otherwise.
    in_row: Cell<usize>,
    open: Cell<usize>,
    /// The run that can be written now and is noted as written already.
    renewed: Cell<usize>,
    renewed_in_row: Cell<usize>,
    renewed_len: Cell<usize>,
    is_in_row: Cell<bool>,
    first: Cell<u32>,
    /// How much behind `first` can be read now: `shown`, or nothing while a slice for writing is lent.
    readable: Cell<u32>,
    /// How much behind `first` can be written now: `shown`, or nothing while anything is lent.
    writable: Cell<u32>,
    shown: Cell<u32>,
    /// The run that was written.
    noted: Cell<u32>,
    noted_len: Cell<u32>,
    /// How many slices of it there are, or `EXCLUSIVE`.
    slices: Cell<u16>,
    /// How many runs of it are lent to peers.
    lent: Cell<u32>,
}

/// In place of the number of slices: there is one for writing.
const EXCLUSIVE: u16 = u16::MAX;

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
    fn close_to_writes(&self) {
        self.writable.set(0);
        self.renewed_in_row.set(0);
        self.renewed_len.set(0);
    }

    /// Lets nothing be read, until the next `refresh`.
    #[inline]
    fn close_to_reads(&self) {
        self.readable.set(0);
        self.in_row.set(0);
        self.open.set(0);
    }

    /// Lets through what nothing that is lent forbids.
    fn refresh(&self) {
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

struct Store<T> {
    lines: Lines,
    /// The pages that were there from the start, one behind the other.
    rooted: Arc<Memory<T>>,
    added: RefCell<HashMap<usize, Memory<T>>>,
    /// What is lent to peers, and whether anything is.
    loans: RefCell<Vec<Outstanding<T>>>,
    is_lent: Cell<bool>,
    slices: Cell<usize>,
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
    table: Rc<[Entry<T>]>,
    /// How many pages are lines of their own, if all are.
    lines: usize,
    /// Where page 0 would start and how long pages are, if those from the start are all in one row (G5).
    row: *mut T,
    stride: usize,
    store: Rc<Store<T>>,
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
    #[expect(clippy::inline_always, reason = "loops over elements are made of these")]
    #[inline(always)]
    fn line(&self, line: usize) -> &Entry<T> {
        let page = if line < self.lines { line } else { self.table.len() - 1 };
        // SAFETY: there are as many pages as lines, or no lines; and there is a last entry (G4).
        unsafe { self.table.get_unchecked(page) }
    }

    /// Reads an element of a line that is a page, if that can be done without a further question.
    #[expect(clippy::inline_always, reason = "loops over elements are made of these")]
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
    #[expect(clippy::inline_always, reason = "loops over elements are made of these")]
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
    #[expect(clippy::inline_always, reason = "loops over elements are made of these")]
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
    #[expect(clippy::inline_always, reason = "loops over elements are made of these")]
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
    fn place(&self, page: usize, range: &Range<usize>) -> Option<(&Entry<T>, *mut T)> {
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
        let Some((entry, start)) = self.place(page, &range) else { return false };
        if entry.slices.get() == EXCLUSIVE {
            return false;
        }
        // SAFETY: G1, M1; G2: nothing of the page is lent for writing, and nothing writes while the slice is read here.
        out.extend_from_slice(unsafe { std::slice::from_raw_parts(start, range.len()) });
        true
    }

    /// Appends the bytes of a run to `out`, like [`copy_out`](Self::copy_out).
    pub fn copy_bytes_out(&self, page: usize, range: Range<usize>, out: &mut Vec<u8>) -> bool {
        let Some((entry, start)) = self.place(page, &range) else { return false };
        if entry.slices.get() == EXCLUSIVE {
            return false;
        }
        // SAFETY: as in `copy_out`; plain elements have no padding.
        let values = unsafe { std::slice::from_raw_parts(start, range.len()) };
        out.extend_from_slice(bytemuck::cast_slice(values));
        true
    }

    /// Writes a run from its bytes, whatever their alignment, like [`fill`](Self::fill).
    pub fn fill_bytes(&self, page: usize, offset: usize, bytes: &[u8]) -> bool {
        let size = size_of::<T>().max(1);
        if !bytes.len().is_multiple_of(size) {
            return false;
        }
        let Some(start) = self.writable(page, offset, bytes.len() / size) else { return false };
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

    /// Whether any slice of any page is lent to this processor.
    pub fn has_slices(&self) -> bool {
        self.store.slices.get() > 0
    }

    /// Whether a slice of this page is.
    pub fn has_slice(&self, page: usize) -> bool {
        self.table.get(page).is_some_and(|entry| entry.slices.get() > 0)
    }

    /// The pages that `len` elements from an offset of `page` on lie in, if these follow each other in memory.
    #[inline]
    fn run(&self, page: usize, offset: usize, len: usize) -> Option<(Range<usize>, *mut T)> {
        let (_, start) = self.place(page, &(offset..offset))?;
        if len <= self.room(page) - offset { Some((page..page + 1, start)) } else { self.long_run(page, offset, len) }
    }

    /// The same through several pages.
    fn long_run(&self, page: usize, offset: usize, len: usize) -> Option<(Range<usize>, *mut T)> {
        let (_, start) = self.place(page, &(offset..offset))?;
        let (mut last, mut left) = (page, len.saturating_sub(self.room(page) - offset));
        while left > 0 {
            let (_, behind) = self.place(last, &(self.room(last)..self.room(last)))?;
            let line_ends = (last + 1).is_multiple_of(self.store.lines.numbers) || self.room(last + 1) == 0;
            last = if line_ends { (last / self.store.lines.numbers + 1) * self.store.lines.numbers } else { last + 1 };
            let (_, next) = self.place(last, &(0..0))?;
            // Pages that have memory of their own may touch others by chance.
            let added = self.store.added.borrow();
            if next != behind || added.contains_key(&page) || added.contains_key(&last) {
                return None;
            }
            left = left.saturating_sub(self.room(last));
        }
        Some((page..last + 1, start))
    }

    /// Lends this processor `len` elements for reading, from an offset of a page on and through the pages of its line
    /// and those behind it; `None` where they do not follow each other in memory or are lent for writing.
    #[inline]
    pub fn slice(&self, page: usize, offset: usize, len: usize) -> Option<Slice<'_, T>> {
        let (pages, start) = self.run(page, offset, len)?;
        let entries = &self.table[pages];
        if entries.iter().any(|entry| entry.slices.get() >= EXCLUSIVE - 1) {
            return None;
        }
        for entry in entries {
            entry.slices.set(entry.slices.get() + 1);
            entry.close_to_writes();
        }
        self.store.slices.set(self.store.slices.get() + 1);
        Some(Slice { entries, count: &self.store.slices, start: NonNull::new(start)?, len })
    }

    /// Lends this processor `len` elements for writing, like [`slice`](Self::slice); `None` while any of these pages is
    /// lent. They are not noted.
    #[inline]
    pub fn slice_mut(&self, page: usize, offset: usize, len: usize) -> Option<SliceMut<'_, T>> {
        let (pages, start) = self.run(page, offset, len)?;
        let entries = &self.table[pages];
        if entries.iter().any(|entry| entry.slices.get() > 0 || entry.lent.get() > 0) {
            return None;
        }
        for entry in entries {
            entry.slices.set(EXCLUSIVE);
            entry.close_to_writes();
            entry.close_to_reads();
        }
        self.store.slices.set(self.store.slices.get() + 1);
        Some(SliceMut(Slice { entries, count: &self.store.slices, start: NonNull::new(start)?, len }))
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
