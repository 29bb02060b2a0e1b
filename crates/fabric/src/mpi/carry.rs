//! Memory that goes straight from one process to another.

use super::{
    calls::{Arrived, PIECE, Request},
    endpoint::{Endpoint, State},
    pulse,
};
use crate::{
    alarm::Alarm,
    failure::Failure,
    lock::lock,
    memory::try_make_room,
    sight::{Stint, own_task},
    threads::wait::nap_until,
};
use std::{
    ffi::c_int,
    ops::Range,
    time::{Duration, Instant},
};

/// The first tag of such pieces, and how many there are in every MPI.
const TO_PLACE: c_int = 0x100;
const TAGS: usize = 0x7FFF - TO_PLACE as usize;
/// How long whoever waits for others to deal with a failure rests between two looks.
const NAP: Duration = Duration::from_millis(1);
/// How often whoever has ended polls before it rests again.
const POLLS: usize = 64;
/// Every two threads have a tag of their own. With so many of them several runs still have different ones.
const THREADS_MAX: usize = 64;

/// One end of a way between two threads of two processes.
#[derive(Clone, Copy)]
pub(super) struct Way {
    /// The processor at the other end, and its process.
    other: usize,
    process: usize,
    tag: c_int,
}

impl Way {
    /// The way from thread `thread` of this process to a processor, or back from it, in the run with this number; none
    /// if a process has too many threads, of which there are `threads` in each.
    ///
    /// A run that failed may leave pieces behind that were sent and that nobody has asked for. Those of the next runs
    /// have other tags.
    pub(super) fn new(run: u64, [thread, threads]: [usize; 2], other: usize, is_back: bool) -> Option<Self> {
        let (mine, theirs) = (thread, other % threads);
        let (source, target) = if is_back { (theirs, mine) } else { (mine, theirs) };
        let tag = Self::tags(run, threads).nth(source * threads + target)?;
        Some(Self { other, process: other / threads, tag })
    }

    /// The tags of all ways of a run, of which there are none if a process has too many threads.
    fn tags(run: u64, threads: usize) -> Range<c_int> {
        let pairs = if threads <= THREADS_MAX { threads * threads } else { 0 };
        let turn = (run % (TAGS / pairs.max(1)) as u64) as usize;
        let first = TO_PLACE + (turn * pairs) as c_int;
        first..first + pairs as c_int
    }
}

impl Endpoint {
    /// Sends all of `out` and receives all of `into`, and returns when all is done.
    ///
    /// What is borrowed is in MPI's hands meanwhile (P3), so this does not return before, whatever happens. When the
    /// run has failed and the other side does not come, what was to be received is given up, and what was sent is
    /// [swallowed](Self::swallow) by the other process. Where that does not happen either, the process ends.
    pub(super) fn carry(
        &self,
        out: &[(Way, &[u8])],
        into: &mut [(Way, &mut [u8])],
        alarm: &dyn Alarm,
    ) -> Result<(), Failure> {
        if let Some(failure) = alarm.raised() {
            return Err(failure);
        }
        let mut requests: Vec<(Request, Option<(usize, usize)>)> = Vec::new();
        let mut state = lock(&self.state);
        for (Way { other, process, tag }, place) in into {
            for piece in place.chunks_mut(PIECE) {
                let len = piece.len();
                // SAFETY: P3: `into` is borrowed until this returns, and that is when the request is done.
                let request = unsafe { self.mpi.receive(piece, Some(*process), *tag) };
                requests.push((request, Some((*other, len))));
            }
        }
        for (Way { process: to, tag, .. }, bytes) in out {
            for piece in bytes.chunks(PIECE) {
                state.sent += 1;
                // SAFETY: P3: `out` is borrowed until this returns.
                requests.push((unsafe { self.mpi.send(piece, *to, *tag) }, None));
            }
        }
        drop(state);
        let (mut outcome, mut failed) = (Ok(()), None);
        while !requests.is_empty() {
            let mut state = lock(&self.state);
            requests.retain_mut(|(request, expected)| {
                let Some(arrived) = self.mpi.is_done(request) else { return true };
                if let Some((from, len)) = *expected
                    && arrived.len != len
                {
                    outcome = Err(Failure::Damaged { rank: from });
                }
                false
            });
            self.poll_with(&mut state);
            if let Some(failure) = alarm.raised() {
                if failed.is_none() {
                    let receives = requests.iter_mut().filter(|(_, expected)| expected.is_some());
                    receives.for_each(|(request, _)| self.mpi.begin_to_cancel(request));
                }
                self.swallow(&mut state);
                drop(state);
                let stint = failed.get_or_insert_with(|| Stint::of(std::process::id().cast_signed(), own_task()));
                if stint.had(pulse::TICK) > 2 * pulse::GRACE {
                    pulse::give_up(&failure.to_string());
                }
                outcome = Err(failure);
                std::thread::sleep(NAP);
            }
        }
        outcome
    }

    /// Takes, and throws away, what others have sent straight to processors of this process in the run under way, which
    /// has failed: nobody asks for it any more, and they cannot go on before.
    fn swallow(&self, state: &mut State) {
        let Some(run) = &state.run else { return };
        for tag in Way::tags(run.number, run.slots.len()) {
            while let Some(Arrived { from, len }) = self.mpi.probe(tag) {
                let mut bytes = Vec::new();
                if !try_make_room(&mut bytes, len) {
                    return;
                }
                bytes.resize(len, 0);
                // SAFETY: P3: the vector's bytes stay where they are in `strays` until the request is done.
                let request = unsafe { self.mpi.receive(&mut bytes, Some(from), tag) };
                state.strays.push((request, bytes));
            }
        }
    }

    /// Waits until all other processes have ended the run under way, which has failed, but not for long; and swallows
    /// meanwhile what they wait to get rid of.
    pub(super) fn see_off(&self) {
        let began = Instant::now();
        self.say_ended();
        nap_until(|| {
            let mut state = lock(&self.state);
            (0..POLLS).for_each(|_| self.poll_with(&mut state));
            self.swallow(&mut state);
            state.count_ended() + 1 >= self.processes || began.elapsed() >= 4 * pulse::GRACE
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ends_of_a_way_have_one_tag_and_no_two_ways_do() {
        for threads in [1, 2, 3, THREADS_MAX] {
            let mut tags = std::collections::BTreeSet::new();
            for (run, source, target) in
                (0..4u64).flat_map(|run| (0..threads).flat_map(move |a| (0..threads).map(move |b| (run, a, b))))
            {
                let there =
                    Way::new(run, [source, threads], 5 * threads + target, false).expect("there are not too many");
                let back =
                    Way::new(run, [target, threads], 7 * threads + source, true).expect("there are not too many");
                assert_eq!((there.tag, there.process, back.process), (back.tag, 5, 7));
                assert!((TO_PLACE..=0x7FFF).contains(&there.tag) && tags.insert(there.tag));
            }
        }
        assert!(Way::new(0, [0, THREADS_MAX + 1], 0, false).is_none());
    }
}
