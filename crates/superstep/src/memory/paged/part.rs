//! This processor's part of a paged array: its pages, what of them is there, and what was written.
//!
//! The table of the fabric's [`Pages`] knows one run of each page that is there and one that was written. Where a
//! single run cannot say it, sets beside the table do; the run that is shown is then one of several.

use super::{
    channel::Channel,
    flight::Flight,
    layout::{Layout, Piece},
    marks::Bits,
};
use crate::{
    engine::{Element, Renumbers, Tenant, hooks},
    error::{Error, ErrorKind, Result, place},
    memory::section::Span,
};
use fabric::Pages;
use std::{
    any::type_name,
    cell::{Cell, OnceCell, RefCell},
    collections::HashMap,
    hint::black_box,
    ops::Range,
    panic::Location,
    rc::Rc,
};

/// How often this processor looks whether what it has lent is back before it takes it back.
const LOOKS: u32 = 2_000;

/// What a run in the table cannot say about a page.
#[derive(Default)]
pub(super) struct Scattered {
    /// All that is there, what the table shows included.
    present: Option<Bits>,
    /// All that was written, besides what the table notes.
    written: Option<Bits>,
}

/// The pages that hold copies only.
pub(super) struct Copies {
    /// When each was last made coherent.
    pub(super) ages: HashMap<usize, u64>,
    /// How many coherence calls there were.
    pub(super) now: u64,
    pub(super) bytes: usize,
    /// How many bytes there may be.
    pub(super) limit: usize,
}

pub(super) struct Part<T, const N: usize> {
    pub(super) pages: Pages<T>,
    pub(super) layout: Layout<N>,
    /// This processor's rank when the array was made.
    pub(super) rank: usize,
    pub(super) scattered: RefCell<HashMap<usize, Scattered>>,
    pub(super) copies: RefCell<Copies>,
    /// A member that has left.
    pub(super) lost: Cell<Option<usize>>,
    /// Coherence calls that are under way at the same time.
    pub(super) flight: Flight,
    /// The group's letters, since all members have made the array.
    channel: OnceCell<Rc<Channel>>,
    site: &'static Location<'static>,
}

impl<T: Element, const N: usize> Part<T, N> {
    /// `None` where the system has no memory for it.
    pub(super) fn new(layout: Layout<N>, rank: usize, site: &'static Location<'static>) -> Option<Self> {
        // A list of pages that ends in want of memory takes long to make, so whether there is any for the table is
        // asked first. A table of no pages has one entry.
        let entry_bytes = Pages::<T>::new(0, layout.lines, &[])?.table_bytes();
        let mut table = Vec::<u8>::new();
        table.try_reserve_exact(layout.pages.checked_mul(entry_bytes)?).ok()?;
        // Without this the compiler may leave out memory that nobody uses, and the question with it.
        drop(black_box(table));
        let rooted = owned_pages(&layout, rank)?;
        let mut scattered = HashMap::new();
        if layout.scatters() {
            scattered.try_reserve(rooted.len()).ok()?;
        }
        let copies = Copies { ages: HashMap::new(), now: 0, bytes: 0, limit: usize::MAX };
        let part = Self {
            pages: Pages::new(layout.pages, layout.lines, &rooted)?,
            layout,
            rank,
            scattered: RefCell::new(scattered),
            copies: RefCell::new(copies),
            lost: Cell::new(None),
            flight: Flight::default(),
            channel: OnceCell::new(),
            site,
        };
        drop(rooted);
        owned_pieces(&layout, rank, |piece| part.make_present(piece.page, piece.range()));
        Some(part)
    }

    /// How many bytes say what is where, besides the elements themselves.
    pub(super) fn table_bytes(&self) -> usize {
        let bits = |bits: &Option<Bits>| bits.as_ref().map_or(0, Bits::bytes);
        let scattered = self.scattered.borrow();
        let sets: usize = scattered.values().map(|page| bits(&page.present) + bits(&page.written)).sum();
        self.pages.table_bytes() + sets + scattered.capacity() * size_of::<(usize, Scattered)>()
    }

    /// The first offset of a run that is not there, if there is one.
    #[inline]
    pub(super) fn missing(&self, page: usize, range: Range<usize>) -> Option<usize> {
        let shown = self.pages.shown(page);
        if shown.start <= range.start && range.end <= shown.end {
            return None;
        }
        self.missing_scattered(page, range, &shown)
    }

    #[cold]
    fn missing_scattered(&self, page: usize, range: Range<usize>, shown: &Range<usize>) -> Option<usize> {
        let scattered = self.scattered.borrow();
        match scattered.get(&page).and_then(|page| page.present.as_ref()) {
            Some(bits) => bits.gap(range),
            None if range.is_empty() => None,
            None if shown.contains(&range.start) => Some(shown.end),
            None => Some(range.start),
        }
    }

