//! A program that ends itself in the middle of a run.
//!
//! The other processors are threads of the same process, and vanish without a word. Nothing can call the program back,
//! but it can be said which processor has ended it; and that all is well is not what a run says that has not ended
//! (X4).

use std::{
    cell::Cell,
    ffi::{c_int, c_void},
    sync::{
        Once,
        atomic::{AtomicU32, Ordering},
    },
};

thread_local! {
    /// The number of the processor that this thread is.
    static PROCESSOR: Cell<Option<usize>> = const { Cell::new(None) };
}

/// The process in which processors may end the program; those that it forks are looked after by others.
static PROCESS: AtomicU32 = AtomicU32::new(0);

/// Asks to be told when the process ends. Who begins a run does so.
pub(crate) fn watch() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        PROCESS.store(std::process::id(), Ordering::Release);
        // SAFETY: the function may be called when the process ends, and makes no use of what it is handed.
        unsafe { on_exit(at_exit, std::ptr::null_mut()) };
    });
}

/// Does the work of a processor, on this thread.
pub(crate) fn being<R>(processor: usize, work: impl FnOnce() -> R) -> R {
    PROCESSOR.set(Some(processor));
    let result = work();
    PROCESSOR.set(None);
    result
}

unsafe extern "C" {
    /// Lets a function be called with the code when the process ends.
    fn on_exit(call: extern "C" fn(c_int, *mut c_void), with: *mut c_void) -> c_int;
}

/// The process ends. It does so on the thread that has asked for it.
extern "C" fn at_exit(code: c_int, _: *mut c_void) {
    let Ok(Some(processor)) = PROCESSOR.try_with(Cell::get) else { return };
    if std::process::id() != PROCESS.load(Ordering::Acquire) {
        return;
    }
    eprintln!(
        "superstep: processor {processor} has ended the program with code {code} in the middle of a run; let it return \
         an error or panic instead, so that the others hear of it"
    );
    if code == 0 {
        // SAFETY: with nothing it flushes all streams of the C library.
        unsafe { libc::fflush(std::ptr::null_mut()) };
        // SAFETY: the process is ending already.
        unsafe { libc::_exit(1) };
    }
}
