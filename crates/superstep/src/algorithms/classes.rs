//! Classes of values by their digits: whatever is in a lower class comes before.
//!
//! A sample says where classes begin. Where its digits are spread evenly, classes are as wide as each other, and a
//! shift finds them. Where they are not, but evenly within stretches, as those of floats with the same exponent, each
//! stretch has classes of its own width, and a table says which. Else about as many of the sample are in each class,
//! and a search tree without branches does.

/// So many classes are told apart, or as many as a group has members, times eight.
const CLASSES: usize = 512;
/// There are never more: a class and a rank together are 16 bits.
const CLASSES_MAX: usize = 1 << 14;
/// Where a class has more than so many times its share of a sample, digits are not spread evenly.
const UNEVEN: usize = 4;

/// So many bits of digits tell the cell.
const CELL_BITS: u32 = 10;
/// So many cells there are.
const CELLS: usize = 1 << CELL_BITS;

/// Classes that are as wide as each other.
#[derive(Debug)]
pub(super) struct Even {
    low: u64,
    shift: u32,
    last: usize,
}

impl Even {
    /// The class of these digits.
    #[inline]
    pub(super) fn class(&self, digits: u64) -> usize {
        ((digits.saturating_sub(self.low) >> self.shift) as usize).min(self.last)
    }
}

/// Classes in cells, which are as wide as each other.
#[derive(Debug)]
pub(super) struct Celled {
    low: u64,
    high: u64,
    shift: u32,
    cells: Box<[Cell; CELLS]>,
    /// The digits that each class begins with.
    begins: Vec<u64>,
}

/// The first class of a cell, and how wide its classes are. Those of few values are one class together.
#[derive(Clone, Copy, Debug)]
struct Cell {
    first: u32,
    shift: u32,
}

impl Celled {
    /// About `count` classes for what is spread as this sample, which has different digits.
    fn of(sample: &[u64], count: usize) -> Self {
        let (low, high) = (sample[0], sample[sample.len() - 1]);
        let shift = (u64::BITS - (high - low).leading_zeros()).saturating_sub(CELL_BITS);
        let (mut cells, mut begins) = (Box::new([Cell { first: 0, shift: u64::BITS - 1 }; CELLS]), Vec::new());
        let (share, mut rest, mut shared_by) = ((sample.len() / count).max(1), sample, usize::MAX);
        let last = ((high - low) >> shift) as usize;
        for (number, cell) in cells.iter_mut().enumerate().take(last + 1) {
            let begin = low + ((number as u64) << shift);
            let end = rest.partition_point(|digits| (digits - low) >> shift == number as u64);
            rest = &rest[end..];
            let wanted = end / share;
            let bits = (wanted + wanted / 3).max(1).ilog2().min(shift);
            if bits == 0 && shared_by.saturating_add(end) <= share {
                cell.first = begins.len() as u32 - 1;
                shared_by += end;
                continue;
            }
            *cell = Cell { first: begins.len() as u32, shift: shift - bits };
            // The class of the highest digits is the last one, because it has what is beyond them as well.
            let parts = (0..1 << bits).map(|part: u64| part << (shift - bits));
            begins.extend(parts.take_while(|&above| above <= high - begin).map(|above| begin + above));
            shared_by = if bits == 0 { end } else { usize::MAX };
        }
        Self { low, high, shift, cells, begins }
    }

    /// The class of these digits.
    #[inline]
    pub(super) fn class(&self, digits: u64) -> usize {
        let above = digits.clamp(self.low, self.high) - self.low;
        let cell = self.cells[(above >> self.shift) as usize % CELLS];
        let within = above & ((1 << self.shift) - 1);
        cell.first as usize + (within >> cell.shift) as usize
    }
}

/// Where classes begin.
#[derive(Debug)]
pub(super) enum Classes {
    /// All are as wide as each other.
    Even(Even),
    /// All of a cell are.
    Celled(Celled),
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
        let even = Even { low, shift: bits.saturating_sub(count.ilog2()).min(u64::BITS - 1), last: count - 1 };
        let share = sample.len() / count + 1;
        if is_even(sample, count, share, |digits| even.class(digits)) {
            return Self::Even(even);
        }
        let celled = Celled::of(sample, count);
        if is_even(sample, celled.begins.len(), share, |digits| celled.class(digits)) {
            return Self::Celled(celled);
        }
        Self::cut(sample, count)
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
            Self::Even(even) => even.last + 1,
            Self::Celled(celled) => celled.begins.len(),
            Self::Cut(tree) => tree.len(),
        }
    }

    /// The class of these digits.
    #[inline]
    pub(super) fn class(&self, digits: u64) -> usize {
        match self {
            Self::Even(even) => even.class(digits),
            Self::Celled(celled) => celled.class(digits),
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
            Self::Even(Even { low, shift, .. }) => {
                let first = low.saturating_add((class as u64) << shift);
                Some((first, first.saturating_add((1 << shift) - 1)))
            }
            Self::Celled(Celled { begins, .. }) => Some((begins[class], begins[class + 1] - 1)),
            Self::Cut(tree) => Some((begin(tree, class), begin(tree, class + 1).saturating_sub(1))),
        }
    }
}

/// Whether none of so many classes has much more than this share of a sample.
fn is_even(sample: &[u64], count: usize, share: usize, class: impl Fn(u64) -> usize) -> bool {
    let mut counts = vec![0; count];
    for &digits in sample {
        counts[class(digits)] += 1;
    }
    counts.iter().all(|&drawn| drawn <= UNEVEN * share)
}

/// What a class of a tree begins with.
fn begin(tree: &[u64], class: usize) -> u64 {
    // The class is a leaf below its last step to the right.
    let leaf = class + tree.len();
    tree[leaf >> (leaf.trailing_zeros() + 1)]
}

/// How many of the digits in a tree are not above these.
#[inline]
pub(super) fn search(digits: u64, tree: &[u64]) -> usize {
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
        type List = fn(u64) -> u64;
        let floats = |at| (mixed(at) as f64 / u64::MAX as f64).to_bits();
        let lists: [(List, &str); 6] = [
            (mixed, "Even"),
            (|at| at, "Even"),
            (floats, "Celled"),
            (|at| mixed(at) >> (at % 60), "Cut"),
            (|_| 7, ""),
            (|at| at % 3, ""),
        ];
        for (list, kind) in lists {
            let mut digits: Vec<u64> = (0..20_000).map(list).collect();
            digits.sort_unstable();
            let sample: Vec<u64> = digits.iter().step_by(7).copied().collect();
            let classes = Classes::of(&sample, digits.len(), 2);
            assert!(format!("{classes:?}").starts_with(kind), "{classes:?}");
            let mut counts = vec![0; classes.count()];
            for &digits in &digits {
                let class = classes.class(digits);
                assert!(classes.bounds(class).is_none_or(|(low, high)| (low..=high).contains(&digits)));
                counts[class] += 1;
            }
            assert!(digits.is_sorted_by_key(|&digits| classes.class(digits)));
            // Those of the last two lists are too few to be told apart.
            assert!(kind.is_empty() || counts.iter().all(|&count| count < 600), "{kind}: {counts:?}");
        }
        assert_eq!(Classes::of(&[], 0, 3).class(5), 0);
    }
}
