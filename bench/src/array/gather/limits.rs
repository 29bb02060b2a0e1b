//! The reads by hand, on bare threads.

use super::job::Reads;
use crate::{
    clock::clocked,
    contest::Sample,
    raw::{
        barrier::{Barrier, Gate},
        memory::{areas, lent, slices, with_group},
        team::team_of,
    },
};
use superstep::Result;

/// Each loads what it wants out of one table.
pub(super) fn loads(reads: &Reads, rounds: u64) -> Result<Sample> {
    let procs = reads.procs();
    with_group(|g| {
        let table = g.area::<u64>(procs * reads.len);
        table.local_mut().iter_mut().enumerate().for_each(|(index, value)| *value = Reads::at(index));
        let results = areas::<u64>(g, procs, reads.indices[0].len());
        let (table, mut results, gate) = (table.local(), lent(&results), Gate::for_team(procs));
        let table = &*table;
        team_of(slices(&mut results), |rank, values| {
            let seconds = clocked(rounds, |round| {
                for (value, &index) in values.iter_mut().zip(&reads.indices[rank]) {
                    *value = table[index];
                }
                gate.wait(rank, round);
            });
            Sample::by_hand(seconds, reads.are_right(values, rank))
        })
    })
}
