//! Runs of pages that are lent to peers. The invariants are those of the [pages](super).

use crate::{memory::Memory, plain::Plain};
use std::{
    fmt,
    ops::Range,
    ptr::NonNull,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU8, Ordering},
    },
};

/// Where a loan is: nobody has begun to read it, the peer reads it, the owner copies it for the peer, the copy is
/// there, or the peer needs it no more.
const OPEN: u8 = 0;
const READ: u8 = 1;
const TAKEN_BACK: u8 = 2;
const COPIED: u8 = 3;
const DONE: u8 = 4;

/// What owner and peer share of a loan.
pub(super) struct Loan<T> {
    state: AtomicU8,
    runs: Vec<(NonNull<T>, usize)>,
    /// All of it, one run behind the other, if it was taken back before it was read.
    copy: OnceLock<Vec<T>>,
    /// G3.
    _memory: Arc<Memory<T>>,
}

// SAFETY: G3: both sides only read plain data through it, which stays where it is and as it is.
unsafe impl<T: Plain> Send for Loan<T> {}
// SAFETY: as above.
unsafe impl<T: Plain> Sync for Loan<T> {}

impl<T: Plain> Loan<T> {
    pub(super) fn new(runs: Vec<(NonNull<T>, usize)>, memory: Arc<Memory<T>>) -> Self {
        Self { state: AtomicU8::new(OPEN), runs, copy: OnceLock::new(), _memory: memory }
    }

    /// Whether the peer needs it no more.
    #[inline]
    pub(super) fn is_done(&self) -> bool {
        // The acquire pairs with the peer's release: what it has read is read.
        self.state.load(Ordering::Acquire) == DONE
    }

    /// Takes the loan back, unless the peer has begun to read it: it finds a copy in its place. Says whether the owner
    /// may write again. Only the owner calls this.
    pub(super) fn take_back(&self) -> bool {
        match self.state.compare_exchange(OPEN, TAKEN_BACK, Ordering::Acquire, Ordering::Acquire) {
            Ok(_) => {
                let mut copy = Vec::with_capacity(self.runs.iter().map(|&(_, len)| len).sum());
                for &(start, len) in &self.runs {
                    // SAFETY: G1, M1: each was checked when it was lent; G3: the owner, which is here, writes later.
                    copy.extend_from_slice(unsafe { std::slice::from_raw_parts(start.as_ptr(), len) });
                }
                self.copy.get_or_init(|| copy);
                self.state.store(COPIED, Ordering::Release);
                true
            }
            Err(state) => state == DONE || state == COPIED,
        }
    }

    /// Begins to read: says where the copy is, if it was taken back. Only the peer calls this.
    fn begin(&self) -> Option<&[T]> {
        let begun = self.state.compare_exchange(OPEN, READ, Ordering::Acquire, Ordering::Acquire);
        let (Ok(mut state) | Err(mut state)) = begun;
        while state == TAKEN_BACK {
            std::hint::spin_loop();
            state = self.state.load(Ordering::Acquire);
        }
        (state == COPIED).then(|| self.copy.get().map_or(&[][..], Vec::as_slice))
    }
}

/// Runs of elements that another processor has lent to this one, readable until it is dropped.
pub struct Lent<T>(pub(super) Arc<Loan<T>>);

impl<T: Plain> Lent<T> {
    /// The lengths of all runs, in the order in which they were named.
    pub fn lens(&self) -> impl Iterator<Item = usize> {
        self.0.runs.iter().map(|&(_, len)| len)
    }

    /// All runs, in the order in which they were named. From the first call on the owner waits for this to be dropped.
    pub fn runs(&self) -> impl Iterator<Item = &[T]> {
        let mut copy = self.0.begin();
        self.0.runs.iter().map(move |&(start, len)| match &mut copy {
            Some(rest) => {
                let (run, behind) = rest.split_at(len);
                *rest = behind;
                run
            }
            // SAFETY: G1, M1: each was checked when it was lent; G3: the memory is kept and, since this peer has begun
            // to read, nobody writes to it.
            None => unsafe { std::slice::from_raw_parts(start.as_ptr(), len) },
        })
    }
}

impl<T> Drop for Lent<T> {
    fn drop(&mut self) {
        self.0.state.store(DONE, Ordering::Release);
    }
}

impl<T> fmt::Debug for Lent<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Lent({} runs)", self.0.runs.len())
    }
}

/// A loan that may be open, as its owner keeps it: its runs, each a page, an offset and a length, by page.
pub(super) struct Outstanding<T> {
    pub(super) loan: Arc<Loan<T>>,
    pub(super) runs: Vec<(usize, usize, usize)>,
}

impl<T> Outstanding<T> {
    /// Whether it has anything of this run of a page.
    pub(super) fn has_any(&self, page: usize, range: &Range<usize>) -> bool {
        let first = self.runs.partition_point(|&(other, ..)| other < page);
        let of_page = self.runs[first..].iter().take_while(|&&(other, ..)| other == page);
        of_page.into_iter().any(|&(_, at, len)| at < range.end && range.start < at + len)
    }
}