    /// Notes that a run of a page that has memory is there.
    pub(super) fn make_present(&self, page: usize, range: Range<usize>) {
        let shown = self.pages.shown(page);
        if range.is_empty() || shown.start <= range.start && range.end <= shown.end {
            return;
        }
        let mut scattered = self.scattered.borrow_mut();
        let bits = scattered.get_mut(&page).and_then(|page| page.present.as_mut());
        if bits.is_none() && (shown.is_empty() || range.start <= shown.end && shown.start <= range.end) {
            let union = if shown.is_empty() { range } else { shown.start.min(range.start)..shown.end.max(range.end) };
            return self.pages.show(page, union);
        }
        let present = &mut scattered.entry(page).or_default().present;
        let bits = present.get_or_insert_with(|| {
            let mut bits = Bits::default();
            bits.insert(shown.clone());
            bits
        });
        bits.insert(range.clone());
        let room = self.pages.room(page);
        if bits.count() == room {
            *present = None;
            self.pages.show(page, 0..room);
        } else if range.len() > shown.len() {
            self.pages.show(page, range);
        }
    }

    /// Notes that a run was written.
    #[inline]
    pub(super) fn note(&self, page: usize, range: Range<usize>) {
        let noted = self.pages.noted(page);
        if range.is_empty() || noted.start <= range.start && range.end <= noted.end {
            return;
        }
        if noted.is_empty() {
            self.pages.note(page, range);
        } else if range.start <= noted.end && noted.start <= range.end {
            self.pages.note(page, noted.start.min(range.start)..noted.end.max(range.end));
        } else {
            let mut scattered = self.scattered.borrow_mut();
            scattered.entry(page).or_default().written.get_or_insert_default().insert(noted);
            self.pages.note(page, range);
        }
    }

    /// Whether anything of a page was written since it was last taken in.
    pub(super) fn is_written(&self, page: usize) -> bool {
        let is_scattered = || self.scattered.borrow().get(&page).is_some_and(|page| page.written.is_some());
        !self.pages.noted(page).is_empty() || is_scattered()
    }

    /// The runs of `range` that were written since they were last taken in.
    pub(super) fn written(&self, page: usize, range: &Range<usize>) -> Vec<Range<usize>> {
        let noted = self.pages.noted(page);
        let noted = noted.start.max(range.start)..noted.end.min(range.end);
        let scattered = self.scattered.borrow();
        match scattered.get(&page).and_then(|page| page.written.as_ref()) {
            None if noted.is_empty() => Vec::new(),
            None => vec![noted],
            Some(bits) if noted.is_empty() => bits.runs(range.clone()).collect(),
            Some(bits) => {
                // What touches is one run.
                let mut runs: Vec<Range<usize>> = Vec::new();
                let (below, above) = (bits.runs(range.start..noted.start), bits.runs(noted.end..range.end));
                for run in below.chain([noted]).chain(above) {
                    match runs.last_mut() {
                        Some(last) if last.end == run.start => last.end = run.end,
                        _ => runs.push(run),
                    }
                }
                runs
            }
        }
    }

    /// Takes in what was written of a run: nothing of it counts as written any more.
    pub(super) fn settle(&self, page: usize, range: &Range<usize>) {
        let noted = self.pages.noted(page);
        if range.start <= noted.start && noted.end <= range.end {
            self.pages.note(page, 0..0);
        } else if noted.start < range.end && range.start < noted.end {
            let (below, above) = (noted.start..range.start.max(noted.start), range.end.min(noted.end)..noted.end);
            if !below.is_empty() && !above.is_empty() {
                let mut scattered = self.scattered.borrow_mut();
                scattered.entry(page).or_default().written.get_or_insert_default().insert(below.clone());
            }
            self.pages.note(page, if above.is_empty() { below } else { above });
        }
        let mut scattered = self.scattered.borrow_mut();
        if let Some(slot) = scattered.get_mut(&page).map(|page| &mut page.written)
            && let Some(bits) = slot
        {
            bits.remove(range.clone());
            if bits.is_empty() {
                *slot = None;
            }
        }
    }

    /// Gives a page memory, if it has none.
    pub(super) fn make_room(&self, page: usize) -> Result {
        if self.pages.has(page) {
            return Ok(());
        }
        let bytes = self.pages.room(page) * size_of::<T>();
        if !self.pages.add(page) {
            let what = format!("the system has no memory for a page of {bytes} bytes of the {}", self.describe());
            return Err(Error::new(ErrorKind::OutOfMemory, what));
        }
        let mut copies = self.copies.borrow_mut();
        let now = copies.now;
        copies.ages.insert(page, now);
        copies.bytes += bytes;
        Ok(())
    }

