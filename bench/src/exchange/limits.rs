//! The same exchange by hand, on bare threads.
//!
//! A source is shared for reading, so its content cannot change between rounds; what arrived is checked after the last.

use super::{
    WORDS,
    pattern::{fill, is_complete, is_from, offset, others, source},
};
use crate::{
    clock::{WARM_UP, clocked},
    contest::Sample,
    raw::{
        barrier::{Barrier, Gate},
        memory::with_buffers,
        team::{lock, team, team_of},
    },
};
use std::{
    sync::Mutex,
    time::{Duration, Instant},
};
use superstep::Result;

/// Each copies out of the others' sources into a target that it has.
pub(super) fn memcpy(procs: usize, rounds: u64) -> Result<Sample> {
    let per_member = procs - 1;
    with_buffers(procs + procs * per_member, WORDS, |mut sources| {
        let mut targets = sources.split_off(procs);
        for (rank, source) in sources.iter_mut().enumerate() {
            fill(source, rank);
        }
        let (sources, gate) = (&sources, Gate::for_team(procs));
        team_of(targets.chunks_mut(per_member), |rank, target| {
            let seconds = clocked(rounds, |round| {
                for (part, from) in target.iter_mut().zip(others(rank, procs)) {
                    part.copy_from_slice(sources[from]);
                }
                gate.wait(rank, round);
            });
            let verified = target.iter().zip(others(rank, procs)).all(|(part, from)| is_from(part, from, None));
            Sample::by_hand(seconds, verified)
        })
    })
}

/// What one thread hands another by moving it; two by turns, so that one barrier per round is enough.
type Slot = [Mutex<Option<Vec<u64>>>; 2];

/// Each copies its source into new buffers and gives them away.
#[expect(clippy::unnecessary_wraps, reason = "the other limits can fail")]
pub(super) fn owned(procs: usize, rounds: u64) -> Result<Sample> {
    let slots: Vec<Slot> = (0..procs * procs).map(|_| Slot::default()).collect();
    let gate = Gate::for_team(procs);
    Ok(team(procs, |rank| {
        let (mine, mut received) = (source(rank), Vec::new());
        let seconds = clocked(rounds, |round| {
            let turn = (round % 2) as usize;
            // Freed before the next are made, as in a loop whose body keeps nothing.
            received.clear();
            for to in others(rank, procs) {
                *lock(&slots[rank * procs + to][turn]) = Some(mine.clone());
            }
            gate.wait(rank, round);
            received.extend(others(rank, procs).map(|from| (from, lock(&slots[from * procs + rank][turn]).take())));
        });
        let is_right =
            |(from, part): &(usize, Option<Vec<u64>>)| part.as_ref().is_some_and(|p| is_from(p, *from, None));
        Sample::by_hand(seconds, received.len() == procs - 1 && received.iter().all(is_right))
    }))
}

/// Each copies out of the others' sources into new buffers that it keeps.
pub(super) fn fresh(procs: usize, rounds: u64) -> Result<Sample> {
    with_buffers(procs, WORDS, |mut sources| {
        for (rank, source) in sources.iter_mut().enumerate() {
            fill(source, rank);
        }
        let (sources, gate) = (&sources, Gate::for_team(procs));
        team(procs, |rank| {
            let mut received = Vec::new();
            let seconds = clocked(rounds, |round| {
                received.clear();
                received.extend(others(rank, procs).map(|from| (from, sources[from].to_vec())));
                gate.wait(rank, round);
            });
            let verified =
                received.len() == procs - 1 && received.iter().all(|(from, part)| is_from(part, *from, None));
            Sample::by_hand(seconds, verified)
        })
    })
}

/// Each copies its source into buffers in between; after a barrier those they are for copy them out.
pub(super) fn buffered(procs: usize, rounds: u64) -> Result<Sample> {
    let len = (procs - 1) * WORDS;
    with_buffers(2 * procs, len, |mut targets| {
        let between: Vec<_> = targets.split_off(procs).into_iter().map(Mutex::new).collect();
        let gate = Gate::for_team(procs);
        team_of(targets, |rank, target| {
            let mine = source(rank);
            let seconds = clocked(rounds, |round| {
                let mut out = lock(&between[rank]);
                for to in others(rank, procs) {
                    out[offset(rank, to, procs)..][..WORDS].copy_from_slice(&mine);
                }
                drop(out);
                gate.wait(rank, 2 * round - 1);
                for from in others(rank, procs) {
                    let at = offset(from, rank, procs);
                    target[at..][..WORDS].copy_from_slice(&lock(&between[from])[at..][..WORDS]);
                }
                gate.wait(rank, 2 * round);
            });
            Sample::by_hand(seconds, is_complete(target, rank, procs, None))
        })
    })
}

/// Each gives new buffers away; those they are for copy them out and free them. The clock stands while they are made.
pub(super) fn given(procs: usize, rounds: u64) -> Result<Sample> {
    with_buffers(procs, (procs - 1) * WORDS, |targets| {
        let slots: Vec<Mutex<Option<Vec<u64>>>> = (0..procs * procs).map(|_| Mutex::default()).collect();
        let gate = Gate::for_team(procs);
        team_of(targets, |rank, target| {
            let mine = source(rank);
            let mut elapsed = Duration::ZERO;
            for round in 1..=WARM_UP + rounds {
                let mut away: Vec<_> = others(rank, procs).map(|to| (to, mine.clone())).collect();
                gate.wait(rank, 2 * round - 1);
                let start = Instant::now();
                for (to, values) in away.drain(..) {
                    *lock(&slots[rank * procs + to]) = Some(values);
                }
                gate.wait(rank, 2 * round);
                for from in others(rank, procs) {
                    let values = lock(&slots[from * procs + rank]).take().unwrap_or_default();
                    target[offset(from, rank, procs)..][..WORDS].copy_from_slice(&values);
                }
                if round > WARM_UP {
                    elapsed += start.elapsed();
                }
            }
            Sample::by_hand(elapsed.as_secs_f64(), is_complete(target, rank, procs, None))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_limit_moves_what_it_should() {
        for limit in [memcpy, owned, fresh, buffered, given] {
            for procs in [2, 3] {
                assert!(limit(procs, 1).expect("the run succeeds").verified);
            }
        }
    }
}
