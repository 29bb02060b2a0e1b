//! What a panic said, and where.
//!
//! The payload of a panic does not know its place, and the hook that does cannot stop it. So a hook notes the place for
//! the processor it happens on, and whoever catches the panic picks it up. The hook that was there before still runs.

use crate::error::{Error, ErrorKind, Result};
use fabric::Failure;
use std::{
    any::Any,
    cell::RefCell,
    panic::{self, AssertUnwindSafe},
    sync::Once,
};

thread_local! {
    static PLACE: RefCell<Option<String>> = const { RefCell::new(None) };
    static LAST: RefCell<Option<Cause>> = const { RefCell::new(None) };
}

/// What a processor unwinds with.
#[derive(Clone)]
pub(crate) enum Cause {
    /// An error of this library.
    Error(Error),
    /// A panic of the program.
    Panic(Error),
}

/// Notes what this processor is about to unwind with.
pub(crate) fn note(cause: Cause) {
    LAST.with_borrow_mut(|last| *last = Some(cause));
}

/// What this processor unwinds with, for those who do not have the payload: what is dropped on the way.
pub(crate) fn last() -> Cause {
    let unknown = || Cause::Panic(Error::new(ErrorKind::Panicked, "a panic of which nothing is known"));
    LAST.with_borrow(Clone::clone).unwrap_or_else(unknown)
}

/// Makes sure that places are noted.
pub(crate) fn note_places() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if fabric::threads::is_processor() {
                let place = info.location().map(|at| format!("{}:{}", at.file(), at.line()));
                PLACE.with_borrow_mut(|last| *last = place);
                note(Cause::Panic(to_error(info.payload())));
            }
            before(info);
        }));
    });
}

/// The error that a caught payload stands for: one of this library's, or a panic of the program.
pub(crate) fn to_error(payload: &(dyn Any + Send)) -> Error {
    if let Some(error) = payload.downcast_ref::<Error>() {
        return error.clone();
    }
    let text = payload
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("a panic that is not a text");
    let place = PLACE.with_borrow(Clone::clone).unwrap_or_else(|| "an unknown place".to_owned());
    // One line, whatever the panic said.
    let text = text.lines().collect::<Vec<_>>().join("; ");
    Error::new(ErrorKind::Panicked, format!("{text} ({place})"))
}

/// Runs what the program has given to the library; what it panics with becomes an error that says what it was.
pub(crate) fn guard<R>(what: &str, run: impl FnOnce() -> Result<R>) -> Result<R> {
    panic::catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|payload| {
        let error = caught(payload);
        Err(match error.kind() {
            ErrorKind::Panicked => Error::new(ErrorKind::Panicked, format!("{what} panicked: {error}")),
            _ => error,
        })
    })
}

/// The error that a payload stands for which goes no further.
pub(crate) fn caught(payload: Box<dyn Any + Send>) -> Error {
    let error = to_error(&*payload);
    dispose(payload);
    error
}

/// Drops a payload. That runs code of the program, which may panic in its turn: whoever caught the first panic has told
/// the others of it already, and nobody is told of a second one. What the second one carries is not dropped any more.
pub(crate) fn dispose(payload: Box<dyn Any + Send>) {
    if let Err(second) = panic::catch_unwind(AssertUnwindSafe(|| drop(payload))) {
        std::mem::forget(second);
    }
    forget();
}

/// Forgets what was noted: a panic that runs no hook must not be taken for one that is over.
pub(crate) fn forget() {
    LAST.with_borrow_mut(Option::take);
    PLACE.with_borrow_mut(Option::take);
}

/// What a processor says of itself when it unwinds with `payload`.
pub(crate) fn last_words(processor: usize, payload: &(dyn Any + Send)) -> Failure {
    let mut error = to_error(payload);
    if error.kind() == ErrorKind::Panicked && payload.downcast_ref::<Error>().is_none() {
        error = Error::new(ErrorKind::Panicked, format!("processor {processor} panicked: {error}"));
    }
    Failure::GaveUp { rank: processor, report: error.report() }
}
