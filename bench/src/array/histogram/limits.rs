//! The histogram by hand, on bare threads.

use super::job::Updates;
use crate::{
    clock::{WARM_UP, clocked},
    contest::Sample,
    raw::{
        barrier::{Barrier, Gate},
        buckets::{PlaceBuckets, ValueBuckets},
        memory::{areas, lent, slices, with_group},
        team::team_of,
    },
};
use superstep::Result;

/// Places alone travel, and the owner adds one at each.
pub(crate) fn one(updates: &Updates, rounds: u64) -> Result<Sample> {
    let (procs, len) = (updates.procs(), updates.len);
    with_group(|g| {
        let tables = areas::<u64>(g, procs, len);
        let places = areas::<u32>(g, procs * procs, updates.indices[0].len());
        let (mut tables, mut places) = (lent(&tables), lent(&places));
        let (buckets, gate) = (PlaceBuckets::new(procs, len, slices(&mut places)), Gate::for_team(procs));
        team_of(slices(&mut tables), |rank, table| {
            let seconds = clocked(rounds, |round| {
                buckets.fill(rank, &updates.indices[rank]);
                gate.wait(rank, 2 * round - 1);
                buckets.empty(rank, |places| {
                    for &at in places {
                        table[at as usize] += 1;
                    }
                });
                gate.wait(rank, 2 * round);
            });
            Sample::by_hand(seconds, updates.are_counted(table, rank, WARM_UP + rounds))
        })
    })
}

/// Places travel with a value each, which the owner adds.
pub(crate) fn each(updates: &Updates, rounds: u64) -> Result<Sample> {
    let (procs, len) = (updates.procs(), updates.len);
    with_group(|g| {
        let tables = areas::<u64>(g, procs, len);
        let (places, values) = ValueBuckets::memory(g, procs, updates.indices[0].len());
        let (mut tables, mut places, mut values) = (lent(&tables), lent(&places), lent(&values));
        let buckets = ValueBuckets::new(procs, len, slices(&mut places), slices(&mut values));
        let gate = Gate::for_team(procs);
        team_of(slices(&mut tables), |rank, table| {
            let seconds = clocked(rounds, |round| {
                buckets.fill(rank, &updates.indices[rank], &updates.values[rank]);
                gate.wait(rank, 2 * round - 1);
                buckets.empty(rank, |places, values| {
                    for (&at, value) in places.iter().zip(values) {
                        table[at as usize] += value;
                    }
                });
                gate.wait(rank, 2 * round);
            });
            Sample::by_hand(seconds, updates.are_summed(table, rank, WARM_UP + rounds))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_count_right() {
        for procs in [1, 2, 3] {
            let updates = Updates::new(procs, 100, 1000);
            for limit in [one, each] {
                assert!(limit(&updates, 2).expect("the run succeeds").verified);
            }
        }
    }
}
