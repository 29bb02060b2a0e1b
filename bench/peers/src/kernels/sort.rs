//! Keys are sorted.

use super::{
    Sizes, count,
    keys::{Key, Order},
};
use crate::{
    contenders::{huge, raw, rayon, single, superstep},
    contest::{Contest, Stage, Unit},
    digest,
    failure::Failure,
};

pub(super) fn hold(stage: &mut Stage, sizes: &Sizes) -> Result<(), Failure> {
    for &len in sizes.sorted {
        for order in Order::ALL {
            sorts::<u64>(stage, len, order, |contest, keys| contest.raw("sample sort", || raw::sample_sort(keys)))?;
            sorts::<f64>(stage, len, order, |contest, _| contest)?;
            sorts::<[u64; 2]>(stage, len, order, |contest, _| contest)?;
        }
    }
    Ok(())
}

fn sorts<K: Key>(
    stage: &mut Stage,
    len: usize,
    order: Order,
    with_more: impl for<'a> FnOnce(Contest<'a>, &'a [K]) -> Contest<'a>,
) -> Result<(), Failure> {
    let keys = order.keys::<K>(len);
    let title = format!("{} {}, {}", count(len), K::NAME, order.name());
    let contest = Contest::new("sort", title, Unit::millions("million keys/s"), len, expected(&keys));
    let contest = with_more(contest, &keys)
        .std("`sort_unstable`, one thread", || single::sort(&keys))
        .rayon("`par_sort_unstable`", || rayon::sort(&keys, K::sort_by_rayon))
        .peer("rdst", "`radix_sort_unstable`", || rayon::sort(&keys, K::sort_by_rdst))
        .peer("voracious", "`voracious_mt_sort`", || rayon::sort(&keys, K::sort_by_voracious))
        .superstep("`sort`", || superstep::sort::stable(&keys))
        .superstep("`sort_unstable`", || superstep::sort::unstable(&keys));
    stage.hold(contest)
}

fn expected<K: Key>(keys: &[K]) -> u64 {
    let mut sorted = huge::copied(keys);
    K::sort(&mut sorted);
    digest(0, sorted)
}
