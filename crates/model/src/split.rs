//! Who joins which subgroup (G2 to G4).

use std::collections::BTreeMap;

/// How a group splits.
#[derive(Clone, Debug, PartialEq)]
pub enum How {
    /// `split(k)`.
    Even(usize),
    /// `split(Every(k))`.
    Every(usize),
    /// `split(Weighted(w))`.
    Weighted(Vec<f64>),
    /// `split(By(k, choice))`, with a choice for each rank.
    By(usize, Vec<Option<usize>>),
}

impl How {
    /// How many subgroups it names.
    ///
    /// ```
    /// assert_eq!(superstep_model::How::Weighted(vec![1.0, 0.0]).count(), 2);
    /// ```
    pub fn count(&self) -> usize {
        match self {
            Self::Even(count) | Self::Every(count) | Self::By(count, _) => *count,
            Self::Weighted(weights) => weights.len(),
        }
    }

    /// The subgroups that run, lowest number first, each with its members by their ranks in the parent; `stays` are the
    /// ranks that have not left, in the parent's new order.
    pub(crate) fn parts(&self, stays: &[usize]) -> Vec<(usize, Vec<usize>)> {
        let size = stays.len();
        let mut parts: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        match self {
            Self::Every(count) if *count > size => parts.extend((0..*count).map(|id| (id, vec![id % size]))),
            Self::Even(count) | Self::Every(count) => {
                (0..size).for_each(|rank| parts.entry(rank % count).or_default().push(rank));
            }
            Self::Weighted(weights) => {
                let mut first = 0;
                for (id, &size) in shares(weights, size).iter().enumerate().filter(|(_, size)| **size > 0) {
                    parts.insert(id, (first..first + size).collect());
                    first += size;
                }
            }
            Self::By(count, choices) => {
                for (rank, &old) in stays.iter().enumerate() {
                    if let Some(choice) = choices[old].filter(|choice| choice < count) {
                        parts.entry(choice).or_default().push(rank);
                    }
                }
            }
        }
        parts.into_iter().collect()
    }
}

/// G3, by trying: gives one processor to each that runs, and each further one to whoever lacks most. Weights are small
/// multiples of a half, so that all of this is exact.
fn shares(weights: &[f64], processors: usize) -> Vec<usize> {
    let halves: Vec<i64> = weights.iter().map(|weight| (weight * 2.0) as i64).collect();
    let mut runs: Vec<usize> = (0..weights.len()).filter(|&at| halves[at] > 0).collect();
    runs.sort_by_key(|&at| (-halves[at], at));
    runs.truncate(processors);
    runs.sort_unstable();
    let sum: i64 = runs.iter().map(|&at| halves[at]).sum();
    let mut sizes = vec![0; weights.len()];
    for &at in &runs {
        sizes[at] = 1;
    }
    for _ in runs.len()..if runs.is_empty() { 0 } else { processors } {
        let lack = |at: usize| processors as i64 * halves[at] - sizes[at] as i64 * sum;
        let most = runs.iter().copied().max_by_key(|&at| (lack(at), std::cmp::Reverse(at)));
        sizes[most.expect("somebody runs")] += 1;
    }
    sizes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_as_near_the_ratios_as_whole_numbers_allow() {
        assert_eq!(shares(&[1.0, 2.0], 4), [1, 3]);
        assert_eq!(shares(&[1000.0, 1.0, 1.0], 4), [2, 1, 1]);
        assert_eq!(shares(&[1.0, 3.0, 2.0], 2), [0, 1, 1]);
        assert_eq!(shares(&[0.0, 0.0], 2), [0, 0]);
    }

    #[test]
    fn choices_follow_the_parents_order() {
        let how = How::By(2, vec![Some(1), None, Some(0), Some(1), Some(7)]);
        assert_eq!(how.parts(&[0, 1, 2, 3, 4]), [(0, vec![2]), (1, vec![0, 3])]);
        assert_eq!(how.parts(&[1, 2, 3]), [(0, vec![1]), (1, vec![2])]);
    }
}