    /// Lets the array's calls go through the group's channel.
    pub(super) fn open(&self, channel: Rc<Channel>) {
        self.channel.get_or_init(|| channel);
    }

    pub(super) fn channel(&self) -> &Channel {
        self.channel.get().expect("whoever has the array has made it with all others")
    }

    /// Waits until peers have read what they were lent, and takes back what they do not read soon.
    #[inline]
    pub(super) fn reclaim(&self) -> Result {
        if self.pages.reclaim() { Ok(()) } else { self.await_return() }
    }

    fn await_return(&self) -> Result {
        // A copy that is under way is soon done; making one takes longer.
        for _ in 0..LOOKS {
            if self.pages.reclaim() {
                return Ok(());
            }
            std::hint::spin_loop();
        }
        // Who has begun a call and not finished it may not read for long, or wait for this processor elsewhere.
        while !self.pages.take_back() {
            self.channel().pause()?;
        }
        Ok(())
    }
}

/// Hands out all that a member owns.
fn owned_pieces<const N: usize>(layout: &Layout<N>, rank: usize, mut visit: impl FnMut(Piece)) {
    for block in layout.blocks(rank) {
        let spans = block.map(|range| Span { first: range.start, step: 1, count: range.len() });
        layout.pieces(&spans, &mut visit);
    }
}

/// The pages on which a member owns something, by rising number; `None` where there is no memory for the list.
fn owned_pages<const N: usize>(layout: &Layout<N>, rank: usize) -> Option<Vec<usize>> {
    let (mut pages, mut is_short) = (Vec::new(), false);
    owned_pieces(layout, rank, |piece| {
        // Blocks of single elements come one after the other on a page.
        if !is_short && pages.last() != Some(&piece.page) {
            is_short = pages.try_reserve(1).is_err();
            if !is_short {
                pages.push(piece.page);
            }
        }
    });
    pages.sort_unstable();
    pages.dedup();
    (!is_short).then_some(pages)
}

impl<T: Element, const N: usize> Tenant for Part<T, N> {
    fn describe(&self) -> String {
        let (shape, block) = (self.layout.locator.shape, self.layout.block);
        format!("paged array {shape:?} of {} in blocks of {block:?} of {}", type_name::<T>(), place(self.site))
    }

    hooks!(renumbers);
}

