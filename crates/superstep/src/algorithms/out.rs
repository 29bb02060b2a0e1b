//! Where sorted values go.

use std::ops::Range;

/// Places that are filled range by range.
pub(super) trait Out<T> {
    /// Lends the places of this range to be filled.
    fn fill(&mut self, range: Range<usize>, fill: impl FnOnce(&mut [T]));
}

impl<T> Out<T> for [T] {
    fn fill(&mut self, range: Range<usize>, fill: impl FnOnce(&mut [T])) {
        fill(&mut self[range]);
    }
}

/// A run of which the middle belongs here, and the rest to those before and behind.
pub(super) struct Parts<'a, T> {
    pub(super) before: Vec<T>,
    pub(super) own: &'a mut [T],
    pub(super) after: Vec<T>,
}

impl<T: Clone> Out<T> for Parts<'_, T> {
    fn fill(&mut self, range: Range<usize>, fill: impl FnOnce(&mut [T])) {
        let mut start = 0;
        for part in [&mut self.before[..], self.own, &mut self.after] {
            let end = start + part.len();
            if start <= range.start && range.end <= end {
                return fill(&mut part[range.start - start..range.end - start]);
            }
            start = end;
        }
        // It lies across an end.
        let parts = self.before.iter().chain(&*self.own).chain(&self.after);
        let mut across: Vec<T> = parts.skip(range.start).take(range.len()).cloned().collect();
        fill(&mut across);
        let parts = self.before.iter_mut().chain(&mut *self.own).chain(&mut self.after);
        parts.skip(range.start).zip(across).for_each(|(place, value)| *place = value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_range_is_filled_wherever_its_ends_are() {
        for (start, end) in (0..=7).flat_map(|end| (0..=end).map(move |start| (start, end))) {
            let mut own = [2, 3, 4];
            let mut parts = Parts { before: vec![0, 1], own: &mut own, after: vec![5, 6] };
            parts.fill(start..end, |places| {
                assert!(places.iter().copied().eq(start..end));
                places.fill(9);
            });
            let all = [&parts.before[..], parts.own, &parts.after].concat();
            assert!(all.iter().enumerate().all(|(at, &x)| x == if (start..end).contains(&at) { 9 } else { at }));
        }
    }
}
