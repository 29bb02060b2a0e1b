//! Values are added up by key.

use super::{Sizes, count};
use crate::{
    Random,
    contenders::{rayon, superstep},
    contest::{Contest, Stage, Unit},
    failure::Failure,
    mix,
};

/// Keys, and a value for each.
pub(crate) struct Rows {
    pub(crate) keys: Vec<u64>,
    pub(crate) values: Vec<u64>,
}

impl Rows {
    /// So many rows with so many different keys, which are any numbers.
    fn random(len: usize, keys: usize) -> Self {
        let mut random = Random::of_rank(7, 0);
        let (keys, values) = (0..len).map(|_| (mix(random.below(keys) as u64), random.next() >> 32)).unzip();
        Self { keys, values }
    }

    pub(crate) fn len(&self) -> usize {
        self.keys.len()
    }
}

/// The digest of keys and their sums, in whatever order they are.
pub(crate) fn groups(rows: impl Iterator<Item = (u64, u64)>) -> u64 {
    rows.map(|(key, sum)| mix(mix(key) ^ sum)).fold(0, u64::wrapping_add)
}

pub(super) fn hold(stage: &mut Stage, sizes: &Sizes) -> Result<(), Failure> {
    for &len in sizes.grouped {
        let rows = &Rows::random(len, sizes.keys);
        let title = format!("{} rows, {} keys", count(len), count(sizes.keys));
        let contest = Contest::new("group", title, Unit::millions("million rows/s"), len, expected(rows))
            .rayon("dealt to a hash map for each thread", || rayon::group::dealt(rows))
            .rayon("added up by each thread first", || rayon::group::added_up_first(rows))
            .superstep("`group_by_key`", || superstep::group::group_by_key(rows));
        stage.hold(contest)?;
    }
    Ok(())
}

fn expected(rows: &Rows) -> u64 {
    let mut sums = std::collections::HashMap::new();
    for (key, value) in rows.keys.iter().zip(&rows.values) {
        *sums.entry(*key).or_insert(0) += value;
    }
    groups(sums.into_iter())
}
