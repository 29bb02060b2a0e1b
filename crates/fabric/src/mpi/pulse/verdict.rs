//! One failure for all processes: of several that fail at once, the one that process 0 has counts.

use super::{
    datagram::Word,
    state::{BEAT, Pulse, Verdict},
};
use crate::{
    failure::Failure,
    lock::lock,
    threads::wait::nap_until,
    wire::{Damaged, Reader, Writer as _},
};
use std::{cell::Cell, sync::atomic::Ordering, time::Instant};

impl Pulse {
    /// The failure of this run that all processes return. Process 0 tells the others its own, and they wait for that:
    /// as long as process 0 is there, because it ends its run or is ended.
    pub(in crate::mpi) fn agree(&self, run: u64, mine: Failure) -> Failure {
        let Some(beat) = &self.beat else { return mine };
        if beat.me == 0 {
            return self.pronounce(run, mine.write()).unwrap_or(mine);
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

    /// Process 0 says what counts, and gives it. What it has said of a run stands: a failure that was heard after its
    /// processors had ended may have been pronounced before its own.
    fn pronounce(&self, run: u64, failure: Vec<u8>) -> Result<Failure, Damaged> {
        let mut verdict = lock(&self.verdict);
        if verdict.run < run {
            *verdict = Verdict { run, failure };
        }
        let counts = Failure::read(&verdict.failure);
        drop(verdict);
        self.repeat_verdict();
        counts
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
            // Whoever spreads it reads what counts from the verdict.
            let _ = self.pronounce(run, failure.to_vec());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::state::{Beat, Words},
        *,
    };
    use crate::{alarm::Alarm, sight, threads::ThreadAlarm};
    use std::{net::UdpSocket, sync::Arc};

    /// X3: what process 0 hears between the end of its processors and its own word is what all others have heard too.
    #[test]
    fn process_0_stands_by_what_it_has_said() {
        let socket = UdpSocket::bind("127.0.0.1:0").expect("there is a socket");
        let beat = Beat { socket, others: 1, token: 7, me: 0, addresses: Vec::new() };
        let pulse = Pulse::new(Some(beat), 1, BEAT);
        let alarm: Arc<dyn Alarm> = Arc::new(ThreadAlarm::new(1, 0));
        let words: Words = |failure| failure.to_string();
        let limits = sight::Limits { notice: BEAT, most: BEAT };
        pulse.begin(3, Arc::clone(&alarm), alarm, words, sight::sightings(1), limits);
        let [mine, theirs] = [0, 1].map(|rank| Failure::GaveUp { rank, report: [].into() });
        pulse.end();
        let mut heard = Vec::new();
        heard.put(3u64);
        heard.bytes(&theirs.write());
        pulse.hear(&heard);
        assert_eq!(pulse.agree(3, mine.clone()), theirs);
        assert_eq!(pulse.agree(4, mine.clone()), mine, "another run has a verdict of its own");
    }
}
