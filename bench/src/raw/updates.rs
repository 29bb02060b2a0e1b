//! Updates that threads sort by owner into buckets, out of which the owners apply them: no atomics.

use super::{
    barrier::{Barrier, Gate},
    buckets::{PlaceBuckets, ValueBuckets},
    memory::{areas, lent, slices, with_group},
    team::team_of,
};
use crate::{
    clock::{WARM_UP, clocked},
    sample::Sample,
};
use fabric::{Ahead, visit, visit_each};
use superstep::Result;

/// Places alone travel, and the owner adds one at each. Every thread owns `len` elements; they are zeros before the
/// rounds that count.
pub fn increments<I: AsRef<[usize]> + Sync>(
    len: usize,
    indices: &[I],
    rounds: u64,
    judge: impl Fn(f64, usize, &[u64]) -> Sample + Sync,
) -> Result<Sample> {
    let procs = indices.len();
    with_group(|g| {
        let tables = areas::<u64>(g, procs, len);
        let places = areas::<u32>(g, procs * procs, indices[0].as_ref().len());
        let (mut tables, mut places) = (lent(&tables), lent(&places));
        let buckets = PlaceBuckets::new(procs, len, slices(&mut places));
        in_turns(
            slices(&mut tables),
            rounds,
            &judge,
            |rank| buckets.fill(rank, indices[rank].as_ref()),
            |rank, table| {
                let ahead = Ahead::of(table);
                buckets.empty(rank, |places| visit(places, ahead, |at| table[at] += 1));
            },
        )
    })
}

/// Places travel with a value each, which the owner `applies` to what is there. Otherwise as [`increments`].
pub fn updates<I: AsRef<[usize]> + Sync, V: AsRef<[u64]> + Sync>(
    len: usize,
    (indices, values): (&[I], &[V]),
    rounds: u64,
    apply: impl Fn(&mut u64, u64) + Sync,
    judge: impl Fn(f64, usize, &[u64]) -> Sample + Sync,
) -> Result<Sample> {
    let procs = indices.len();
    with_group(|g| {
        let tables = areas::<u64>(g, procs, len);
        let (places, kept) = ValueBuckets::memory(g, procs, indices[0].as_ref().len());
        let (mut tables, mut places, mut kept) = (lent(&tables), lent(&places), lent(&kept));
        let buckets = ValueBuckets::new(procs, len, slices(&mut places), slices(&mut kept));
        let fill = |rank: usize| buckets.fill(rank, indices[rank].as_ref(), values[rank].as_ref());
        in_turns(slices(&mut tables), rounds, &judge, fill, |rank, table| {
            let ahead = Ahead::of(table);
            buckets.empty(rank, |places, values| {
                visit_each(places, values, ahead, |at, &value| apply(&mut table[at], value));
            });
        })
    })
}

/// In each round all `fill`, meet, and `empty` into their tables.
fn in_turns(
    tables: Vec<&mut [u64]>,
    rounds: u64,
    judge: &(impl Fn(f64, usize, &[u64]) -> Sample + Sync),
    fill: impl Fn(usize) + Sync,
    empty: impl Fn(usize, &mut [u64]) + Sync,
) -> Sample {
    let gate = Gate::for_team(tables.len());
    team_of(tables, |rank, table| {
        let seconds = clocked(rounds, |round| {
            fill(rank);
            gate.wait(rank, 2 * round - 1);
            empty(rank, table);
            if round == WARM_UP {
                table.fill(0);
            }
            gate.wait(rank, 2 * round);
        });
        judge(seconds, rank, table)
    })
}
