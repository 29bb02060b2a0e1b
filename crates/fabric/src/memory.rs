//! Plain memory: zeros, aligned to cache lines and as its elements ask for, on huge pages where there is much of it.
//!
//! # Invariant
//!
//! - **M1** `start` is aligned as elements ask for and valid for `len` of them, for as long as the [`Memory`] lives.
//!   Every byte of it is initialised; any pattern of bytes is a value, because elements are [`Plain`].
//! - **M5** Each part of a [`PartedMemory`] is taken once and for good, so no two [`Memory`] overlap.

use crate::{plain::Plain, scarcity, system};
use std::{
    alloc::Layout,
    fmt,
    ptr::NonNull,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

/// From this size on, memory is asked for in huge pages.
pub(crate) const HUGE: usize = 2 << 20;
/// Small regions start on their own pair of cache lines.
pub(crate) const LINE: usize = 128;

/// Has its cache lines for itself.
#[repr(C, align(128))]
#[derive(Debug, Default)]
pub(crate) struct Padded<T>(pub(crate) T);

/// A piece of zeroed memory; M1.
pub(crate) struct Memory<T> {
    pub(crate) start: NonNull<T>,
    pub(crate) len: usize,
    /// What was mapped or allocated, which may be more than what is used.
    whole: Whole<T>,
}

enum Whole<T> {
    Nothing,
    Heap(Layout),
    /// So many bytes, on this border.
    Mapped(usize, usize),
    /// A part of what others have parts of too.
    Part(Arc<PartedMemory<T>>),
}

// SAFETY: a Memory is an owner of plain data; who touches it when is ruled by M2 and M3.
unsafe impl<T: Plain> Send for Memory<T> {}
// SAFETY: as above.
unsafe impl<T: Plain> Sync for Memory<T> {}

impl<T: Plain> Memory<T> {
    /// `None` where the system has no such memory.
    pub(crate) fn zeroed(len: usize) -> Option<Self> {
        let layout = Layout::array::<T>(len).ok()?.align_to(LINE).ok()?;
        if layout.size() == 0 {
            return Some(Self { start: NonNull::dangling(), len, whole: Whole::Nothing });
        }
        // Miri never says that there is no memory, and ends.
        if scarcity::is_refused() || (cfg!(miri) && layout.size() > 1 << 30) {
            return None;
        }
        // Nor has it huge pages, and it checks memory of the heap as well as any.
        let (start, whole) = if layout.size() >= HUGE && !cfg!(miri) {
            map(layout).map(|(start, length, border)| (start, Whole::Mapped(length, border)))?
        } else {
            // SAFETY: the layout's size is not zero.
            let start = unsafe { std::alloc::alloc_zeroed(layout) };
            (NonNull::new(start)?, Whole::Heap(layout))
        };
        Some(Self { start: start.cast(), len, whole })
    }

    #[inline]
    fn as_slice(&self) -> &[T] {
        // SAFETY: M1; whoever lends the memory sees to it that nobody writes meanwhile.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }

    #[inline]
    fn as_mut_slice(&mut self) -> &mut [T] {
        // SAFETY: M1; whoever lends the memory sees to it that nobody else uses it meanwhile.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.len) }
    }
}

/// Memory in parts of one length, each of another owner. Whoever may read all parts reads them as one slice.
pub struct PartedMemory<T> {
    pub(crate) memory: Memory<T>,
    stride: usize,
    /// Which parts are taken; M5.
    taken: Box<[AtomicBool]>,
}

impl<T: Plain> PartedMemory<T> {
    /// Makes memory for so many parts of at most `longest` elements; `None` where the system has none. Nobody has
    /// touched it yet.
    pub fn new(parts: usize, longest: usize) -> Option<Self> {
        let stride = Self::stride_for(longest)?;
        let memory = Memory::zeroed(parts.checked_mul(stride)?)?;
        let mut taken = Vec::new();
        taken.try_reserve_exact(parts).ok()?;
        taken.resize_with(parts, AtomicBool::default);
        Some(Self { memory, stride, taken: taken.into() })
    }

    /// How far apart parts begin: just enough for cache lines of their own. Where that leaves no gap, an element's
    /// place is its number.
    fn stride_for(longest: usize) -> Option<usize> {
        let shared = size_of::<T>().trailing_zeros().min(LINE.trailing_zeros());
        longest.checked_next_multiple_of(LINE >> shared)
    }

    /// Whether it was made for so many parts of at most `longest` elements.
    pub fn is_for(&self, parts: usize, longest: usize) -> bool {
        Some(self.stride) == Self::stride_for(longest) && self.taken.len() == parts
    }

    /// How far apart the parts begin.
    pub fn stride(&self) -> usize {
        self.stride
    }
}

impl<T> fmt::Debug for PartedMemory<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PartedMemory(parts {} apart)", self.stride)
    }
}

