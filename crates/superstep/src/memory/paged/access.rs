//! What a paged array is: its handle, and access to single elements.

use super::{layout::Locator, part::Part};
use crate::{
    engine::{Element, Lease, Tenant as _},
    error::{Error, ErrorKind, Result},
    memory::{
        place::Place,
        section::{Section, Span},
    },
};
use fabric::Pages;
use std::{any::type_name, ops::Range, panic::Location, rc::Rc};

/// An array in logical pages, read and written by global index on every processor.
///
/// It is cut into rectangular blocks, which are numbered row by row and dealt round to the processors. Each processor
/// has pages: those of its blocks, and copies of others that coherence has brought. [`read`](Self::read) and
/// [`write`](Self::write) work on these alone and nobody waits; [`cohere`](crate::Group::cohere) makes a section the
/// same on a set of processors, and only those wait for each other.
///
/// ```
/// use superstep::Config;
///
/// let sums = Config::new().procs(2).run_all(|g| {
///     let a = g.paged::<u32, 2>([4, 3], [2, 3]);                    // two rows for each processor
///     let me = g.rank();
///     for i in 2 * me..2 * me + 2 { for j in 0..3 { a.write([i, j], 10 * i as u32) } }
///     g.cohere(&a, (1..3, ..), &[0, 1]);                            // the two rows at the border
///     a.read([1, 0]) + a.read([2, 0])
/// });
/// assert_eq!(sums.unwrap(), [30, 30]);
/// ```
///
/// What a verb of a [`Step`](crate::Step) does with an [`Array`](crate::Array) is done here by coherence, because that
/// says who waits for whom:
///
/// | `Array` | `Paged` |
/// |---|---|
/// | `mirror`, `gather` | [`cohere`](crate::Group::cohere), then [`read_section`](Self::read_section) or [`read`](Self::read) |
/// | `update`, `scatter` | [`write_section`](Self::write_section) or [`write`](Self::write), then `cohere`; the lowest rank stands, and no operator combines |
/// | `halo` | `cohere` for the rows at a border, then `read` across it |
/// | `gather_to` | [`gather_to`](crate::Step::gather_to) |
/// | `scatter_from` | `write_section` on one, then `cohere` on all |
/// | `forall` | a loop over [`indices`](Self::indices) or [`owned`](Self::owned) |
/// | `local` | [`row`](Self::row), [`rows`](Self::rows) and [`run`](Self::run): a part is in pages, and not in one piece |
/// | `split_on`, `assign`, `permute` | nothing: pages stay where they are |
///
/// There are one to three dimensions:
///
/// ```compile_fail,E0080
/// superstep::run(|g| { let _ = g.paged::<u8, 4>([2; 4], [1; 4]); });
/// ```
///
/// A handle stays on its processor:
///
/// ```compile_fail,E0277
/// superstep::run(|g| {
///     let a = g.paged::<u8, 1>([4], [2]);
///     std::thread::scope(|threads| { threads.spawn(|| a.read(0)); });
/// });
/// ```
pub struct Paged<T: Element, const N: usize> {
    /// These two are what an access needs. They lie here, and not behind the part, so that a loop loads them once.
    pub(super) pages: Pages<T>,
    pub(super) locator: Locator<N>,
    pub(super) part: Rc<Part<T, N>>,
    pub(super) core: Lease,
}

impl<T: Element, const N: usize> Paged<T, N> {
    /// How many elements there are in all.
    ///
    /// ```
    /// let len = superstep::Config::new().procs(2).run(|g| g.paged::<u8, 2>([3, 4], [2, 4]).len());
    /// assert_eq!(len.unwrap(), 12);
    /// ```
    pub fn len(&self) -> usize {
        if self.is_empty() { 0 } else { self.locator.shape.iter().product() }
    }

    /// Whether there are none.
    ///
    /// ```
    /// let empty = superstep::Config::new().procs(2).run(|g| g.paged::<u8, 2>([3, 0], [2, 4]).is_empty());
    /// assert!(empty.unwrap());
    /// ```
    pub fn is_empty(&self) -> bool {
        self.locator.shape.contains(&0)
    }

