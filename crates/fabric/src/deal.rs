//! Dealing numbers to many places at once.
//!
//! A store to each of many lists in turn reads a line of memory, to write a part of it. So many numbers are collected
//! line by line, and a line that is full goes past the caches. Processors other than x86-64, and Miri, which knows none
//! of these instructions, store each number where it belongs.
//!
//! # Invariants
//!
//! - **D1** Only types of [`is_number`] are taken for a `u64`: they have its size and its alignment, and any pattern of
//!   bits is a value of both.
//! - **D2** A [`Line`] is `LINE` numbers in a row and nothing else, and begins on a border of its own size.
//! - **D3** Lanes never overlap, and a place is lent once: each lane owns the places it was made of, as slices that are
//!   borrowed for writing, and a class is looked up in them with a check.
//! - **D4** Streaming stores have no order. [`settle`] puts them before whatever tells a peer of them, and before
//!   places are lent again.

use std::{any::TypeId, slice::IterMut};

/// So many bytes would not stay in the caches anyway.
const PAST_CACHES: usize = 4 << 20;

/// So many numbers are a line of memory.
const LINE: usize = 8;

/// A line of numbers, where memory has one.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Line([u64; LINE]);

/// Hands each value to the next place of its class. What finds no place is left out.
///
/// ```
/// let mut dealt = [0.0; 5];
/// let (low, high) = dealt.split_at_mut(2);
/// fabric::deal(&[7.5, 1.5, 8.5, 2.5, 9.5], &[1, 0, 1, 0, 1], vec![low, high]);
/// assert_eq!(dealt, [1.5, 2.5, 7.5, 8.5, 9.5]);
/// ```
pub fn deal<T: Clone + 'static>(values: &[T], classes: &[u16], places: Vec<&mut [T]>) {
    match as_numbers(values).filter(|numbers| size_of_val(*numbers) >= PAST_CACHES) {
        Some(numbers) => {
            let places = places.into_iter().filter_map(as_numbers_mut).collect();
            deal_lines(numbers, classes, places);
        }
        None => deal_each(values, classes, places),
    }
}

fn deal_each<T: Clone>(values: &[T], classes: &[u16], places: Vec<&mut [T]>) {
    let mut places: Vec<IterMut<'_, T>> = places.into_iter().map(<[T]>::iter_mut).collect();
    for (value, &class) in values.iter().zip(classes) {
        if let Some(place) = places.get_mut(usize::from(class)).and_then(Iterator::next) {
            *place = value.clone();
        }
    }
}

/// Whether a `T` is as good as a `u64`, where lines can go past the caches.
fn is_number<T: 'static>() -> bool {
    let numbers = [TypeId::of::<u64>(), TypeId::of::<i64>(), TypeId::of::<usize>(), TypeId::of::<f64>()];
    cfg!(all(target_arch = "x86_64", not(miri))) && numbers.contains(&TypeId::of::<T>())
}

fn as_numbers<T: 'static>(values: &[T]) -> Option<&[u64]> {
    // SAFETY: D1; the slice is as long, and borrowed for as long.
    is_number::<T>().then(|| unsafe { std::slice::from_raw_parts(values.as_ptr().cast(), values.len()) })
}

fn as_numbers_mut<T: 'static>(values: &mut [T]) -> Option<&mut [u64]> {
    // SAFETY: D1, so whatever is written there is a `T` as well; the slice is as long, and borrowed for as long.
    is_number::<T>().then(|| unsafe { std::slice::from_raw_parts_mut(values.as_mut_ptr().cast(), values.len()) })
}

/// The places of a class that are still free.
struct Lane<'a> {
    /// Those before the first whole line.
    head: &'a mut [u64],
    lines: IterMut<'a, Line>,
    tail: &'a mut [u64],
}

impl<'a> Lane<'a> {
    fn new(places: &'a mut [u64]) -> Self {
        // SAFETY: D2; any numbers are a line, and any line is numbers.
        let (head, lines, tail) = unsafe { places.align_to_mut::<Line>() };
        if head.len() < LINE {
            return Self { head, lines: lines.iter_mut(), tail };
        }
        // There is no whole line.
        let (head, tail) = head.split_at_mut(LINE - 1);
        Self { head, lines: [].iter_mut(), tail }
    }

    /// Takes the numbers that were collected: a whole line, but for the first and the last ones.
    #[inline]
    fn take(&mut self, numbers: &Line) {
        let head = std::mem::take(&mut self.head);
        if !head.is_empty() {
            head.copy_from_slice(&numbers.0[LINE - head.len()..]);
        } else if let Some(line) = self.lines.next() {
            stream(numbers, line);
        } else {
            let tail = std::mem::take(&mut self.tail);
            let (here, behind) = tail.split_at_mut(LINE.min(tail.len()));
            here.copy_from_slice(&numbers.0[..here.len()]);
            self.tail = behind;
        }
    }

    /// Takes the last numbers.
    fn finish(&mut self, numbers: &[u64]) {
        let lines = std::mem::take(&mut self.lines).flat_map(|line| &mut line.0);
        let tail = std::mem::take(&mut self.tail);
        let places = std::mem::take(&mut self.head).iter_mut().chain(lines).chain(tail);
        places.zip(numbers).for_each(|(place, number)| *place = *number);
    }
}

