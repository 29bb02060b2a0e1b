//! Which cores a thread may run on.
//!
//! # Invariants
//!
//! - **B1** A `cpu_set_t` is an array of integers: zeros are a value of it, and every index below `CPU_SETSIZE` is in
//!   it.
//! - **B2** The kernel reads and writes no more of a set than the size it is told, and it is told that of a
//!   `cpu_set_t`.

use std::{mem::zeroed, sync::OnceLock};

type Set = libc::cpu_set_t;
const SIZE: usize = size_of::<Set>();

/// The cores that a thread may use, 0 being the calling one.
fn of_thread(thread: libc::pid_t) -> Option<Set> {
    // SAFETY: B1.
    let mut set = unsafe { zeroed::<Set>() };
    // SAFETY: B2.
    let code = unsafe { libc::sched_getaffinity(thread, SIZE, &raw mut set) };
    (code == 0).then_some(set)
}

/// Lets the calling thread use just these cores.
fn allow(set: &Set) -> bool {
    // SAFETY: B2; 0 is the calling thread.
    unsafe { libc::sched_setaffinity(0, SIZE, set) == 0 }
}

fn cores(set: &Set) -> Vec<usize> {
    // SAFETY: B1.
    (0..libc::CPU_SETSIZE as usize).filter(|&core| unsafe { libc::CPU_ISSET(core, set) }).collect()
}

pub(crate) fn allowed() -> Set {
    static ALLOWED: OnceLock<Set> = OnceLock::new();
    *ALLOWED.get_or_init(|| {
        // SAFETY: it takes nothing and cannot fail.
        let process = unsafe { libc::getpid() };
        of_thread(process).expect("the kernel tells which cores this process may use")
    })
}

/// Binds the calling thread to the `rank`-th core that this process may use, counted round, or to all of them again.
pub(crate) fn bind(rank: Option<usize>) {
    let allowed = allowed();
    let set = rank.map_or(allowed, |rank| {
        let cores = cores(&allowed);
        // SAFETY: B1.
        let mut one = unsafe { zeroed::<Set>() };
        // SAFETY: B1; the core's number came out of a set.
        unsafe { libc::CPU_SET(cores[rank % cores.len()], &mut one) };
        one
    });
    assert!(allow(&set), "the kernel refused to bind a thread to a core that it allows");
}

/// Moves the calling thread to another core than the one it is on, if it may use any other, and lets it go where it
/// likes after that.
#[cfg(not(loom))]
pub(super) fn step_aside() {
    // Miri has no cores.
    if cfg!(miri) {
        return;
    }
    // SAFETY: it takes nothing; a negative answer means that it does not know.
    let here = unsafe { libc::sched_getcpu() };
    let Some(allowed) = of_thread(0).filter(|_| here >= 0) else { return };
    let mut others = allowed;
    // SAFETY: B1; the kernel numbers cores below CPU_SETSIZE, and the macro ignores others.
    unsafe { libc::CPU_CLR(here as usize, &mut others) };
    // SAFETY: B1.
    let count = unsafe { libc::CPU_COUNT(&others) };
    if count > 0 && allow(&others) {
        // Nothing is lost if this fails: the thread then stays among the others.
        allow(&allowed);
    }
}