    /// How many elements member `rank` owns.
    ///
    /// ```
    /// let len = superstep::Config::new().procs(2).run(|g| g.paged::<u8, 2>([3, 4], [2, 4]).len_of(1));
    /// assert_eq!(len.unwrap(), 4);
    /// ```
    ///
    /// # Panics
    ///
    /// If there is no such member.
    #[track_caller]
    pub fn len_of(&self, rank: usize) -> usize {
        self.core.check_rank(rank, Location::caller()).unwrap_or_else(|error| error.raise());
        self.part.layout.blocks(rank).map(|block| block.iter().map(Range::len).product::<usize>()).sum()
    }

    /// How many elements there are in each dimension.
    ///
    /// ```
    /// let shape = superstep::Config::new().procs(2).run(|g| g.paged::<u8, 2>([3, 4], [2, 4]).shape());
    /// assert_eq!(shape.unwrap(), [3, 4]);
    /// ```
    pub fn shape(&self) -> [usize; N] {
        self.locator.shape
    }

    /// The extents of a block.
    ///
    /// ```
    /// let block = superstep::Config::new().procs(2).run(|g| g.paged::<u8, 2>([3, 4], [2, 9]).block());
    /// assert_eq!(block.unwrap(), [2, 4]);
    /// ```
    pub fn block(&self) -> [usize; N] {
        self.part.layout.block
    }

    /// How many elements a page has, a power of two.
    ///
    /// Pages run along the dimension of the largest block extent. Where that is not distributed, a page is the first
    /// power of two that holds a whole line of it; elsewhere it is the last one that the block's extent holds.
    ///
    /// ```
    /// let lens = superstep::Config::new().procs(2).run(|g| {
    ///     (g.paged::<u8, 2>([9, 9], [2, 9]).page_len(), g.paged::<u8, 2>([9, 9], [2, 5]).page_len())
    /// });
    /// assert_eq!(lens.unwrap(), (16, 4));
    /// ```
    pub fn page_len(&self) -> usize {
        self.part.layout.lines.page
    }

    /// How many bytes this processor uses to find elements.
    ///
    /// The table takes less than 100 bytes for each page of the whole array. That is under 1 % of the array where pages
    /// are long, such as rows of 4096 numbers, and a large part of it where they are short, as in small square blocks.
    /// A page that is present or written in single elements takes a bit for each element besides, and less than 200
    /// bytes.
    ///
    /// ```
    /// let share = superstep::Config::new().procs(2).run(|g| {
    ///     let share = |block| g.paged::<f64, 2>([1024, 1024], block).table_bytes() as f64 / (1024.0 * 1024.0 * 8.0);
    ///     [[512, 1024], [64, 64]].map(share)                            // pages of 1024 and of 64 elements
    /// });
    /// let [long, short] = share.unwrap();
    /// assert!(long < 0.01 && short > 0.1);
    /// ```
    pub fn table_bytes(&self) -> usize {
        self.part.table_bytes()
    }

    /// Which member owns an element.
    ///
    /// ```
    /// let owner = superstep::Config::new().procs(2).run(|g| g.paged::<u8, 1>([6], [3]).owner(4));
    /// assert_eq!(owner.unwrap(), 1);
    /// ```
    ///
    /// # Panics
    ///
    /// If there is no such element.
    #[track_caller]
    #[inline]
    pub fn owner(&self, at: impl Place<N>) -> usize {
        let at = at.indices();
        self.check_place(at, Location::caller());
        self.part.layout.owner(at)
    }

    /// Whether this processor owns an element.
    ///
    /// ```
    /// let owned = superstep::Config::new().procs(2).run_all(|g| g.paged::<u8, 1>([6], [3]).is_owned(4));
    /// assert_eq!(owned.unwrap(), [false, true]);
    /// ```
    ///
    /// # Panics
    ///
    /// If there is no such element.
    #[track_caller]
    #[inline]
    pub fn is_owned(&self, at: impl Place<N>) -> bool {
        self.owner(at) == self.part.rank
    }

    /// Whether an element can be read here.
    ///
    /// ```
    /// let there = superstep::Config::new().procs(2).run_all(|g| {
    ///     let a = g.paged::<u8, 1>([6], [3]);
    ///     let before = a.is_present(4);
    ///     g.cohere(&a, 4..5, &[0, 1]);
    ///     (before, a.is_present(4))
    /// });
    /// assert_eq!(there.unwrap(), [(false, true), (true, true)]);
    /// ```
    ///
    /// # Panics
    ///
    /// If there is no such element.
    #[track_caller]
    pub fn is_present(&self, at: impl Place<N>) -> bool {
        let (page, offset) = self.check_place(at.indices(), Location::caller());
        self.part.missing(page, offset..offset + 1).is_none()
    }

