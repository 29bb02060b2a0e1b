//! Asking for memory before it is needed.
//!
//! A core waits for at most a dozen or so lines of its first cache at once, and for several times as many of its
//! second. So a loop over random places is faster if it asks for the second cache, far enough ahead.

/// How many items ahead: measured, and flat around the best.
const AHEAD: usize = 64;

/// Visits all items with their numbers, and before each `asks` about one that comes later.
#[inline]
pub(super) fn visit<I: Copy>(items: &[I], ask: impl Fn(I), mut each: impl FnMut(usize, I)) {
    let later = items.get(AHEAD..).unwrap_or_default();
    for (at, (&item, &next)) in items.iter().zip(later).enumerate() {
        ask(next);
        each(at, item);
    }
    for (at, &item) in items.iter().enumerate().skip(later.len()) {
        each(at, item);
    }
}

/// Asks for an element of the array that starts there.
#[inline]
pub(super) fn ask<T>(start: *const T, index: usize) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T1, _mm_prefetch};
        // SAFETY: a hint reads nothing that the program could see and fails nowhere, whatever the address.
        unsafe { _mm_prefetch::<_MM_HINT_T1>(start.wrapping_add(index).cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (start, index);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;

    #[test]
    fn every_item_is_visited_once_and_none_is_asked_for_twice() {
        for len in [0, 1, AHEAD, AHEAD + 1, 3 * AHEAD] {
            let items: Vec<usize> = (0..len).collect();
            let (asked, mut visited) = (RefCell::new(Vec::new()), Vec::new());
            visit(&items, |item| asked.borrow_mut().push(item), |at, item| visited.push((at, item)));
            assert!(visited.into_iter().eq((0..len).map(|at| (at, at))));
            assert!(asked.into_inner().into_iter().eq(AHEAD..len.max(AHEAD)));
        }
    }
}
