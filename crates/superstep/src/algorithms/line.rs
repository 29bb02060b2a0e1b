//! Lists one behind the other, dealt out evenly.

use super::{
    runs::{even_starts, refuse},
    spread::{cut_at, joined},
};
use crate::{
    engine::{AsValue, Group, Value},
    error::ErrorKind,
};
use std::panic::Location;

/// Puts the first lists of all processors one behind the other, in the order of ranks, then the second ones and so on,
/// and deals all of it out in blocks of ⌈n / p⌉. Says how long the first lists are together, the second ones and so on.
/// Two steps.
#[track_caller]
pub(super) fn line_up<T: Value>(g: &mut Group, lists: Vec<Vec<T>>) -> (Vec<T>, Vec<usize>) {
    let (site, lens) = (Location::caller(), lists.iter().map(Vec::len).collect::<Vec<usize>>());
    let all = g.step(|s| s.collect(lens));
    let (me, count) = (g.rank(), all[0].len());
    if let Some(rank) = all.iter().position(|lens| lens.len() != count) {
        let what = format!("{count} lists on rank 0 and {} on rank {rank}; give as many", all[rank].len());
        refuse(g, ErrorKind::BadLength, &what, site);
    }
    let totals: Vec<usize> = (0..count).map(|number| all.iter().map(|lens| lens[number]).sum()).collect();
    let (blocks, mut start) = (even_starts(totals.iter().sum(), g.size()), 0);
    let mut cuts = Vec::with_capacity(count);
    for (number, list) in lists.into_iter().enumerate() {
        let from = start + all[..me].iter().map(|lens| lens[number]).sum::<usize>();
        let to = from + list.len();
        let ends: Vec<usize> = blocks[1..].iter().map(|&end| end.clamp(from, to) - from).collect();
        cuts.push(cut_at(list, &ends));
        start += totals[number];
    }
    let came = g.step(|s| {
        let exchanges = cuts.into_iter().map(|lists| s.exchange_lists::<T, AsValue>(lists, site));
        exchanges.collect::<Vec<_>>()
    });
    (joined(came.into_iter().map(joined).collect()), totals)
}
