//! macOS. It lets nobody choose cores, offers no huge pages to ask for and no fence for all cores, and children do not
//! learn of the end of their parent.
//!
//! # Invariants
//!
//! - **D1** While the loader tells of an image it stays loaded, and its header and as many bytes of commands as the
//!   header says can be read.

use super::{
    image::{Image, Stamp},
    macho::{self, HEADER},
};
use crate::lock::lock;
use std::{
    io,
    process::Command,
    sync::{Mutex, Once},
};

/// What is loaded, and how often that has changed.
struct Loaded {
    changes: u64,
    images: Vec<Image>,
}

static LOADED: Mutex<Loaded> = Mutex::new(Loaded { changes: 0, images: Vec::new() });

unsafe extern "C" {
    /// Lets a function be called for every image that is loaded, now and later.
    fn _dyld_register_func_for_add_image(call: unsafe extern "C" fn(*const u8, isize));
    /// Lets a function be called for every image that is about to be unloaded.
    fn _dyld_register_func_for_remove_image(call: unsafe extern "C" fn(*const u8, isize));
}

/// Lists the images, the executable first, unless none was loaded or unloaded since `stamp`.
pub(crate) fn list_images(stamp: &mut Stamp) -> Option<Vec<Image>> {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: the loader hands both what they expect.
        unsafe { _dyld_register_func_for_add_image(add) };
        // SAFETY: as above.
        unsafe { _dyld_register_func_for_remove_image(remove) };
    });
    let loaded = lock(&LOADED);
    let now = Some([loaded.changes, 0]);
    (std::mem::replace(stamp, now) != now).then(|| loaded.images.clone())
}

/// # Safety
///
/// The header is that of an image that is loaded.
unsafe extern "C" fn add(header: *const u8, slide: isize) {
    // SAFETY: D1.
    let bytes = unsafe { std::slice::from_raw_parts(header, HEADER) };
    let Some(len) = macho::length(bytes) else { return };
    // SAFETY: D1.
    let bytes = unsafe { std::slice::from_raw_parts(header, len) };
    let Some((image, is_program)) = macho::read(bytes, header.addr(), slide) else { return };
    let mut loaded = lock(&LOADED);
    loaded.changes += 1;
    let at = if is_program { 0 } else { loaded.images.len() };
    loaded.images.insert(at, image);
}

unsafe extern "C" fn remove(header: *const u8, _: isize) {
    let mut loaded = lock(&LOADED);
    loaded.changes += 1;
    loaded.images.retain(|image| image.base != header.addr());
}

/// The system's number of the calling thread.
pub(crate) fn own_task() -> i32 {
    // SAFETY: it takes nothing and cannot fail.
    let thread = unsafe { libc::pthread_self() };
    // SAFETY: the thread lives.
    unsafe { libc::pthread_mach_thread_np(thread) }.cast_signed()
}

/// Waits for one of these signals, which are held back. Nobody says who has sent it: an interrupt is taken for one that
/// a terminal has sent.
pub(crate) fn wait_signal(held: &libc::sigset_t) -> io::Result<(i32, bool)> {
    let mut number = 0;
    // SAFETY: it reads the one and writes the other.
    match unsafe { libc::sigwait(held, &raw mut number) } {
        0 => Ok((number, number == libc::SIGINT)),
        code => Err(io::Error::from_raw_os_error(code)),
    }
}

/// Nobody is told when its parent ends.
pub(crate) fn die_with_parent(_: &mut Command) {}

/// A text for this start of this machine, or else for the machine.
pub(crate) fn machine() -> String {
    let mut text = [0u8; 64];
    let mut len = text.len();
    // SAFETY: the name ends with a zero, and the call is told how many bytes there are.
    let code = unsafe {
        libc::sysctlbyname(
            c"kern.bootsessionuuid".as_ptr(),
            text.as_mut_ptr().cast(),
            &raw mut len,
            std::ptr::null_mut(),
            0,
        )
    };
    let len = len.min(text.len());
    if code == 0 { String::from_utf8_lossy(&text[..len]).into_owned() } else { super::unix::host_name() }
}

/// Whether a process is there. One that only waits to be waited for counts as well.
pub(crate) fn is_alive(pid: i32) -> bool {
    // SAFETY: no signal is sent, only whether one could be is asked.
    let code = unsafe { libc::kill(pid, 0) };
    pid <= 0 || code == 0 || io::Error::last_os_error().raw_os_error() != Some(libc::ESRCH)
}
