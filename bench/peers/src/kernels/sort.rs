//! Random keys are sorted.

use super::{
    Sizes, count,
    keys::{Key, keys},
};
use crate::{
    contenders::{raw, rayon, single, superstep},
    contest::{Contest, Stage, Unit},
    digest,
    failure::Failure,
};

pub(super) fn hold(stage: &mut Stage, sizes: &Sizes) -> Result<(), Failure> {
    for len in sizes.sorted {
        sorts::<u64>(stage, len)?;
        sorts::<f32>(stage, len)?;
    }
    Ok(())
}

fn sorts<K: Key>(stage: &mut Stage, len: usize) -> Result<(), Failure> {
    let keys = &keys::<K>(len);
    let title = format!("{} {}", count(len), K::NAME);
    let contest = Contest::new("sort", title, Unit::millions("million keys/s"), len, expected(keys))
        .raw("sample sort", || raw::sample_sort(keys))
        .std("`sort_unstable`, one thread", || single::sort(keys))
        .rayon("`par_sort_unstable`", || rayon::sort::par_sort_unstable(keys))
        .superstep("sample sort on `exchange`", || superstep::sort::sample_sort(keys));
    stage.hold(contest)
}

fn expected<K: Key>(keys: &[K]) -> u64 {
    let mut sorted = keys.to_vec();
    K::sort(&mut sorted);
    digest(0, sorted)
}