impl<T: Plain> Memory<T> {
    /// Part number `number` of what several have in common; `None` where there is no such part, it is not as long, or
    /// somebody has taken it before.
    pub(crate) fn part(common: &Arc<PartedMemory<T>>, number: usize, len: usize) -> Option<Self> {
        let taken = common.taken.get(number).filter(|_| len <= common.stride)?;
        if taken.swap(true, Ordering::Relaxed) {
            return None;
        }
        // SAFETY: the part lies in the memory, which has `stride` elements for each.
        let start = unsafe { common.memory.start.add(number * common.stride) };
        Some(Self { start, len, whole: Whole::Part(Arc::clone(common)) })
    }

    /// What it is a part of.
    pub(crate) fn common(&self) -> Option<&Arc<PartedMemory<T>>> {
        if let Whole::Part(common) = &self.whole { Some(common) } else { None }
    }
}

/// Plain memory of one owner that can take the place of a region's.
///
/// It is of the same make as a region: zeros at first, aligned to cache lines, on huge pages where it is large.
pub struct Buffer<T>(pub(crate) Memory<T>);

impl<T: Plain> Buffer<T> {
    /// Makes one of `len` zeros; `None` where the system has no such memory.
    pub fn new(len: usize) -> Option<Self> {
        Memory::zeroed(len).map(Self)
    }

    /// All of it.
    #[inline]
    pub fn as_slice(&self) -> &[T] {
        self.0.as_slice()
    }

    /// All of it, for writing.
    #[inline]
    pub fn as_mut_slice(&mut self) -> &mut [T] {
        self.0.as_mut_slice()
    }

    /// Copies `values` into it, which must be as many. Many go past the caches: another processor will read them, and
    /// memory that is not fetched before it is overwritten saves a third of the traffic.
    ///
    /// ```
    /// let mut buffer = fabric::Buffer::<u16>::new(3).unwrap();
    /// buffer.fill(&[1, 2, 3]);
    /// assert_eq!(buffer.as_slice(), [1, 2, 3]);
    /// ```
    ///
    /// # Panics
    ///
    /// If there are not as many values.
    pub fn fill(&mut self, values: &[T]) {
        let target = self.as_mut_slice();
        assert_eq!(values.len(), target.len(), "a buffer is filled as a whole");
        if size_of_val(values) < PAST_CACHES {
            target.copy_from_slice(values);
        } else {
            let (start, len) = (target.as_mut_ptr().cast(), size_of_val(target));
            // SAFETY: these are the bytes of `target`, which is borrowed for writing, and only bytes are written.
            let target = unsafe { std::slice::from_raw_parts_mut(start, len) };
            crate::ahead::copy_past(bytemuck::cast_slice(values), target);
        }
    }
}

/// A copy for another processor goes past the caches from so many bytes on: it would drive out all they hold.
const PAST_CACHES: usize = 4 << 20;

/// A copy for this processor does from so many bytes on: the caches would lose its beginning before it is read.
const OWN_PAST_CACHES: usize = 32 << 20;

impl<T> fmt::Debug for Buffer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Buffer({} elements)", self.0.len)
    }
}

/// Maps zeros on a border of huge pages, or a wider one if the layout asks for it, and asks for huge pages. With them
/// comes how many there are, and the border.
fn map(layout: Layout) -> Option<(NonNull<u8>, usize, usize)> {
    let border = layout.align().max(HUGE);
    let length = layout.size().checked_next_multiple_of(HUGE)?;
    let start = system::map(length, border)?;
    system::advise_huge(start.as_ptr(), length);
    Some((start, length, border))
}

