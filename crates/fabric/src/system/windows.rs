//! Windows. Threads and the simulator run here, as far as nothing more is asked of the system than this: nobody chooses
//! cores, fences are full on both sides, and nobody is told when the process ends.
//!
//! # Invariants
//!
//! - **W1** A call reads and writes no more than the value behind the pointer it is handed, which lives in the caller.
//! - **W2** An image that is held stays loaded, and the first page of it, where its header lies, can be read.

use super::{
    image::{Image, Stamp},
    pe,
};
use std::{
    ffi::{c_int, c_void},
    ptr::null_mut,
};

#[link(name = "kernel32")]
unsafe extern "system" {
    fn GetCurrentProcess() -> *mut c_void;
    fn GetCurrentThreadId() -> u32;
    fn TerminateProcess(process: *mut c_void, code: u32) -> i32;
    fn K32EnumProcessModules(process: *mut c_void, list: *mut *mut c_void, bytes: u32, needed: *mut u32) -> i32;
    fn GetModuleHandleExW(flags: u32, address: *const c_void, module: *mut *mut c_void) -> i32;
    fn FreeLibrary(module: *mut c_void) -> i32;
}

/// The image is meant that has this address.
const FROM_ADDRESS: u32 = 4;
/// How many bytes a header has room in.
const PAGE: usize = 4096;
/// How many images are listed at most.
const MOST: usize = 4096;

/// Lists the images, the executable first.
pub(crate) fn list_images(_: &mut Stamp) -> Option<Vec<Image>> {
    let mut modules = vec![null_mut::<c_void>(); MOST];
    let (bytes, mut needed) = (size_of_val(&modules[..]) as u32, 0);
    // SAFETY: it takes nothing and cannot fail.
    let process = unsafe { GetCurrentProcess() };
    // SAFETY: W1; it is told how many bytes there are.
    if unsafe { K32EnumProcessModules(process, modules.as_mut_ptr(), bytes, &raw mut needed) } == 0 {
        return None;
    }
    modules.truncate(needed as usize / size_of::<*mut c_void>());
    Some(modules.into_iter().filter_map(read).collect())
}

/// What is known of an image, unless it was unloaded just now.
fn read(module: *mut c_void) -> Option<Image> {
    let mut held = null_mut();
    // SAFETY: W1; an address that is in no image is refused.
    if unsafe { GetModuleHandleExW(FROM_ADDRESS, module, &raw mut held) } == 0 {
        return None;
    }
    // SAFETY: W2.
    let header = unsafe { std::slice::from_raw_parts(held.cast::<u8>(), PAGE) };
    let image = pe::read(header, held.addr());
    // SAFETY: it was held above.
    unsafe { FreeLibrary(held) };
    image
}

/// The system's number of the calling thread.
pub(crate) fn own_task() -> i32 {
    // SAFETY: it takes nothing and cannot fail.
    unsafe { GetCurrentThreadId() }.cast_signed()
}

/// There are no signals.
pub(crate) fn without_signals<R>(work: impl FnOnce() -> R) -> R {
    work()
}

/// Nobody is called: a program ends here without a word to its libraries.
pub(crate) fn at_exit(_: fn(Option<i32>)) {}

/// Ends the process. Nothing more of the program runs.
pub(crate) fn exit_now(code: c_int) -> ! {
    // SAFETY: it takes nothing and cannot fail.
    let process = unsafe { GetCurrentProcess() };
    // SAFETY: it ends the process; its other threads wait for what will never come, or compute what nobody will ask
    // for.
    unsafe { TerminateProcess(process, code.cast_unsigned()) };
    std::process::abort()
}

/// Writes what the C library has buffered.
pub(crate) fn flush_streams() {
    // SAFETY: with nothing it flushes all streams of the C library.
    unsafe { libc::fflush(null_mut()) };
}

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
