//! Numbers that look random and are the same in every run.

pub use superstep_programs::random::{Random, mix};

/// For each of `procs` processors, `count` indices below `len`.
pub(crate) fn indices(procs: usize, count: usize, len: usize) -> Vec<Vec<usize>> {
    let of_rank = |rank: usize| {
        let mut random = Random::new(rank as u64);
        (0..count).map(|_| random.below(len)).collect()
    };
    (0..procs).map(of_rank).collect()
}

/// The numbers below `len` in a random order.
pub(crate) fn permutation(len: usize) -> Vec<usize> {
    let mut random = Random::new(len as u64);
    let mut all: Vec<usize> = (0..len).collect();
    for at in (1..len).rev() {
        all.swap(at, random.below(at + 1));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indices_are_in_range_and_a_permutation_has_each_once() {
        assert!(indices(2, 1000, 7).iter().flatten().all(|&index| index < 7));
        let mut all = permutation(1000);
        assert!(!all.is_sorted());
        all.sort_unstable();
        assert!(all.into_iter().eq(0..1000));
    }
}