/// So many zeros, on huge pages where they are many. The system makes a page of them when it is touched.
///
/// ```
/// assert_eq!(fabric::zeros::<u16>(3), [0, 0, 0]);
/// ```
pub fn zeros<T: Plain>(len: usize) -> Vec<T> {
    let mut vector = bytemuck::allocation::zeroed_vec(len);
    prefer_huge(&mut vector);
    vector
}

/// Makes room in `vector` for so many more elements, on huge pages where they are many.
///
/// ```
/// let mut numbers = vec![1u32];
/// fabric::make_room(&mut numbers, 99);
/// assert!(numbers.capacity() >= 100);
/// ```
#[inline]
pub fn make_room<T>(vector: &mut Vec<T>, more: usize) {
    if vector.capacity() - vector.len() < more {
        vector.reserve(more);
        prefer_huge(vector);
    }
}

/// Makes room like [`make_room`], or returns false where the system has no such memory: for numbers that came from
/// elsewhere.
///
/// ```
/// assert!(fabric::try_make_room(&mut vec![1u32], 99));
/// assert!(!fabric::try_make_room(&mut vec![1u32], usize::MAX / 8));
/// ```
pub fn try_make_room<T: Plain>(vector: &mut Vec<T>, more: usize) -> bool {
    if vector.capacity() - vector.len() >= more {
        return true;
    }
    let has_room = vector.try_reserve(more).is_ok();
    prefer_huge(vector);
    has_room
}

/// Appends `values` to a vector. Very many go past the caches, for they would drive out each other.
///
/// ```
/// let mut numbers = vec![1u32];
/// fabric::append(&mut numbers, &[2, 3]);
/// assert_eq!(numbers, [1, 2, 3]);
/// ```
#[inline]
pub fn append<T: Plain>(vector: &mut Vec<T>, values: &[T]) {
    if size_of_val(values) < OWN_PAST_CACHES {
        vector.extend_from_slice(values);
    } else {
        append_past(vector, values);
    }
}

fn append_past<T: Plain>(vector: &mut Vec<T>, values: &[T]) {
    make_room(vector, values.len());
    let target = &mut vector.spare_capacity_mut()[..values.len()];
    let (start, len) = (target.as_mut_ptr().cast(), size_of_val(target));
    // SAFETY: these are the bytes of `target`, and nothing need be in them.
    let bytes = unsafe { std::slice::from_raw_parts_mut(start, len) };
    crate::ahead::copy_past(bytemuck::cast_slice(values), bytes);
    // SAFETY: the values are there, as many as were counted.
    unsafe { vector.set_len(vector.len() + values.len()) };
}

/// Asks for huge pages where a vector covers whole ones. That helps only memory that was not touched yet.
fn prefer_huge<T>(vector: &mut Vec<T>) {
    let base = vector.as_mut_ptr();
    let start = base.map_addr(|address| address.next_multiple_of(HUGE));
    let end = (base.addr() + vector.capacity() * size_of::<T>()) / HUGE * HUGE;
    if start.addr() < end {
        system::advise_huge(start.cast(), end - start.addr());
    }
}