fn deal_lines(values: &[u64], classes: &[u16], places: Vec<&mut [u64]>) {
    let mut lanes: Vec<Lane<'_>> = places.into_iter().map(Lane::new).collect();
    // Where the next number of a class goes in its line. That of the first ones is not whole.
    let starts: Vec<u8> = lanes.iter().map(|lane| ((LINE - lane.head.len()) % LINE) as u8).collect();
    let (mut ends, mut collected) = (starts.clone(), vec![Line([0; LINE]); lanes.len()]);
    for (&value, &class) in values.iter().zip(classes) {
        let class = usize::from(class);
        let (Some(line), Some(end)) = (collected.get_mut(class), ends.get_mut(class)) else { continue };
        line.0[usize::from(*end) % LINE] = value;
        *end += 1;
        if usize::from(*end) == LINE {
            *end = 0;
            lanes[class].take(line);
        }
    }
    for (((lane, line), &end), &start) in lanes.iter_mut().zip(&collected).zip(&ends).zip(&starts) {
        let start = if lane.head.is_empty() { 0 } else { start };
        lane.finish(&line.0[usize::from(start)..usize::from(end)]);
    }
    settle();
}

/// Writes a line past the caches.
#[cfg(all(target_arch = "x86_64", not(miri)))]
#[inline]
fn stream(from: &Line, into: &mut Line) {
    use std::arch::x86_64::{_mm_loadu_si128, _mm_stream_si128};
    let (pairs, _) = from.0.as_chunks::<2>();
    let (places, _) = into.0.as_chunks_mut::<2>();
    for (pair, place) in pairs.iter().zip(places) {
        // SAFETY: it reads two numbers, which are borrowed and need not be aligned.
        let pair = unsafe { _mm_loadu_si128(pair.as_ptr().cast()) };
        // SAFETY: it writes two numbers, which are borrowed for writing (D3), on a border of their size (D2).
        unsafe { _mm_stream_si128(place.as_mut_ptr().cast(), pair) };
    }
}

#[cfg(not(all(target_arch = "x86_64", not(miri))))]
fn stream(from: &Line, into: &mut Line) {
    *into = *from;
}

/// Puts what went past the caches before what tells a peer of it; D4.
fn settle() {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: a fence touches nothing, and every x86-64 has it; D4.
    unsafe {
        std::arch::x86_64::_mm_sfence();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_goes_to_the_next_place_of_its_class_wherever_places_lie() {
        for (len, count) in [(0, 1), (5, 2), (100, 3), (1000, 7), (3000, 300)] {
            for shift in 0..9 {
                let values: Vec<u64> = (0..len).map(|at| at * 7919 % 1009).collect();
                let classes: Vec<u16> = values.iter().map(|value| (value % count) as u16).collect();
                let mut expected: Vec<Vec<u64>> = vec![Vec::new(); count as usize];
                values.iter().zip(&classes).for_each(|(&value, &class)| expected[usize::from(class)].push(value));
                let mut all = vec![u64::MAX; values.len() + shift];
                let (before, mut rest) = all.split_at_mut(shift);
                let mut places = Vec::new();
                for list in &expected {
                    let (here, behind) = rest.split_at_mut(list.len());
                    places.push(here);
                    rest = behind;
                }
                deal_lines(&values, &classes, places);
                assert!(before.iter().all(|&value| value == u64::MAX));
                assert_eq!(all[shift..], expected.concat());
            }
        }
    }

    #[test]
    fn what_finds_no_place_is_left_out_and_places_may_stay_free() {
        let classes: Vec<u16> = (0..40).map(|at| [0, 0, 0, 1, 9][at % 5]).collect();
        for deal in [deal, deal_lines] {
            let mut places = vec![0; 40];
            let (low, high) = places.split_at_mut(20);
            deal(&[7; 40], &classes, vec![low, high]);
            assert_eq!(places, [vec![7; 20], vec![7; 8], vec![0; 12]].concat());
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "Miri is slow where values are many")]
    fn many_values_of_every_kind_are_dealt() {
        fn check<T: Clone + Default + PartialEq + 'static>(of: fn(usize) -> T) {
            let values: Vec<T> = (0..PAST_CACHES / 8).map(of).collect();
            let classes: Vec<u16> = (0..values.len()).map(|at| (at % 2) as u16).collect();
            let mut dealt = vec![T::default(); values.len()];
            let (low, high) = dealt.split_at_mut(values.len() / 2);
            deal(&values, &classes, vec![low, high]);
            let (low, high) = dealt.split_at(values.len() / 2);
            assert!(values.iter().step_by(2).eq(low) && values.iter().skip(1).step_by(2).eq(high));
        }
        check(|at| at as u64);
        check(|at| at as i64 - 1000);
        check(|at| at);
        check(|at| at as f64 - 0.5);
        check(|at| at as u32);
        check(|at| [at as u64, 7]);
    }
}
