//! What a panic said, and where.
//!
//! The payload of a panic does not know its place, and the hook that does cannot stop it. So a hook notes the place for
//! the processor it happens on, and whoever catches the panic picks it up. The hook that was there before still runs.
//!
//! A panic that runs no hook ([`resume_unwind`](panic::resume_unwind)) must not get the place of another that was
//! caught before. So the hook also notes what was said, and a place counts only for a payload that says the same.

use crate::error::{Error, ErrorKind, Result, place};
use fabric::Failure;
use std::{
    any::{Any, TypeId},
    cell::{Cell, RefCell},
    panic::{self, AssertUnwindSafe, Location},
    sync::Once,
    thread,
};

thread_local! {
    static LAST: RefCell<Option<Noted>> = const { RefCell::new(None) };
    /// Whether nobody is to hear of a panic.
    static IS_SILENT: Cell<bool> = const { Cell::new(false) };
    /// Where the call is that runs functions of the program.
    static CALL: Cell<Option<&'static Location<'static>>> = const { Cell::new(None) };
}

/// A call that sorts by functions of the program. The standard library panics where it sees that such a function is no
/// order, at a line that says nothing to the program; so a panic says the line of the call as well.
pub(crate) struct Call {
    outer: Option<&'static Location<'static>>,
}

impl Call {
    pub(crate) fn at(site: &'static Location<'static>) -> Self {
        Self { outer: CALL.replace(Some(site)) }
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        CALL.set(self.outer);
    }
}

/// A place, and that of the call in which it is.
fn place_in_call(location: &Location<'_>) -> String {
    match CALL.get().map(place) {
        Some(call) if call != place(location) => format!("{}, in the call at {call}", place(location)),
        _ => place(location),
    }
}

/// What the hook has seen of a panic.
struct Noted {
    /// The type of the payload, which the text stands for where it is one.
    what: TypeId,
    text: Option<String>,
    place: String,
}

impl Error {
    /// Unwinds the processor with this error. The panic hook stays silent: `run` returns the error.
    pub(crate) fn raise(self) -> ! {
        panic::resume_unwind(Box::new(self))
    }
}

/// Makes sure that places are noted.
pub(crate) fn note_places() {
    static ONCE: Once = Once::new();
    if thread::panicking() {
        // Nobody may change the hook now; a later run will.
        return;
    }
    ONCE.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if IS_SILENT.get() {
                return;
            }
            if let Some(location) = info.location().filter(|_| fabric::threads::is_processor()) {
                let (what, text) = said(info.payload());
                let noted = Noted { what, text: text.map(ToOwned::to_owned), place: place_in_call(location) };
                LAST.with_borrow_mut(|last| *last = Some(noted));
            }
            before(info);
        }));
    });
}

/// What a payload says. A text is the same in whichever form it comes.
fn said(payload: &(dyn Any + Send)) -> (TypeId, Option<&str>) {
    let text = payload.downcast_ref::<&str>().copied();
    let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    (if text.is_some() { TypeId::of::<str>() } else { payload.type_id() }, text)
}

/// The error that a caught payload stands for: one of this library's, or a panic of the program.
fn to_error(payload: &(dyn Any + Send)) -> Error {
    if let Some(error) = payload.downcast_ref::<Error>() {
        return error.clone();
    }
    let (what, text) = said(payload);
    let place = LAST.with_borrow(|last| {
        let noted = last.as_ref().filter(|noted| (noted.what, noted.text.as_deref()) == (what, text));
        noted.map_or_else(|| "an unknown place".to_owned(), |noted| noted.place.clone())
    });
    // One line, whatever the panic said.
    let text = text.unwrap_or("a panic that is not a text").lines().collect::<Vec<_>>().join("; ");
    Error::new(ErrorKind::Panicked, format!("{text} ({place})"))
}

/// What a payload stands for, and whether it is an error of this library.
pub(crate) fn cause(payload: &(dyn Any + Send)) -> (Error, bool) {
    (to_error(payload), payload.is::<Error>())
}

/// Runs code of the program; a panic becomes an error that names `what`.
#[inline]
pub(crate) fn guard<R>(what: &str, run: impl FnOnce() -> Result<R>) -> Result<R> {
    match panic::catch_unwind(AssertUnwindSafe(run)) {
        Ok(outcome) => outcome,
        Err(payload) => Err(panicked(what, payload)),
    }
}

/// Runs code of the program; an error of this library that it raises goes on as `place` makes it.
pub(crate) fn placing<R>(run: impl FnOnce() -> R, place: impl FnOnce(Error) -> Error) -> R {
    panic::catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|payload| match payload.downcast::<Error>() {
        Ok(error) => place(*error).raise(),
        Err(payload) => panic::resume_unwind(payload),
    })
}

#[cold]
fn panicked(what: &str, payload: Box<dyn Any + Send>) -> Error {
    let error = caught(payload);
    match error.kind() {
        ErrorKind::Panicked => Error::new(ErrorKind::Panicked, format!("{what} panicked: {error}")),
        _ => error,
    }
}

/// Turns a payload that goes no further into an error.
pub(crate) fn caught(payload: Box<dyn Any + Send>) -> Error {
    let error = to_error(&*payload);
    dispose(payload);
    error
}

/// Drops a payload. That runs code of the program, which may panic again. The others know of the first panic by then,
/// so nobody is told of the second, and its payload is not dropped.
pub(crate) fn dispose(payload: Box<dyn Any + Send>) {
    discard(payload);
    forget();
}

/// Drops values of the program after something else has gone wrong. If that panics, the panic goes no further.
pub(crate) fn discard<T>(values: T) {
    quietly(|| drop(values));
}

/// The same for what `run` drops.
pub(crate) fn quietly(run: impl FnOnce()) {
    if let Err(payload) = panic::catch_unwind(AssertUnwindSafe(run)) {
        std::mem::forget(payload);
    }
}

/// Tries code of the program whose panic means nothing: nobody hears of it.
pub(crate) fn attempt(run: impl FnOnce()) {
    let before = IS_SILENT.replace(true);
    quietly(run);
    IS_SILENT.set(before);
}

/// Forgets what was noted of a panic that is over.
pub(crate) fn forget() {
    LAST.with_borrow_mut(Option::take);
}

/// What a processor says of itself when it unwinds with `payload`.
pub(crate) fn last_words(processor: usize, payload: &(dyn Any + Send)) -> Failure {
    let (mut error, is_ours) = cause(payload);
    if !is_ours {
        error = Error::new(ErrorKind::Panicked, format!("processor {processor} panicked: {error}"));
    }
    Failure::GaveUp { rank: processor, report: error.report() }
}
