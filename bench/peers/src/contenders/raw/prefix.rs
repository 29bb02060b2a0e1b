//! Two sweeps: each thread sums its part, they meet, and each adds what stands before its part.

use super::team::{Handover, team_of};
use crate::{PROCS, contenders::huge, Sample, digest};

pub(crate) fn two_sweeps(terms: &[i64]) -> Sample {
    let mut sums = huge::copied(terms);
    let share = terms.len().div_ceil(PROCS);
    let handover = Handover::new();
    team_of(sums.chunks_mut(share), |member, part| {
        let (seconds, ()) = member.timed(|| {
            handover.give(member.rank, part.iter().sum::<i64>());
            member.meet();
            let mut sum = (0..member.rank).map(|rank| handover.seen(rank)).sum();
            for term in part.iter_mut() {
                sum += *term;
                *term = sum;
            }
        });
        Sample::of_answer(seconds, digest(member.rank * share, part.iter().copied()))
    })
}
