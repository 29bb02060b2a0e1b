//! Memory that goes straight from one process to another.

use super::{
    calls::{PIECE, Request},
    endpoint::Endpoint,
    pulse,
};
use crate::{
    alarm::Alarm,
    failure::Failure,
    lock::lock,
    sight::{Stint, own_task},
};
use std::ffi::c_int;

const TO_PLACE: c_int = 0x57;

impl Endpoint {
    /// Sends all of `out` and receives all of `into`, by the numbers of processes, and returns when all is done.
    ///
    /// What is borrowed is in MPI's hands meanwhile (P3), so this does not return before, whatever happens: when the
    /// run has failed and the other side never comes, the process ends.
    pub(super) fn carry(
        &self,
        out: &[(usize, &[u8])],
        into: &mut [(usize, &mut [u8])],
        alarm: &dyn Alarm,
    ) -> Result<(), Failure> {
        let mut requests: Vec<(Request, Option<(usize, usize)>)> = Vec::new();
        let mut state = lock(&self.state);
        for (from, place) in into {
            for piece in place.chunks_mut(PIECE) {
                let len = piece.len();
                // SAFETY: P3: `into` is borrowed until this returns, and that is when the request is done.
                let request = unsafe { self.mpi.receive(piece, Some(*from), TO_PLACE) };
                requests.push((request, Some((*from, len))));
            }
        }
        for (to, bytes) in out {
            for piece in bytes.chunks(PIECE) {
                state.sent += 1;
                // SAFETY: P3: `out` is borrowed until this returns.
                requests.push((unsafe { self.mpi.send(piece, *to, TO_PLACE) }, None));
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
            drop(state);
            if let Some(failure) = alarm.raised() {
                let stint = failed.get_or_insert_with(|| Stint::of(std::process::id().cast_signed(), own_task()));
                if stint.had(pulse::TICK) > 2 * pulse::GRACE {
                    pulse::give_up(&failure.to_string());
                }
                outcome = Err(failure);
            }
        }
        outcome
    }
}
