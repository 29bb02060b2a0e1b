//! Miri, which interprets a program: it has no cores, signals, images or processes, and calls nobody at the end.

use super::{
    heap,
    image::{Image, Stamp},
};
use std::{io, ptr::NonNull};

/// All functions of a program are in one image, wherever they are.
pub(crate) fn list_images(_: &mut Stamp) -> Option<Vec<Image>> {
    let whole = 1..usize::MAX;
    Some(vec![Image { id: 1, base: 0, code: vec![whole] }])
}

/// Where a mapping begins.
const PAGE: usize = 4096;

/// No process is forked: the heap is all that can be shared.
pub(crate) fn map_shared(len: usize) -> io::Result<NonNull<u8>> {
    heap::map(len, PAGE).ok_or_else(|| io::ErrorKind::OutOfMemory.into())
}

/// Gives memory back.
///
/// # Safety
///
/// It came from `map_shared` with this length, and nobody uses it any more.
pub(crate) unsafe fn unmap_shared(start: NonNull<u8>, len: usize) {
    // SAFETY: the caller's promise.
    unsafe { heap::unmap(start, len, PAGE) };
}

pub(crate) fn allowed() {}

pub(crate) fn own_task() -> i32 {
    1
}

pub(crate) fn without_signals<R>(work: impl FnOnce() -> R) -> R {
    work()
}

pub(crate) fn at_exit(_: fn(Option<i32>)) {}

pub(crate) fn hold_exits() {}

pub(crate) fn exit_now(code: i32) -> ! {
    std::process::exit(code)
}

pub(crate) fn flush_streams() {}

/// There is no root.
pub fn is_root() -> bool {
    false
}

/// What signals did before they were caught; none is.
pub(crate) struct Caught;

pub(crate) fn catch(_: extern "C" fn(i32), _: extern "C" fn(i32)) -> Caught {
    Caught
}

pub(crate) fn release(_: &Caught) {}

pub(crate) fn host_name() -> String {
    String::new()
}

pub(crate) fn machine() -> String {
    String::new()
}

pub(crate) fn is_alive(_: i32) -> bool {
    true
}
