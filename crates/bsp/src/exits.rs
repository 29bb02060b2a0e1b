//! What is done when the program ends, wherever it does.

use crate::{
    failing::{Fault, fail, last_words},
    parting::flush,
    phase::{self, Phase},
};
use fabric::{Failure, mpi};
use std::{
    ptr::null_mut,
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

/// Whether `bsp_init` was called.
static IS_INITIALISED: AtomicBool = AtomicBool::new(false);

/// Notes that `bsp_init` was called; says whether it was before.
pub(crate) fn initialise() -> bool {
    IS_INITIALISED.swap(true, Ordering::AcqRel)
}

/// Asks to be told when the process ends.
pub(crate) fn watch_exit() {
    static IS_WATCHED: AtomicBool = AtomicBool::new(false);
    if !IS_WATCHED.swap(true, Ordering::AcqRel) {
        // SAFETY: the function may be called when the process ends, and makes no use of what it is handed.
        unsafe { on_exit(at_exit, null_mut()) };
        // SAFETY: the function may be called when the process ends.
        unsafe { at_quick_exit(at_quick_end) };
    }
}

unsafe extern "C" {
    /// Lets a function be called with the code when the process ends.
    fn on_exit(call: extern "C" fn(i32, *mut libc::c_void), with: *mut libc::c_void) -> i32;

    /// Lets a function be called when the process ends in a hurry.
    fn at_quick_exit(call: extern "C" fn()) -> i32;
}

/// The process ends in a hurry.
extern "C" fn at_quick_end() {
    at_exit(1, null_mut());
}

/// The process ends: it should have ended its parallel part, and have had one.
extern "C" fn at_exit(code: i32, _: *mut libc::c_void) {
    if !phase::is_adopted() {
        // A process that the program has forked for itself.
        return;
    }
    match phase::now() {
        Phase::Inside => fail("bsp_end", Fault::MissingEnd),
        Phase::Before if IS_INITIALISED.load(Ordering::Acquire) => {
            if code == 0 {
                fail("bsp_init", Fault::NoSpmdSection);
            }
            // The program ends before it begins; those that wait for it end with it.
            mpi::abort(code);
        }
        _ => {}
    }
}

/// How long to wait until what was printed is out: as long as a slow machine may need, because the rest is lost.
const PRINTING: Duration = Duration::from_secs(5);

/// What process 0 says when it is ended because another one has.
pub(crate) fn parting_words(failure: &Failure) -> String {
    // What it has printed is to come out. The thread that has just been stopped may be in the middle of printing, and
    // then nobody waits for it.
    let (done, is_done) = std::sync::mpsc::channel();
    let flushing = std::thread::Builder::new().spawn(move || {
        flush();
        let _ = done.send(());
    });
    if flushing.is_ok() {
        let _ = is_done.recv_timeout(PRINTING);
    }
    let words = last_words(failure);
    if words.is_empty() { words } else { format!("bsp_end: {words} before it has called bsp_end") }
}
