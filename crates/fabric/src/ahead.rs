//! Prefetching memory, and copying past the caches.
//!
//! Random reads and writes mostly wait for memory, unless a list of their places tells early where they will go. A list
//! that is read from front to back also comes faster when it is asked for, because the hardware prefetches cautiously.
//! A prefetch changes nothing but speed, so an address need not even exist.
//!
//! Processors other than x86-64 and Miri, which knows none of these instructions, do without.

use crate::plain::Plain;
use std::mem::MaybeUninit;

/// The bytes of a cache line.
pub(crate) const LINE: usize = 64;

/// How many elements ahead to prefetch: enough to hide a miss of all caches.
const PLACES: usize = 64;

/// How many bytes ahead to prefetch a list that is read from front to back.
const FAR: usize = 4096;

/// How many elements of a list [`chunks`] takes together.
pub const CHUNK: usize = 64;

/// The address of a slice: enough to prefetch its elements, and too little to read them.
pub struct Ahead<T>(*const T);

impl<T> Clone for Ahead<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Ahead<T> {}

impl<T> Ahead<T> {
    /// For elements of `data`.
    #[inline]
    pub fn of(data: &[T]) -> Self {
        Self(data.as_ptr())
    }

    /// For what follows the first so many elements.
    #[inline]
    #[must_use]
    pub fn skip(self, count: usize) -> Self {
        Self(self.0.wrapping_add(count))
    }

    /// For what lies behind an element.
    #[inline]
    pub(crate) fn at(element: &T) -> Self {
        Self(std::ptr::from_ref(element))
    }

    /// Asks for the element with this number.
    #[inline]
    pub fn ask(self, at: usize) {
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        {
            use std::arch::x86_64::{_MM_HINT_T1, _mm_prefetch};
            // SAFETY: a prefetch is a hint; it neither faults nor changes anything, whatever the address.
            unsafe { _mm_prefetch::<_MM_HINT_T1>(self.0.wrapping_add(at).cast()) };
        }
        #[cfg(any(not(target_arch = "x86_64"), miri))]
        let _ = self.0.wrapping_add(at);
    }

    /// Asks for the element with this number, to be read soon.
    #[inline]
    pub fn ask_soon(self, at: usize) {
        self.skip(at).ask_line(0);
    }

    /// Asks for the line so many bytes on, to be read or written soon.
    #[inline]
    pub(crate) fn ask_line(self, bytes: usize) {
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            // SAFETY: as above.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(self.0.wrapping_byte_add(bytes).cast()) };
        }
        #[cfg(any(not(target_arch = "x86_64"), miri))]
        let _ = self.0.wrapping_byte_add(bytes);
    }
}

/// Asks for what lies some way behind an element of a list that is read from front to back. Large ones are no lists of
/// numbers, and are left alone.
///
/// ```
/// let list = [1u32, 2, 3];
/// assert_eq!(list.iter().inspect(|&x| fabric::ask_on(x)).sum::<u32>(), 6);
/// ```
#[inline]
pub fn ask_on<T>(element: &T) {
    if size_of::<T>() <= LINE / 4 {
        Ahead::at(element).ask_line(FAR);
    }
}

/// A list in chunks of [`CHUNK`] elements, while what follows is asked for.
///
/// ```
/// let list: Vec<u32> = (0..100).collect();
/// assert_eq!(fabric::chunks(&list).map(<[u32]>::len).collect::<Vec<_>>(), [64, 36]);
/// ```
#[inline]
pub fn chunks<T>(list: &[T]) -> impl Iterator<Item = &[T]> {
    list.chunks(CHUNK).inspect(|chunk| {
        for line in 0..(CHUNK * size_of::<T>()).div_ceil(LINE) {
            Ahead::of(chunk).ask_line(FAR + line * LINE);
        }
    })
}

/// A list in chunks of [`CHUNK`] elements, while what follows is asked for, and as much of a second list, which will be
/// written to here and there when all of the first has been read.
///
/// ```
/// let (list, next) = ([7u32; 100], [0u32; 100]);
/// assert_eq!(fabric::chunks_before(&list, fabric::Ahead::of(&next)).map(<[u32]>::len).sum::<usize>(), 100);
/// ```
#[inline]
pub fn chunks_before<T>(list: &[T], next: Ahead<T>) -> impl Iterator<Item = &[T]> {
    chunks(list).enumerate().map(move |(number, chunk)| {
        for line in 0..(CHUNK * size_of::<T>()).div_ceil(LINE) {
            next.ask_line(number * CHUNK * size_of::<T>() + line * LINE);
        }
        chunk
    })
}

/// Calls `visit` with all places in turn, while what lies at those to come is asked for.
///
/// ```
/// let mut counts = [0; 4];
/// let ahead = fabric::Ahead::of(&counts);
/// fabric::visit(&[3, 1, 3], ahead, |at| counts[at] += 1);
/// assert_eq!(counts, [0, 1, 0, 2]);
/// ```
#[inline]
pub fn visit<T>(places: &[u32], data: Ahead<T>, mut visit: impl FnMut(usize)) {
    // A vector of `()` takes no memory.
    visit_each(places, &vec![(); places.len()], data, |at, ()| visit(at));
}