    /// The blocks that this processor owns, by rising number, each as a range in every dimension.
    ///
    /// ```
    /// let blocks = superstep::Config::new().procs(2).run_all(|g| {
    ///     g.paged::<u8, 2>([5, 4], [2, 4]).owned().collect::<Vec<_>>()
    /// });
    /// assert_eq!(blocks.unwrap(), [vec![[0..2, 0..4], [4..5, 0..4]], vec![[2..4, 0..4]]]);
    /// ```
    pub fn owned(&self) -> impl Iterator<Item = [Range<usize>; N]> + use<T, N> {
        self.part.layout.blocks(self.part.rank)
    }

    /// The elements that this processor owns, block by block and in each row by row.
    ///
    /// ```
    /// let owned = superstep::Config::new().procs(2).run_all(|g| {
    ///     g.paged::<u8, 2>([2, 2], [1, 2]).indices().collect::<Vec<_>>()
    /// });
    /// assert_eq!(owned.unwrap(), [vec![[0, 0], [0, 1]], vec![[1, 0], [1, 1]]]);
    /// ```
    pub fn indices(&self) -> impl Iterator<Item = [usize; N]> + use<T, N> {
        self.owned().flat_map(|block| {
            let count: usize = block.iter().map(Range::len).product();
            (0..count).map(move |mut number| {
                let mut at = [0; N];
                for dimension in (0..N).rev() {
                    let range = &block[dimension];
                    at[dimension] = range.start + number % range.len();
                    number /= range.len();
                }
                at
            })
        })
    }

    /// Reads an element: an owned one, a copy that coherence has brought, or what this processor has written itself.
    ///
    /// ```
    /// use superstep::{Config, ErrorKind};
    ///
    /// let remote = Config::new().procs(2).run(|g| g.paged::<u8, 1>([6], [3]).read(4));
    /// assert_eq!(remote.unwrap_err().kind(), ErrorKind::NotPresent);
    /// ```
    ///
    /// # Cost
    ///
    /// A few shifts, one look into the table of pages, and a load. Where single elements of a page are there, and not
    /// the run around this one, a look into a set besides.
    ///
    /// # Panics
    ///
    /// If there is no such element, or if it is not present.
    #[track_caller]
    #[expect(clippy::inline_always, reason = "loops over elements are made of these")]
    #[inline(always)]
    pub fn read(&self, at: impl Place<N>) -> T {
        let at = at.indices();
        match self.pages.get_line(self.locator.line(at), at[N - 1]) {
            Some(value) => value,
            None => self.read_page(at[0], at[N / 2], at[N - 1], Location::caller()),
        }
    }

    /// The indices come one by one, in registers, so that a loop need not keep them in memory for this.
    #[cold]
    #[inline(never)]
    fn read_page(&self, first: usize, middle: usize, last: usize, site: &Location<'_>) -> T {
        let at = joined(first, middle, last);
        if let Some((page, offset)) = self.locator.locate(at)
            && let Some(value) = self.pages.get(page, offset)
        {
            return value;
        }
        self.read_slowly(at, site)
    }

    #[cold]
    #[inline(never)]
    fn read_slowly(&self, at: [usize; N], site: &Location<'_>) -> T {
        let (page, offset) = self.check_place(at, site);
        if self.part.missing(page, offset..offset + 1).is_some() {
            self.not_present(at, site).raise();
        }
        self.pages.peek(page, offset).unwrap_or_else(|| self.still_borrowed(site).raise())
    }