impl<T: Element, const N: usize> Renumbers for Part<T, N> {
    fn renumber(&self, stayed: &[usize]) {
        let left = (0..).zip(stayed).find(|&(rank, &stayed)| rank != stayed).map_or(stayed.len(), |(rank, _)| rank);
        self.lost.set(self.lost.get().or(Some(left)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(shape: usize, block: usize, size: usize) -> Part<u8, 1> {
        Part::new(Layout::new([shape], [block], size).unwrap(), 0, Location::caller()).unwrap()
    }

    /// A piece costs what it is long: would it cost what its page is, this took minutes.
    #[test]
    fn many_pieces_of_a_long_page_are_many_short_ones() {
        // The second page has a long run of this processor, and another's part behind it.
        let (block, page) = (3 << 19, 1 << 20);
        let part = part(2 * block, block, 2);
        assert_eq!((part.layout.lines.page, part.pages.shown(1)), (page, 0..page / 2));
        let pieces = || (0..page / 2).step_by(2).map(|offset| offset..offset + 1);
        for piece in pieces() {
            part.note(1, piece);
        }
        for piece in pieces() {
            assert_eq!(part.written(1, &piece), std::slice::from_ref(&piece));
            part.settle(1, &piece);
        }
        assert!(!part.is_written(1));
        for offset in (page / 2 + 1..page).step_by(2) {
            part.make_present(1, offset..offset + 1);
        }
        assert_eq!((part.missing(1, 0..page), part.pages.shown(1)), (Some(page / 2), 0..page / 2));
        for offset in (page / 2..page).step_by(2) {
            part.make_present(1, offset..offset + 1);
        }
        assert_eq!((part.missing(1, 0..page), part.pages.shown(1)), (None, 0..page));
    }

    #[test]
    fn what_was_written_comes_in_runs_that_do_not_touch() {
        let part = part(64, 64, 1);
        // The last run is noted in the table and the others in a set, on both sides of it.
        for run in [2..4, 6..8, 20..24, 28..30, 8..20] {
            part.note(0, run);
        }
        assert_eq!(part.written(0, &(0..64)), [2..4, 6..24, 28..30]);
        assert_eq!(part.written(0, &(3..9)), [3..4, 6..9]);
        assert_eq!(part.written(0, &(22..64)), [22..24, 28..30]);
        assert_eq!(part.written(0, &(10..64)), [10..24, 28..30]);
        assert_eq!(part.written(0, &(30..64)), []);
    }

    /// The runs of what is in a set, as far as they lie in a range.
    fn runs(set: &[bool], range: Range<usize>) -> Vec<Range<usize>> {
        let mut runs: Vec<Range<usize>> = Vec::new();
        for at in range.filter(|&at| set[at]) {
            match runs.last_mut() {
                Some(last) if last.end == at => last.end += 1,
                _ => runs.push(at..at + 1),
            }
        }
        runs
    }

    /// Whatever is noted, taken in and shown in whatever order: it is as if each element had two flags.
    #[test]
    fn a_page_knows_of_each_element_whether_it_is_there_and_was_written() {
        const PAGE: usize = 64;
        let mut seed = 7u64;
        let mut below = |most: usize| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) as usize % most
        };
        for longest in [2, 5, 20, PAGE] {
            // Every third element is this processor's, and pages have some of each.
            let part = part(2 * PAGE, 1, 3);
            let mut is_there: Vec<bool> = (0..PAGE).map(|at| at % 3 == 0).collect();
            let mut is_written = [false; PAGE];
            for turn in 0..400 {
                let start = below(PAGE + 1);
                let run = start..(start + below(longest)).min(PAGE);
                match below(3) {
                    0 if turn > 50 => {
                        part.make_present(0, run.clone());
                        is_there[run].fill(true);
                    }
                    0 | 1 => {
                        part.note(0, run.clone());
                        is_written[run].fill(true);
                    }
                    _ => {
                        part.settle(0, &run);
                        is_written[run].fill(false);
                    }
                }
                let start = below(PAGE + 1);
                let seen = start..start + below(PAGE + 1 - start);
                let gap = seen.clone().find(|&at| !is_there[at]);
                assert_eq!(part.missing(0, seen.clone()), gap, "{seen:?} in turn {turn}");
                assert_eq!(part.written(0, &seen), runs(&is_written, seen.clone()), "{seen:?} in turn {turn}");
                assert_eq!(part.is_written(0), is_written.contains(&true), "turn {turn}");
                let shown = part.pages.shown(0);
                assert!(shown.clone().all(|at| is_there[at]), "{shown:?} in turn {turn}");
            }
            part.make_present(0, 0..PAGE);
            assert_eq!((part.missing(0, 0..PAGE), part.pages.shown(0)), (None, 0..PAGE));
            part.settle(0, &(0..PAGE));
            assert!(!part.is_written(0) && part.written(0, &(0..PAGE)).is_empty());
        }
    }

    /// What is not in one run is counted, and what is is not.
    #[test]
    fn sets_count_as_memory_of_the_table() {
        // Every third element of the page is this processor's.
        let part = part(64, 1, 3);
        let usual = part.table_bytes();
        part.note(0, 2..4);
        assert_eq!(part.table_bytes(), usual);
        part.note(0, 8..9);
        let scattered = part.scattered.borrow();
        let bytes = |bits: &Option<Bits>| bits.as_ref().map_or(0, Bits::bytes);
        let (present, written) = (bytes(&scattered[&0].present), bytes(&scattered[&0].written));
        assert!(present >= 8 && written >= 8);
        let map = scattered.capacity() * size_of::<(usize, Scattered)>();
        assert_eq!(part.table_bytes(), part.pages.table_bytes() + present + written + map);
    }

    #[test]
    fn what_one_run_can_say_needs_no_set() {
        let part = part(64, 16, 2);
        part.make_room(1).expect("there is memory");
        for run in [4..6, 6..8, 2..4, 12..12] {
            part.make_present(1, run);
        }
        assert_eq!(part.pages.shown(1), 2..8);
        let missing = [0..4, 2..8, 5..12, 9..12, 9..9].map(|run| part.missing(1, run));
        assert_eq!(missing, [Some(0), None, Some(8), Some(9), None]);
        for run in [8..10, 10..12, 15..15] {
            part.note(1, run);
        }
        part.settle(1, &(0..9));
        part.settle(1, &(11..16));
        assert_eq!(part.pages.noted(1), 9..11);
        assert!(part.scattered.borrow().is_empty());
    }

    /// A page that holds copies counts against the limit once, and owned ones do not.
    #[test]
    fn a_page_of_copies_is_counted_once() {
        let part = part(64, 16, 2);
        assert_eq!(part.copies.borrow().bytes, 0);
        let other = (0..part.layout.pages).find(|&page| !part.pages.has(page)).expect("it is the other one's");
        for _ in 0..2 {
            part.make_room(other).expect("there is memory");
            part.make_room(0).expect("there is memory");
        }
        let copies = part.copies.borrow();
        assert_eq!((copies.bytes, copies.ages.len()), (part.pages.room(other), 1));
    }
}
