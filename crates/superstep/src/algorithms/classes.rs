//! Classes of values by their digits: whatever is in a lower class comes before.
//!
//! A sample says where classes begin. Where its digits are spread evenly, classes are as wide as each other, and a
//! shift finds them; else about as many of the sample are in each, and a search tree without branches does.

/// So many classes are told apart, or as many as a group has members, times eight.
const CLASSES: usize = 512;
/// There are never more: a class and a rank together are 16 bits.
const CLASSES_MAX: usize = 1 << 14;
/// Where a class has more than so many times its share of a sample, digits are not spread evenly.
const UNEVEN: usize = 4;

/// Where classes begin.
#[derive(Debug)]
pub(super) enum Classes {
    /// All are as wide as each other.
    Even { low: u64, shift: u32, last: usize },
    /// The digits that each but the first begins with, as a tree: those below place i are at 2 i and 2 i + 1.
    Cut(Vec<u64>),
}

impl Classes {
    /// Classes for so many values on `size` processors, of which this is a sample in order.
    pub(super) fn of(sample: &[u64], len: usize, size: usize) -> Self {
        let wanted = CLASSES.max(8 * size).min(CLASSES_MAX).min(sample.len()).min(len / 32).max(1);
        let count: usize = 1 << wanted.ilog2();
        let (low, high) = (sample.first().copied().unwrap_or(0), sample.last().copied().unwrap_or(0));
        let bits = u64::BITS - (high - low).leading_zeros();
        let even = Self::Even { low, shift: bits.saturating_sub(count.ilog2()).min(u64::BITS - 1), last: count - 1 };
        let mut counts = vec![0; count];
        for &digits in sample {
            counts[even.class(digits)] += 1;
        }
        let is_even = counts.iter().all(|&drawn| drawn <= UNEVEN * (sample.len() / count + 1));
        if is_even { even } else { Self::cut(sample, count) }
    }

    fn cut(sample: &[u64], count: usize) -> Self {
        let mut tree = vec![0; count];
        for (place, digits) in tree.iter_mut().enumerate().skip(1) {
            // The middle of what is below this place, counted in classes.
            let depth = place.ilog2();
            let width = count >> depth;
            let number = (place - (1 << depth)) * width + width / 2;
            *digits = sample[number * sample.len() / count];
        }
        Self::Cut(tree)
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        match self {
            Self::Even { last, .. } => last + 1,
            Self::Cut(tree) => tree.len(),
        }
    }

    /// The class of these digits.
    #[inline]
    pub(super) fn class(&self, digits: u64) -> usize {
        match self {
            Self::Even { low, shift, last } => even(digits, *low, *shift, *last),
            Self::Cut(tree) => search(digits, tree),
        }
    }

    /// The lowest and the highest digits of a class; none for the first and the last, which have what is beyond the
    /// sample.
    pub(super) fn bounds(&self, class: usize) -> Option<(u64, u64)> {
        if class == 0 || class + 1 >= self.count() {
            return None;
        }
        match self {
            Self::Even { low, shift, .. } => {
                let first = low.saturating_add((class as u64) << shift);
                Some((first, first.saturating_add((1 << shift) - 1)))
            }
            Self::Cut(tree) => Some((begin(tree, class), begin(tree, class + 1).saturating_sub(1))),
        }
    }

    /// Hands out the class of each value's digits.
    #[inline]
    pub(super) fn of_all<T>(&self, values: &[T], digits: impl Fn(&T) -> u64, mut take: impl FnMut(&T, u64, usize)) {
        match self {
            Self::Even { low, shift, last } => values.iter().for_each(|value| {
                let digits = digits(value);
                take(value, digits, even(digits, *low, *shift, *last));
            }),
            Self::Cut(tree) => values.iter().for_each(|value| {
                let digits = digits(value);
                take(value, digits, search(digits, tree));
            }),
        }
    }
}

/// What a class of a tree begins with.
fn begin(tree: &[u64], class: usize) -> u64 {
    // The class is a leaf below its last step to the right.
    let leaf = class + tree.len();
    tree[leaf >> (leaf.trailing_zeros() + 1)]
}

#[inline]
fn even(digits: u64, low: u64, shift: u32, last: usize) -> usize {
    ((digits.saturating_sub(low) >> shift) as usize).min(last)
}

/// How many of the digits in a tree are not above these.
#[inline]
fn search(digits: u64, tree: &[u64]) -> usize {
    let mut place = 1;
    while let Some(&middle) = tree.get(place) {
        place = 2 * place + usize::from(middle <= digits);
    }
    place - tree.len()
}

#[cfg(test)]
mod tests {
    use super::{super::random::mixed, *};

    #[test]
    fn classes_rise_with_digits_and_share_them() {
        let lists: [fn(u64) -> u64; 5] = [mixed, |at| mixed(at) >> (at % 60), |at| at, |_| 7, |at| at % 3];
        for (number, list) in lists.into_iter().enumerate() {
            let mut digits: Vec<u64> = (0..20_000).map(list).collect();
            digits.sort_unstable();
            let sample: Vec<u64> = digits.iter().step_by(7).copied().collect();
            let classes = Classes::of(&sample, digits.len(), 2);
            assert_eq!(classes.count(), 512);
            let mut counts = vec![0; classes.count()];
            classes.of_all(
                &digits,
                |&digits| digits,
                |_, digits, class| {
                    assert_eq!(class, classes.class(digits));
                    counts[class] += 1;
                },
            );
            assert!(digits.is_sorted_by_key(|&digits| classes.class(digits)));
            // Those of the last two lists are too few to be told apart.
            assert!(number > 2 || counts.iter().all(|&count| count < 600), "{number}: {counts:?}");
        }
        assert_eq!(Classes::of(&[], 0, 3).class(5), 0);
    }
}
