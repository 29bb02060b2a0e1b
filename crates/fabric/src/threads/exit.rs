//! A program that ends itself in the middle of a run.
//!
//! The other processors are threads of the same process, and vanish without a word. Nothing can stop that, but it is
//! said which processor has ended the program, and the code is not that of success (X4). So it is where a thread that
//! the program has started does it. Where the system does not tell the code, it is always 1; under Windows nothing can
//! be said.

use crate::system;
use std::{
    cell::Cell,
    sync::{
        Once,
        atomic::{AtomicU32, AtomicUsize, Ordering},
    },
};

thread_local! {
    /// The number of the processor that this thread is.
    static PROCESSOR: Cell<Option<usize>> = const { Cell::new(None) };
}

/// The process in which processors may end the program. Forked ones have a watch of their own.
static PROCESS: AtomicU32 = AtomicU32::new(0);

/// How many runs are under way in this process.
static RUNS: AtomicUsize = AtomicUsize::new(0);

/// A run that is under way, until it is dropped.
pub(crate) struct Underway(());

impl Drop for Underway {
    fn drop(&mut self) {
        RUNS.fetch_sub(1, Ordering::AcqRel);
    }
}

/// Asks to be told when the process ends. Who begins a run does so, and keeps what it gets until the run has ended.
pub(crate) fn watch() -> Underway {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        PROCESS.store(std::process::id(), Ordering::Release);
        system::at_exit(at_exit);
    });
    RUNS.fetch_add(1, Ordering::AcqRel);
    Underway(())
}

/// The number of the processor that this thread is, if it is one.
pub(crate) fn processor() -> Option<usize> {
    PROCESSOR.get()
}

/// Does the work of a processor, on this thread.
pub(crate) fn being<R>(processor: usize, work: impl FnOnce() -> R) -> R {
    PROCESSOR.set(Some(processor));
    let result = work();
    PROCESSOR.set(None);
    result
}

/// Ends the process, with what has happened.
pub(crate) fn give_up(why: &str) -> ! {
    eprintln!("Error: {why}");
    system::exit_now(1)
}

/// The process ends. It does so on the thread that has asked for it.
fn at_exit(code: Option<i32>) {
    let processor = PROCESSOR.try_with(Cell::get).ok().flatten();
    let is_underway = processor.is_some() || RUNS.load(Ordering::Acquire) > 0;
    if !is_underway || std::process::id() != PROCESS.load(Ordering::Acquire) {
        return;
    }
    let (who, whose) = match processor {
        Some(processor) => (format!("processor {processor}"), "it"),
        None => ("a thread that is no processor".to_owned(), "a processor"),
    };
    let how = code.map_or_else(String::new, |code| format!(" with code {code}"));
    eprintln!(
        "superstep: {who} has ended the program{how} in the middle of a run; let {whose} return an error or panic \
         instead, so that the others hear of it"
    );
    // A code that nobody knows may be 0.
    if code.is_none_or(|code| code == 0) {
        system::flush_streams();
        system::exit_now(1);
    }
}
