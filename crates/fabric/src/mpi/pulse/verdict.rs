//! One failure for all processes: of several that fail at once, the one that process 0 has counts.

use super::{
    datagram::Word,
    state::{BEAT, Pulse, Verdict},
};
use crate::{
    failure::Failure,
    lock::lock,
    threads::wait::nap_until,
    wire::{Reader, Writer as _},
};
use std::{cell::Cell, sync::atomic::Ordering, time::Instant};

impl Pulse {
    /// The failure of this run that all processes return. Process 0 tells the others its own, and they wait for that:
    /// as long as process 0 is there, because it ends its run or is ended.
    pub(in crate::mpi) fn agree(&self, run: u64, mine: Failure) -> Failure {
        let Some(beat) = &self.beat else { return mine };
        if beat.me == 0 {
            self.pronounce(run, mine.write());
            return mine;
        }
        let told = Cell::new(None);
        nap_until(|| {
            let now = Instant::now();
            // What was said before may be lost.
            if told.get().is_none_or(|told| now.saturating_duration_since(told) >= BEAT) {
                told.set(Some(now));
                self.spread(run, &mine);
            }
            lock(&self.verdict).run >= run || self.is_leaderless.load(Ordering::Acquire)
        });
        let verdict = lock(&self.verdict);
        if verdict.run == run { Failure::read(&verdict.failure).unwrap_or(mine) } else { mine }
    }

    /// Process 0 says what counts.
    fn pronounce(&self, run: u64, failure: Vec<u8>) {
        *lock(&self.verdict) = Verdict { run, failure };
        self.repeat_verdict();
    }

    /// Says it again: it may have been lost, and somebody may wait for it.
    pub(super) fn repeat_verdict(&self) {
        let mut bytes = Vec::new();
        let verdict = lock(&self.verdict);
        if verdict.run > 0 && self.beat.as_ref().is_some_and(|beat| beat.me == 0) {
            bytes.put(verdict.run);
            bytes.bytes(&verdict.failure);
            drop(verdict);
            self.say(Word::Verdict, &bytes);
        }
    }

    /// Takes in what process 0 has said.
    pub(super) fn hear_verdict(&self, bytes: &[u8]) {
        let mut reader = Reader::new(bytes);
        let mut verdict = lock(&self.verdict);
        if let Ok(run) = reader.get::<u64>()
            && run > verdict.run
        {
            *verdict = Verdict { run, failure: reader.rest().to_vec() };
        }
    }

    /// Process 0 hears of a failure of a run that has ended well for it: then that failure counts.
    pub(super) fn hear_late(&self, run: u64, failure: &[u8]) {
        let is_leader = self.beat.as_ref().is_some_and(|beat| beat.me == 0);
        if is_leader && run <= self.ended.load(Ordering::Acquire) && lock(&self.verdict).run < run {
            self.pronounce(run, failure.to_vec());
        }
    }
}
