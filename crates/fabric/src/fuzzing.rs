//! Doors for fuzzing, which are there under `--cfg fuzzing` alone: decoders by themselves, and damage on the way.
//!
//! Whatever a door is handed, it returns. The targets are in the folder `fuzz` beside the crates.

use crate::{
    failure::Failure,
    lock::lock,
    messages, mpi, procs,
    wire::{Damaged, Reader},
};
use std::{collections::VecDeque, sync::Mutex};

/// What stations of a circle tell each other in a meeting.
pub fn wave(bytes: &[u8]) {
    messages::fuzz(bytes);
}

/// The headers of packets, between forked processes and between those of MPI.
pub fn headers(bytes: &[u8]) {
    procs::fuzz(bytes);
    mpi::fuzz(bytes);
}

/// What comes through a ring between forked processes: packets in portions, long ones and offers of memory.
pub fn link(bytes: &[u8]) {
    procs::fuzz_link(bytes);
}

/// What processes tell each other beside MPI.
pub fn pulse(bytes: &[u8]) {
    mpi::fuzz_pulse(bytes);
}

/// What launchers and users say in the environment.
pub fn launcher() {
    mpi::fuzz_launcher();
}

/// A failure that another process has told.
pub fn failure(bytes: &[u8]) {
    if let Ok(failure) = Failure::read(bytes) {
        let again = Failure::read(&failure.write()).expect("what was written is read");
        assert_eq!(again, failure);
        assert!(!failure.to_string().is_empty());
    }
}

/// One change to a packet.
#[derive(Clone, Copy, Debug)]
struct Edit {
    /// How many packets pass before it.
    after: u8,
    how: u8,
    at: u16,
    value: u8,
}

/// The changes that are to come.
static PLAN: Mutex<VecDeque<Edit>> = Mutex::new(VecDeque::new());

/// Numbers at which lengths and counts go wrong.
const EDGES: [u64; 8] = [0, 1, 0xFFFF_FFFF, 1 << 32, 1 << 40, i64::MAX as u64, 1 << 63, u64::MAX];

/// Plans changes to the packets of the next simulated run: five bytes each.
pub fn plan(bytes: &[u8]) {
    let read = |reader: &mut Reader<'_>| -> Result<Edit, Damaged> {
        let [after, how] = reader.get()?;
        Ok(Edit { after, how, at: reader.get()?, value: reader.get()? })
    };
    let mut reader = Reader::new(bytes);
    *lock(&PLAN) = std::iter::from_fn(|| read(&mut reader).ok()).collect();
}

/// Changes a packet as was planned.
pub(crate) fn damage(packet: &mut Vec<u8>) {
    let mut plan = lock(&PLAN);
    while let Some(next) = plan.front_mut() {
        if next.after > 0 {
            next.after -= 1;
            return;
        }
        let Edit { how, at, value, .. } = *next;
        plan.pop_front();
        let at = usize::from(at) % (packet.len() + 1);
        match how % 5 {
            0 => packet.truncate(at),
            1 => packet.extend(std::iter::repeat_n(value, at)),
            2 => packet[at..].iter_mut().take(1).for_each(|byte| *byte = value),
            3 => packet[at..].iter_mut().take(1).for_each(|byte| *byte ^= 1 << (value % 8)),
            _ => {
                let edge = EDGES[usize::from(value) % EDGES.len()].to_le_bytes();
                packet[at..].iter_mut().zip(edge).for_each(|(byte, new)| *byte = new);
            }
        }
    }
}