/// Calls `visit` with all places in turn and the value that goes with each, as [`visit`](visit()) does.
///
/// ```
/// let mut sums = [0; 4];
/// let ahead = fabric::Ahead::of(&sums);
/// fabric::visit_each(&[3, 1, 3], &[10, 20, 30], ahead, |at, value| sums[at] += value);
/// assert_eq!(sums, [0, 20, 0, 40]);
/// ```
#[inline]
pub fn visit_each<T, V>(places: &[u32], values: &[V], data: Ahead<T>, mut visit: impl FnMut(usize, &V)) {
    let count = places.len().min(values.len());
    let (places, values) = (&places[..count], &values[..count]);
    let (first, rest) = places.split_at(count.saturating_sub(PLACES));
    let (first_values, rest_values) = values.split_at(first.len());
    let later = &places[count - first.len()..];
    for ((chunk, values), later) in chunks(first).zip(chunks(first_values)).zip(later.chunks(CHUNK)) {
        for ((&at, value), &later) in chunk.iter().zip(values).zip(later) {
            data.ask(later as usize);
            visit(at as usize, value);
        }
    }
    for (&at, value) in rest.iter().zip(rest_values) {
        visit(at as usize, value);
    }
}

/// Appends the elements at these places to a vector.
///
/// ```
/// let mut into = vec![0u8];
/// fabric::load(&[5, 6, 7], &[2, 0, 2], &mut into);
/// assert_eq!(into, [0, 7, 5, 7]);
/// ```
///
/// # Panics
///
/// If there is no such place.
pub fn load<T: Plain>(from: &[T], places: &[u32], into: &mut Vec<T>) {
    let data = Ahead::of(from);
    let (first, rest) = places.split_at(places.len().saturating_sub(PLACES));
    let later = &places[places.len() - first.len()..];
    for (chunk, later) in chunks(first).zip(later.chunks(CHUNK)) {
        into.extend(chunk.iter().zip(later).map(|(&at, &later)| {
            data.ask(later as usize);
            from[at as usize]
        }));
    }
    into.extend(rest.iter().map(|&at| from[at as usize]));
}

/// Copies bytes, as many as there are on both sides, past the caches. Whoever is told about them afterwards sees them.
pub(crate) fn copy_past(from: &[u8], into: &mut [MaybeUninit<u8>]) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    {
        use std::arch::x86_64::{__m128i, _mm_loadu_si128, _mm_sfence, _mm_stream_si128};
        const WORD: usize = size_of::<__m128i>();
        let head = into.as_ptr().align_offset(WORD).min(into.len()).min(from.len());
        copy(&from[..head], &mut into[..head]);
        let (from, into) = (&from[head..], &mut into[head..]);
        let (lines, rest) = from.as_chunks::<LINE>();
        let (targets, rest_targets) = into.as_chunks_mut::<LINE>();
        for (line, target) in lines.iter().zip(targets) {
            Ahead::of(line).ask_line(FAR);
            let (words, _) = line.as_chunks::<WORD>();
            let (targets, _) = target.as_chunks_mut::<WORD>();
            for (word, target) in words.iter().zip(targets) {
                // SAFETY: it reads one word, which need not be aligned.
                let word = unsafe { _mm_loadu_si128(word.as_ptr().cast()) };
                // SAFETY: it writes one word, which is aligned: the head ended on the border of a word.
                unsafe { _mm_stream_si128(target.as_mut_ptr().cast(), word) };
            }
        }
        // Streaming stores have no order; the fence puts them before the store that tells a peer of them.
        // SAFETY: a fence touches nothing, and every x86-64 has it.
        unsafe { _mm_sfence() };
        copy(rest, rest_targets);
    }
    #[cfg(any(not(target_arch = "x86_64"), miri))]
    copy(from, into);
}

fn copy(from: &[u8], into: &mut [MaybeUninit<u8>]) {
    for (byte, target) in from.iter().zip(into) {
        target.write(*byte);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_place_is_visited_once_and_in_order_whatever_the_length() {
        for len in [0, 1, 63, 64, 65, 127, 128, 129, 1000] {
            let places: Vec<u32> = (0..len).map(|at| at * 7 % len.max(1)).collect();
            let data: Vec<u64> = (0..u64::from(len)).map(|x| x * x).collect();
            let (mut seen, mut paired) = (Vec::new(), Vec::new());
            visit(&places, Ahead::of(&data), |at| seen.push(at as u32));
            visit_each(&places, &places, Ahead::of(&data), |at, &with| paired.push((at as u32, with)));
            assert_eq!(seen, places);
            assert_eq!(paired, places.iter().map(|&at| (at, at)).collect::<Vec<_>>());
            let mut loaded = Vec::new();
            load(&data, &places, &mut loaded);
            assert_eq!(loaded, places.iter().map(|&at| data[at as usize]).collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_copy_past_the_caches_is_a_copy_wherever_it_begins() {
        let from: Vec<u8> = (0..1000).map(|x| (x % 251) as u8).collect();
        for (start, len) in [(0, 0), (0, 15), (3, 16), (1, 64), (5, 129), (16, 984), (7, 700)] {
            let mut into = vec![MaybeUninit::new(0); 1000];
            copy_past(&from[start / 2..][..len], &mut into[start..start + len]);
            // SAFETY: all were zeros.
            let into: Vec<u8> = into.into_iter().map(|byte| unsafe { byte.assume_init() }).collect();
            assert_eq!(into[start..start + len], from[start / 2..][..len]);
            assert!(into[..start].iter().chain(&into[start + len..]).all(|&x| x == 0));
        }
    }
}
