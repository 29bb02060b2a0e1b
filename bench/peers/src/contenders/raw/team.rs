//! Bare threads that start and stop the clock together.

use crate::{PROCS, Sample};
use std::{
    sync::{Barrier, OnceLock},
    time::Instant,
};

/// One thread of a team.
pub(super) struct Member<'a> {
    pub(super) rank: usize,
    gate: &'a Barrier,
}

impl Member<'_> {
    /// Waits for all others.
    pub(super) fn meet(&self) {
        self.gate.wait();
    }

    /// How many seconds it takes until all members have done their work.
    pub(super) fn timed<R>(&self, work: impl FnOnce() -> R) -> (f64, R) {
        self.meet();
        let start = Instant::now();
        let result = work();
        self.meet();
        (start.elapsed().as_secs_f64(), result)
    }
}

/// Runs `body` on fresh threads.
pub(super) fn team(body: impl Fn(&Member<'_>) -> Sample + Sync) -> Sample {
    team_of([(); PROCS], |member, ()| body(member))
}

/// Runs `body` on a fresh thread for each of `parts`.
pub(super) fn team_of<P: Send>(
    parts: impl IntoIterator<Item = P, IntoIter: ExactSizeIterator>,
    body: impl Fn(&Member<'_>, P) -> Sample + Sync,
) -> Sample {
    let parts = parts.into_iter();
    let gate = Barrier::new(parts.len());
    superstep_bench::team_of(parts, |rank, part| body(&Member { rank, gate: &gate }, part))
}

/// What each member hands to the others, once: given before a meeting and seen after it.
pub(super) struct Handover<T>([OnceLock<T>; PROCS]);

impl<T> Handover<T> {
    pub(super) fn new() -> Self {
        Self([const { OnceLock::new() }; PROCS])
    }

    pub(super) fn give(&self, rank: usize, what: T) {
        assert!(self.0[rank].set(what).is_ok(), "a member gives once");
    }

    pub(super) fn seen(&self, rank: usize) -> &T {
        self.0[rank].get().expect("it was given before the meeting")
    }
}
