//! Dealing values to many places at once.
//!
//! A store to each of many lists in turn waits for the line of memory that it goes to. So whoever stores a value asks
//! for the line behind it, which is there when the list gets that far.

use crate::ahead::{Ahead, LINE, chunks};
use std::slice::IterMut;

/// Hands each value to the next place of its class, which `class` tells from the value and its number. What finds no
/// place is left out, and then this is false.
///
/// ```
/// let mut dealt = [0.0; 5];
/// let (low, high) = dealt.split_at_mut(2);
/// assert!(fabric::deal(&[7.5, 1.5, 8.5, 2.5, 9.5], |_, &x| usize::from(x > 5.0), vec![low, high]));
/// assert_eq!(dealt, [1.5, 2.5, 7.5, 8.5, 9.5]);
/// ```
#[inline]
#[must_use]
pub fn deal<T: Clone>(values: &[T], mut class: impl FnMut(usize, &T) -> usize, places: Vec<&mut [T]>) -> bool {
    let mut places: Vec<IterMut<'_, T>> = places.into_iter().map(<[T]>::iter_mut).collect();
    let mut all_found = true;
    chunks(values).flatten().enumerate().for_each(|(number, value)| {
        if let Some(place) = places.get_mut(class(number, value)).and_then(Iterator::next) {
            Ahead::at(place).ask_line(LINE.max(size_of::<T>()));
            *place = value.clone();
        } else {
            all_found = false;
        }
    });
    all_found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_goes_to_the_next_place_of_its_class() {
        for (len, count) in [(0, 1), (5, 2), (100, 3), (1000, 7), (3000, 300)] {
            let values: Vec<u64> = (0..len).map(|at| at * 7919 % 1009).collect();
            let class = |value: &u64| (value % count) as usize;
            let mut expected: Vec<Vec<u64>> = vec![Vec::new(); count as usize];
            for value in &values {
                expected[class(value)].push(*value);
            }
            let mut all = vec![u64::MAX; values.len()];
            let (mut places, mut rest) = (Vec::new(), &mut all[..]);
            for list in &expected {
                let (here, behind) = rest.split_at_mut(list.len());
                places.push(here);
                rest = behind;
            }
            let mut numbers = 0..values.len();
            let classes = |number, value: &u64| {
                assert_eq!(Some(number), numbers.next());
                class(value)
            };
            assert!(deal(&values, classes, places));
            assert_eq!(all, expected.concat());
        }
    }

    #[test]
    fn what_finds_no_place_is_left_out_and_places_may_stay_free() {
        let mut places = vec![0; 40];
        let (low, high) = places.split_at_mut(20);
        assert!(!deal(&[7; 40], |at, _| [0, 0, 0, 1, 9][at % 5], vec![low, high]));
        assert_eq!(places, [vec![7; 20], vec![7; 8], vec![0; 12]].concat());
    }
}