impl<T> Drop for Memory<T> {
    fn drop(&mut self) {
        match &self.whole {
            Whole::Nothing | Whole::Part(_) => {}
            // SAFETY: it was allocated with this layout and is given back once.
            Whole::Heap(layout) => unsafe { std::alloc::dealloc(self.start.as_ptr().cast(), *layout) },
            // SAFETY: it was mapped with this length and border and is given back once.
            Whole::Mapped(length, border) => unsafe { system::unmap(self.start.cast(), *length, *border) },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_room_for_as_many_more_as_were_asked_for() {
        let full = || {
            let mut full = Vec::<u64>::with_capacity(100);
            full.resize(full.capacity(), 7);
            full
        };
        for more in [0, 1, 150, 5000] {
            let (mut made, mut tried) = (full(), full());
            make_room(&mut made, more);
            assert!(try_make_room(&mut tried, more));
            for vector in [made, tried] {
                assert!(vector.capacity() >= vector.len() + more, "{more}");
                assert_eq!(vector, full());
            }
        }
        assert!(!try_make_room(&mut full(), usize::MAX / 8));
    }

    #[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
    #[repr(C, align(16777216))]
    struct Vast([[u8; 4096]; 4096]);

    #[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
    #[repr(C, align(8192))]
    struct Wide([[u8; 1024]; 8]);

    #[test]
    #[cfg_attr(miri, ignore = "Miri has no huge pages")]
    fn memory_is_aligned_as_its_elements_ask_for() {
        fn check<T: Plain>(len: usize) {
            let is_aligned = |start: NonNull<T>| start.as_ptr().is_aligned();
            // What was mapped before changes where the next mapping lies.
            let all: Vec<Memory<T>> = (0..8).map(|_| Memory::zeroed(len).unwrap()).collect();
            assert!(all.iter().all(|memory| is_aligned(memory.start)));
            let common = Arc::new(PartedMemory::<T>::new(3, len).unwrap());
            let part = |number| Memory::part(&common, number, len).unwrap();
            assert!((0..3).all(|number| is_aligned(part(number).start)));
        }
        (0..4).for_each(check::<Vast>);
        [0, 1, 255, 256, 1000].into_iter().for_each(check::<Wide>);
        [0, 1, 300_000].into_iter().for_each(check::<u64>);
    }

    #[test]
    fn a_part_is_taken_once_and_only_if_it_is_there() {
        for longest in [0, 5] {
            let common = Arc::new(PartedMemory::<u64>::new(2, longest).unwrap());
            let take = |number, len| Memory::part(&common, number, len).is_some();
            assert!(!take(2, 0) && !take(usize::MAX, 0) && !take(0, usize::MAX));
            assert!(take(1, longest) && take(0, longest));
            assert!(!take(1, longest) && !take(0, 0), "it was taken");
        }
        assert!(PartedMemory::<u8>::new(usize::MAX, 0).is_none());
        assert!(!PartedMemory::<u8>::new(2, 0).unwrap().is_for(3, 0));
    }

    #[test]
    fn parts_are_for_as_many_as_long_ones_only() {
        let common = PartedMemory::<u64>::new(3, LINE / 8).unwrap();
        assert_eq!(common.stride(), LINE / 8);
        assert!(common.is_for(3, LINE / 8) && common.is_for(3, 1), "a part has a cache line of its own");
        assert!(!common.is_for(3, 0) && !common.is_for(3, LINE / 8 + 1));
        assert!(!common.is_for(2, LINE / 8) && !common.is_for(4, LINE / 8));
        // Elements of an odd size have whole cache lines together.
        assert_eq!(PartedMemory::<[u8; 3]>::new(2, 1).unwrap().stride(), LINE);
        assert_eq!(PartedMemory::<[u16; 3]>::new(2, 1).unwrap().stride(), LINE / 2);
    }

    /// Values arrive whole on both sides of the lengths from which they go past the caches.
    #[test]
    #[cfg_attr(miri, ignore = "takes long in Miri")]
    fn long_copies_are_whole() {
        for bytes in [PAST_CACHES, OWN_PAST_CACHES] {
            for len in [bytes / 8 - 1, bytes / 8, bytes / 8 + 5] {
                let values: Vec<u64> = (0..len as u64).map(|at| at.wrapping_mul(0x9E37_79B9)).collect();
                let mut buffer = Buffer::new(len).unwrap();
                assert!(buffer.as_slice().iter().all(|&zero| zero == 0));
                buffer.fill(&values);
                assert!(buffer.as_slice() == values, "{len}");
                let mut appended = vec![7];
                append(&mut appended, &values);
                assert!(appended[0] == 7 && appended[1..] == values, "{len}");
            }
        }
    }

    #[test]
    fn room_is_made_for_as_many_as_were_asked_for() {
        let mut some = Vec::with_capacity(8);
        some.extend([1u32; 8]);
        assert!(try_make_room(&mut some, 0) && some.capacity() == 8);
        make_room(&mut some, 9);
        assert!(some.capacity() >= 17);
        let mut more = vec![0u64; 100];
        assert!(try_make_room(&mut more, 100_000) && more.capacity() >= 100_100);
        assert!(!try_make_room(&mut more, usize::MAX / 16));
    }
}
