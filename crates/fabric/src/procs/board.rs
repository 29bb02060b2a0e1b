//! What the processes of a team can all see: who they are, where each is, and what has stopped them.

use super::{child::NOBODY, futex::Count};
use crate::{
    alarm::Alarm,
    failure::Failure,
    mapping::{Mappable, Mapping},
    sight::{Pen, Sighting, TeamSightings},
    system::is_alive,
    threads::wait::{idle, nap_until},
};
use std::{
    mem::offset_of,
    sync::{
        Arc,
        atomic::{AtomicI32, AtomicU8, AtomicU32, Ordering},
    },
};

/// The most processes a team can have.
pub const MOST: usize = 1024;

/// What the processes of a team can all see.
#[repr(C)]
pub(super) struct Board {
    /// Whether there is a failure: none, one that can be read, or one that a process is writing, by its number plus 1.
    pub(super) raised: AtomicU32,
    /// Whether somebody has said why the team is stopped.
    pub(super) spoken: AtomicU32,
    len: AtomicU32,
    pub(super) failure: [AtomicU8; 1 << 16],
    pub(super) seats: [Seat; MOST],
    /// What can be seen of the processes.
    pub(super) sightings: [Sighting; MOST],
}

// SAFETY: atomics alone.
unsafe impl Mappable for Board {}
// SAFETY: atomics alone.
unsafe impl Mappable for Sighting {}

#[repr(C, align(128))]
pub(super) struct Seat {
    /// 0 until it is known, and [`NOBODY`] where it must not be used.
    pub(super) pid: AtomicI32,
    pub(super) is_done: AtomicU32,
    /// Whether the process has seen that it can start threads.
    pub(super) starts_threads: AtomicU32,
    /// What the process sleeps on until something comes for it, or there is room in a ring.
    pub(super) bell: Count,
}

pub(super) const RAISED: u32 = u32::MAX;

/// Stops a team: its board, and the rank of the process that writes there.
#[derive(Clone)]
pub(super) struct TeamAlarm {
    pub(super) shared: Arc<Mapping>,
    pub(super) rank: usize,
}

impl TeamAlarm {
    fn board(&self) -> &Board {
        self.shared.get(0)
    }

    pub(super) fn pen(&self) -> Pen {
        let sightings = TeamSightings::new(Arc::clone(&self.shared), offset_of!(Board, sightings));
        Pen::of_team(sightings, self.rank)
    }

    /// Fails once the team was stopped.
    #[inline]
    pub(super) fn check(&self) -> Result<(), Failure> {
        if self.is_raised() { Err(self.failure()) } else { Ok(()) }
    }

    #[inline]
    pub(super) fn is_raised(&self) -> bool {
        self.board().raised.load(Ordering::Acquire) == RAISED
    }

    #[cold]
    fn failure(&self) -> Failure {
        self.pen().hear();
        self.raised().unwrap_or(Failure::Damaged { rank: 0 })
    }

    /// The system's number of a process.
    pub(super) fn pid(&self, rank: usize) -> i32 {
        pid(self.board(), rank)
    }

    /// Waits until the watch has written down that a process has died, if it has.
    #[cold]
    pub(super) fn await_death_of(&self, rank: usize) {
        nap_until(|| self.is_raised() || is_alive(self.pid(rank)));
    }

    /// Whether a process has said that it is done.
    pub(super) fn is_done(&self, rank: usize) -> bool {
        self.board().seats[rank].is_done.load(Ordering::Acquire) == 1
    }

    /// What process `rank` sleeps on until something comes for it, or there is room in a ring.
    #[inline]
    pub(super) fn bell(&self, rank: usize) -> &Count {
        &self.board().seats[rank].bell
    }
}

impl Alarm for TeamAlarm {
    fn raise(&self, failure: Failure) {
        raise(self.board(), self.rank, &failure);
    }

    fn raised(&self) -> Option<Failure> {
        raised(self.board())
    }
}

/// The system's number of a process, or [`NOBODY`]. Process 0 notes them as it forks, and the others may be quicker
/// than that. It never is 0, which the system takes for the caller.
pub(super) fn pid(board: &Board, rank: usize) -> i32 {
    let pid = || board.seats[rank].pid.load(Ordering::Acquire);
    idle(|| pid() != 0 || board.raised.load(Ordering::Acquire) == RAISED, std::thread::yield_now);
    if pid() == 0 { NOBODY } else { pid() }
}

/// Writes a failure on the board if nobody has, and returns when there is one to be read. If its writer dies, the watch
/// writes another.
pub(super) fn raise(board: &Board, rank: usize, failure: &Failure) {
    write(board, 0, rank, failure);
    idle(|| board.raised.load(Ordering::Acquire) == RAISED, std::thread::yield_now);
}

/// Writes a failure on the board if `raised` is `before`: 0, or the mark of a process that died while it wrote one.
pub(super) fn write(board: &Board, before: u32, rank: usize, failure: &Failure) {
    if board.raised.compare_exchange(before, 1 + rank as u32, Ordering::AcqRel, Ordering::Acquire).is_ok() {
        let bytes = failure.clone().within(board.failure.len()).write();
        for (place, &byte) in board.failure.iter().zip(&bytes) {
            place.store(byte, Ordering::Relaxed);
        }
        board.len.store(bytes.len() as u32, Ordering::Relaxed);
        board.raised.store(RAISED, Ordering::Release);
    }
    board.seats.iter().for_each(|seat| seat.bell.stir());
}

pub(super) fn raised(board: &Board) -> Option<Failure> {
    if board.raised.load(Ordering::Acquire) != RAISED {
        return None;
    }
    let len = board.len.load(Ordering::Relaxed) as usize;
    let bytes: Vec<u8> = board.failure.iter().take(len).map(|byte| byte.load(Ordering::Relaxed)).collect();
    Some(Failure::read(&bytes).unwrap_or(Failure::Damaged { rank: 0 }))
}