    /// Writes an element, whoever owns it. This processor sees it at once, others when they make it coherent with this
    /// one.
    ///
    /// ```
    /// let seen = superstep::Config::new().procs(2).run_all(|g| {
    ///     let a = g.paged::<u8, 1>([6], [3]);
    ///     if g.rank() == 0 { a.write(4, 7) }                            // an element of the other processor
    ///     g.cohere(&a, 4..5, &[0, 1]);
    ///     a.read(4)
    /// });
    /// assert_eq!(seen.unwrap(), [7, 7]);
    /// ```
    ///
    /// # Cost
    ///
    /// As [`read`](Self::read). Writes that follow each other along a page are one run; others are noted in a set.
    ///
    /// # Panics
    ///
    /// If there is no such element, or if a slice of its page is alive.
    #[track_caller]
    #[expect(clippy::inline_always, reason = "loops over elements are made of these")]
    #[inline(always)]
    pub fn write(&self, at: impl Place<N>, value: T) {
        let at = at.indices();
        if !self.pages.set_line(self.locator.line(at), at[N - 1], value) {
            self.write_page(at[0], at[N / 2], at[N - 1], value, Location::caller());
        }
    }

    #[cold]
    #[inline(never)]
    fn write_page(&self, first: usize, middle: usize, last: usize, value: T, site: &Location<'_>) {
        let at = joined(first, middle, last);
        // What peers were lent may be back.
        self.pages.reclaim();
        if let Some((page, offset)) = self.locator.locate(at)
            && self.pages.set(page, offset, value)
        {
            return;
        }
        self.write_slowly(at, value, site);
    }

    #[cold]
    #[inline(never)]
    fn write_slowly(&self, at: [usize; N], value: T, site: &Location<'_>) {
        let (page, offset) = self.check_place(at, site);
        self.prepare(page, site);
        self.part.note(page, offset..offset + 1);
        if !self.pages.poke(page, offset, value) {
            self.still_borrowed(site).raise();
        }
        self.part.make_present(page, offset..offset + 1);
    }

    /// Makes sure that a page can be written.
    pub(super) fn prepare(&self, page: usize, site: &Location<'_>) {
        if self.pages.has_slice(page) {
            self.still_borrowed(site).raise();
        }
        // Peers that still copy from it have all they need to finish.
        self.part.reclaim().unwrap_or_else(|error| error.raise());
        self.part.make_room(page).unwrap_or_else(|error| self.core.error(error.kind(), error, site).raise());
    }

    /// The page and the offset of an element, or an error where there is none.
    #[inline]
    pub(super) fn check_place(&self, at: [usize; N], site: &Location<'_>) -> (usize, usize) {
        self.locator.locate(at).unwrap_or_else(|| self.refuse_place(at, site))
    }

    #[cold]
    pub(super) fn refuse_place(&self, at: [usize; N], site: &Location<'_>) -> ! {
        let shape = self.locator.shape;
        let dimension = (0..N).find(|&dimension| at[dimension] >= shape[dimension]).unwrap_or_default();
        let index = at[dimension];
        let what = format!("index {index} in dimension {dimension} of a paged array of shape {shape:?}");
        self.core.error_of(ErrorKind::IndexOutOfRange, what, &*self.part, site).raise()
    }

    /// Refuses a section that the array does not have.
    pub(super) fn check_section(&self, section: &impl Section<N>, site: &Location<'_>) -> Result<[Span; N]> {
        section.spans(&self.locator.shape).map_err(|(kind, what)| self.core.error_of(kind, what, &*self.part, site))
    }

    #[cold]
    pub(super) fn not_present(&self, at: [usize; N], site: &Location<'_>) -> Error {
        let (owner, me) = (self.part.layout.owner(at), self.part.rank);
        let what = format!(
            "element {at:?} is not present on rank {me}; it belongs to rank {owner}: call cohere for a section that \
             holds it, on both, with a set of ranks that has {me} and {owner}"
        );
        self.core.error(ErrorKind::NotPresent, what, site)
    }

    #[cold]
    pub(super) fn still_borrowed(&self, site: &Location<'_>) -> Error {
        let what = format!("a slice of the {} is still borrowed; drop it first", self.part.describe());
        self.core.error(ErrorKind::StillBorrowed, what, site)
    }
}

/// One to three indices out of the first, the middle and the last one.
fn joined<const N: usize>(first: usize, middle: usize, last: usize) -> [usize; N] {
    std::array::from_fn(|dimension| match dimension {
        0 => first,
        _ if dimension + 1 == N => last,
        _ => middle,
    })
}

impl<T: Element, const N: usize> std::fmt::Debug for Paged<T, N> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Paged<{}>({:?} in blocks of {:?})", type_name::<T>(), self.shape(), self.block())
    }
}
