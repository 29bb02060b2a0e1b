//! Where a program is: before, inside or after its parallel part.

use fabric::mpi;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicUsize, Ordering};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    Before,
    Inside,
    After,
    /// In a process that the program has forked for itself after it had begun.
    Strange,
}

static PHASE: AtomicU8 = AtomicU8::new(Phase::Before as u8);
/// The process that has begun, or is about to.
static PROCESS: AtomicU32 = AtomicU32::new(0);
static RANK: AtomicUsize = AtomicUsize::new(usize::MAX);
/// How many processes there are, or were.
static SIZE: AtomicUsize = AtomicUsize::new(0);
/// Whether this process was forked since the library was loaded, by the program or by the library.
static IS_FORKED: AtomicBool = AtomicBool::new(false);

pub(crate) fn now() -> Phase {
    match PHASE.load(Ordering::Acquire) {
        0 => Phase::Before,
        1 => Phase::Inside,
        2 => Phase::After,
        _ => Phase::Strange,
    }
}

pub(crate) fn go_to(phase: Phase) {
    PHASE.store(phase as u8, Ordering::Release);
}

/// Notes which process has begun, or is about to.
pub(crate) fn adopt() {
    PROCESS.store(std::process::id(), Ordering::Release);
}

/// Whether this is the process that has begun, and no copy that the program has made of it.
pub(crate) fn is_adopted() -> bool {
    std::process::id() == PROCESS.load(Ordering::Acquire)
}

/// Notes that this process is a copy. The library itself forks only before the program has begun.
pub(crate) fn note_fork() {
    IS_FORKED.store(true, Ordering::Release);
    if now() != Phase::Before {
        go_to(Phase::Strange);
    }
}

/// Whether this process is a copy that the program has made for itself. One that was made before the program began, and
/// without a launcher, may begin on its own; under a launcher its parent alone has a place among the others.
pub(crate) fn is_stranger() -> bool {
    match now() {
        Phase::Strange => true,
        Phase::Before => IS_FORKED.load(Ordering::Acquire) && mpi::is_launched(),
        _ => false,
    }
}

/// Notes my number, and how many processes there are.
pub(crate) fn take_place(rank: usize, size: usize) {
    RANK.store(rank, Ordering::Release);
    SIZE.store(size, Ordering::Release);
}

/// My number, inside.
pub(crate) fn rank() -> Option<usize> {
    Some(RANK.load(Ordering::Acquire)).filter(|&rank| rank != usize::MAX)
}

/// How many processes there are, or were.
pub(crate) fn size() -> usize {
    SIZE.load(Ordering::Acquire)
}
